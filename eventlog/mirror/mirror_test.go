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

// TestACopyOfAnEarlierVersionKnowsWhatItLacks: that copied no event that was not wanted, and did not tell. Of a source
// that may begin anywhere, nothing is known to lack.
func TestACopyOfAnEarlierVersionKnowsWhatItLacks(t *testing.T) {
	log, dir, all := memlog.New(memlog.Options{}), t.TempDir(), sourcetest.Events(9)
	if _, err := log.Append(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	copied := func(src eventlog.Source, fromFirst bool) caughtUp {
		source := kept{struct{ eventlog.Source }{src}} // a Tail is not seen in it
		return caughtUp{open(t, Options{Dir: dir, Source: source, FromFirst: fromFirst}), log}
	}
	for _, src := range []eventlog.Source{
		&eventlog.Tail{Source: log, After: eventlog.Offsets{partition0: 5}}, // as an earlier version has it
		log,
	} {
		m := copied(src, false)
		wantEvents(t, all[5:], drain(t, m, partition0, 0))
		shut(t, m)
	}
	m := copied(log, true)
	for _, after := range []uint64{0, 4} {
		events, err := m.Read(t.Context(), partition0, after, 10)
		if lost := eventlog.ForgottenIn(err); lost == nil || lost.First != 6 {
			t.Errorf("%d events after %d, %v; want that those up to the fifth are forgotten", len(events), after, err)
		}
	}
	wantEvents(t, all[5:], drain(t, m, partition0, 5))
}
