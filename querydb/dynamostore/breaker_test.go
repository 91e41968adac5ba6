package dynamostore

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// endpoint is a DynamoDB that has no rows, and that is out of order now and then.
type endpoint struct {
	*httptest.Server
	mode     atomic.Int32
	requests atomic.Int64
}

const (
	alive int32 = iota
	cutOff
	silent
	throttling
	failing
)

func newEndpoint(t *testing.T, mode int32) *endpoint {
	t.Helper()
	e := &endpoint{}
	e.mode.Store(mode)
	over := make(chan struct{})
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		switch e.mode.Load() {
		case alive:
			_, _ = io.WriteString(w, "{}")
		case cutOff:
			panic(http.ErrAbortHandler)
		case silent:
			select {
			case <-r.Context().Done():
			case <-over:
			}
		case throttling:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"ThrottlingException","message":"slow down"}`)
		case failing:
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"__type":"InternalServerError","message":"no"}`)
		}
	}))
	e.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(e.Close)
	t.Cleanup(func() { close(over) })
	return e
}

// storeAt opens a store at an endpoint.
func storeAt(t *testing.T, address string) *Store {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "nobody")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "nothing")
	s, err := Open(t.Context(), Config{Endpoint: address, RetryFor: 20 * time.Second, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

type freely struct{}

func (freely) Take(int) error { return nil }

// ask reads a row as a query of a client does.
func ask(ctx context.Context, s *Store) error {
	_, err := s.Get(driver.WithBudget(ctx, freely{}), driver.Get{Table: dynamotest.Small, Keys: []keys.Key{{PK: "a"}}})
	return err
}

// TestADeadEndpointIsNotWaitedFor: after the first query, which may try, no query waits, or sends anything but one
// probe a second; and when DynamoDB answers again queries are answered, by themselves.
func TestADeadEndpointIsNotWaitedFor(t *testing.T) {
	for name, mode := range map[string]int32{"cut off": cutOff, "silent": silent, "failing": failing} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, mode)
			s := storeAt(t, e.URL)
			if err := ask(t.Context(), s); !errors.Is(err, driver.ErrUnavailable) {
				t.Fatalf("the first query: %v, want ErrUnavailable", err)
			}
			if !s.Stats().Suspended {
				t.Fatal("the next query would try again")
			}
			before := e.requests.Load()
			began := time.Now()
			const queries = 10_000
			for range queries {
				if err := ask(t.Context(), s); !errors.Is(err, driver.ErrSuspended) || !errors.Is(err, driver.ErrUnavailable) {
					t.Fatalf("a later query: %v, want ErrSuspended", err)
				}
			}
			if sent, most := e.requests.Load()-before, 2+int64(time.Since(began)/time.Second); sent > most {
				t.Errorf("%d later queries sent %d requests, want %d probes at most", queries, sent, most)
			}
			e.mode.Store(alive)
			recovered(t, s)
			if got := s.Stats(); got.Suspensions != 1 {
				t.Errorf("queries were suspended %d times, want once", got.Suspensions)
			}
		})
	}
}

// recovered waits until queries are answered.
func recovered(t *testing.T, s *Store) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(20 * time.Second); ; {
		err := ask(t.Context(), s)
		if err == nil {
			return
		}
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("DynamoDB answers, and queries get %v", err)
		}
	}
}

func TestAnEndpointWhereNobodyListensIsNotWaitedFor(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := storeAt(t, "http://"+l.Addr().String())
	for range 3 {
		if err := ask(t.Context(), s); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("%v, want ErrUnavailable", err)
		}
	}
	if !s.Stats().Suspended {
		t.Error("queries go on trying")
	}
}

// TestFoldingGoesOnTryingWhereQueriesAreRefused: what nobody waits for is repeated until it is done, and its success
// lets queries pass again.
func TestFoldingGoesOnTryingWhereQueriesAreRefused(t *testing.T) {
	e := newEndpoint(t, cutOff)
	s := storeAt(t, e.URL)
	folding := make(chan error, 1)
	go func() {
		_, err := s.Get(t.Context(), driver.Get{Table: dynamotest.Small, Keys: []keys.Key{{PK: "a"}}, Consistent: true})
		folding <- err
	}()
	if err := ask(t.Context(), s); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("a query: %v, want ErrUnavailable", err)
	}
	select {
	case err := <-folding:
		t.Fatalf("the fold has given up: %v", err)
	default:
	}
	e.mode.Store(alive)
	if err := <-folding; err != nil {
		t.Errorf("the fold: %v", err)
	}
	if s.Stats().Suspended {
		t.Error("DynamoDB has answered the fold, and queries are still refused")
	}
}

// TestWhoAnswersIsNotSuspended, however slowly, and though it is to refuse.
func TestWhoAnswersIsNotSuspended(t *testing.T) {
	e := newEndpoint(t, throttling)
	s := storeAt(t, e.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := ask(ctx, s); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while DynamoDB throttles: %v, want the query to go on trying", err)
	}
	if n := e.requests.Load(); n < 2 || s.Stats().Suspended {
		t.Errorf("%d requests, %+v; want the query to have tried again", n, s.Stats())
	}
	e.mode.Store(alive)
	if err := ask(t.Context(), s); err != nil {
		t.Error(err)
	}
}

// TestAnswersFindsOutWhereNoQueryComes: it says so where DynamoDB answers nobody, and closes the breaker when it does
// again, though nothing else is sent.
func TestAnswersFindsOutWhereNoQueryComes(t *testing.T) {
	for name, mode := range map[string]int32{"cut off": cutOff, "silent": silent, "failing": failing} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, mode)
			s := storeAt(t, e.URL)
			asked := func(what string, holds func(error) bool) {
				t.Helper()
				look := time.NewTicker(5 * time.Millisecond)
				defer look.Stop()
				for late := time.After(20 * time.Second); ; {
					err := s.CheckAvailable(t.Context())
					if holds(err) {
						return
					}
					select {
					case <-look.C:
					case <-late:
						t.Fatalf("%s: Answers says %v", what, err)
					}
				}
			}
			asked("no answers", func(err error) bool { return errors.Is(err, driver.ErrUnavailable) })
			e.mode.Store(alive)
			asked("answers", func(err error) bool { return err == nil })
			if s.Stats().Suspended {
				t.Error("queries are still refused")
			}
			sent := e.requests.Load()
			for range 1000 {
				if err := s.CheckAvailable(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if more := e.requests.Load() - sent; more > 10 {
				t.Errorf("1,000 calls just after an answer sent %d requests", more)
			}
		})
	}
}
