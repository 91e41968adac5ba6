package admin

import (
	"context"
	"net/http"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/projections"
)

// FailedCascade is a row of which some copies could not follow a change.
type FailedCascade struct {
	Projection string `json:"projection"`
	projection.FailedCascade
}

// CascadesRequest names a projection whose failed cascades are to be tried again.
type CascadesRequest struct {
	Projection string `json:"projection"`
}

// CascadesAnswer says how many rows were tried again, and of which of them some copies still cannot follow.
type CascadesAnswer struct {
	Tried  int                        `json:"tried"`
	Failed []projection.FailedCascade `json:"failed,omitempty"`
}

// addCascades adds those of the projections to a list.
func (a *API) addCascades(ctx context.Context, of []*projections.Running, to *DeadLetterList) *problem.Problem {
	for _, one := range of {
		pending, failed, err := one.Cascades(ctx)
		if err != nil {
			return unlisted(ctx, a.Log, one.Name, err)
		}
		to.Cascades += pending
		for _, f := range failed {
			to.FailedCascades = append(to.FailedCascades, FailedCascade{one.Name, f})
		}
	}
	return nil
}

func (a *API) retryCascades(w http.ResponseWriter, r *http.Request) {
	var m CascadesRequest
	bad, err := readJSON(w, r, &m, usualBody)
	switch {
	case bad != nil:
		bad.Write(w)
		return
	case err != nil || m.Projection == "":
		problem.BadRequest(`Send {"projection": NAME}.`).Write(w)
		return
	}
	one := a.Folds.Find(m.Projection)
	if one == nil {
		noProjection(m.Projection).Write(w)
		return
	}
	ctx, done := a.Deciding.outlasting(r.Context())
	defer done()
	tried, failed, err := one.RetryCascades(ctx)
	if err != nil {
		a.failed(ctx, one.Name, err).Write(w)
		return
	}
	a.Log.InfoContext(ctx, "cascades retried", "projection", one.Name, "tried", tried, "failed", len(failed))
	problem.WriteJSON(w, http.StatusOK, "application/json", CascadesAnswer{tried, failed})
}
