package crash

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/crash/judge"
	"github.com/foldql/foldql/internal/dynamolocal"
)

// TestRowsAreThoseOfTheEventsWhateverHappened runs real servers over a log, kills and freezes them at random moments, lets
// them come to an end in peace, and compares the whole store with a fold of the log in memory. One seed is one schedule:
// which project, which events, how many of them at once, and what happens when.
//
// FOLDQL_CRASH_SEEDS says how many seeds; FOLDQL_CRASH_SEED repeats one, though not how processes take turns.
func TestRowsAreThoseOfTheEventsWhateverHappened(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for about half a minute")
	}
	all := subjects(t)
	for _, c := range []struct {
		name string
		few  int // seeds of a short run
		open func(tr *trial) (world, error)
	}{
		{"embedded", 3, openEmbedded},
		{"DynamoDB Local", 6, openDynamo(t, dynamolocal.Local, false)},
		{"dynoxide", 3, openDynamo(t, dynamolocal.Dynoxide, false)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var total report
			defer func() { t.Log(&total) }()
			for _, seed := range seeds(t, c.few) {
				tr, err := newTrial(t.TempDir(), seed, all, c.open)
				if err != nil {
					t.Fatal(err)
				}
				t.Log(tr)
				v, err := tr.run(t.Context())
				total.add(&tr.report)
				if err := judged(v, err); err != nil {
					t.Fatalf("FOLDQL_CRASH_SEED=%d: %v%s", seed, err, said(tr.dir))
				}
			}
		})
	}
}

// TestWritesWithoutConditionsAreFoundOut: with the guard off that keeps a row from being written out of its turn, trials
// find differences.
func TestWritesWithoutConditionsAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	const most = 20
	all := subjects(t)
	open := openDynamo(t, dynamolocal.Dynoxide, true)
	from := uint64(time.Now().UnixNano())
	for n := range uint64(most) {
		tr, err := newTrial(t.TempDir(), from+n, all, open)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(tr)
		v, err := tr.run(t.Context())
		if v != nil && len(v.Differences) > 0 {
			t.Logf("found at seed %d of at most %d:\n%v", n+1, most, judged(v, nil))
			return
		}
		if err != nil {
			t.Log("the trial came to no end:", err) // anything may happen
		}
	}
	t.Errorf("%d trials without conditions found nothing: they prove nothing", most)
}

// judged is what is wrong with a trial.
func judged(v *judge.Verdict, err error) error {
	if err != nil || len(v.Differences) == 0 {
		return err
	}
	return fmt.Errorf("%d differences:\n%s", len(v.Differences)+v.More, strings.Join(v.Differences, "\n"))
}

// seeds returns the seeds of a run: as many as asked for, or the one to repeat.
func seeds(t *testing.T, few int) []uint64 {
	t.Helper()
	if s := count(t, "FOLDQL_CRASH_SEED", 0); s != 0 {
		return []uint64{uint64(s)}
	}
	all := make([]uint64, count(t, "FOLDQL_CRASH_SEEDS", few))
	from := uint64(time.Now().UnixNano())
	for i := range all {
		all[i] = from + uint64(i)
	}
	return all
}

// said keeps the directory of a trial that failed, and returns where.
func said(dir string) string {
	kept, err := os.MkdirTemp("", "crash-failed-")
	if err == nil {
		err = os.CopyFS(kept, os.DirFS(dir))
	}
	if err != nil {
		return fmt.Sprintf("\nwhat the servers said could not be kept: %v", err)
	}
	return "\nthe events, and what the servers said, are in " + kept
}
