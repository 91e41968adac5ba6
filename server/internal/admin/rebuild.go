package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/problem"
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

// rebuild begins to rebuild models.
func (a *API) rebuild(w http.ResponseWriter, r *http.Request) {
	var asked RebuildRequest
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		problem.BadRequest("Send JSON with the Content-Type application/json.").Write(w)
		return
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10))
	d.DisallowUnknownFields()
	if err := d.Decode(&asked); err != nil || len(asked.Names) == 0 {
		problem.BadRequest(`Send {"names": [NAME, …]}, with names of models or projections.`).Write(w)
		return
	}
	names, err := ProjectionsNamed(a.Folds.Projections, asked.Names)
	if err != nil {
		problem.NotFound(err.Error()).Write(w)
		return
	}
	if m := a.Folds.Mismatch(); m != nil {
		problem.FailedAgain(logcheck.Error(m).Error()).Write(w)
		return
	}
	for _, one := range a.Folds.All {
		if !names[one.Name] {
			continue
		}
		if err := one.Rebuild(context.WithoutCancel(r.Context())); err != nil {
			a.Folds.Mismatches(err)
			a.failed(r.Context(), one.Name, err).Write(w)
			return
		}
		one.Resume()
		a.Log.InfoContext(r.Context(), "rebuild begun", "projection", one.Name)
	}
	w.WriteHeader(http.StatusNoContent)
}
