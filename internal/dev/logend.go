package dev

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// logEnd is where a log ended, by partition; nil where that is not known, which stands for its beginning.
type logEnd map[string]partitionEnd

// partitionEnd is the offset of the last event of a partition, and what tells it from a partition that was made anew.
type partitionEnd struct {
	Incarnation string
	Head        uint64
}

// continues reports whether the log is known to be one that ended there before, with all that it had.
func (e logEnd) continues(before logEnd) bool {
	for name, was := range before {
		is, there := e[name]
		if !there || is.Incarnation != was.Incarnation || is.Head < was.Head {
			return false
		}
	}
	return true
}

// logEnd is where the log of the server ends. It is not known where the server does not say so, as where it wants a
// token, or of a log that cannot be told from one that was made anew.
func (srv *server) logEnd() logEnd {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	resp, err := srv.ask(ctx, http.MethodGet, "/events/partitions", nil)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	var answer struct {
		Partitions []struct {
			Name string
			partitionEnd
		}
	}
	if json.NewDecoder(resp.Body).Decode(&answer) != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	ends := logEnd{}
	for _, p := range answer.Partitions {
		if p.Incarnation == "" {
			return nil
		}
		ends[p.Name] = p.partitionEnd
	}
	return ends
}

// hasNone reports whether the log of the server is known to have no event of the types after an end that it had, or at
// all. It is not where the server does not say so, as where it wants a token.
func (srv *server) hasNone(ctx context.Context, types []string, since *logEnd) bool {
	asked := map[string]any{"types": types, "limit": 1}
	if since != nil {
		from := map[string]uint64{}
		for name, end := range *since {
			from[name] = end.Head
		}
		asked["from"] = from
	}
	for {
		body, err := json.Marshal(asked)
		if err != nil {
			return false
		}
		resp, err := srv.ask(ctx, http.MethodPost, "/admin/events/search", body)
		if err != nil {
			return false
		}
		var page struct {
			Events, Next, UpTo json.RawMessage
			More               bool
		}
		err = json.NewDecoder(resp.Body).Decode(&page)
		resp.Body.Close()
		if none := string(page.Events); err != nil || resp.StatusCode != http.StatusOK || none != "[]" && none != "null" {
			return false
		}
		if !page.More {
			return true
		}
		asked["from"], asked["upTo"] = page.Next, page.UpTo
	}
}
