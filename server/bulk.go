package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/foldql/foldql/projection"
)

// filter chooses dead letters of a projection: all, or those that all of what is given fits.
type filter struct {
	All    bool   `json:"all,omitempty"`
	Reason string `json:"reason,omitempty"` // is part of the reason
	Type   string `json:"type,omitempty"`   // of the event
	// After is where a request goes on: with those after this event, in the order of the list.
	After string `json:"after,omitempty"`
}

func (f *filter) given() bool { return f.All || f.Reason != "" || f.Type != "" }

// matches leaves out events that wait for an earlier one: they follow that one by themselves.
func (f *filter) matches(e *projection.DeadLetter) bool {
	return e.Behind == "" && (f.Type == "" || f.Type == e.Type) && strings.Contains(e.Reason, f.Reason)
}

// bulkAnswer says what became of the dead letters that a request with a filter has gone through.
type bulkAnswer struct {
	Done   int `json:"done"`
	Failed int `json:"failed"` // again; they are dead letters still
	// Failures are the first of those that failed.
	Failures []bulkFailure `json:"failures,omitempty"`
	// Next is what to send as after to go on; "" where all are done.
	Next string `json:"next,omitempty"`
}

type bulkFailure struct {
	Event  string `json:"event"`
	Reason string `json:"reason"`
}

// mostFailures is how many failures an answer tells.
const mostFailures = 100

// bulk goes through the next dead letters that are on record, in the order of the list, mostAside at most. It goes on after
// one that fails again, and no further when the caller has gone.
func (a *admin) bulk(w http.ResponseWriter, r *http.Request, one *fold, chosen *filter, do mending) {
	ctx := context.WithoutCancel(r.Context()) // what has begun is finished
	list, err := one.DeadLetters(ctx, chosen.After, mostAside)
	if err != nil {
		a.failed(ctx, one.name, err).write(w)
		return
	}
	var answer bulkAnswer
	if len(list) == mostAside {
		answer.Next = list[len(list)-1].Ref
	}
	for i := range list {
		if !chosen.matches(&list[i]) {
			continue
		}
		if r.Context().Err() != nil {
			return
		}
		switch err := do(one.Runner, ctx, list[i].Ref); {
		case err == nil:
			answer.Done++
		case errors.Is(err, projection.ErrNoDeadLetter): // another one was first
		default:
			if answer.Failed++; answer.Failed <= mostFailures {
				answer.Failures = append(answer.Failures, bulkFailure{list[i].Ref, err.Error()})
			}
		}
	}
	one.decide(ctx, "")
	a.log.InfoContext(ctx, "dead letters decided", "how", r.URL.Path, "projection", one.name, "done", answer.Done,
		"failed", answer.Failed)
	writeJSON(w, http.StatusOK, "application/json", answer)
}
