package hostile

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/event"
	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/ingest"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/generated"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/model"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/shop"
	"github.com/foldql/foldql/projection/shop/sample"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// site is the shop: a log, a store, the projections that fold the one into the other, and the handlers in front.
type site struct {
	http.Handler
	log     *memlog.Log
	store   *observed
	db      *querydb.DB
	runners []*projection.Runner
	schema  *ast.Schema
	faults  *faults

	folding sync.WaitGroup
	failed  chan error
}

// newSite makes the shop over a log and a driver; nothing is folded yet.
func newSite(t *testing.T, log *memlog.Log, drv driver.Driver) *site {
	t.Helper()
	s := &site{log: log, store: observe(drv), faults: &faults{}, failed: make(chan error, len(shop.Projections()))}
	logger := slog.New(s.faults)
	db, err := querydb.Open(t.Context(), s.store, model.All, querydb.Config{Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	s.db = db
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	verifier, err := auth.NewVerifier(t.Context(), auth.Config{Secret: secret, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	s.Handler = s.routes(verifier, logger)
	return s
}

// routes puts the handlers together as the server does, but for its last resort: a panic that gets this far ends the test.
func (s *site) routes(verifier *auth.Verifier, logger *slog.Logger) http.Handler {
	rt := graph.NewRuntime(s.db, generated.Catalog, graph.Config{TokenKey: keys.TokenKey{1}, Logger: logger})
	es := generated.New(rt)
	s.schema = es.Schema()
	mux := http.NewServeMux()
	mux.Handle(api, verifier.Middleware(graphqlhttp.New(graph.Accelerate(es, rt), graphqlhttp.Config{Introspection: true, Logger: logger})))
	mux.Handle(events, ingest.Handler(s.log, event.Types, ingest.Config{Logger: logger}))
	return mux
}

// openShop opens the shop over the embedded store, with its sample folded, and folds what follows.
func openShop(t *testing.T) *site {
	t.Helper()
	drv, err := pebblestore.Open(pebblestore.Options{
		Dir: t.TempDir(), CacheBytes: 8 << 20, MemTableBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, sampleLog(t), drv)
	begun := sampleLog(t)
	begun.End()
	s.fold(t, begun)
	s.folded(t)
	s.fold(t, s.log)
	return s
}

// sampleLog is a log that holds the sample.
func sampleLog(t *testing.T) *memlog.Log {
	t.Helper()
	log := memlog.New(memlog.Options{})
	if _, err := log.Append(t.Context(), slices.Collect(sample.Events(sample.Small))); err != nil {
		t.Fatal(err)
	}
	return log
}

// secondShop folds a log that has ended into another store.
func secondShop(t *testing.T, log *memlog.Log) *site {
	t.Helper()
	s := newSite(t, log, memstore.New())
	s.fold(t, log)
	s.folded(t)
	return s
}

// fold starts the projections over a source; they end with it.
func (s *site) fold(t *testing.T, src eventlog.Source) {
	t.Helper()
	s.runners = nil
	for _, p := range shop.Projections() {
		// Events that cannot be folded are many here; what is waited before they are tried again is not what is tested.
		r, err := projection.NewRunner(p, src, s.db, projection.RunnerConfig{MinBackoff: time.Microsecond, MaxBackoff: time.Microsecond})
		if err != nil {
			t.Fatal(err)
		}
		s.runners = append(s.runners, r)
		s.folding.Go(func() {
			if err := r.Run(t.Context()); err != nil {
				s.failed <- err
			}
		})
	}
}

// folded waits for the projections to end.
func (s *site) folded(t *testing.T) {
	t.Helper()
	s.folding.Wait()
	select {
	case err := <-s.failed:
		t.Fatalf("a projection stopped: %v", err)
	default:
	}
}

// faults is a log handler that keeps what the shop calls an error: no client can bring it that far.
type faults struct {
	mu   sync.Mutex
	list []string
}

func (f *faults) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (f *faults) Handle(_ context.Context, r slog.Record) error {
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
