package projections

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// failingStore refuses batches: those that fold the rows of a generation, or all.
type failingStore struct {
	driver.Driver
	generation atomic.Pointer[string]
	all        atomic.Bool
}

func (s *failingStore) Apply(ctx context.Context, b driver.Batch) error {
	if s.all.Load() {
		return driver.ErrUnavailable
	}
	for _, w := range b.Last {
		if of := s.generation.Load(); of != nil && strings.HasPrefix(w.Row.Key.PK, *of) {
			return driver.ErrUnavailable
		}
	}
	return s.Driver.Apply(ctx, b)
}

// TestASwitchThatAnOperatorAwaitsOutlivesAnActThatFails, and gives way to one that is done.
func TestASwitchThatAnOperatorAwaitsOutlivesAnActThatFails(t *testing.T) {
	t.Run("fails", func(t *testing.T) { abortPending(t, true) })
	t.Run("done", func(t *testing.T) { abortPending(t, false) })
}

// TestASwitchThatWaitsForRowsToBeFoldedOnLogsHowFarTheyAre, as any other build does.
func TestASwitchThatWaitsForRowsToBeFoldedOnLogsHowFarTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &failingStore{Driver: memstore.New()}
		v := openVersionOn(t, store, "1")
		log := logOf(t, "T")
		t.Cleanup(func() { log.Close() })
		var said safeBuffer
		set := v.serve(t, log, Keep{Manual: true, Former: time.Hour}, projection.RunnerConfig{
			Logger: slog.New(slog.NewTextHandler(&said, nil)),
		})
		one := set.units[0].of[0]
		for _, what := range []What{Start, Switch, Rollback} {
			until(t, "it can be asked for", func() bool { return set.Ask(t.Context(), one, what) == nil })
		}
		built := "checkpoint:Order.g1"
		store.generation.Store(&built)
		if _, err := log.Append(t.Context(), []eventlog.Event{{
			ID: "more", Source: "/t", Type: "T", Time: time.Unix(9, 0), Data: []byte("{}"),
		}}); err != nil {
			t.Fatal(err)
		}
		go func() { _ = set.Ask(t.Context(), one, Switch) }() // ends with the set
		until(t, "the log tells of it", func() bool {
			return strings.Contains(said.String(), `msg="building rows beside those that serve" projection=Order folded=1 total=2`)
		})
		store.generation.Store(nil)
	})
}

// abortPending has one operator wait for a switch, and another abort it.
func abortPending(t *testing.T, fails bool) {
	store := &failingStore{Driver: memstore.New()}
	v := openVersionOn(t, store, "1")
	log := logOf(t, "T")
	t.Cleanup(func() { log.Close() })
	set := v.serve(t, log, Keep{Manual: true, Former: time.Hour}, projection.RunnerConfig{
		MinBackoff: time.Millisecond, MaxBackoff: time.Millisecond,
	})
	u := set.units[0]
	one := u.of[0]
	until := func(what string, is func() bool) {
		t.Helper()
		for limit := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("still waiting until %s", what)
			}
		}
	}
	ask := func(what What) {
		t.Helper()
		if err := set.Ask(t.Context(), one, what); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	await := func(offset uint64) {
		t.Helper()
		if err := one.Await(t.Context(), eventlog.Offsets{"0": offset}); err != nil {
			t.Fatal(err)
		}
	}
	await(1)
	ask(Start)
	until("the rows are built", func() bool { return u.built(t.Context()) })
	ask(Switch)
	ask(Rollback)
	built := "checkpoint:Order.g1"
	store.generation.Store(&built)
	if _, err := log.Append(t.Context(), []eventlog.Event{{
		ID: "more", Source: "/t", Type: "T", Time: time.Unix(9, 0), Data: []byte("{}"),
	}}); err != nil {
		t.Fatal(err)
	}
	await(2)

	switched := make(chan error, 1)
	go func() { switched <- set.Ask(t.Context(), one, Switch) }()
	until("the others are folded on", func() bool { return one.build.runner() != nil })
	store.all.Store(fails)
	if err := set.Ask(t.Context(), one, Abort); (err != nil) != fails {
		t.Errorf("the abort: %v; the store refuses all batches: %t", err, fails)
	}
	store.all.Store(false)
	store.generation.Store(nil)
	err := <-switched
	if other := err != nil && strings.Contains(err.Error(), `another operator has asked for "abort"`); other == fails ||
		fails && err != nil {
		t.Errorf("the switch that was waited for: %v; the abort fails: %t", err, fails)
	}
}
