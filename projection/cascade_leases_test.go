package projection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

var leaseHolderIDs = []string{"c", "d", "e", "f", "g", "h"}

// TestCopiesOfALeaseAreWhatTheDocumentsSay: of one that ends, is written as expired, and comes back by events of two
// partitions of which one is behind, some of which no copy follows, while processes end before copies have followed
// and are killed at commits, and rows that have ended are removed. To look for what few runs find, raise -count.
func TestCopiesOfALeaseAreWhatTheDocumentsSay(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	seen := leasesSeen{}
	for range 120 {
		checkLeases(t, r, &seen)
	}
	t.Logf("%+v", seen)
	if seen.null == 0 || seen.filled == 0 || seen.removed == 0 || seen.killed == 0 {
		t.Errorf("%+v: the property does not test what it says", seen)
	}
}

// leasesSeen counts what a run of the property has come across.
type leasesSeen struct {
	null, filled int // copies
	removed      int // rows
	pending      int // processes that have left copies behind, which hangs on when they end
	killed       int // processes, at a commit
}

func checkLeases(t *testing.T, r *rand.Rand, seen *leasesSeen) {
	t.Helper()
	mode := pick(r, refMode{nullIfMissing: true, cascade: true}, refMode{nullIfMissing: true},
		refMode{nullIfMissing: true, onRequest: true})
	codec := (&dealForm{expires: true, former: mode}).codec()
	if r.IntN(2) == 0 {
		codec = byOps(codec)
	}
	partitions := 1 + r.IntN(2)
	kind, window, events := pick(r, "plain", "shared"), pick(r, 1, 1, 2, 3, 100), drawLeasesApart(t, r, partitions)
	store, model := keptStores[kind](), newLeaseModel(mode, window)
	for folded, done := 0, 0; done < len(events); {
		done = max(done, folded+1)
		done += r.IntN(len(events) - done + 1)
		ends, crash := max(0, r.IntN(8)-4), drawCrash(r)
		n, left := foldInTurn(t, store, codec, window, ends, newInTurn(t, folded, events[:done]), crash)
		for i := range events[folded:n] {
			model.fold(&events[folded+i])
		}
		folded = n
		if left {
			seen.pending++
		}
		if crash.dead {
			seen.killed++
		}
		if ends == 0 && !crash.dead {
			copies := map[string]string{}
			for _, id := range leaseHolderIDs {
				if got := former(t, store, codec, id); got != nil {
					copies[id] = got.Note
					seen.filled++
				} else {
					seen.null++
				}
			}
			if wrong := model.rest(copies); wrong != nil {
				for i, e := range events[:done] {
					t.Logf("event %d, partition %s, second %v: %s", i+1, e.PartitionKey, e.Time.Sub(epoch).Seconds(), e.Data)
				}
				t.Fatalf("%+v, %s store, windows of %d, after %d events: the copies %v may not be what they are in %q", mode, kind,
					window, folded, copies, wrong)
			}
		}
		if r.IntN(3) == 0 && !crash.dead { // else rows may be ahead of the model
			if before := model.sweep(partitions); !before.IsZero() {
				seen.removed += sweepDeals(t, store, codec, before)
			}
		}
		if ends > 0 || crash.dead {
			done = folded
		}
	}
}

// foldInTurn folds a log, or ends at so many reads after it has read all of it, which is about when it folds the last
// events, or as it is killed. It returns how many events are folded, and whether copies are yet to follow.
func foldInTurn(
	t *testing.T, store driver.Driver, codec *querydb.Codec[Deal], window, ends int, log *inTurn, crash *crashing,
) (folded int, left bool) {
	t.Helper()
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	crash.end = func() { end(errCrash) }
	if ends > 0 {
		log.rest = func(reads int) {
			if reads == ends {
				end(errCrash)
			}
		}
	}
	cfg := quick()
	cfg.WindowEvents = window
	runner, err := projection.NewRunner(dealGroup(codec), log, openDeals(t, crash.of(store), codec), cfg)
	if err == nil {
		err = runner.Run(ctx)
	}
	if err != nil && context.Cause(ctx) != errCrash {
		t.Fatal(err)
	}
	folded, s := checkpointsOf(t, store, codec), status(t, runner)
	if s.DeadLetters > 0 || ends == 0 && !crash.dead && folded < len(log.order) {
		t.Fatalf("%d of %d events folded, %d dead letters", folded, len(log.order), s.DeadLetters)
	}
	return folded, s.Cascades > 0
}

// checkpointsOf is how many events are folded by what is on record: a process that was killed may not know.
func checkpointsOf(t *testing.T, store driver.Driver, codec *querydb.Codec[Deal]) (events int) {
	t.Helper()
	notes, err := openDeals(t, store, codec).Notes().List(t.Context(), "checkpoint:Club.g0:clubs+deals", "", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range notes {
		var at struct{ Offset int }
		if err := json.Unmarshal(n.Value, &at); err != nil {
			t.Fatal(err)
		}
		events += at.Offset
	}
	return events
}

// drawLeasesApart draws events of a lease and of deals that hold copies of it. The second partition is behind.
func drawLeasesApart(t *testing.T, r *rand.Rand, partitions int) []eventlog.Event {
	holders := func(second int, ids ...string) eventlog.Event {
		var steps []dealStep
		for _, id := range ids {
			steps = append(steps, dealStep{Op: "deal", Deal: Deal{ID: id, FormerID: "a"}})
		}
		return dealEvent(t, second, steps...)
	}
	events, second := []eventlog.Event{holders(0, leaseHolderIDs...)}, 0
	for n := range 4 + r.IntN(12) {
		second += r.IntN(4)
		partition, at := pick(r, "a", "b"), second // of different partitions where there are two
		if partition == "b" && partitions > 1 {
			at = second / 2
		}
		e := holders(at, pick(r, leaseHolderIDs...))
		if r.IntN(4) > 0 {
			e = dealEvent(t, at, drawLeaseChange(r, fmt.Sprint(n), at))
		}
		if partitions > 1 {
			e.PartitionKey = partition
		}
		events = append(events, e)
	}
	if partitions > 1 {
		events[0].PartitionKey = "a"
	}
	return events
}

// drawLeaseChange draws a step that changes the lease.
func drawLeaseChange(r *rand.Rand, text string, second int) dealStep {
	s := dealStep{Op: pick(r, "deal", "deal", "deal", "upsert", "nodeal", "nodeals"), ID: "a", Text: text}
	s.Deal = Deal{ID: "a", Note: pick(r, text, "n"), Ends: after(second - 3 + r.IntN(12))}
	switch r.IntN(6) {
	case 0, 1:
		s.Silent = s.Op != "nodeals"
	case 2:
		if s.Op != "nodeals" {
			s.Cascade = &projection.Cascade{Mode: pick(r, projection.Transactional, projection.Eventual)}
		}
	}
	return s
}
