package mirror

import (
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

func TestACopyKeepsThePromisesOfASource(t *testing.T) {
	for _, partitions := range []int{1, 5} {
		sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
			log, dir := memlog.New(memlog.Options{Partitions: partitions}), t.TempDir()
			add := func(t testing.TB, events []eventlog.Event) {
				if _, err := log.Append(t.Context(), events); err != nil {
					t.Fatal(err)
				}
			}
			return sourcetest.Place{
				Add: add, Tails: true, Durable: true,
				Open: func(t testing.TB) eventlog.Source {
					return caughtUp{open(t, Options{Dir: dir, Source: kept{log}}), log}
				},
				Grow: func(t testing.TB, events []eventlog.Event) {
					log.AddPartition()
					add(t, events)
				},
			}
		})
	}
}

// TestASourceThatLeavesEventsOutIsNotCopied: nobody could tell later what the copy lacks.
func TestASourceThatLeavesEventsOutIsNotCopied(t *testing.T) {
	tail := &eventlog.Tail{Source: memlog.New(memlog.Options{}), After: eventlog.Offsets{partition0: 5}}
	if m, err := Open(Options{Dir: t.TempDir(), Source: kept{tail}}); err == nil {
		m.Close()
		t.Error("it is copied")
	}
}
