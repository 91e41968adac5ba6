package projection_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/projectiontest"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// refOracle folds events of clubs and picks one by one, as the documents say.

func refRows(t testing.TB, db *querydb.DB) (clubs map[string]Club, picks map[string]Pick) {
	t.Helper()
	clubs, picks = map[string]Club{}, map[string]Pick{}
	read := func(m *querydb.Model, ids string, take func(querydb.Row) error) {
		var wanted []keys.Key
		for _, id := range ids {
			wanted = append(wanted, keys.Key{PK: string(id)})
		}
		rows, err := db.ForFold("").Get(t.Context(), m, wanted, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row.Record == nil {
				continue
			}
			if err := take(row); err != nil {
				t.Fatal(err)
			}
		}
	}
	read(clubModel, "ABCD", func(row querydb.Row) error {
		var c Club
		err := clubCodec.Decode(row.Record, &c)
		clubs[c.ID] = c
		return err
	})
	read(pickModel, "abcde", func(row querydb.Row) error {
		var p Pick
		err := pickCodec.Decode(row.Record, &p)
		picks[p.ID] = p
		return err
	})
	return clubs, picks
}

// refStores are the stores that groups are folded on; each call joins the same rows.

func refStores() map[string]func() driver.Driver {
	one := &keptStore{memstore.New()}
	now := func() time.Time { return epoch }
	several := memstore.NewMultiWriter(memstore.Options{Now: now})
	return map[string]func() driver.Driver{
		"one writer":      func() driver.Driver { return one },
		"several writers": func() driver.Driver { return several.Join(memstore.Options{Now: now}) },
	}
}

// keptStore is a store of one process that outlives those who open it.
type keptStore struct{ driver.Driver }

var _ driver.Sweeper = keptStore{}

func (keptStore) Close() error { return nil }

// Sweep removes rows that have expired. Without it, a sweep of a DB over the store would remove none, and not say so.
func (s keptStore) Sweep(ctx context.Context, t *driver.Table, before time.Time, most int) (removed int, err error) {
	return s.Driver.(driver.Sweeper).Sweep(ctx, t, before, most)
}

