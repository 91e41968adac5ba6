package hostile

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/server"
)

// site is the shop as the server runs it, over a log and a store: all of its settings are the server's own.
type site struct {
	*server.Embedded
	log    *ending
	store  *observed
	schema *ast.Schema
	faults *faults
}

// writer is the token of those who may write.
const writer = "the token of a shop that never was"

// newSite makes the shop over a log and a driver, and folds.
func newSite(t *testing.T, log *ending, drv driver.Driver) *site {
	t.Helper()
	s := &site{log: log, store: observe(drv), faults: &faults{}, schema: generated.New(nil).Schema()}
	logger := slog.New(s.faults)
	db, err := querydb.Open(t.Context(), s.store, model.All, querydb.Config{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	// With the same secret, shops with the same rows give the same page tokens.
	tokenKey := querydb.Note{Kind: "server", ID: "page token key", Value: bytes.Repeat([]byte{1}, 32)}
	if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{tokenKey}}); err != nil {
		t.Fatal(err)
	}
	app := server.App{
		Models: model.All, Events: event.Types, Projections: projectors.Projections(), Catalog: generated.Catalog,
		Schema: generated.New,
		SDL:    generated.SDL(),
	}
	verifier, err := auth.NewVerifier(t.Context(), auth.Config{Secret: []byte(secret), Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	s.Embedded, err = server.Embed(t.Context(), app, server.EmbedConfig{
		DB: db, Source: log, Logger: logger, Verifier: verifier, WriteToken: writer,
		// Most events of an attacker cannot be folded, and the rows of all others are compared.
		Runner: projection.RunnerConfig{MaxDeadLetterPercent: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // by now the context of the test has ended, and with it the projections
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// openShop opens the shop over the embedded store and waits until its sample is folded.
func openShop(t *testing.T) *site {
	t.Helper()
	drv, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, sampleLog(t), drv)
	ready := &request{method: http.MethodGet, path: "/readyz"}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(time.Minute); ready.send(s).status != http.StatusOK; {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("the shop is not ready: %s", &ready.send(s).body)
		}
	}
	return s
}

// secondShop folds a log that has ended into another store.
func secondShop(t *testing.T, log *ending) *site {
	t.Helper()
	s := newSite(t, log, memstore.New())
	s.folded(t)
	return s
}

// folded waits for the projections to come to the end of the log.
func (s *site) folded(t *testing.T) {
	t.Helper()
	if err := s.Wait(); err != nil {
		t.Fatalf("a projection stopped: %v", err)
	}
}

// faults is a log handler that keeps what the shop calls an error: no client can bring it that far.
type faults struct {
	mu   sync.Mutex
	list []string
}

func (f *faults) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (f *faults) Handle(_ context.Context, r slog.Record) error {
	if r.Level < slog.LevelError {
		return nil
	}
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, text)
	return nil
}

func (f *faults) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f *faults) WithGroup(string) slog.Handler      { return f }

// take returns what was logged since.
func (f *faults) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.list
	f.list = nil
	return list
}
