package httpsource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Decisions are what was decided about events that projections of a server could not fold, which its rows hang on
// beside the events. They belong to the projections, and the source knows nothing of what they say.
type Decisions interface {
	// Tags has a text for each projection, which is another when other decisions of it are on record. It costs no more
	// than to look at memory, most of the time.
	Tags(ctx context.Context) (map[string]string, error)
	// List lists up to limit decisions of a projection, as JSON, in an order of its own: those after the one that after
	// names, from the first where that is "". Last names the last of them where others may follow, and is "" else. It is
	// ErrNoSuchDecision where nothing can have that name.
	List(ctx context.Context, projection, after string, limit int) (all []json.RawMessage, last string, err error)
}

// ErrNoSuchDecision says that a text is not the name of a decision.
var ErrNoSuchDecision = errors.New("no decision has that name")

// ErrNoDecisions says that a server does not give out what was decided: its version does not know of that.
var ErrNoDecisions = errors.New("the server gives out no decisions about dead letters: its version is older")

// Bounds of what is said of decisions.
const (
	decisionsAtOnce   = 500
	mostNameBytes     = 512
	mostProjections   = 10_000
	mostTagBytes      = 64
	mostDecisionBytes = 16 << 20 // of an answer
	mostDecisions     = 1_000_000
)

// tagsAnswer is the body of an answer to a wait for decisions.
type tagsAnswer struct {
	Tags map[string]string `json:"tags"` // by projection; one without decisions may have none
}

// check checks what another server says.
func (a *tagsAnswer) check() error {
	if len(a.Tags) > mostProjections {
		return fmt.Errorf("it has tags of %d projections, more than %d", len(a.Tags), mostProjections)
	}
	for name, tag := range a.Tags {
		if len(name) > mostNameBytes || len(tag) > mostTagBytes {
			return fmt.Errorf("the tag of projection %.40q is too long", name)
		}
	}
	return nil
}

// decisionsAnswer is the body of an answer with decisions.
type decisionsAnswer struct {
	Decisions []json.RawMessage `json:"decisions"`
	// Last is what to ask for the following decisions with; "" where none follows.
	Last string `json:"last,omitempty"`
}

// check checks what another server says about those after a name.
func (a *decisionsAnswer) check(after string) error {
	switch {
	case len(a.Decisions) > decisionsAtOnce:
		return fmt.Errorf("it has %d decisions, more than %d", len(a.Decisions), decisionsAtOnce)
	case len(a.Last) > mostNameBytes:
		return errors.New("the name of the last decision is too long")
	case a.Last != "" && (a.Last == after || len(a.Decisions) == 0):
		return errors.New("it does not come to an end")
	}
	return nil
}

// ListDecisions answers with decisions of a projection.
func (h *Handler) ListDecisions(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, func(ctx context.Context, q url.Values) (any, error) {
		projection, after := q.Get("projection"), q.Get("after")
		if projection == "" || len(projection) > mostNameBytes || len(after) > mostNameBytes {
			return nil, badRequest("projection must be the name of one, and after that of a decision, as last has it.")
		}
		all, last, err := h.Decisions.List(ctx, projection, after, decisionsAtOnce)
		if errors.Is(err, ErrNoSuchDecision) {
			return nil, badRequest("after is %.40q, and must be the name of a decision, as last has it.", after)
		}
		return decisionsAnswer{Decisions: append([]json.RawMessage{}, all...), Last: last}, err
	})
}

// WaitForDecisions answers when other decisions are on record than the client knows of, or after the time that it is
// ready to wait.
func (h *Handler) WaitForDecisions(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, func(ctx context.Context, q url.Values) (any, error) {
		seconds, err := waitSeconds(q)
		if err != nil {
			return nil, err
		}
		known := q.Get("known")
		if len(known) > mostTagBytes {
			return nil, badRequest("known has at most %d bytes.", mostTagBytes)
		}
		for end := time.Now().Add(seconds); ; {
			tags, err := h.Decisions.Tags(ctx)
			if err != nil {
				return nil, err
			}
			if known == "" || sumOf(tags) != known || !time.Now().Before(end) || h.Stopping != nil && h.Stopping() {
				return tagsAnswer{tags}, nil
			}
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(lookForDecisions):
			}
		}
	})
}

// lookForDecisions is how often a wait looks whether something was decided. The events that are appended after a
// decision should not come to who follows before it.
const lookForDecisions = 20 * time.Millisecond

// sumOf is short for tags.
func sumOf(tags map[string]string) string {
	text, err := json.Marshal(tags) // in the order of their names
	if err != nil {
		panic(err) // texts
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// waitSeconds is how long a client is ready to wait.
func waitSeconds(q url.Values) (time.Duration, error) {
	seconds, err := strconv.Atoi(q.Get("seconds"))
	if err != nil || seconds < 0 || seconds > int(longestWait/time.Second) {
		return 0, badRequest("seconds is %.40q, and must be 0 to %d.", q.Get("seconds"), longestWait/time.Second)
	}
	return time.Duration(seconds) * time.Second, nil
}

// Following reads the decisions of another server.
type Following struct{ *Source }

// Tags returns the tags of the server's projections, at once or, where the tags are known, when they have changed or
// some time has passed. It is ErrNoDecisions where the server knows of none.
func (f Following) Tags(ctx context.Context, known map[string]string) (map[string]string, error) {
	q := url.Values{"seconds": {strconv.Itoa(int(longestWait / time.Second))}}
	if known != nil {
		q.Set("known", sumOf(known))
	}
	var answer tagsAnswer
	err := f.get(ctx, DecisionsWaitPath, q, mostDecisionBytes, &answer)
	if err == nil {
		err = answer.check()
	}
	if answer.Tags == nil {
		answer.Tags = map[string]string{}
	}
	return answer.Tags, noDecisions(err)
}

// Each calls visit with pages of the decisions of a projection.
func (f Following) Each(ctx context.Context, projection string, visit func([]json.RawMessage) error) error {
	for after, n := "", 0; ; {
		q := url.Values{"projection": {projection}, "after": {after}}
		var answer decisionsAnswer
		err := f.get(ctx, DecisionsPath, q, mostDecisionBytes, &answer)
		if err == nil {
			err = answer.check(after)
		}
		if n += len(answer.Decisions); err == nil && n > mostDecisions {
			err = fmt.Errorf("it has more than %d decisions of projection %s", mostDecisions, projection)
		}
		if err == nil {
			err = visit(answer.Decisions)
		}
		if err != nil || answer.Last == "" {
			return noDecisions(err)
		}
		after = answer.Last
	}
}

// noDecisions has the error of a server that knows none of the paths say so.
func noDecisions(err error) error {
	var r *refusal
	if errors.As(err, &r) && r.status == http.StatusNotFound {
		return ErrNoDecisions
	}
	return err
}
