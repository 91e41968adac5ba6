package projectiontest

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/eventlog"
)

// way is how the events reach the projection, and what happens to it meanwhile.
type way struct {
	name string
	// legs are folded one after the other, each by a new runner over the same store, from a log of its events.
	legs    [][]eventlog.Event
	window  int  // events per commit, 0 for all
	lose    bool // the store commits, and then fails to say so
	forget  bool // between legs the store forgets the rows and the checkpoint, as for a model of a new version
	shared  bool // the store has other writers, and commits write by write
	partial bool // every other batch is partly written
	ends    int  // after so many commits of the first leg the process ends, 0 for never
}

// maxStops bounds the ways that stop somewhere: longer specs are stopped so many times, evenly apart.
const maxStops = 100

func once(events []eventlog.Event) way {
	return way{name: "folding", legs: [][]eventlog.Event{events}}
}

// ways are all the ways but the plainest.
func ways(events []eventlog.Event) []way {
	again := once(events)
	again.name = "projecting the same events again (is the projector pure?)"

	lost := once(events)
	lost.name, lost.window, lost.lose = "losing the answer to every commit", 1, true

	rebuilt := way{name: "rebuilding from the whole log", legs: [][]eventlog.Event{events, events}, forget: true}

	others := amongOthers(once(events))

	partial := others
	partial.name, partial.partial = "failing amid batches", true

	all := []way{again, lost, rebuilt, others, amongOthers(rebuilt), partial}
	for _, n := range stops(len(events)) {
		cut := once(events)
		cut.name, cut.window = fmt.Sprintf("folding in windows of %d", n), n
		stopped := way{
			name: fmt.Sprintf("stopping after event %d and resuming", n),
			legs: [][]eventlog.Event{events[:n], events},
		}
		partialCut := partial
		partialCut.name = fmt.Sprintf("failing amid batches, in windows of %d, so that events reach the rows twice", n)
		partialCut.window = n
		partialStopped := partial
		partialStopped.name = fmt.Sprintf("failing amid batches, stopping after event %d and resuming", n)
		partialStopped.legs = stopped.legs
		all = append(all, cut, stopped, partialCut, partialStopped)
	}
	return all
}

// eachByItself has a commit for each event, and for each change of a copy, so that something can happen between them.
func eachByItself(events []eventlog.Event) way {
	w := once(events)
	w.name, w.window = "folding each event by itself", 1
	return w
}

func amongOthers(w way) way {
	w.name, w.shared = w.name+" on a store that others write to", true
	return w
}

// ended is a way in which the process ends after one of its commits, be it of an event, of copies that follow a change,
// or of a retry, and another goes on.
func ended(w way, commits int) way {
	w.name, w.ends = fmt.Sprintf("%s, and ending the process after commit %d", w.name, commits), commits
	w.legs = slices.Repeat(w.legs, 2)
	return w
}

// stops are numbers from 1 to n-1, at most maxStops of them.
func stops(n int) []int {
	step := max(1, (n+maxStops-1)/maxStops)
	var at []int
	for i := 1; i < n; i += step {
		at = append(at, i)
	}
	return at
}
