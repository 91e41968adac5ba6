package projection_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// TestADecisionHoldsForRowsOfAGroupThatAreBuilt, also a retry that fails again: its event waits for a row as before.
func TestADecisionHoldsForRowsOfAGroupThatAreBuilt(t *testing.T) {
	for name := range refStores() {
		for at := 1; at <= 3; at++ {
			t.Run(fmt.Sprintf("%s, at %d", name, at), func(t *testing.T) {
				decideAboutGroup(t, refStores()[name], at)
			})
		}
	}
}

// groupOf has the rows of clubs and picks folded, or built.
func groupOf(t *testing.T, db *querydb.DB, log eventlog.Source) *projection.Runner {
	t.Helper()
	cfg := quick()
	cfg.KeepServing, cfg.WindowEvents = true, 2
	r, err := projection.NewRunner(refGroup(refMode{cascade: true}), log, db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func decideAboutGroup(t *testing.T, store func() driver.Driver, at int) {
	log := openLog(t, refEvent("", ref{Op: "club", ID: "D", Text: "Dan's"}),
		refEvent("", ref{Op: "set", ID: "a", Club: "A"}), refEvent("", ref{Op: "set", ID: "b", Club: "B"}))
	db := open(t, store(), clubModel, pickModel)
	serving := groupOf(t, db, ended(log))
	if err := serving.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	beside, err := open(t, store(), clubModel, pickModel).Generations().ForBuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := hold(log, at)
	unit := []projection.Projection{refGroup(refMode{cascade: true})}
	if err := projection.BeginBuild(t.Context(), db, beside, held, unit, quick()); err != nil {
		t.Fatal(err)
	}
	build, run := inBackground(t, groupOf(t, beside, held))
	run.reaches(t, build, at)
	if err := serving.Skip(t.Context(), "0@2"); err != nil {
		t.Fatal(err)
	}
	if err := serving.Retry(t.Context(), "0@3"); err == nil {
		t.Fatal("the retry of a pick of no club has succeeded")
	}
	if !db.MultiWriter() {
		if err := build.ReadDecisions(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	add(t, log, 3, refEvent("", ref{Op: "club", ID: "A", Text: "Ann's"}),
		refEvent("", ref{Op: "club", ID: "B", Text: "Bob's"}))
	if err := serving.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	held.release()
	log.End()
	if err := run.wait(); err != nil {
		t.Fatal(err)
	}
	want := map[string]Pick{"b": {"b", "B", &ClubCopy{"B", "Bob's"}, ""}}
	for rows, of := range map[string]*querydb.DB{"serve": db, "are built": beside} {
		if _, picks := refRows(t, of); !cmp.Equal(want, picks) {
			t.Errorf("picks of the rows that %s (-want +got):\n%s", rows, cmp.Diff(want, picks))
		}
	}
	for rows, r := range map[string]*projection.Runner{"serve": serving, "are built": build} {
		if left := deadLettersOf(t, r); len(left) > 0 {
			t.Errorf("dead letters of the rows that %s: %v", rows, left)
		}
	}
}

// TestADeadLetterThatWaitsForABuildHoldsUpNoOther: the build is yet to try it where it was tried before, and the row
// that another waits for is there.
func TestADeadLetterThatWaitsForABuildHoldsUpNoOther(t *testing.T) {
	for name, store := range refStores() {
		t.Run(name, func(t *testing.T) {
			log := openLog(t,
				refEvent("", ref{Op: "set", ID: "a", Club: "A"}, ref{Op: "set", ID: "b", Club: "B"}),
				refEvent("", ref{Op: "set", ID: "c", Club: "C"}),
				refEvent("", ref{Op: "club", ID: "A", Text: "Ann's"})) // the first is retried, in vain
			db := open(t, store(), clubModel, pickModel)
			serving := groupOf(t, db, ended(log))
			if err := serving.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			beside, err := open(t, store(), clubModel, pickModel).Generations().ForBuild(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			held := hold(log, 2)
			unit := []projection.Projection{refGroup(refMode{cascade: true})}
			if err := projection.BeginBuild(t.Context(), db, beside, held, unit, quick()); err != nil {
				t.Fatal(err)
			}
			build, run := inBackground(t, groupOf(t, beside, held))
			run.reaches(t, build, 2)
			add(t, log, 3, refEvent("", ref{Op: "club", ID: "B", Text: "Bob's"}),
				refEvent("", ref{Op: "club", ID: "C", Text: "Cem's"}))
			if err := serving.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := map[string]Pick{"c": {"c", "C", &ClubCopy{"C", "Cem's"}, ""}}
			if _, picks := refRows(t, db); !cmp.Equal(want, picks) {
				t.Errorf("picks while the build is held up (-want +got):\n%s", cmp.Diff(want, picks))
			}
			held.release()
			log.End()
			if err := run.wait(); err != nil {
				t.Fatal(err)
			}
			if err := serving.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			want["a"], want["b"] = Pick{"a", "A", &ClubCopy{"A", "Ann's"}, ""}, Pick{"b", "B", &ClubCopy{"B", "Bob's"}, ""}
			for rows, of := range map[string]*querydb.DB{"serve": db, "are built": beside} {
				if _, picks := refRows(t, of); !cmp.Equal(want, picks) {
					t.Errorf("picks of the rows that %s (-want +got):\n%s", rows, cmp.Diff(want, picks))
				}
			}
		})
	}
}
