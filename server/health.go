package server

import (
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/foldql/foldql/projection"
)

// health answers whether the server is alive, and whether it should get requests.
type health struct {
	folds    *folds
	draining atomic.Bool
}

func (h *health) live(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, "application/json", map[string]string{"status": "alive"})
}

// readyPath is where the server is asked whether it is ready.
const readyPath = "/readyz"

// readyAnswer is the body of /readyz.
type readyAnswer struct {
	Ready       bool              `json:"ready"`
	Why         string            `json:"why,omitempty"` // it is not
	Projections []readyProjection `json:"projections"`
}

type readyProjection struct {
	Projection string                       `json:"projection"`
	State      projection.State             `json:"state"`
	Lag        uint64                       `json:"lag"`
	Aside      int                          `json:"aside"`
	Partitions []projection.PartitionStatus `json:"partitions"`
}

var errDraining = errors.New("the server is shutting down")

func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	list, err := h.folds.statuses(r.Context())
	if h.draining.Load() {
		err = errDraining
	}
	answer := readyAnswer{Ready: err == nil, Projections: make([]readyProjection, len(list))}
	for i, s := range list {
		answer.Projections[i] = readyProjection{s.Projection, s.State, s.Lag, s.Aside, s.Partitions}
	}
	status := http.StatusOK
	if err != nil {
		status = http.StatusServiceUnavailable
		answer.Why = err.Error()
	}
	writeJSON(w, status, "application/json", answer)
}
