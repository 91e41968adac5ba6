package server

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"

	"github.com/foldql/foldql/projection"
)

// rebuildRequest is the body of POST /admin/rebuild.
type rebuildRequest struct {
	Names []string `json:"names"`
}

// named are the projections that the names of models and projections mean. A model that has several has all of them meant.
func named(all []projection.Projection, names []string) (map[string]bool, error) {
	meant, known := map[string]bool{}, []string(nil)
	for _, p := range all {
		known = append(known, p.Name, p.Model.Name)
	}
	for _, name := range names {
		found := false
		for _, p := range all {
			if p.Name == name || p.Model.Name == name {
				meant[p.Name], found = true, true
			}
		}
		if !found {
			best, _ := nearest(name, known)
			return nil, fmt.Errorf("there is no model or projection %.100q; did you mean %s?", name, best)
		}
	}
	return meant, nil
}

// rebuild begins the fold of models anew.
func (a *admin) rebuild(w http.ResponseWriter, r *http.Request) {
	var asked rebuildRequest
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		badRequest("Send JSON with the Content-Type application/json.").write(w)
		return
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10))
	d.DisallowUnknownFields()
	if err := d.Decode(&asked); err != nil || len(asked.Names) == 0 {
		badRequest(`Send {"names": [NAME, …]}, with names of models or projections.`).write(w)
		return
	}
	names, err := named(a.folds.projections, asked.Names)
	if err != nil {
		notFound(err.Error()).write(w)
		return
	}
	if m := a.folds.mismatch(); m != nil {
		failedAgain(errMismatch(m).Error()).write(w)
		return
	}
	for _, one := range a.folds.all {
		if !names[one.name] {
			continue
		}
		if err := one.Rebuild(context.WithoutCancel(r.Context())); err != nil {
			a.folds.mismatches(err)
			a.failed(r.Context(), one.name, err).write(w)
			return
		}
		one.resume()
		a.log.InfoContext(r.Context(), "rebuild begun", "projection", one.name)
	}
	w.WriteHeader(http.StatusNoContent)
}
