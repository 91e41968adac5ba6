package admin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/projections"
)

// Filter chooses dead letters of a projection: all, or those that all of what is given fits.
type Filter struct {
	All    bool   `json:"all,omitempty"`
	Reason string `json:"reason,omitempty"` // is part of the reason
	Type   string `json:"type,omitempty"`   // of the event
	// After is where a request goes on: with those after this event, in the order of the list.
	After string `json:"after,omitempty"`
}

func (f *Filter) given() bool { return f.All || f.Reason != "" || f.Type != "" }

// matches leaves out events that wait for an earlier one: they follow that one by themselves.
func (f *Filter) matches(e *projection.DeadLetter) bool {
	return e.BlockedBy == "" && (f.Type == "" || f.Type == e.Type) && strings.Contains(e.Reason, f.Reason)
}

// BulkAnswer says what became of the dead letters that a request with a filter has gone through.
type BulkAnswer struct {
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

// MostFailures is how many failures an answer names.
const MostFailures = 100

// bulkTime is how long one request goes on to another dead letter: callers, and proxies before the server, do not wait
// for ever.
const bulkTime = 30 * time.Second

// bulk goes through the next dead letters that are on record, in the order of the list: MostDeadLetters at most, and
// for bulkTime.
func (a *API) bulk(w http.ResponseWriter, r *http.Request, one *projections.Running, chosen *Filter,
	do projections.Decision) {
	ctx, done := a.Deciding.outlasting(r.Context())
	defer done()
	list, err := one.Decisions().Undecided(ctx, chosen.After, MostDeadLetters)
	if err != nil {
		a.failed(ctx, one.Name, err).Write(w)
		return
	}
	answer := decideEach(r.Context(), list, chosen, a.Deciding.isOver, func(ref string) error {
		err := one.Decisions().Resolve(ctx, ref, do)
		if err != nil && errors.Is(context.Cause(ctx), errGivenUp) {
			return errGivenUp
		}
		return err
	})
	one.Decisions().Follow(ctx, "")
	a.Log.InfoContext(ctx, "dead letters decided", "how", r.URL.Path, "projection", one.Name, "done", answer.Done,
		"failed", answer.Failed)
	problem.WriteJSON(w, http.StatusOK, "application/json", answer)
}

// decideEach goes through a page of dead letters. It goes on after one that fails again, and no further when the caller
// has gone, the time is over or the server ends.
func decideEach(ctx context.Context, page []projection.DeadLetter, chosen *Filter, ends func() bool,
	resolve func(ref string) error) (answer BulkAnswer) {
	end := time.Now().Add(bulkTime)
	for i := range page {
		if ctx.Err() != nil { // nobody reads the answer
			return answer
		}
		if i > 0 && (ends() || !time.Now().Before(end)) {
			answer.Next = page[i-1].Ref
			return answer
		}
		if !chosen.matches(&page[i]) {
			continue
		}
		switch err := resolve(page[i].Ref); {
		case err == nil:
			answer.Done++
		case errors.Is(err, projection.ErrNoDeadLetter): // another one was first
		case err == errGivenUp && i > 0: // the next request tries it again
			answer.Next = page[i-1].Ref
			return answer
		default:
			if answer.Failed++; answer.Failed <= MostFailures {
				answer.Failures = append(answer.Failures, bulkFailure{page[i].Ref, err.Error()})
			}
		}
	}
	if len(page) == MostDeadLetters {
		answer.Next = page[len(page)-1].Ref
	}
	return answer
}
