package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/projections"
)

// RebuildRequest is the body of POST /admin/rebuild.
type RebuildRequest struct {
	Names []string `json:"names"`
}

// ProjectionsNamed are the projections that the names of models and projections mean. A model that has several has all
// of them meant, and a member of a group means the group.
func ProjectionsNamed(all []projection.Projection, names []string) (map[string]bool, error) {
	meant, known := map[string]bool{}, []string(nil)
	for _, p := range all {
		known = append(known, namesOf(&p)...)
	}
	for _, name := range names {
		found := false
		for _, p := range all {
			if slices.Contains(namesOf(&p), name) {
				meant[p.Name], found = true, true
			}
		}
		if !found {
			best, _ := config.Nearest(name, known)
			return nil, fmt.Errorf("there is no model or projection %.100q; did you mean %s?", name, best)
		}
	}
	return meant, nil
}

// namesOf are those by which a projection is known: its own, those of its members, and those of their models.
func namesOf(p *projection.Projection) []string {
	all := append([]string{p.Name}, p.Members()...)
	for _, m := range p.Models() {
		all = append(all, m.Name)
	}
	return all
}

// rebuild does something about the rows of models that are built beside those that serve.
func (a *API) rebuild(what projections.What) http.Handler {
	return a.eachNamed(string(what), func(ctx context.Context, one *projections.Running) error {
		return a.Folds.Ask(ctx, one, what)
	})
}

func (a *API) accept(ctx context.Context, one *projections.Running) error {
	ctx, done := a.Deciding.outlasting(ctx)
	defer done()
	return a.Folds.AcceptCode(ctx, one)
}

// eachNamed does something about the rows that a request names, once for those that change generation together.
func (a *API) eachNamed(what string, do func(context.Context, *projections.Running) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		names, bad := a.named(w, r)
		if bad != nil {
			bad.Write(w)
			return
		}
		ctx, done := r.Context(), map[*projections.Running]bool{}
		var decided []string
		for _, one := range a.Folds.All {
			if !names[one.Name] || done[one] {
				continue
			}
			if err := do(ctx, one); err != nil {
				bad := a.refused(ctx, one.Name, err)
				if len(decided) > 0 {
					bad.Detail = fmt.Sprintf("It is done for %s: ask again for the others alone. %s", strings.Join(decided, ", "),
						bad.Detail)
				}
				bad.Write(w)
				return
			}
			for _, other := range one.Together() {
				done[other] = true
				decided = append(decided, other.Name)
			}
			a.Log.InfoContext(ctx, "rebuild decided", "how", what, "projection", one.Name)
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// named reads which projections a request means.
func (a *API) named(w http.ResponseWriter, r *http.Request) (map[string]bool, *problem.Problem) {
	var asked RebuildRequest
	bad, err := readJSON(w, r, &asked, usualBody)
	switch {
	case bad != nil:
		return nil, bad
	case err != nil || len(asked.Names) == 0:
		return nil, problem.BadRequest(`Send {"names": [NAME, …]}, with names of models or projections.`)
	}
	names, err := ProjectionsNamed(a.Folds.Projections, asked.Names)
	if err != nil {
		return nil, problem.NotFound(err.Error())
	}
	if m := a.Folds.Mismatch(); m != nil {
		return nil, problem.FailedAgain(logcheck.Error(m).Error())
	}
	return names, nil
}

// refused says why what was asked for is not done.
func (a *API) refused(ctx context.Context, name string, err error) *problem.Problem {
	var why projections.RefusedError
	if errors.As(err, &why) {
		return problem.FailedAgain(fmt.Sprintf("%s: %s.", name, err))
	}
	return a.failed(ctx, name, err)
}

// RebuildsAnswer is the body of GET /admin/rebuilds.
type RebuildsAnswer struct {
	Rebuilds []projections.Rebuild `json:"rebuilds"`
	// SharedStore says that other servers may write to the store.
	SharedStore bool `json:"sharedStore"`
}

func (a *API) rebuilds(w http.ResponseWriter, r *http.Request) {
	all, err := a.Folds.Rebuilds(r.Context())
	if err != nil {
		a.failed(r.Context(), "rebuilds", err).Write(w)
		return
	}
	problem.WriteJSON(w, http.StatusOK, "application/json", RebuildsAnswer{all, a.SharedStore})
}
