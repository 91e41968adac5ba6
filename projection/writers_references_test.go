package projection_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
)

var wearsPass = passStep{By: "wearers", Op: "wear"}

func passEnds(second int) passStep { return passStep{By: "ending", Op: "set", Ends: second} }

// TestAnEventWaitsForARowOfWhichOneOfSeveralWritersTouchesItsPartAlone, where that row is not there, or has expired:
// the event neither deletes it nor writes it as expired.
func TestAnEventWaitsForARowOfWhichOneOfSeveralWritersTouchesItsPartAlone(t *testing.T) {
	for when, before := range map[string][]eventlog.Event{
		"is not there": nil, "has expired": {passEvent(t, 0, passEnds(5))},
	} {
		for _, op := range []string{"set", "delete", "partition"} {
			if op == "set" && before == nil { // it makes the row
				continue
			}
			events := append(before, passEvent(t, 10, passStep{By: "zoning", Op: op}, wearsPass),
				passEvent(t, 11, passEnds(100)))
			eachPassFold(t, refMode{}, events, func(where string, w *Wearer, letters []projection.DeadLetter) {
				if len(letters) > 0 || w == nil || w.Badge == nil {
					t.Errorf("the pass %s, %s, %s: the wearer is %+v, dead letters are %+v; want it retried once the pass comes",
						when, op, where, w, letters)
				}
			})
		}
	}
}

// TestAnEventThatDeletesOrEndsTheRowOfSeveralWritersItNeedsFailsForGood, as with one writer.
func TestAnEventThatDeletesOrEndsTheRowOfSeveralWritersItNeedsFailsForGood(t *testing.T) {
	there, expired := passEvent(t, 0, passEnds(100)), passEvent(t, 0, passEnds(5))
	zoned := passEvent(t, 0, passEnds(100), passStep{By: "zoning", Op: "set"})
	deletes := func(by string) passStep { return passStep{By: by, Op: "delete"} }
	for what, events := range map[string][]eventlog.Event{
		"deletes it":                        {there, passEvent(t, 10, deletes("ending"), wearsPass)},
		"deletes all its parts":             {zoned, passEvent(t, 10, deletes("ending"), deletes("zoning"), wearsPass)},
		"deletes its partition":             {there, passEvent(t, 10, passStep{By: "ending", Op: "partition"}, wearsPass)},
		"ends it":                           {zoned, passEvent(t, 10, passEnds(7), wearsPass)},
		"makes it as expired":               {passEvent(t, 10, passEnds(7), wearsPass)},
		"ends one that has expired":         {expired, passEvent(t, 10, passEnds(7), wearsPass)},
		"ends one that has expired as then": {expired, passEvent(t, 10, passEnds(5), wearsPass)},
	} {
		for _, comes := range [][]eventlog.Event{nil, {passEvent(t, 11, passEnds(100))}} {
			all := slices.Concat(events, comes)
			eachPassFold(t, refMode{}, all, func(where string, w *Wearer, letters []projection.DeadLetter) {
				if len(letters) != 1 || letters[0].RefNotFound != nil || w != nil {
					t.Errorf("an event that %s, %s, and %d after it: the wearer is %+v, dead letters are %+v; want one that waits "+
						"for nothing", what, where, len(comes), w, letters)
				}
			})
		}
	}
}

// TestCopiesFollowARowThatComesBackAsTheProjectionThatEndedItDeletesItsPart, by itself or with its partition: what the
// other has written is there again, and without an end.
func TestCopiesFollowARowThatComesBackAsTheProjectionThatEndedItDeletesItsPart(t *testing.T) {
	for name, mode := range map[string]refMode{
		"after the commit":  {nullIfMissing: true},
		"by a cascade":      {nullIfMissing: true, cascade: true},
		"in the commit":     {nullIfMissing: true, cascade: true, transactional: true},
		"by an op's demand": {nullIfMissing: true, onRequest: true},
	} {
		for _, op := range []string{"delete", "partition"} {
			eachPassFold(t, mode, []eventlog.Event{
				passEvent(t, 0, passStep{By: "zoning", Op: "set"}, passEnds(5)),
				passEvent(t, 10, wearsPass),
				passEvent(t, 11, passStep{By: "ending", Op: op}),
			}, func(where string, w *Wearer, letters []projection.DeadLetter) {
				if len(letters) > 0 || w == nil || w.Badge == nil {
					t.Errorf("%s, %s, %s: the wearer is %+v, dead letters are %+v; want the copy filled in", op, name, where, w,
						letters)
				}
			})
		}
	}
}

// eachPassFold folds the events on each store in windows of one event and of all.
func eachPassFold(
	t *testing.T, mode refMode, events []eventlog.Event, check func(string, *Wearer, []projection.DeadLetter),
) {
	t.Helper()
	codec := passWearerCodec(mode)
	for kind, newStore := range keptStores {
		for _, window := range []int{1, 100} {
			cfg := quick()
			cfg.WindowEvents, cfg.MaxDeadLetterPercent = window, 100
			db := open(t, newStore(), passModel, codec.Model)
			runner, err := projection.NewRunner(passGroup(codec), logOf(t, events...), db, cfg)
			if err == nil {
				err = runner.Run(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			letters, err := runner.DeadLetters(t.Context(), "", 10)
			if err != nil {
				t.Fatal(err)
			}
			stored, err := db.ForFold("").Get(t.Context(), codec.Model, []keys.Key{{PK: "w"}}, true)
			if err != nil {
				t.Fatal(err)
			}
			var w *Wearer
			if stored[0].Record != nil {
				w = &Wearer{}
				if err := codec.Decode(stored[0].Record, w); err != nil {
					t.Fatal(err)
				}
			}
			check(fmt.Sprintf("%s store, windows of %d", kind, window), w, letters)
		}
	}
}
