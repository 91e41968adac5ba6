package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/crash/verifier"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/faultproxy"
)

// TestRowsAreThoseOfTheEventsWhateverHappened runs real servers over a log, kills and freezes them at random moments,
// lets them come to an end in peace, and compares the whole store with a fold of the log in memory. One seed is one
// schedule: which store, which project and events, how many of them at once, and what happens when.
//
// CRASH_SEEDS says how many seeds; CRASH_SEED repeats one, though not how processes take turns. CRASH_PROJECT names
// the one project that they are of, and CRASH_STORE the one kind of store: embedded, dynoxide or DynamoDB Local. Where
// they are many, all events of the registry go through each kind of store too, once.
func TestRowsAreThoseOfTheEventsWhateverHappened(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for about a minute")
	}
	all := only(t, "CRASH_PROJECT", subjects(t), func(s *subject) string { return s.name })
	worlds := only(t, "CRASH_STORE", worlds(t), func(w named) string { return w.name })
	var total report
	defer func() { t.Log(&total) }()
	list, enough := seeds(t)
	if len(list) >= many && len(all) > 1 {
		for i, w := range worlds {
			tr, err := newLongTrial(t.TempDir(), list[i], all[registryAt], w.open)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(w.name, tr)
			survive(t, tr, &total)
		}
	}
	if count(t, "CRASH_SEEDS", 0) == 0 && len(all) > streamAt {
		all = all[:streamAt] // a deployment takes more than there is for a few seeds
	}
	for i, seed := range list {
		if i >= len(worlds) && enough() { // every kind of store had its turn
			break
		}
		w := worlds[seed%uint64(len(worlds))]
		on := all[seed/uint64(len(worlds))%uint64(len(all))]
		tr, err := newTrial(t, seed, on, w.open)
		if err != nil {
			t.Fatalf("CRASH_SEED=%d: %v", seed, err)
		}
		t.Log(w.name, tr)
		survive(t, tr, &total)
	}
	if len(list) < many || !slices.ContainsFunc(all, func(s *subject) bool { return s.cascades }) {
		return
	}
	for store, kills := range total.amid {
		if kills == 0 {
			t.Errorf("no server on %s was killed amid a cascade: that cascades go on after that was not proved", store)
		}
	}
}

// only is the one of the name that the variable has, or all.
func only[T any](t *testing.T, variable string, all []T, name func(T) string) []T {
	t.Helper()
	want := os.Getenv(variable)
	if want == "" {
		return all
	}
	i := slices.IndexFunc(all, func(one T) bool { return name(one) == want })
	if i < 0 {
		t.Fatalf("%s=%q: there is none of that name", variable, want)
	}
	return all[i : i+1]
}

// many seeds take so long that the whole registry does not count.
const many = 100

// survive runs a trial, and fails the test where it leaves other rows than it must.
func survive(t *testing.T, tr *trial, total *report) {
	t.Helper()
	v, err := tr.run(t.Context())
	total.add(&tr.report)
	if err := verified(v, err); err != nil {
		failure := fmt.Sprintf("CRASH_SEED=%d: %v", tr.seed, err)
		t.Fatal(failure + said(tr.dir, failure))
	}
}

// named is a kind of world.
type named struct {
	name string
	open func(tr *trial) (world, error)
}

// worlds are those that seeds take in turns.
func worlds(t *testing.T) []named {
	local := named{"DynamoDB Local", openDynamo(t, dynamolocal.Local, faultproxy.Nothing)}
	dynoxide := named{"dynoxide", openDynamo(t, dynamolocal.Dynoxide, faultproxy.Nothing)}
	return []named{local, dynoxide, {"embedded", openEmbedded}}
}

// verified is what is wrong with a trial.
func verified(v *verifier.Verdict, err error) error {
	if v == nil || len(v.Differences) == 0 {
		return err
	}
	return errors.Join(err, fmt.Errorf("%d differences:\n%s", len(v.Differences)+v.More,
		strings.Join(v.Differences, "\n")))
}

// seeds returns the seeds of a run, as many as asked for, or the one to repeat. Where nobody asks, they are a few, and
// enough says when they have taken enough time.
func seeds(t *testing.T) (all []uint64, enough func() bool) {
	t.Helper()
	const few, most = 8, 25 * time.Second
	if s := count(t, "CRASH_SEED", 0); s != 0 {
		return []uint64{uint64(s)}, func() bool { return false }
	}
	began := time.Now()
	n := count(t, "CRASH_SEEDS", 0)
	enough = func() bool { return n == 0 && time.Since(began) > most }
	all = make([]uint64, max(n, 0))
	if n == 0 {
		all = make([]uint64, few)
	}
	for i := range all {
		all[i] = uint64(began.UnixNano()) + uint64(i)
	}
	return all, enough
}

// said keeps the directory of a trial that failed, with the failure, and returns where.
func said(dir, failure string) string {
	kept, err := os.MkdirTemp("", "crash-failed-")
	if err == nil {
		err = os.CopyFS(kept, os.DirFS(dir))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(kept, "failure.txt"), []byte(failure), 0o600)
	}
	if err != nil {
		return fmt.Sprintf("\nwhat the servers said could not be kept: %v", err)
	}
	return "\nthe events, what the servers said, and this failure are in " + kept
}
