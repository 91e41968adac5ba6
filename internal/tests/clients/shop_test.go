package clients

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/internal/shop/event"
	"github.com/foldql/foldql/internal/shop/graph/generated"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/server"
)

// heldLog is a log of which nothing is read while it is held.
type heldLog struct {
	*memlog.Log
	mu   sync.RWMutex
	free chan struct{} // closed while it is not held
}

func newHeldLog() *heldLog {
	l := &heldLog{Log: memlog.New(memlog.Options{}), free: make(chan struct{})}
	close(l.free)
	return l
}

// hold returns when nobody reads any more.
func (l *heldLog) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.free:
		l.free = make(chan struct{})
	default:
	}
}

func (l *heldLog) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.free:
	default:
		close(l.free)
	}
}

// Read implements eventlog.Source.
func (l *heldLog) Read(ctx context.Context, partition string, after uint64, max int) ([]eventlog.Event, error) {
	for {
		l.mu.RLock()
		free := l.free
		select {
		case <-free:
			defer l.mu.RUnlock()
			return l.Log.Read(ctx, partition, after, max)
		default:
			l.mu.RUnlock()
		}
		select {
		case <-free:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// hold is until when a shop folds nothing.
type hold int

const (
	untilAsked hold = iota // until somebody asks with a position
	untilStale             // until that query has waited in vain
	forGood
)

// shop is the server of the shop. It folds nothing from the moment when an event comes.
type shop struct {
	*server.Embedded
	url   string
	log   *heldLog
	holds hold
	stale atomic.Int64 // answers to queries that have waited in vain
}

func openShop(t *testing.T, holds hold, limits server.Limits) *shop {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	db, err := querydb.Open(t.Context(), memstore.New(), model.All, querydb.Config{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{log: newHeldLog(), holds: holds}
	app := server.App{
		Models: model.All, Events: event.Types, Projections: projectors.Projections(), Catalog: generated.Catalog,
		Schema: generated.New, SDL: generated.SDL(),
	}
	s.Embedded, err = server.Embed(t.Context(), app, server.EmbedConfig{
		DB: db, Source: s.log, Logger: logger, AuthOff: true, WriteAccess: server.WriteAccessAll, Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(s)
	s.url = at.URL
	t.Cleanup(func() { // by now the context of the test has ended, and with it the projections
		at.Close()
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ServeHTTP implements http.Handler.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/events":
		s.log.hold()
	case r.Header.Get("Foldql-Min-Position") == "" || s.holds == forGood:
	case s.holds == untilStale:
		s.answerLate(w, r)
		return
	default:
		s.log.release()
	}
	s.Embedded.ServeHTTP(w, r)
}

// answerLate says that a query has waited in vain when the rows have come so far at last: asked again, they are there.
func (s *shop) answerLate(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ask := func() *httptest.ResponseRecorder {
		again, answer := r.Clone(r.Context()), httptest.NewRecorder()
		again.Body = io.NopCloser(bytes.NewReader(body))
		s.Embedded.ServeHTTP(answer, again)
		return answer
	}
	answer := ask()
	if isStale(answer) {
		s.stale.Add(1)
		s.log.release()
		for isStale(ask()) && r.Context().Err() == nil {
			continue // each waits for some time
		}
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // a client that is gone needs no answer
}

func isStale(answer *httptest.ResponseRecorder) bool {
	return strings.Contains(answer.Body.String(), `"STALE"`)
}

// foldOne appends an event that nobody holds up, and returns when answers are of the rows that it makes.
func (s *shop) foldOne(t *testing.T) {
	t.Helper()
	s.fold(t, `[{"specversion": "1.0", "id": "first", "source": "/shop/products", "type": "ProductAdded", "subject": "first",
		"data": {"productId": "first", "category": "first", "brand": "Acme", "name": "first", "price": 1,
			"addedAt": "2024-01-15T10:30:00Z"}}]`)
}

// fold appends a batch of events that nobody holds up, and returns when answers are of the rows that they make.
func (s *shop) fold(t *testing.T, batch string) {
	t.Helper()
	post := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/events", strings.NewReader(batch))
	post.Header.Set("Content-Type", "application/cloudevents-batch+json")
	taken := httptest.NewRecorder()
	s.Embedded.ServeHTTP(taken, post)
	position := taken.Header().Get("Foldql-Position")
	if position == "" {
		t.Fatalf("the events are not taken: %d %s", taken.Code, taken.Body)
	}
	const all = `{ Sales_Product(id: "x") { name } Sales_OrderCount { orders } Billing_Invoice(id: "x") { amount }
		Sales_Order(id: "x") { total } Sales_OrderLineById(id: "x") { items { quantity } } }`
	asked := "/graphql?" + url.Values{"query": {all}}.Encode()
	for limit := time.Now().Add(20 * time.Second); ; {
		get, answer := httptest.NewRequestWithContext(t.Context(), http.MethodGet, asked, nil), httptest.NewRecorder()
		get.Header.Set("Foldql-Min-Position", position)
		s.Embedded.ServeHTTP(answer, get)
		if !strings.Contains(answer.Body.String(), `"errors"`) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("the events are not folded: %s", answer.Body)
		}
	}
}
