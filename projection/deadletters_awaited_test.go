package projection_test

import (
	"context"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// letterCounter counts writes of dead letters, and of decisions about them.
type letterCounter struct {
	driver.Driver
	writes int
}

func (s *letterCounter) Close() error { return nil }

func (s *letterCounter) Apply(ctx context.Context, b driver.Batch) error {
	for _, w := range b.Last {
		if kind := w.Row.Key.PK; strings.HasPrefix(kind, "deadletter:") || strings.HasPrefix(kind, "decision:") {
			s.writes++
		}
	}
	return s.Driver.Apply(ctx, b)
}

// TestADeadLetterIsNotRetriedForARowThatIsNoneForIt, whenever a process reads again what is on record.
func TestADeadLetterIsNotRetriedForARowThatIsNoneForIt(t *testing.T) {
	expired := []eventlog.Event{
		dealEvent(t, 0, dealStep{Op: "deal", Deal: Deal{ID: "lease", Ends: after(10)}}),
		dealEvent(t, 20, dealStep{Op: "deal", Deal: Deal{ID: "holder", FormerID: "lease"}}),
	}
	deals := (&dealForm{expires: true}).codec()
	clubs := newCasedClubs(refMode{})
	for name, fold := range map[string]func(store driver.Driver, more bool){
		"it has expired": func(store driver.Driver, more bool) {
			events := expired
			if more {
				events = append(events, dealEvent(t, 21, dealStep{Op: "deal", Deal: Deal{ID: "lease", Ends: after(99)}}))
			}
			foldDeals(t, store, deals, 10, events)
		},
		"its identifier is another": func(store driver.Driver, more bool) {
			events := [][]ref{{{Op: "club", ID: "ACME"}}, {{Op: "set", ID: "a", Club: "Acme"}}}
			if more {
				events = append(events, []ref{{Op: "noclub", ID: "ACME"}, {Op: "club", ID: "Acme"}})
			}
			clubs.fold(t, store, 10, events...)
		},
	} {
		store := &letterCounter{Driver: memstore.New()}
		fold(store, false)
		if store.writes != 1 {
			t.Fatalf("%s: %d writes of dead letters and decisions: this shows nothing", name, store.writes)
		}
		for range 3 {
			fold(store, false)
		}
		if store.writes != 1 {
			t.Errorf("%s: a process that starts retries it: %d writes, want none", name, store.writes-1)
		}
		fold(store, true)
		if store.writes != 3 {
			t.Errorf("%s: %d writes once the row is there, want that the dead letter goes, and a decision", name,
				store.writes-1)
		}
	}
}
