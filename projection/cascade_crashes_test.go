package projection_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

var errBusy = errors.New("the store is busy")

// hookStore asks before each commit to a store that several processes write to.
type hookStore struct {
	sharedKept
	before func(b *driver.Batch) error
}

func (s hookStore) Apply(ctx context.Context, b driver.Batch) error {
	if err := s.before(&b); err != nil {
		return err
	}
	return s.sharedKept.Apply(ctx, b)
}

// TestARowStaysNoneForCopiesWhoseTaskIsRestatedAndTheRowNotWritten: the process is killed between the two, also several
// times, and also where the answer to the first got lost.
func TestARowStaysNoneForCopiesWhoseTaskIsRestatedAndTheRowNotWritten(t *testing.T) {
	lease := func(second int, note string, ends int, silent bool) eventlog.Event {
		return dealEvent(t, second,
			dealStep{Op: "deal", Silent: silent, Deal: Deal{ID: "lease", Note: note, Ends: after(ends)}})
	}
	events := []eventlog.Event{lease(0, "first", 10, false)}
	const holders = 300 // more than one commit has follow
	for i := range holders {
		holder := Deal{ID: fmt.Sprint("holder", i), FormerID: "lease"}
		events = append(events, dealEvent(t, 1, dealStep{Op: "deal", Deal: holder}))
	}
	before := len(events)
	events = append(events, lease(5, "second", 3, false), lease(7, "third", 6, true))
	codec := (&dealForm{expires: true, former: refMode{nullIfMissing: true, cascade: true}}).codec()

	for _, lost := range [][]bool{{false}, {true}, {false, false}, {false, true, false}} {
		store := keptStores["shared"]().(sharedKept)
		foldDeals(t, store, codec, 100, events[:before])
		for _, answerLost := range lost {
			foldUntilWritten(t, store, codec, events, "third", answerLost)
		}
		foldDeals(t, store, codec, 1, events)
		for i := range holders {
			if got := former(t, store, codec, fmt.Sprint("holder", i)); got != nil {
				t.Fatalf("answers lost in the processes: %v; copy %d is %+v, want null", lost, i, got)
			}
		}
	}
}

// foldUntilWritten has a process fold events until it is killed as it writes the lease with the note. Where an answer
// is to be lost, it is the first one to a commit of the lease's task alone.
func foldUntilWritten(
	t *testing.T, store sharedKept, codec *querydb.Codec[Deal], events []eventlog.Event, note string, loses bool,
) {
	t.Helper()
	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	isTask := func(b *driver.Batch) bool {
		return len(b.Writes) == 0 && len(b.Last) == 2 && strings.HasPrefix(b.Last[0].Row.Key.PK, "cascade")
	}
	hooked := hookStore{store, func(b *driver.Batch) error {
		for _, w := range b.Writes {
			if w.Row.Key.PK == "lease" && strings.Contains(string(w.Row.Record), note) {
				kill(errCrash)
			}
		}
		if context.Cause(ctx) == errCrash {
			return errCrash
		}
		if loses && isTask(b) {
			loses = false
			if err := store.Apply(ctx, *b); err != nil {
				t.Error(err)
			}
			return errBusy
		}
		return nil
	}}
	cfg := quick()
	cfg.WindowEvents = 1
	runner, err := projection.NewRunner(dealGroup(codec), logOf(t, events...), openDeals(t, hooked, codec), cfg)
	if err == nil {
		err = runner.Run(ctx)
	}
	if context.Cause(ctx) != errCrash {
		t.Fatalf("the process was not killed: %v", err)
	}
	if loses {
		t.Fatal("no answer was lost")
	}
}

// crashing is a store as one process sees it that is killed at one of its commits, or refused some of them.
type crashing struct {
	end func() // the process

	mu      sync.Mutex
	r       *rand.Rand
	dead    bool
	commits int
	last    int // the commit at which it is killed; 0 for none
	refused int // percent of the commits
}

// drawCrash draws when a process ends.
func drawCrash(r *rand.Rand) *crashing {
	return &crashing{r: rand.New(rand.NewPCG(r.Uint64(), 0)), last: max(0, r.IntN(40)-20), refused: pick(r, 0, 0, 20)}
}

// apply does a commit or not, and says so or not.
func (c *crashing) apply(do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.commits++
	switch {
	case c.dead:
		return errCrash
	case c.commits == c.last:
		c.dead = true
		defer c.end()
	case c.r.IntN(100) >= c.refused:
		return do()
	}
	if c.r.IntN(2) == 0 {
		if err := do(); err != nil {
			return err
		}
	}
	return errBusy
}

// of is the store as the process sees it.
func (c *crashing) of(store driver.Driver) driver.Driver {
	if s, shared := store.(sharedKept); shared {
		return crashingShared{s, c}
	}
	return crashingPlain{store.(keptStore), c}
}

type crashingPlain struct {
	keptStore
	c *crashing
}

func (s crashingPlain) Apply(ctx context.Context, b driver.Batch) error {
	return s.c.apply(func() error { return s.keptStore.Apply(ctx, b) })
}

type crashingShared struct {
	sharedKept
	c *crashing
}

func (s crashingShared) Apply(ctx context.Context, b driver.Batch) error {
	return s.c.apply(func() error { return s.sharedKept.Apply(ctx, b) })
}
