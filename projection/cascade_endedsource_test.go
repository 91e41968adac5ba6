package projection_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestWritingARowThatHasExpiredAsExpiredLeavesCopiesOfIt, as deleting it does.
func TestWritingARowThatHasExpiredAsExpiredLeavesCopiesOfIt(t *testing.T) {
	lease := func(second int, note string) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: note, Ends: after(10)}})
	}
	events := []eventlog.Event{
		lease(0, "n"), dealEvent(t, 1, dealStep{Op: "deal", Deal: Deal{ID: "holder", FormerID: "lease"}}), lease(20, "m"),
	}
	for name, mode := range map[string]refMode{
		"after the commit":  {nullIfMissing: true},
		"by a cascade":      {nullIfMissing: true, cascade: true},
		"in the commit":     {nullIfMissing: true, cascade: true, transactional: true},
		"by an op's demand": {nullIfMissing: true, onRequest: true},
		"never null":        {cascade: true},
	} {
		codec := (&dealForm{expires: true, former: mode}).codec()
		for kind, newStore := range keptStores {
			for _, window := range []int{1, 100} {
				store := newStore()
				foldDeals(t, store, codec, window, events[:2])
				foldDeals(t, store, codec, window, events)
				if got := former(t, store, codec, "holder"); got == nil || got.Note != "n" {
					t.Errorf("%s, %s store, windows of %d: the copy is %+v, want it as it was", name, kind, window, got)
				}
			}
		}
	}
}

// TestCopiesOfARowThatAnEventWritesAsExpiredAreNull, or stay as they were where they must not be null: however they
// follow, and however many events a window has.
func TestCopiesOfARowThatAnEventWritesAsExpiredAreNull(t *testing.T) {
	live := dealEvent(t, 0, dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: "n", Ends: after(10)}})
	holder := dealStep{Op: "deal", Deal: Deal{ID: "holder", FormerID: "lease"}}
	ended := dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: "m", Ends: after(3)}}
	for what, events := range map[string][]eventlog.Event{
		"a row that was there": {live, dealEvent(t, 1, holder), dealEvent(t, 5, ended)},
		"a row that was not":   {dealEvent(t, 1, holder), dealEvent(t, 5, ended)},
		"one in one event":     {dealEvent(t, 5, ended, holder)},
	} {
		for name, mode := range map[string]refMode{
			"after the commit":         {nullIfMissing: true},
			"by a cascade":             {nullIfMissing: true, cascade: true},
			"in the commit":            {nullIfMissing: true, cascade: true, transactional: true},
			"by an op's demand":        {nullIfMissing: true, onRequest: true},
			"by a cascade, never null": {cascade: true}, "in the commit, never null": {cascade: true, transactional: true},
		} {
			if !mode.nullIfMissing && what != "a row that was there" { // the event of the holder is a dead letter
				continue
			}
			codec := (&dealForm{expires: true, former: mode}).codec()
			for way, codec := range map[string]*querydb.Codec[Deal]{"by recopying": codec, "by ops": byOps(codec)} {
				for kind, newStore := range keptStores {
					for _, window := range []int{1, 100} {
						store := newStore()
						foldDeals(t, store, codec, window, events[:len(events)-1])
						foldDeals(t, store, codec, window, events)
						got := former(t, store, codec, "holder")
						if is := got == nil; is != mode.nullIfMissing || !is && got.Note != "n" {
							t.Errorf("%s, %s, %s, %s store, windows of %d: the copy is %+v", what, name, way, kind, window, got)
						}
					}
				}
			}
		}
	}
}

