package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// mended is a project with a log of one event, 0@1, that cannot be folded until the project is mended. From then on its
// projector waits until it may go on.
type mended struct {
	*project
	log  *memlog.Log
	cfg  EmbedConfig
	goOn chan struct{}
}

func newMended(t *testing.T) *mended {
	t.Helper()
	return newMendedOver(t, memstore.New())
}

func newMendedOver(t *testing.T, drv driver.Driver) *mended {
	t.Helper()
	m := &mended{project: newProject(false), log: memlog.New(memlog.Options{}), goOn: make(chan struct{})}
	tasks := &m.Projections[0]
	project := tasks.Project
	tasks.Project = func(e *eventlog.Event, meta projection.Meta) ([]projection.Op, error) {
		if !m.poisoned.Load() {
			<-m.goOn
		}
		return project(e, meta)
	}
	if _, err := m.log.Append(t.Context(), []eventlog.Event{taskEvent("1", "poison")}); err != nil {
		t.Fatal(err)
	}
	db, err := querydb.Open(t.Context(), drv, m.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	m.cfg = EmbedConfig{DB: db, Source: m.log, Logger: slog.New(slog.DiscardHandler), WriteAccess: WriteAccessAll}
	return m
}

// embed serves the project, in a bubble, until what it returns is called. The event is a dead letter by then.
func (m *mended) embed(t *testing.T) (e *Embedded, stop context.CancelFunc) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	e, err := Embed(ctx, m.App, m.cfg)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	synctest.Wait()
	m.poisoned.Store(false)
	return e, stop
}

// retry sends the decision to retry the event.
func retry(e *Embedded) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/admin/dead-letters/retry",
		strings.NewReader(`{"projection": "Tasks", "event": "0@1"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w
}

// wantEmbedded embeds another server over the store, and fails unless that is accepted or refused as wanted.
func (m *mended) wantEmbedded(t *testing.T, want bool) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	e, err := Embed(ctx, m.App, m.cfg)
	if want != (err == nil) {
		t.Errorf("another server over the store: %v", err)
	}
	if err == nil {
		stop()
		err = e.Wait()
	}
	if want && err != nil {
		t.Error(err)
	}
}

// wantNoDecision fails unless a decision is refused, and the answer says so.
func wantNoDecision(t *testing.T, e *Embedded) {
	t.Helper()
	if got := retry(e); got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(),
		"urn:foldql:problem:unavailable") {
		t.Errorf("a decision after the end: %d %s", got.Code, got.Body)
	}
}

// TestADecisionIsDoneBeforeAnotherServerFoldsIntoTheStore, and none begins after that: a late one would put on record
// that the rows are less far than the other server has folded them.
func TestADecisionIsDoneBeforeAnotherServerFoldsIntoTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMended(t)
		e, stop := m.embed(t)
		m.log.End()
		if err := e.Wait(); err != nil {
			t.Error(err)
		}
		var begun *httptest.ResponseRecorder
		go func() { begun = retry(e) }()
		synctest.Wait() // in the projector
		stop()
		synctest.Wait()
		m.wantEmbedded(t, false)
		wantNoDecision(t, e)
		close(m.goOn)
		if err := e.Wait(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if begun.Code != http.StatusNoContent {
			t.Errorf("the decision that had begun: %d %s", begun.Code, begun.Body)
		}
		wantNoDecision(t, e)
		m.wantEmbedded(t, true)
	})
}

// fullStore is a store that takes no batches any more once it is full.
type fullStore struct {
	driver.Driver
	full atomic.Bool
}

func (s *fullStore) Apply(ctx context.Context, b driver.Batch) error {
	if s.full.Load() {
		return driver.ErrFull
	}
	return s.Driver.Apply(ctx, b)
}

// TestAServerEndsAmidADecisionThatItsStoreDoesNotTake, which is answered that it is given up, and can be repeated.
func TestAServerEndsAmidADecisionThatItsStoreDoesNotTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fullStore{Driver: memstore.New()}
		m := newMendedOver(t, store)
		close(m.goOn)
		e, stop := m.embed(t)
		m.log.End()
		if err := e.Wait(); err != nil {
			t.Error(err)
		}
		store.full.Store(true)
		answer := make(chan *httptest.ResponseRecorder, 1)
		go func() { answer <- retry(e) }()
		synctest.Wait()
		stop()
		ended := make(chan error, 1)
		go func() { ended <- e.Wait() }()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(toEnd):
			store.full.Store(false)
			t.Errorf("the server waits for decisions: %v", <-ended)
		}
		if got := <-answer; got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), "stopping") {
			t.Errorf("a decision that is given up: %d %s", got.Code, got.Body)
		}
		store.full.Store(false)
		e, stop = m.embed(t)
		if got := retry(e); got.Code != http.StatusNoContent {
			t.Errorf("the decision of the next server: %d %s", got.Code, got.Body)
		}
		stop()
		if err := e.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// TestAServerWhoseSourceHasEndedStillDecides about its dead letters. So no other folds into its store until its context
// ends.
func TestAServerWhoseSourceHasEndedStillDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMended(t)
		e, stop := m.embed(t)
		m.log.End()
		if err := e.Wait(); err != nil {
			t.Error(err)
		}
		m.wantEmbedded(t, false)
		close(m.goOn)
		if got := retry(e); got.Code != http.StatusNoContent {
			t.Errorf("a decision: %d %s", got.Code, got.Body)
		}
		stop()
		if err := e.Wait(); err != nil {
			t.Error(err)
		}
		m.wantEmbedded(t, true)
	})
}

// TestWaitSaysThatTheLogIsNotThatOfTheRows, also where nothing was folded for that from the start.
func TestWaitSaysThatTheLogIsNotThatOfTheRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMended(t)
		e, stop := m.embed(t)
		stop()
		if err := e.Wait(); err != nil {
			t.Fatal(err)
		}
		m.cfg.Source = memlog.New(memlog.Options{})
		e, stop = m.embed(t)
		defer stop()
		if err := e.Wait(); !errors.As(err, new(*projection.MismatchError)) {
			t.Errorf("over another log: %v", err)
		}
		stop()
		synctest.Wait()
	})
}
