package projection_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
)

// TestAStatusSaysSinceWhenSomethingFails, however often it is tried again.
func TestAStatusSaysSinceWhenSomethingFails(t *testing.T) {
	store, c, cfg := newFaultyStore(), &clock{at: epoch}, quick()
	cfg.Now = c.now
	log := openLog(t)
	r := newRunner(t, "script", log, open(t, store), cfg)
	go r.Run(t.Context())
	await(t, r, projection.StateLive)
	if s := status(t, r); !s.FailingSince.IsZero() {
		t.Errorf("it fails since %v, want that nothing does", s.FailingSince)
	}
	tried := make(chan struct{}, 100)
	fails := func(err error) {
		store.mu.Lock()
		defer store.mu.Unlock()
		store.before = func(int) error {
			select {
			case tried <- struct{}{}:
			default:
			}
			return err
		}
	}
	c.move(time.Minute)
	began := c.now()
	fails(errors.New("the disk is gone"))
	add(t, log, 0, event("", upsert("a", 1)))
	await(t, r, projection.StateStalled)
	c.move(time.Hour)
	for range 200 { // as many as are waiting to be taken, and more
		<-tried
	}
	if s := status(t, r); !s.FailingSince.Equal(began) {
		t.Errorf("it fails since %v, want %v, the first time", s.FailingSince, began)
	}
	fails(nil)
	await(t, r, projection.StateLive)
	if s := status(t, r); !s.FailingSince.IsZero() {
		t.Errorf("it fails since %v, want that nothing does any more", s.FailingSince)
	}
}

// TestAFoldThatIsToEndWhenTheStoreIsFullEnds at whichever commit the space is gone, and goes on from there when it is
// run again.
func TestAFoldThatIsToEndWhenTheStoreIsFullEnds(t *testing.T) {
	cfg := quick()
	cfg.WindowEvents, cfg.EndWhenFull = 2, true
	events := []eventlog.Event{event("", upsert("a", 1)), event("", upsert("b", 1)), event("", upsert("c", 1)),
		event("", upsert("d", 1))}
	for fills := 1; ; fills++ {
		store := newFaultyStore()
		store.before = func(n int) error {
			if n < fills {
				return nil
			}
			return fmt.Errorf("%w: %w", driver.ErrFull, driver.ErrUnavailable)
		}
		db, log := open(t, store), logOf(t, events...)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := newRunner(t, "script", log, db, cfg).Run(ctx)
		cancel()
		if err == nil && fills > 2 {
			return // there was space to the end
		}
		if !errors.Is(err, driver.ErrFull) {
			t.Fatalf("full from commit %d on: %v, want that there is no space", fills, err)
		}
		store.before = nil
		run(t, log, db, cfg)
		if rows := rowsOf(t, db, store.keys()); len(rows) != len(events) {
			t.Errorf("full from commit %d on, and run again: %d rows, want %d", fills, len(rows), len(events))
		}
	}
}

// fullCopy is a source that is copied to a disk without space.
type fullCopy struct{ eventlog.Source }

func (fullCopy) Wait(context.Context, eventlog.Offsets) error {
	return fmt.Errorf("copy: %w", eventlog.ErrFull)
}

// TestAFoldThatIsToEndWhenTheCopyOfItsEventsIsFullEnds when it has folded what is copied.
func TestAFoldThatIsToEndWhenTheCopyOfItsEventsIsFullEnds(t *testing.T) {
	cfg, store := quick(), newFaultyStore()
	cfg.EndWhenFull = true
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	db := open(t, store)
	err := newRunner(t, "script", fullCopy{openLog(t, event("", upsert("a", 1)))}, db, cfg).Run(ctx)
	if rows := rowsOf(t, db, store.keys()); !errors.Is(err, eventlog.ErrFull) || len(rows) != 1 {
		t.Errorf("%v with %d rows, want that there is no space, and the row", err, len(rows))
	}
}

// TestAnOutageIsLoggedOnceAMinuteAndAtItsEnd: a line for each attempt of each projection would fill the log.
func TestAnOutageIsLoggedOnceAMinuteAndAtItsEnd(t *testing.T) {
	var logged strings.Builder
	store, c, cfg := newFaultyStore(), &clock{at: epoch}, quick()
	cfg.Now, cfg.Logger = c.now, slog.New(slog.NewTextHandler(&logged, nil))
	log := openLog(t)
	r := newRunner(t, "script", log, open(t, store), cfg)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	await(t, r, projection.StateLive)
	tried := make(chan struct{})
	isOver := make(chan struct{})
	store.mu.Lock()
	store.before = func(int) error {
		select {
		case tried <- struct{}{}:
			return errors.New("throttled")
		case <-isOver:
			return nil
		}
	}
	store.mu.Unlock()
	add(t, log, 0, event("", upsert("a", 1)))
	for range 100 {
		<-tried
	}
	c.move(time.Minute)
	for range 100 {
		<-tried
	}
	close(isOver)
	await(t, r, projection.StateLive)
	stop()
	<-ended
	for message, want := range map[string]int{"trying again": 2, "what was tried again has succeeded": 1} {
		if n := strings.Count(logged.String(), message); n != want {
			t.Errorf("the log has %d lines that say %q, want %d:\n%.2000s", n, message, want, logged.String())
		}
	}
}