// TestCopiesFollowEachEventOfARowThatEnds as in windows of one event: one that changes the end alone takes nothing from
// those before it, and one that writes the row as expired counts, however much of the window or of the copies is done.
func TestCopiesFollowEachEventOfARowThatEnds(t *testing.T) {
	lease := func(second int, note string, ends int) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "deal", Deal: Deal{ID: "lease", Note: note, Ends: after(ends)}})
	}
	deleted := func(second int) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "nodeal", ID: "lease"})
	}
	ids := []string{"a", "b", "c", "d", "e", "f"} // so many that their copies follow in several commits
	var steps []dealStep
	for _, id := range ids {
		steps = append(steps, dealStep{Op: "deal", Deal: Deal{ID: id, FormerID: "lease"}})
	}
	holders := dealEvent(t, 1, steps...)
	const null = ""
	for what, c := range map[string]struct {
		events                []eventlog.Event
		followed, kept, never string // the copy that cascades, the one that does not, the one that is never null
	}{
		"changed, then the end alone":     {[]eventlog.Event{lease(5, "m", 10), lease(6, "m", 6)}, "m", "n", "m"},
		"changed, then ended in the past": {[]eventlog.Event{lease(5, "m", 10), lease(6, "m", 4)}, "m", "n", "m"},
		"both in the same second":         {[]eventlog.Event{lease(5, "m", 10), lease(5, "m", 5)}, "m", "n", "m"},
		"deleted, made again, then ended": {[]eventlog.Event{deleted(3), lease(5, "n", 10), lease(6, "n", 6)},
			"n", "n", "n"},
		"written as expired, and once again": {[]eventlog.Event{lease(5, "m", 4), lease(7, "x", 6)}, null, null, "n"},
	} {
		events := append([]eventlog.Event{lease(0, "n", 10), holders}, c.events...)
		for name, mode := range map[string]struct {
			refMode
			want string
		}{
			"after the commit":         {refMode{nullIfMissing: true}, c.kept},
			"by a cascade":             {refMode{nullIfMissing: true, cascade: true}, c.followed},
			"in the commit":            {refMode{nullIfMissing: true, cascade: true, transactional: true}, c.followed},
			"by an op's demand":        {refMode{nullIfMissing: true, onRequest: true}, c.kept},
			"by a cascade, never null": {refMode{cascade: true}, c.never},
		} {
			codec := (&dealForm{expires: true, former: mode.refMode}).codec()
			for kind, newStore := range keptStores {
				for _, window := range []int{1, 2, 100} {
					store := newStore()
					foldDeals(t, store, codec, window, events)
					for _, id := range ids {
						got := null
						if copied := former(t, store, codec, id); copied != nil {
							got = copied.Note
						}
						if got != mode.want {
							t.Errorf("%s, %s, %s store, windows of %d: the copy in %s is %q, want %q", what, name, kind, window,
								id, got, mode.want)
						}
					}
				}
			}
		}
	}
}

// TestARowThatHasExpiredAndIsRecopiedTakesNoCommitOfItsOwn for each event that changes what it has a copy of.
func TestARowThatHasExpiredAndIsRecopiedTakesNoCommitOfItsOwn(t *testing.T) {
	events := []eventlog.Event{dealEvent(t, 0, dealStep{Op: "club", ID: "A", Text: "t"},
		dealStep{Op: "deal", Deal: Deal{ID: "d", Note: "n", ClubID: "A", Ends: after(10)}})}
	for i := range 40 {
		events = append(events, dealEvent(t, 20+i, dealStep{Op: "club", ID: "A", Text: fmt.Sprint("t", i)}))
	}
	codec := (&dealForm{expires: true, club: transactional, former: refMode{cascade: true, nullIfMissing: true}}).codec()
	for kind, newStore := range keptStores {
		cfg := quick()
		cfg.WindowEvents, cfg.MaxDeadLetterPercent = 10, 100
		runner, err := projection.NewRunner(dealGroup(codec), logOf(t, events...), openDeals(t, newStore(), codec), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := runner.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := status(t, runner).Commits; got > 10 {
			t.Errorf("%s store: %d commits of %d events in windows of 10", kind, got, len(events))
		}
	}
}

// TestARowThatComesBackIsThereForCopiesThatAreYetToFollow what an event before wrote as expired, also where the event
// that brings it back has none follow after its commit. The copy of a deal that is made then is the row's, however many
// events a window has. One from before may be filled in too, as copies go by what the row is when they follow.
func TestARowThatComesBackIsThereForCopiesThatAreYetToFollow(t *testing.T) {
	lease := func(second int, note string, ends int, how dealStep) eventlog.Event {
		how.Op, how.Deal = "deal", Deal{ID: "lease", Note: note, Ends: after(ends)}
		return dealEvent(t, second, how)
	}
	holder := func(second int, id string) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "deal", Deal: Deal{ID: id, FormerID: "lease"}})
	}
	silent := dealStep{Silent: true}
	for name, back := range map[string]dealStep{
		"silently": silent, "in the commit": {Cascade: &projection.Cascade{Mode: projection.Transactional}},
	} {
		events := []eventlog.Event{
			lease(0, "n", 10, dealStep{}), holder(1, "before"), lease(5, "m", 3, dealStep{}), lease(6, "k", 100, back),
			holder(7, "since"),
		}
		codec := (&dealForm{expires: true, former: refMode{nullIfMissing: true, cascade: true}}).codec()
		for way, codec := range map[string]*querydb.Codec[Deal]{"by recopying": codec, "by ops": byOps(codec)} {
			for kind, newStore := range keptStores {
				for _, window := range []int{1, 2, 100} {
					store := newStore()
					foldDeals(t, store, codec, window, events)
					before, since := former(t, store, codec, "before"), former(t, store, codec, "since")
					if since == nil || since.Note != "k" || before == nil && !back.Silent || before != nil && before.Note != "k" {
						t.Errorf("%s, %s, %s store, windows of %d: the copy from before is %+v, the one since %+v", name, way,
							kind, window, before, since)
					}
				}
			}
		}
	}
}

