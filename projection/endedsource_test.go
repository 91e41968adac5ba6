package projection_test

import (
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
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
