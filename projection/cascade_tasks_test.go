package projection_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// taskCounter counts commits, and rows whose copies are yet to follow.
type taskCounter struct {
	driver.Driver
	commits, most int
	tasks         map[keys.Key]bool
}

func (s *taskCounter) Apply(ctx context.Context, b driver.Batch) error {
	s.commits++
	for _, w := range b.Last {
		switch {
		case !strings.HasPrefix(w.Row.Key.PK, "cascade:"):
		case w.Kind == driver.Put:
			s.tasks[w.Row.Key] = true
		default:
			delete(s.tasks, w.Row.Key)
		}
	}
	s.most = max(s.most, len(s.tasks))
	return s.Driver.Apply(ctx, b)
}

// TestRowsThatNobodyHasCopiesOfCostFewCommits, and few of them are in memory: a log that is folded from its beginning
// makes each of the rows that may be copied before most of the rows that copy them.
func TestRowsThatNobodyHasCopiesOfCostFewCommits(t *testing.T) {
	const clubs, window = 16_000, 4096
	events := make([][]ref, clubs)
	for i := range events {
		events[i] = []ref{{Op: "club", ID: fmt.Sprint("club", i), Text: "x"}}
	}
	store := &taskCounter{Driver: memstore.New(), tasks: map[keys.Key]bool{}}
	foldRefs(t, store, refMode{cascade: true}, window, events...)
	if most := 10_000 + window; store.most > most || len(store.tasks) > 0 {
		t.Errorf("up to %d rows were waited for at a time, want %d at most; %d are left", store.most, most, len(store.tasks))
	}
	if most := 2*clubs/1000 + 10; store.commits > most {
		t.Errorf("%d commits, want %d at most", store.commits, most)
	}
}

// TestRowsOfFewCopiesShareCommits: several of them are followed in each.
func TestRowsOfFewCopiesShareCommits(t *testing.T) {
	const clubs = 320
	var events [][]ref
	for i := range clubs {
		club := fmt.Sprint("club", i)
		events = append(events, []ref{{Op: "club", ID: club, Text: "old"}},
			[]ref{{Op: "set", ID: club + "a", Club: club}, {Op: "set", ID: club + "b", Club: club}})
	}
	store := &taskCounter{Driver: &keptStore{memstore.New()}, tasks: map[keys.Key]bool{}}
	foldRefs(t, store, refMode{cascade: true}, 1000, events...)
	store.commits = 0
	for i := range clubs {
		events = append(events, []ref{{Op: "club", ID: fmt.Sprint("club", i), Text: "new"}})
	}
	db, _ := foldRefs(t, store, refMode{cascade: true}, 1000, events...)
	if most := 2*clubs/64 + 20; store.commits > most {
		t.Errorf("%d commits, want %d at most", store.commits, most)
	}
	for i := range clubs {
		for _, end := range []string{"a", "b"} {
			if p := pickOf(t, db, fmt.Sprint("club", i, end)); p.Club == nil || p.Club.Name != "new" {
				t.Fatalf("pick %s holds %+v, want the new name", p.ID, p.Club)
			}
		}
	}
}

// damagedRow shows one row as nobody can have written it.
type damagedRow struct {
	driver.Driver
	key keys.Key
}

func (s *damagedRow) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	rows, err := s.Driver.Get(ctx, g)
	for i := range rows {
		if rows[i].Key == s.key && rows[i].Record != nil {
			var b record.Builder
			b.Begin(4)
			b.String(s.key.PK)
			b.Int(7)
			b.String("no club")
			b.String("")
			if rows[i].Record, _, err = b.Finish(); err != nil {
				return nil, err
			}
		}
	}
	return rows, err
}

// TestACopyInARowThatCannotBeReadHoldsUpNoOther: it is recorded as one that cannot follow.
func TestACopyInARowThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	events := []eventlog.Event{refEvent("", ref{Op: "club", ID: "A", Text: "old"})}
	const picks = 100
	for i := range picks {
		events = append(events, refEvent("", noted(i, "")))
	}
	kept := &keptStore{memstore.New()}
	if err := refRunner(t, refMode{cascade: true}, logOf(t, events...), open(t, kept, clubModel, pickModel),
		1000).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	events = append(events, refEvent("", ref{Op: "club", ID: "A", Text: "new"}))
	damaged := &damagedRow{kept, keys.Key{PK: noted(42, "").ID}}
	runner := refRunner(t, refMode{cascade: true}, logOf(t, events...), open(t, damaged, clubModel, pickModel), 1000)
	if err := runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	failed, err := runner.FailedCascades(t.Context())
	if err != nil || len(failed) != 1 || failed[0].Succeeded != picks-1 || failed[0].Failed != 1 ||
		!strings.Contains(failed[0].Reason, damaged.key.PK) {
		t.Fatalf("failed are %+v, %v; want %d copies to have followed, and one not", failed, err, picks-1)
	}
	db := open(t, kept, clubModel, pickModel)
	for i := range picks {
		want := "new"
		if i == 42 {
			want = "old"
		}
		if p := pickOf(t, db, noted(i, "").ID); p.Club == nil || p.Club.Name != want {
			t.Errorf("pick %d holds %+v, want the name %q", i, p.Club, want)
		}
	}
}

// keyCounter finds out how many rows are read at once.
type keyCounter struct {
	driver.Driver
	most int
}

func (s *keyCounter) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if g.Table.Name == "Pick" {
		s.most = max(s.most, len(g.Keys))
	}
	return s.Driver.Get(ctx, g)
}

// TestCopiesThatFollowInTheCommitAreNotAllReadAtOnce, where a window changes many rows of which each has many.
func TestCopiesThatFollowInTheCommitAreNotAllReadAtOnce(t *testing.T) {
	const clubs, picks = 30, 900
	var events [][]ref
	for i := range clubs {
		club := fmt.Sprint("club", i)
		events = append(events, []ref{{Op: "club", ID: club, Text: "old"}})
		for j := range picks {
			events = append(events, []ref{{Op: "set", ID: fmt.Sprint(club, "-", j), Club: club}})
		}
	}
	mode := refMode{cascade: true, transactional: true}
	store := &keyCounter{Driver: &keptStore{memstore.New()}}
	foldRefs(t, store, mode, 4096, events...)
	store.most = 0
	var changes []ref
	for i := range clubs {
		changes = append(changes, ref{Op: "club", ID: fmt.Sprint("club", i), Text: "new"})
	}
	for _, c := range changes {
		events = append(events, []ref{c})
	}
	// One event may change several rows of which each has many copies: those it must have.
	events = append(events, []ref{{Op: "club", ID: "club0", Text: "newer"}, {Op: "club", ID: "club1", Text: "newer"}})
	db, letters := foldRefs(t, store, mode, 4096, events...)
	if most := 10_000 + 2*picks; store.most > most || len(letters) > 0 {
		t.Errorf("%d rows are read at once, want %d at most; dead letters %v", store.most, most, letters)
	}
	for i := range clubs {
		want := "new"
		if i < 2 {
			want = "newer"
		}
		for j := range picks {
			if p := pickOf(t, db, fmt.Sprint("club", i, "-", j)); p.Club == nil || p.Club.Name != want {
				t.Fatalf("pick %s holds %+v, want the name %s", p.ID, p.Club, want)
			}
		}
	}
}
