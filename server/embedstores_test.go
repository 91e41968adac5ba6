package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// unwritable is a store whose disk takes nothing.
type unwritable struct{ driver.Driver }

func (unwritable) Writable() error { return driver.ErrUnavailable }

// TestAnEmbeddedServerIsReadyOnlyWhileItsRowsCanBeWritten, and metrics tell why.
func TestAnEmbeddedServerIsReadyOnlyWhileItsRowsCanBeWritten(t *testing.T) {
	e := embedOver(t, unwritable{memstore.New()})
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "storage") {
		t.Errorf("/readyz: %d %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	e.AdminHandler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if want := `foldql_storage_writable{directory="rows"} 0`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("/metrics lacks %s", want)
	}
}

// TestASecondServerOverOneStoreIsRefusedUntilTheFirstHasEnded: both would apply each event.
func TestASecondServerOverOneStoreIsRefusedUntilTheFirstHasEnded(t *testing.T) {
	var shared EmbedConfig
	app := newProject(false).App
	ctx, stop := context.WithCancel(t.Context())
	first, _, err := embedApp(t, ctx, app, func(c *EmbedConfig) { shared = *c })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Embed(t.Context(), app, shared); err == nil ||
		!strings.Contains(err.Error(), "call its Wait") {
		t.Fatalf("a second server: %v", err)
	}
	stop()
	if err := first.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := Embed(t.Context(), app, shared); err != nil {
		t.Errorf("a server after the first: %v", err)
	}
}

// TestServersOverAStoreWithSeveralWritersFoldTogether, as those of several programs do.
func TestServersOverAStoreWithSeveralWritersFoldTogether(t *testing.T) {
	app, log := newProject(false).App, memlog.New(memlog.Options{})
	db, err := querydb.Open(t.Context(), memstore.NewMultiWriter(memstore.Options{}), app.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e, err := Embed(t.Context(), app, EmbedConfig{DB: db, Source: log, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Wait(); err != nil { // the context has ended
				t.Error(err)
			}
		})
	}
}

// TestAnEmbeddedServerTellsOfTheStoresThatTheProgramHasOpened, and that the program backs them up.
func TestAnEmbeddedServerTellsOfTheStoresThatTheProgramHasOpened(t *testing.T) {
	app := newProject(false).App
	rows, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir(), CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	db, err := querydb.Open(t.Context(), rows, app.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	log, err := embeddedlog.Open(embeddedlog.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	e, err := Embed(ctx, app, EmbedConfig{DB: db, Source: log, Logger: slog.New(slog.DiscardHandler),
		WriteAccess: WriteAccessAll})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		if err := errors.Join(e.Wait(), log.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	}()
	w := httptest.NewRecorder()
	e.AdminHandler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{`foldql_storage_writable{directory="rows"} 1`,
		`foldql_storage_writable{directory="log"} 1`, "foldql_row_cache_hits_total"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	r := httptest.NewRequest("POST", "/admin/backup", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	w = httptest.NewRecorder()
	if e.ServeHTTP(w, r); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "back them up in that") {
		t.Errorf("POST /admin/backup: %d %s", w.Code, w.Body)
	}
}
