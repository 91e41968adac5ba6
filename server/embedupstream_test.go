package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/mirror"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestAnEmbeddedServerFollowsTheDecisionsOfTheServerWhoseLogItFolds, whether it reads that log or a copy: a dead letter
// that is skipped there is none here.
func TestAnEmbeddedServerFollowsTheDecisionsOfTheServerWhoseLogItFolds(t *testing.T) {
	for name, through := range map[string]func(*testing.T, eventlog.Source) eventlog.Source{
		"the log": func(_ *testing.T, src eventlog.Source) eventlog.Source { return src },
		"a copy": func(t *testing.T, src eventlog.Source) eventlog.Source {
			copied, err := mirror.Open(mirror.Options{Dir: filepath.Join(t.TempDir(), "mirror"), Source: src})
			if err != nil {
				t.Fatal(err)
			}
			return copied
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t, newProject(false).App)
			u.add(t, []eventlog.Event{taskEvent("x", "poison"), taskEvent("1", "Task 1")})
			u.until(t, "folded", hasTask(t, u.server, 1))
			from, err := httpsource.Open(httpsource.Options{URL: u.url, Token: upstreamToken})
			if err != nil {
				t.Fatal(err)
			}
			s := followInside(t, through(t, from))
			letters := func(n int) func() bool {
				return func() bool { return s.statusOf(t).Projections[0].DeadLetters == n }
			}
			s.until(t, "a dead letter here", letters(1))
			u.decide(t, "skip", "0@1")
			s.until(t, "decided as there", letters(0))
		})
	}
}

// followInside serves a project inside this program over the log of another server.
func followInside(t *testing.T, src eventlog.Source) *server {
	t.Helper()
	app := newProject(false).App
	db, err := querydb.Open(t.Context(), memstore.New(), app.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	e, err := Embed(ctx, app, EmbedConfig{DB: db, Source: src, Logger: slog.New(slog.DiscardHandler),
		WriteAccess: WriteAccessAll})
	if err != nil {
		t.Fatal(err)
	}
	live := httptest.NewServer(e)
	t.Cleanup(func() {
		live.Close()
		stop()
		if err := errors.Join(e.Wait(), src.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return &server{url: live.URL}
}
