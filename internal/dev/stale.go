package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// renewStale has the events folded again for rows that former code of their projectors has made: the server cannot see
// whether the present code makes others, and leaves them as they are. Of a store that other servers may use, or that
// costs money to write to, it only says how.
func (srv *server) renewStale(ctx context.Context, s *session) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	models, shared := srv.stale(ctx)
	if len(models) == 0 {
		return
	}
	named := strings.Join(models, ", ")
	if !shared && srv.rebuild(ctx, models) == nil {
		s.out.say("the code of the projectors of %s has changed: their rows are being built again from all events", named)
		return
	}
	program := s.cfg.Binary
	if program == "" {
		program = "server"
	}
	s.out.say("the rows of %s are those of former code of the projectors; to fold the events again, run:\n"+
		"  %s rebuild start %s --url %s", named, program, strings.Join(models, " "), s.url)
}

// stale are the models whose rows were begun by other code than the server has, and are not being built again, and
// whether other servers may use their store. There are none where the server does not say, as where it wants a token:
// its log has it, too.
func (srv *server) stale(ctx context.Context) (models []string, shared bool) {
	var answer struct {
		SharedStore bool
		Rebuilds    []struct {
			Models   []string
			Serving  struct{ CodeChanged bool }
			Building json.RawMessage
		}
	}
	resp, err := srv.ask(ctx, http.MethodGet, "/admin/rebuilds", nil)
	if err != nil {
		return nil, false
	}
	defer resp.Body.Close()
	if json.NewDecoder(resp.Body).Decode(&answer) != nil {
		return nil, false
	}
	for _, one := range answer.Rebuilds {
		if one.Serving.CodeChanged && one.Building == nil {
			models = append(models, one.Models...)
		}
	}
	return models, answer.SharedStore
}

// rebuild has the server build the rows of models again, beside those that it serves.
func (srv *server) rebuild(ctx context.Context, models []string) error {
	body, err := json.Marshal(map[string][]string{"names": models})
	if err != nil {
		return err
	}
	resp, err := srv.ask(ctx, http.MethodPost, "/admin/rebuild", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("build the rows again: the server answers %s", resp.Status)
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
