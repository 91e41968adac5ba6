package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/foldql/foldql/projection"
)

// rebuildCommand has models folded anew: by a running server, or at the next start where the store is given.
type rebuildCommand struct {
	Name []string `arg:"" help:"Models, or projections. Those that share a table are folded anew together."`
	remoteServer
	storeOptions
}

// rebuildRequest is the body of POST /admin/rebuild.
type rebuildRequest struct {
	Names []string `json:"names"`
}

// Run has the models folded anew.
func (c *rebuildCommand) Run(ctx context.Context, p *program) error {
	if c.Store == "" {
		return c.remote(ctx, p)
	}
	return c.offline(ctx, p)
}

func (c *rebuildCommand) remote(ctx context.Context, p *program) error {
	to, err := c.remoteServer.client()
	if err != nil {
		return err
	}
	body, err := json.Marshal(rebuildRequest{c.Name})
	if err != nil {
		return err
	}
	if err := to.do(ctx, http.MethodPost, "/admin/rebuild", "application/json", body, nil); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	fmt.Fprintln(p.stdout, "begun: GET /admin/projections tells how the projections are getting on")
	return nil
}

func (c *rebuildCommand) offline(ctx context.Context, p *program) (err error) {
	names, err := named(p.app.Projections, c.Name)
	if err != nil {
		return wrongConfig("name", "%w", err)
	}
	o, err := c.storeOptions.open(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	other, err := firstMismatch(ctx, o.db, o.src, p.app.Projections)
	if err != nil {
		return err
	}
	if other != nil {
		return errMismatch(other)
	}
	for _, one := range p.app.Projections {
		if !names[one.Name] {
			continue
		}
		if err := projection.RequestRebuild(ctx, o.db, one); err != nil {
			return fmt.Errorf("rebuild %s: %w", one.Name, err)
		}
		fmt.Fprintf(p.stdout, "%s: the next start folds the whole log anew\n", one.Name)
	}
	p.tellOfTables(o.db)
	return nil
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
