package projection_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
)

// halting is a log that gives no event after an offset to a fold; what is on record is compared with all of it.
type halting struct {
	*memlog.Log
	at uint64
}

func (h halting) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if most == 1 {
		return h.Log.Read(ctx, partition, after, most)
	}
	if after >= h.at {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return h.Log.Read(ctx, partition, after, min(most, int(h.at-after)))
}

// foldTo folds the log as far as the offset, as a process that ends there.
func foldTo(t *testing.T, p projection.Projection, log *memlog.Log, drv driver.Driver, at uint64) {
	t.Helper()
	cfg := quick()
	cfg.WindowEvents = 5
	r, err := projection.NewRunner(p, halting{log, at}, open(t, drv, p.Model), cfg)
	if err != nil {
		t.Fatal(err)
	}
	running, end := context.WithCancel(ctx())
	ran := make(chan error, 1)
	go func() { ran <- r.Run(running) }()
	defer func() { end(); <-ran }()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		s := status(t, r)
		if slices.ContainsFunc(s.Partitions, func(p projection.PartitionStatus) bool { return p.Checkpoint == at }) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not folded to %d within 5 s: %+v", at, s)
		}
	}
}

// foldToTheEnd folds a log that has ended.
func foldToTheEnd(t *testing.T, p projection.Projection, log *memlog.Log, drv driver.Driver) {
	t.Helper()
	r, err := projection.NewRunner(p, log, open(t, drv, p.Model), quick())
	if err == nil {
		err = r.Run(ctx())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// requestRebuild asks for a rebuild while nobody folds.
func requestRebuild(t *testing.T, p projection.Projection, drv driver.Driver) {
	t.Helper()
	if err := projection.RequestRebuild(ctx(), open(t, drv, p.Model), p); err != nil {
		t.Fatal(err)
	}
}

// nextVersion has the rows rebuilt because their layout is another.
func nextVersion(t *testing.T) {
	was := Model.Version
	t.Cleanup(func() { Model.Version = was })
	Model.Version += "+"
}

// rebuildsBegun are the ways in which a rebuild of rows at 110 is begun, and not finished.
var rebuildsBegun = map[string]func(t *testing.T, log *memlog.Log, drv driver.Driver){
	"requested": func(t *testing.T, _ *memlog.Log, drv driver.Driver) { requestRebuild(t, Projection("script"), drv) },
	"requested and begun": func(t *testing.T, log *memlog.Log, drv driver.Driver) {
		requestRebuild(t, Projection("script"), drv)
		foldTo(t, Projection("script"), log, drv, 30)
	},
	"live": func(t *testing.T, log *memlog.Log, drv driver.Driver) {
		if err := newRunner(t, "script", log, open(t, drv), quick()).Rebuild(ctx()); err != nil {
			t.Fatal(err)
		}
		foldTo(t, Projection("script"), log, drv, 30)
	},
	"another version": func(t *testing.T, log *memlog.Log, drv driver.Driver) {
		nextVersion(t)
		foldTo(t, Projection("script"), log, drv, 30)
	},
	"another version, and again": func(t *testing.T, log *memlog.Log, drv driver.Driver) {
		nextVersion(t)
		foldTo(t, Projection("script"), log, drv, 30)
		nextVersion(t)
		foldTo(t, Projection("script"), log, drv, 10)
		requestRebuild(t, Projection("script"), drv)
	},
}

// eachRebuildBegun calls f with stores of rows that were at 110 when a rebuild was begun.
func eachRebuildBegun(t *testing.T, f func(t *testing.T, drv driver.Driver)) {
	for kind, store := range keptStores {
		for way, begin := range rebuildsBegun {
			t.Run(kind+" "+way, func(t *testing.T) {
				drv, log := store(), partitioned(t, 1, numbered(0, 110, "e"))
				if m := mismatch(t, log, drv, 40); m != nil {
					t.Fatal(m)
				}
				begin(t, log, drv)
				f(t, drv)
			})
		}
	}
}

func mismatches(t *testing.T, log eventlog.Source, drv driver.Driver,
	p projection.Projection) []*projection.MismatchError {
	t.Helper()
	all, err := projection.FindMismatches(ctx(), open(t, drv, p.Model), log, p)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestARebuildKeepsTheClaimsOfTheRowsThatItReplaces: what the former rows were folded from must be in the log until the
// new ones have come past it.
func TestARebuildKeepsTheClaimsOfTheRowsThatItReplaces(t *testing.T) {
	eachRebuildBegun(t, func(t *testing.T, drv driver.Driver) {
		for name, events := range map[string][]eventlog.Event{
			"older":    numbered(0, 50, "e"),
			"diverted": slices.Concat(numbered(0, 50, "e"), numbered(50, 200, "other")),
		} {
			log := partitioned(t, 1, events)
			if all := mismatches(t, log, drv, Projection("script")); len(all) == 0 || all[0].Offset != 110 {
				t.Errorf("%s log: mismatches %v, want one at 110", name, all)
			}
			for range 2 {
				if m := mismatch(t, log, drv, 40); m == nil || m.Offset != 110 {
					t.Errorf("%s log: mismatch %v, want one at 110", name, m)
				}
			}
		}
	})
}

// TestARebuildGoesOnWithTheLogOfItsClaimsAndKeepsNoneInTheEnd, whichever way it was begun.
func TestARebuildGoesOnWithTheLogOfItsClaimsAndKeepsNoneInTheEnd(t *testing.T) {
	eachRebuildBegun(t, func(t *testing.T, drv driver.Driver) {
		if m := mismatch(t, partitioned(t, 1, numbered(0, 115, "e")), drv, 40); m != nil {
			t.Fatal(m)
		}
		n, err := open(t, drv).Notes().Get(ctx(), "completion", "script")
		if err != nil || !strings.Contains(string(n.Value), `"done":true`) || strings.Contains(string(n.Value), "claims") {
			t.Errorf("on record: %s, %v; want that it is done, without claims", n.Value, err)
		}
		older := mismatches(t, partitioned(t, 1, numbered(0, 112, "e")), drv, Projection("script"))
		if len(older) == 0 || older[0].Record != "checkpoint" || older[0].Offset != 115 {
			t.Errorf("mismatches %v, want one of the checkpoint at 115", older)
		}
	})
}

// TestAClaimIsGivenUpOnlyWhereTheLogIsAccepted as it is.
func TestAClaimIsGivenUpOnlyWhereTheLogIsAccepted(t *testing.T) {
	eachRebuildBegun(t, func(t *testing.T, drv driver.Driver) {
		log := partitioned(t, 1, numbered(0, 50, "e"))
		if mismatch(t, log, drv, 40) == nil {
			t.Error("an older log is folded before it is accepted")
		}
		if err := projection.AdoptSource(ctx(), open(t, drv), log, Projection("script")); err != nil {
			t.Fatal(err)
		}
		if all := mismatches(t, log, drv, Projection("script")); len(all) > 0 {
			t.Errorf("once it is accepted: %v", all)
		}
		if m := mismatch(t, log, drv, 40); m != nil {
			t.Errorf("once it is accepted: %v", m)
		}
	})
}

// TestAProjectionThatJoinsARebuildKeepsItsOwnClaims, since the rows that it shares are dropped for it too.
func TestAProjectionThatJoinsARebuildKeepsItsOwnClaims(t *testing.T) {
	for kind, store := range keptStores {
		t.Run(kind, func(t *testing.T) {
			_, folded := writtenProjections(writtenModel())
			var events []eventlog.Event
			for i := range 20 {
				events = append(events, deviceEvent("telemetry", "", Act{Op: "set", ID: "a", State: ptr("x"), At: ptr(i)}),
					deviceEvent("enrichment", "", Act{Op: "patch", ID: "a", Account: ptr("acme")}))
			}
			drv, log := store(), logOf(t, events...)
			foldToTheEnd(t, folded[0], log, drv)
			foldToTheEnd(t, folded[1], log, drv)
			requestRebuild(t, folded[0], drv)
			foldToTheEnd(t, folded[0], log, drv)
			foldTo(t, folded[1], log, drv, 9) // the other events are not its own
			older := logOf(t, events[:20]...)
			if all := mismatches(t, older, drv, folded[1]); len(all) != 1 || all[0].Offset != 40 {
				t.Errorf("mismatches %v, want one at 40", all)
			}
			foldToTheEnd(t, folded[1], log, drv)
		})
	}
}

// TestAStoreOfAnEarlierVersionIsFoldedAgainOnRequestWithItsClaims, without a start in between that takes it over.
func TestAStoreOfAnEarlierVersionIsFoldedAgainOnRequestWithItsClaims(t *testing.T) {
	for kind, store := range keptStores {
		t.Run(kind, func(t *testing.T) {
			drv, log := store(), formerLog(t)
			formerStore(t, log, drv)
			requestRebuild(t, Projection("script"), drv)
			if m := mismatch(t, logOf(t, broken()...), drv, 10); m == nil || m.Offset != 12 {
				t.Errorf("mismatch: %v, want one at 12", m)
			}
			r := run(t, ended(log), open(t, drv), quick())
			if s := status(t, r); s.Events == 0 {
				t.Error("nothing is rebuilt")
			}
		})
	}
}

// TestProjectionsOfOneTableBeginItAgainOnceForAnAcceptedLog, all of them: each further time would need another table.
func TestProjectionsOfOneTableBeginItAgainOnceForAnAcceptedLog(t *testing.T) {
	for kind, store := range keptStores {
		t.Run(kind, func(t *testing.T) {
			model := writtenModel()
			_, folded := writtenProjections(model)
			var events []eventlog.Event
			for i := range 20 {
				events = append(events, deviceEvent("telemetry", "", Act{Op: "set", ID: "a", State: ptr("x"), At: ptr(i)}),
					deviceEvent("enrichment", "", Act{Op: "patch", ID: "a", Account: ptr("acme")}))
			}
			drv := store()
			for _, p := range folded[:2] {
				foldToTheEnd(t, p, logOf(t, events...), drv)
			}
			older := logOf(t, events[:10]...)
			for _, p := range folded[:2] {
				if err := projection.AdoptSource(ctx(), open(t, drv, p.Model), older, p); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range folded[:2] {
				foldToTheEnd(t, p, older, drv)
			}
			serving, err := open(t, drv, model).Generations().Recorded(ctx(), model)
			if err != nil || serving.Number != 1 {
				t.Errorf("generation %d serves, %v; want 1", serving.Number, err)
			}
			for _, p := range folded[:2] {
				if all := mismatches(t, older, drv, p); len(all) > 0 {
					t.Errorf("once it is folded: %v", all)
				}
			}
		})
	}
}
