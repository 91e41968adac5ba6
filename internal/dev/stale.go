package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// renewStale has the events folded again for rows that former code of their projectors has made: the server cannot see
// whether the present code makes others, and leaves them as they are. Of a store that other servers may use, or that
// costs money to write to, it only says how. The server's own warning, which says what else may be done, is told where
// nobody builds these rows, also where none are found, as where the server wants a token.
func (srv *server) renewStale(ctx context.Context, s *session) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	found := srv.stale(ctx)
	models := found.models()
	if len(models) == 0 {
		if found.renewed {
			srv.told.decide(dropStale)
		} else {
			srv.told.decide(passStale)
		}
		return
	}
	named := strings.Join(models, ", ")
	if found.own && srv.rebuild(ctx, found) == nil {
		srv.told.decide(dropStale)
		s.out.say("the code of the projectors of %s has changed: their rows are being built again from all events", named)
		return
	}
	srv.told.decide(passStale)
	s.out.say("the rows of %s are those of former code of the projectors; to fold the events again, run:\n"+
		"  %s rebuild start %s --url %s", named, s.cfg.command(), strings.Join(models, " "), s.url)
}

// stale are models whose rows are of other code than the server has.
type stale struct {
	serving  []string // rows that serve; none are being built in their place
	building []string // rows that former code has begun to build
	renewed  bool     // there are others in whose place the present code builds rows already
	own      bool     // their store is known to be the server's alone
}

func (f *stale) models() []string { return slices.Concat(f.serving, f.building) }

// stale finds them. There are none where the server does not say, as where it wants a token: its log has it, too.
func (srv *server) stale(ctx context.Context) (found stale) {
	type generation struct{ CodeChanged bool }
	var answer struct {
		SharedStore *bool // nil of a server whose library is older
		Rebuilds    []struct {
			Models            []string
			Serving, Building *generation
			Held              bool // rows that were switched away from, which nobody builds further
		}
	}
	resp, err := srv.ask(ctx, http.MethodGet, "/admin/rebuilds", nil)
	if err != nil {
		return found
	}
	defer resp.Body.Close()
	if json.NewDecoder(resp.Body).Decode(&answer) != nil {
		return found
	}
	found.own = answer.SharedStore != nil && !*answer.SharedStore
	for _, one := range answer.Rebuilds {
		switch {
		case one.Building != nil && one.Building.CodeChanged:
			found.building = append(found.building, one.Models...)
		case one.Building == nil && one.Serving != nil && one.Serving.CodeChanged:
			found.serving = append(found.serving, one.Models...)
		case one.Building != nil && !one.Held && one.Serving != nil && one.Serving.CodeChanged:
			found.renewed = true
		}
	}
	return found
}

// rebuild has the server build the rows of models again, beside those that it serves. Those that former code has begun
// to build are dropped before.
func (srv *server) rebuild(ctx context.Context, found stale) error {
	if len(found.building) > 0 {
		if err := srv.decide(ctx, "/admin/rebuild/abort", found.building); err != nil {
			return err
		}
	}
	return srv.decide(ctx, "/admin/rebuild", found.models())
}

// decide has the server do something about the rows of models.
func (srv *server) decide(ctx context.Context, path string, models []string) error {
	body, err := json.Marshal(map[string][]string{"names": models})
	if err != nil {
		return err
	}
	resp, err := srv.ask(ctx, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("POST %s: the server answers %s", path, resp.Status)
	}
	return nil
}

// ask sends a request to the server. The caller closes the body of the answer.
func (srv *server) ask(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+srv.address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return http.DefaultClient.Do(r)
}
