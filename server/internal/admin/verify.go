package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/verify"
)

// VerifyLine is a line of the answer of POST /admin/rebuild/verify: how far the folds are or, the last one, what they
// have made.
type VerifyLine struct {
	Folded uint64 `json:"folded"` // events, by all folds
	Total  uint64 `json:"total"`
	// Results are nil before the last line.
	Results []verify.Result `json:"results,omitempty"`
	// Error says why there are none.
	Error string `json:"error,omitempty"`
}

// linesType is the media type of lines of JSON.
const linesType = "application/jsonl"

// verify folds twice, and compares.
func (a *API) verify(w http.ResponseWriter, r *http.Request) {
	names, bad := a.named(w, r)
	if bad != nil {
		bad.Write(w)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	lines := newLines(w)
	var at VerifyLine
	results, err := a.Verifier.Verify(ctx, a.Folds.Projections, names, func(folded, total uint64) {
		if a.Stopping() {
			cancel()
		}
		at.Folded, at.Total = folded, total
		lines.send(&at)
	})
	switch {
	case errors.Is(err, verify.ErrBusy):
		problem.FailedAgain(err.Error() + ".").Write(w)
		return
	case err != nil && a.Stopping():
		at.Error = "the server is to end: ask again when it is there"
	case err != nil:
		at.Error = err.Error()
		a.Log.WarnContext(r.Context(), "a verification was given up", "error", err)
	default:
		a.Log.InfoContext(r.Context(), "verified", "projections", len(names))
	}
	at.Results = results
	lines.send(&at)
}

// lines are those of an answer, each of which is sent at once. A client that is gone ends the request.
type lines struct {
	to   *patient
	json *json.Encoder
}

func newLines(w http.ResponseWriter) *lines {
	to := &patient{w, http.NewResponseController(w)}
	return &lines{to, json.NewEncoder(to)}
}

func (l *lines) send(line *VerifyLine) {
	l.to.to.Header().Set("Content-Type", linesType)
	_ = l.json.Encode(line)
	_ = l.to.time.Flush()
}