// TestARowThatIsWrittenAsExpiredOnceMoreIsNoneForCopiesThatAreYetToFollow, though its new end lies behind the moment of
// the event that wrote it so first.
func TestARowThatIsWrittenAsExpiredOnceMoreIsNoneForCopiesThatAreYetToFollow(t *testing.T) {
	lease := func(second int, ends int, silent bool) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "deal", Silent: silent, Deal: Deal{
			ID: "lease", Note: fmt.Sprint(second), Ends: after(ends),
		}})
	}
	for _, back := range []bool{false, true} {
		events := []eventlog.Event{
			lease(0, 10, false), dealEvent(t, 1, dealStep{Op: "deal", Deal: Deal{ID: "holder", FormerID: "lease"}}),
			lease(5, 3, false),
		}
		if back {
			events = append(events, dealEvent(t, 6, dealStep{Op: "nodeals", ID: "lease"}))
		}
		events = append(events, lease(7, 6, true))
		codec := (&dealForm{expires: true, former: refMode{nullIfMissing: true, cascade: true}}).codec()
		for kind, newStore := range keptStores {
			for _, window := range []int{1, 2, 100} {
				store := newStore()
				foldDeals(t, store, codec, window, events)
				if got := former(t, store, codec, "holder"); got != nil {
					t.Errorf("deleted in between %t, %s store, windows of %d: the copy is %+v, want null", back, kind, window, got)
				}
			}
		}
	}
}

// TestACopyInARowThatHasEndedDoesNotBringTheRowBack for copies of that one which are yet to follow its end.
func TestACopyInARowThatHasEndedDoesNotBringTheRowBack(t *testing.T) {
	lease := func(second int, note string, ends int) eventlog.Event {
		return dealEvent(t, second, dealStep{Op: "deal", Deal: Deal{ID: "lease", ClubID: "A", Note: note, Ends: after(ends)}})
	}
	const holders = 1200 // more than one commit has follow
	events := []eventlog.Event{dealEvent(t, 0, dealStep{Op: "club", ID: "A", Text: "a"}), lease(0, "n", 10)}
	for i := range holders {
		events = append(events, dealEvent(t, 1, dealStep{Op: "deal", Deal: Deal{ID: fmt.Sprint(i), FormerID: "lease"}}))
	}
	codec := (&dealForm{
		expires: true, club: transactional, former: refMode{nullIfMissing: true, cascade: true},
	}).codec()
	for kind, newStore := range keptStores {
		store := newStore()
		foldDeals(t, store, codec, 100, events)
		foldDeals(t, store, codec, 1, append(slices.Clip(events), lease(5, "m", 3),
			dealEvent(t, 6, dealStep{Op: "rename", ID: "A", Text: "b"})))
		for i := range holders {
			if got := former(t, store, codec, fmt.Sprint(i)); got != nil {
				t.Fatalf("%s store: the copy in deal %d is %+v, want null", kind, i, got)
			}
		}
	}
}

// TestRowsThatExpireAndHoldCopiesTakeNoRoomOfACommitForTasks where nobody copies them.
func TestRowsThatExpireAndHoldCopiesTakeNoRoomOfACommitForTasks(t *testing.T) {
	events := []eventlog.Event{dealEvent(t, 0, dealStep{Op: "club", ID: "A", Text: "a"})}
	for i := range 60 {
		events = append(events, dealEvent(t, 1, dealStep{Op: "deal", Deal: Deal{ID: fmt.Sprint(i), ClubID: "A"}}))
	}
	events = append(events, dealEvent(t, 2, dealStep{Op: "rename", ID: "A", Text: "b"}))
	codec := (&dealForm{expires: true, club: transactional}).codec()
	store := memstore.NewMultiWriter(memstore.Options{
		MostWrites: 96, MostBytes: 3_500_000, Now: func() time.Time { return epoch },
	})
	if letters := foldDeals(t, store, codec, 100, events); len(letters) > 0 {
		t.Errorf("dead letters: %+v", letters)
	}
}