func refRunner(t testing.TB, mode refMode, src eventlog.Source, db *querydb.DB, window int) *projection.Runner {
	t.Helper()
	cfg := quick()
	cfg.WindowEvents = window
	r, err := projection.NewRunner(refGroup(mode), src, db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAGroupFoldsWhatItsModelsReferTo(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 80 {
		mode := refMode{cascade: i%2 > 0, nullIfMissing: i%4 > 1, transactional: i%8 > 3 && i%2 > 0, onRequest: i%8 == 4}
		events := drawRefEvents(r, 1+r.IntN(60))
		if mode.onRequest {
			askForCascades(events)
		}
		want := newRefOracle(mode)
		want.fold(events)
		cut := r.IntN(len(events) + 1) // where a first process ends
		windows := [2]int{1 + r.IntN(8), 1 + r.IntN(8)}
		for name, join := range refStores() {
			var runner *projection.Runner
			var db *querydb.DB
			for i, log := range [2]eventlog.Source{logOf(t, events[:cut]...), logOf(t, events...)} {
				db = open(t, join(), clubModel, pickModel)
				runner = refRunner(t, mode, log, db, windows[i])
				if err := runner.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			clubs, picks := refRows(t, db)
			if d := cmp.Diff(want.clubs, clubs); d != "" {
				t.Errorf("%s: clubs differ (-want +got):\n%s", name, d)
			}
			if d := cmp.Diff(atRest(want, want.picks), atRest(want, picks)); d != "" {
				t.Errorf("%s: picks differ (-want +got):\n%s", name, d)
			}
			letters, err := runner.DeadLetters(t.Context(), "", 1000)
			if err != nil {
				t.Fatal(err)
			}
			waiting := map[string]int{}
			for _, l := range letters {
				if l.RefNotFound != nil {
					waiting[l.RefNotFound.RefID]++
				}
			}
			for _, w := range want.waiting {
				waiting[w.club]--
			}
			for club, n := range waiting {
				if n != 0 {
					t.Errorf("%s: %d more events wait for club %s than are to", name, n, club)
				}
			}
			if len(letters) != want.failed+len(want.waiting) {
				t.Errorf("%s: %d dead letters, want %d", name, len(letters), want.failed+len(want.waiting))
			}
		}
		if t.Failed() {
			for _, e := range events {
				t.Logf("%s", e.Data)
			}
			t.Fatalf("%+v, cut at %d, windows of %v", mode, cut, windows)
		}
	}
	if seenCopies > 0 {
		t.Errorf("functions of projectors saw %d copies, and are to see none", seenCopies)
	}
}

// TestAPatchThatGivesTheIdentifierAgainCopiesAgain: any other op that leaves the identifier leaves the copy.
func TestAPatchThatGivesTheIdentifierAgainCopiesAgain(t *testing.T) {
	for _, c := range []struct {
		op   string
		want string
	}{{"patch", "new"}, {"set", "new"}, {"patchnote", "old"}, {"note", "old"}, {"update", "old"}, {"upsert", "old"}} {
		for _, window := range []int{1, 100} {
			for name, join := range refStores() {
				first := [][]ref{{{Op: "club", ID: "A", Text: "old"}}, {{Op: "set", ID: "a", Club: "A"}}}
				store := join()
				foldRefs(t, store, refMode{}, window, first...)
				db, letters := foldRefs(t, store, refMode{}, window, append(first, []ref{{Op: "club", ID: "A", Text: "new"}},
					[]ref{{Op: c.op, ID: "a", Club: "A", Text: "x"}})...)
				_, picks := refRows(t, db)
				if got := picks["a"]; len(letters) > 0 || got.Club == nil || got.Club.Name != c.want {
					t.Errorf("%s, in windows of %d, %s: %+v, dead letters %v; want the name %s", c.op, window, name, got.Club,
						letters, c.want)
				}
			}
		}
	}
}

// atRest are the picks without what hangs on when cascades took place: copies of clubs that were changed and then
// deleted, and of clubs that were gone for a while and are not followed.

// A rebuild makes the same rows: what was retried takes effect where it did before.

func TestARebuildOfAGroupMakesTheSameCopies(t *testing.T) {
	events := []eventlog.Event{
		refEvent("p", ref{Op: "set", ID: "a", Club: "A"}),
		refEvent("p", ref{Op: "note", ID: "a", Text: "behind"}),
		refEvent("", ref{Op: "club", ID: "A", Text: "first"}),
		refEvent("", ref{Op: "club", ID: "A", Text: "second"}),
	}
	for name, join := range refStores() {
		t.Run(name, func(t *testing.T) {
			db := open(t, join(), clubModel, pickModel)
			want := map[string]Pick{"a": {"a", "A", &ClubCopy{"A", "first"}, "behind"}}
			runner := refRunner(t, refMode{}, logOf(t, events...), db, 100)
			for _, when := range []string{"after the fold", "after the rebuild"} {
				if err := runner.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if _, picks := refRows(t, db); !cmp.Equal(want, picks) {
					t.Errorf("%s: %s", when, cmp.Diff(want, picks))
				}
				if left := deadLettersOf(t, runner); left != nil {
					t.Errorf("%s: dead letters %v are left", when, left)
				}
				if err := runner.Rebuild(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestAnEventThatNamesAMissingRowSaysWhich(t *testing.T) {
	db := open(t, memstore.New(), clubModel, pickModel)
	runner := refRunner(t, refMode{}, logOf(t, refEvent("p", ref{Op: "set", ID: "a", Club: "A"}),
		refEvent("p", ref{Op: "note", ID: "a"})), db, 10)
	if err := runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	want := &projection.RefNotFoundError{
		Model: "Pick", Field: "club", RefModel: "Club", RefID: "A", Key: keys.Key{PK: "A"},
	}
	if len(letters) != 2 || !cmp.Equal(letters[0].RefNotFound, want) || letters[1].BlockedBy != letters[0].Ref {
		t.Errorf("dead letters are %+v, want the first to wait for club A and the second behind it", letters)
	}
	if !strings.Contains(letters[0].Reason, `no Club with the identifier "A"`) {
		t.Errorf("the reason is %q", letters[0].Reason)
	}
}

func TestAGroupNeedsAllOfItsModels(t *testing.T) {
	db := open(t, memstore.New(), clubModel, pickModel)
	alone := projection.New(refMode{}.picks(), projection.Projection{
		Name:    "picks",
		Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return nil, nil },
	})
	_, err := projection.NewRunner(alone, logOf(t), db, quick())
	if err == nil || !strings.Contains(err.Error(), "projection.Group") {
		t.Errorf("a runner of picks alone: %v, want an error that names projection.Group", err)
	}
}

// Two servers fold two partitions of a log into the same rows at the same time; one brings clubs, the other picks. At
// rest every copy is as its club is.

// A server that is held up between reading a club and writing a copy of it must not write the copy once another server
// has changed the club, and brought all copies up to date that it knew of.

// A process that ends in the middle of a cascade leaves the rest to the next one.

// What refers to a row must say to which, unless the reference may be null.

func TestARequiredReferenceNeedsAnIdentifier(t *testing.T) {
	required := *pickModel
	required.Fields = slices.Clone(pickModel.Fields)
	required.Fields[1].Nullable = false
	ops := refMode{}.picks()
	codec := *ops.Codec
	codec.Model, ops.Codec = &required, &codec
	codec.References.(querydb.ReferencesOf[Pick])[0].Required = true
	group := projection.Group([]projection.Projection{
		projection.New(ops, projection.Projection{
			Name: "picks", Events: []string{"Pick"},
			Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) {
				return []projection.Op{ops.Set(Pick{ID: "a"})}, nil
			},
		}),
		projection.New(clubOps, projection.Projection{
			Name: "clubs", Events: []string{"Club"},
			Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return nil, nil },
		}),
	})
	runner, err := projection.NewRunner(group[0], logOf(t, refEvent("", ref{Op: "set", ID: "a"})),
		open(t, memstore.New(), clubModel, &required), quick())
	if err == nil {
		err = runner.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, "clubId of Pick row") {
		t.Errorf("dead letters are %+v, %v: want one that names clubId", letters, err)
	}
}

// Groups are tested as single projections are, under every accident of delivery.

func TestAGroupHoldsUnderEveryDelivery(t *testing.T) {
	of := func(ops ...ref) projectiontest.Event {
		e := refEvent("", ops...)
		return projectiontest.Event{Type: e.Type, Data: e.Data}
	}
	mode := refMode{cascade: true}
	picks := mode.picks()
	projectiontest.RunGroup(t, projectiontest.GroupSpec{
		Projections: refProjections(picks),
		Given: []projectiontest.Event{
			of(ref{Op: "set", ID: "a", Club: "A"}), // waits for its club
			of(ref{Op: "club", ID: "A", Text: "old"}),
			of(ref{Op: "set", ID: "b", Club: "A"}),
			of(ref{Op: "note", ID: "b", Text: "kept"}),
			of(ref{Op: "club", ID: "A", Text: "new"}),
			of(ref{Op: "set", ID: "c", Club: "B"}), // goes on waiting
		},
		Want: []projectiontest.Rows{
			projectiontest.RowsOf(clubCodec, Club{"A", "new"}),
			projectiontest.RowsOf(picks.Codec, Pick{"a", "A", &ClubCopy{"A", "new"}, ""},
				Pick{"b", "A", &ClubCopy{"A", "new"}, "kept"}),
		},
		WantDeadLetters: []projectiontest.DeadLetter{{ID: "6", Reason: `no Club with the identifier "B"`}},
	})
}

// What copies cost is known: the rows that a window copies are read in one batch, and a cascade reads and writes each
// row that refers once.
