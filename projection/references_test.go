package projection_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// refOracle folds events of clubs and picks one by one, as the documents say.
type refOracle struct {
	clubs   map[string]Club
	picks   map[string]Pick
	waiting []waitingEvent // in order
	failed  int            // events that cannot be folded, whatever comes
}

type waitingEvent struct {
	ops   []ref
	club  string
	woken bool // the club has come
}

func newRefOracle() *refOracle { return &refOracle{clubs: map[string]Club{}, picks: map[string]Pick{}} }

func (o *refOracle) fold(events []eventlog.Event) {
	for _, e := range events {
		var ops []ref
		if err := json.Unmarshal(e.Data, &ops); err != nil {
			panic(err)
		}
		o.take(ops)
	}
}

// take folds an event, and then those that have waited for a club which it has brought, and so on.
func (o *refOracle) take(ops []ref) {
	missing, ok := o.apply(ops)
	switch {
	case ok:
		o.wake(ops)
	case missing == "":
		o.failed++
	default:
		o.waiting = append(o.waiting, waitingEvent{ops: ops, club: missing})
	}
	for {
		i := slices.IndexFunc(o.waiting, func(w waitingEvent) bool { return w.woken })
		if i < 0 {
			return
		}
		w := &o.waiting[i]
		w.woken = false
		missing, ok := o.apply(w.ops)
		if missing != "" {
			w.club = missing
			continue
		}
		if !ok {
			o.failed++
		}
		done := w.ops
		o.waiting = slices.Delete(o.waiting, i, i+1)
		if ok {
			o.wake(done)
		}
	}
}

// wake marks the events that wait for a club which the ops have brought.
func (o *refOracle) wake(ops []ref) {
	for _, r := range ops {
		for i := range o.waiting {
			if _, there := o.clubs[r.ID]; there && r.Op == "club" && r.ID == o.waiting[i].club {
				o.waiting[i].woken = true
			}
		}
	}
}

// apply folds the ops of an event, all or none. Of what is missing it names the first club.
func (o *refOracle) apply(ops []ref) (missing string, ok bool) {
	clubs, picks := cloneMap(o.clubs), cloneMap(o.picks)
	var touched []string // picks, in order
	for _, r := range ops {
		p, there := picks[r.ID]
		was := p.ClubID
		anew := !there
		switch r.Op {
		case "club":
			clubs[r.ID] = Club{r.ID, r.Text}
			continue
		case "noclub":
			delete(clubs, r.ID)
			continue
		case "delete":
			delete(picks, r.ID)
			touched = append(touched, r.ID)
			continue
		case "set":
			p, anew = Pick{ID: r.ID, ClubID: r.Club, Note: r.Text}, true
		case "update", "note":
			if !there {
				return "", false
			}
			p.Note += r.Text
			if r.Op == "update" {
				p.ClubID = r.Club
			}
		case "upsert":
			p.ID, p.ClubID, p.Note = r.ID, r.Club, p.Note+r.Text
		case "patch":
			p.ID, p.ClubID, p.Note = r.ID, r.Club, r.Text
		}
		if anew || p.ClubID != was {
			p.Club = nil
		}
		picks[r.ID], touched = p, append(touched, r.ID)
	}
	for _, id := range touched {
		p, there := picks[id]
		if !there || p.ClubID == "" || p.Club != nil {
			continue
		}
		c, there := clubs[p.ClubID]
		if !there && slices.ContainsFunc(ops, func(r ref) bool { return r.Op == "noclub" && r.ID == p.ClubID }) {
			return "", false // of its own doing
		}
		if !there {
			return p.ClubID, false
		}
		p.Club = &ClubCopy{c.ID, c.Name}
		picks[id] = p
	}
	o.clubs, o.picks = clubs, picks
	return "", true
}

func cloneMap[V any](m map[string]V) map[string]V {
	c := make(map[string]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// drawRefEvents draws events of a few clubs and picks. No two events are of one subject, so that none blocks another.
func drawRefEvents(r *rand.Rand, n int) []eventlog.Event {
	club := func() string { return string(rune('A' + r.IntN(4))) }
	one := func(i int) ref {
		text := fmt.Sprint(i)
		switch r.IntN(10) {
		case 0, 1:
			return ref{Op: "club", ID: club(), Text: text}
		case 2:
			return ref{Op: "noclub", ID: club()}
		}
		op := []string{"set", "update", "upsert", "patch", "note", "delete"}[r.IntN(6)]
		o := ref{Op: op, ID: string(rune('a' + r.IntN(5))), Club: club(), Text: text}
		if r.IntN(6) == 0 {
			o.Club = ""
		}
		return o
	}
	events := make([]eventlog.Event, n)
	for i := range events {
		var ops []ref
		for range 1 + r.IntN(3) {
			ops = append(ops, one(i))
		}
		events[i] = refEvent("", ops...)
	}
	return events
}

// refRows reads all clubs and picks.
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

// keptStore stays when a DB is closed.
type keptStore struct{ driver.Driver }

func (keptStore) Close() error { return nil }

func refRunner(t testing.TB, src eventlog.Source, db *querydb.DB, window int) *projection.Runner {
	t.Helper()
	cfg := quick()
	cfg.WindowEvents = window
	r, err := projection.NewRunner(refGroup(), src, db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAGroupFoldsWhatItsModelsReferTo(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		events := drawRefEvents(r, 1+r.IntN(60))
		want := newRefOracle()
		want.fold(events)
		cut := r.IntN(len(events) + 1) // where a first process ends
		windows := [2]int{1 + r.IntN(8), 1 + r.IntN(8)}
		for name, join := range refStores() {
			var runner *projection.Runner
			var db *querydb.DB
			for i, log := range [2]eventlog.Source{logOf(t, events[:cut]...), logOf(t, events...)} {
				db = open(t, join(), clubModel, pickModel)
				runner = refRunner(t, log, db, windows[i])
				if err := runner.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			clubs, picks := refRows(t, db)
			if d := cmp.Diff(want.clubs, clubs); d != "" {
				t.Errorf("%s: clubs differ (-want +got):\n%s", name, d)
			}
			if d := cmp.Diff(want.picks, picks); d != "" {
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
			t.Fatalf("cut at %d, windows of %v", cut, windows)
		}
	}
	if seenCopies > 0 {
		t.Errorf("functions of projectors saw %d copies, and are to see none", seenCopies)
	}
}

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
			runner := refRunner(t, logOf(t, events...), db, 100)
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
	runner := refRunner(t, logOf(t, refEvent("p", ref{Op: "set", ID: "a", Club: "A"}),
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
	alone := projection.New(pickOps, projection.Projection{
		Name:    "picks",
		Project: func(*eventlog.Event, projection.Meta) ([]projection.Op, error) { return nil, nil },
	})
	_, err := projection.NewRunner(alone, logOf(t), db, quick())
	if err == nil || !strings.Contains(err.Error(), "projection.Group") {
		t.Errorf("a runner of picks alone: %v, want an error that names projection.Group", err)
	}
}