// TestAnEventThatWritesRowsWhichAreNotCopiedYetTakesNoRoomOfACommitForTasks, in whatever way copies would follow them,
// and whether the rows have ended by then or not.
func TestAnEventThatWritesRowsWhichAreNotCopiedYetTakesNoRoomOfACommitForTasks(t *testing.T) {
	for name, mode := range map[string]refMode{
		"after the commit":  {nullIfMissing: true},
		"by a cascade":      {nullIfMissing: true, cascade: true},
		"in the commit":     {nullIfMissing: true, cascade: true, transactional: true},
		"by an op's demand": {nullIfMissing: true, onRequest: true},
	} {
		for _, ends := range []time.Time{{}, after(100), after(1)} {
			for _, c := range []struct {
				rows         int
				silent, wipe bool
			}{{40, false, false}, {60, true, false}, {200, true, true}} {
				var steps []dealStep
				if c.wipe {
					steps = append(steps, dealStep{Op: "nodeals", ID: "0", Silent: c.silent})
				}
				for i := range c.rows {
					steps = append(steps, dealStep{Op: "deal", Silent: c.silent, Deal: Deal{ID: fmt.Sprint(i), Ends: ends}})
				}
				codec := (&dealForm{expires: true, former: mode}).codec()
				store := memstore.NewMultiWriter(memstore.Options{
					MostWrites: 96, MostBytes: 3_500_000, Now: func() time.Time { return epoch },
				})
				for _, l := range foldDeals(t, store, codec, 100, []eventlog.Event{dealEvent(t, 2, steps...)}) {
					t.Errorf("%s, %+v, ends %s: a dead letter: %s", name, c, ends, l.Reason)
				}
			}
		}
	}
}

// TestRowsThatAreWrittenAsExpiredOnceMoreAreNoneForCopiesThatAreYetToFollow, also where one event writes more of them
// than a commit has room for beside their tasks.
func TestRowsThatAreWrittenAsExpiredOnceMoreAreNoneForCopiesThatAreYetToFollow(t *testing.T) {
	const leases = 60
	each := func(second, from, to int, step func(id string) dealStep) eventlog.Event {
		var steps []dealStep
		for i := from; i < to; i++ {
			steps = append(steps, step(fmt.Sprint("lease", i)))
		}
		return dealEvent(t, second, steps...)
	}
	lease := func(ends int, silent bool) func(id string) dealStep {
		return func(id string) dealStep {
			return dealStep{Op: "deal", Silent: silent, Deal: Deal{ID: id, Note: fmt.Sprint(ends), Ends: after(ends)}}
		}
	}
	holder := func(id string) dealStep {
		return dealStep{Op: "deal", Silent: true, Deal: Deal{ID: "of " + id, FormerID: id}}
	}
	var events []eventlog.Event
	for i := 0; i < leases; i += 15 {
		events = append(events, each(0, i, i+15, lease(10, false)), each(1, i, i+15, holder))
	}
	before := len(events)
	for i := 0; i < leases; i += 15 {
		events = append(events, each(5, i, i+15, lease(3, false)))
	}
	events = append(events, each(7, 0, leases, lease(6, true)))
	codec := (&dealForm{expires: true, former: refMode{nullIfMissing: true, cascade: true}}).codec()
	for kind, newStore := range map[string]func() driver.Driver{
		"plain": keptStores["plain"],
		"shared": func() driver.Driver {
			return sharedKept{memstore.NewMultiWriter(memstore.Options{
				MostWrites: 96, MostBytes: 3_500_000, Now: func() time.Time { return epoch },
			})}
		},
	} {
		for _, window := range []int{1, 100} {
			store := newStore()
			foldDeals(t, store, codec, window, events[:before])
			if letters := foldDeals(t, store, codec, window, events); len(letters) > 0 {
				t.Fatalf("%s store, dead letters: %+v", kind, letters)
			}
			for i := range leases {
				if got := former(t, store, codec, fmt.Sprint("of lease", i)); got != nil {
					t.Fatalf("%s store, windows of %d: the copy of lease %d is %+v, want null", kind, window, i, got)
				}
			}
		}
	}
}
