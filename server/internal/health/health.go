// Package health answers whether the server is alive (/livez), and whether it should get requests (/readyz).
package health

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/projections"
)

// Health answers whether the server is alive, and whether it should get requests.
type Health struct {
	Folds    *projections.Set
	Storages Directories
	Answers  func(context.Context) error // why the store of the rows answers no queries; nil where it does
	Draining atomic.Bool
}

// Live answers /livez: 200, for as long as the process answers at all.
func (h *Health) Live(w http.ResponseWriter, _ *http.Request) {
	problem.WriteJSON(w, http.StatusOK, "application/json", map[string]string{"status": "alive"})
}

// readyAnswer is the body of /readyz.
type readyAnswer struct {
	Ready       bool              `json:"ready"`
	Why         string            `json:"why,omitempty"` // it is not
	Projections []readyProjection `json:"projections,omitempty"`
}

type readyProjection struct {
	Projection  string                       `json:"projection"`
	State       projection.State             `json:"state"`
	Lag         uint64                       `json:"lag"`
	DeadLetters int                          `json:"deadLetters"`
	Partitions  []projection.PartitionStatus `json:"partitions"`
}

// ErrDraining is why a server that ends is not ready.
var ErrDraining = errors.New("the server is shutting down")

// Ready answers with details, which name models, rows and addresses, to those who are admitted, and to anybody else
// with a reason of a closed list.
func (h *Health) Ready(details access.Admission) http.HandlerFunc {
	states := h.states()
	return func(w http.ResponseWriter, r *http.Request) {
		admitted := details(r) == nil
		find := states.get
		if admitted {
			find = states.now
		}
		list, err := h.check(r.Context(), find)
		answer := readyAnswer{Ready: err == nil}
		if err != nil {
			answer.Why = Coarse(err, list)
		}
		if admitted {
			answer.detail(err, list)
		}
		status := http.StatusOK
		if err != nil {
			status = http.StatusServiceUnavailable
		}
		problem.WriteJSON(w, status, "application/json", answer)
	}
}

func (h *Health) states() *shared {
	return &shared{find: func(ctx context.Context) ([]projection.Status, error) { return h.Folds.Statuses(ctx) }}
}

// Check returns the states of the projections, and why the server should get no requests; nil where it should.
func (h *Health) Check(ctx context.Context) ([]projection.Status, error) {
	return h.check(ctx, h.states().now)
}

func (h *Health) check(ctx context.Context, find func(context.Context) ([]projection.Status, error)) (
	[]projection.Status, error) {
	list, err := find(ctx)
	if fault := h.Answers(ctx); fault != nil {
		err = fault
	}
	if fault := h.Storages.ready(); fault != nil {
		err = fault
	}
	if h.Draining.Load() {
		err = ErrDraining
	}
	return list, err
}

func (a *readyAnswer) detail(err error, list []projection.Status) {
	if err != nil {
		a.Why = err.Error()
	}
	for _, s := range list {
		a.Projections = append(a.Projections, readyProjection{s.Projection, s.State, s.Lag, s.DeadLetters, s.Partitions})
	}
}

// Why the server is not ready, as anybody may know it.
const (
	whyDraining    = "draining"
	whyStopped     = "stopped"      // a projection has stopped, or does not get on
	whyCatchingUp  = "catching up"  // a projection has not come to the end of the log
	whyMismatch    = "log mismatch" // the log is not the one that the rows are folded from
	whyStarting    = "starting"     // the store is being opened
	whyStorage     = "storage"      // the data directory cannot be written
	whyRebuilding  = "rebuilding"   // rows are being built, or are yet to be switched to
	whyUnavailable = "unavailable"  // the store or the source of events does not answer
)

// Coarse is the reason of a closed list, such as "draining", for which a server with the error, or with projections in
// these states, is not ready: it gives no names away.
func Coarse(err error, list []projection.Status) string {
	switch {
	case errors.Is(err, ErrDraining):
		return whyDraining
	case errors.Is(err, errStorage):
		return whyStorage
	case errors.Is(err, driver.ErrUnavailable), errors.Is(err, projection.ErrEndUnknown):
		return whyUnavailable
	}
	if m := (*projection.MismatchError)(nil); errors.As(err, &m) {
		return whyMismatch
	}
	if s := projections.StoppedError(""); errors.As(err, &s) {
		return whyStopped
	}
	why := whyUnavailable
	for _, s := range list {
		switch {
		case stopped(&s):
			return whyStopped
		case s.Lag > 0:
			why = whyCatchingUp
		}
	}
	if r := projections.RebuildingError(""); errors.As(err, &r) { // what is being built is behind, too
		return whyRebuilding
	}
	return why
}

// stopped reports whether the rows of a projection do not get on, or those that are to follow frozen ones.
func stopped(s *projection.Status) bool {
	return s.State == projection.StateStalled || s.State == projection.StateStopped && s.LastError != "" ||
		s.Frozen && s.Build != nil && projections.CheckBuild(s.Build) != nil
}
