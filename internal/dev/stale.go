package dev

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// tellStale says which rows were folded by former code of their projectors, and how to have them folded again: the
// server cannot see whether the present code makes others, and leaves them as they are.
func (srv *server) tellStale(ctx context.Context, s *session) {
	models := srv.stale(ctx)
	if len(models) == 0 {
		return
	}
	program := s.cfg.Binary
	if program == "" {
		program = "server"
	}
	s.out.say("the rows of %s are those of former code of the projectors; to fold the events again, run:\n"+
		"  %s rebuild start %s --url %s", strings.Join(models, ", "), program, strings.Join(models, " "), s.url)
}

// stale are the models whose rows were begun by other code than the server has, and are not being built again. It is
// none where the server does not say, as where it wants a token: its log has it, too.
func (srv *server) stale(ctx context.Context) (models []string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+srv.address+"/admin/rebuilds", nil)
	if err != nil {
		return nil
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	var answer struct {
		Rebuilds []struct {
			Models   []string
			Serving  struct{ CodeChanged bool }
			Building json.RawMessage
		}
	}
	if json.NewDecoder(resp.Body).Decode(&answer) != nil {
		return nil
	}
	for _, one := range answer.Rebuilds {
		if one.Serving.CodeChanged && one.Building == nil {
			models = append(models, one.Models...)
		}
	}
	return models
}
