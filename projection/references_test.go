package projection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/projectiontest"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// refOracle folds events of clubs and picks one by one, as the documents say.
type refOracle struct {
	mode    refMode
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

func newRefOracle(mode refMode) *refOracle {
	return &refOracle{mode: mode, clubs: map[string]Club{}, picks: map[string]Pick{}}
}

func (o *refOracle) fold(events []eventlog.Event) {
	for _, e := range events {
		var ops []ref
		if err := json.Unmarshal(e.Data, &ops); err != nil {
			panic(err)
		}
		o.take(ops)
	}
	for id, p := range o.picks {
		c, there := o.clubs[p.ClubID]
		switch {
		case there && (o.mode.cascade || o.mode.nullIfMissing && p.Club == nil):
			p.Club = &ClubCopy{c.ID, c.Name}
		case !there && o.mode.nullIfMissing:
			p.Club = nil
		}
		o.picks[id] = p
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
		if !there && o.mode.nullIfMissing {
			continue
		}
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
		mode := refMode{cascade: i%2 > 0, nullIfMissing: i%4 > 1}
		events := drawRefEvents(r, 1+r.IntN(60))
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

// atRest are the picks without what hangs on when cascades took place: copies of clubs that were changed and then
// deleted, and of clubs that were gone for a while and are not followed.
func atRest(o *refOracle, picks map[string]Pick) map[string]Pick {
	all := map[string]Pick{}
	for id, p := range picks {
		_, there := o.clubs[p.ClubID]
		if p.Club != nil && (o.mode.cascade && !there || o.mode.nullIfMissing && !o.mode.cascade) {
			p.Club = &ClubCopy{ID: p.Club.ID}
		}
		all[id] = p
	}
	return all
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
func TestConcurrencyCopiesFollowWhoeverWrites(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 40 {
		mode := refMode{cascade: true, nullIfMissing: r.IntN(2) == 0}
		log := memlog.New(memlog.Options{Partitions: 2})
		for i, e := range drawRefEvents(r, 80) {
			e.ID, e.Time = fmt.Sprint(i), epoch
			e.Subject = fmt.Sprint("s", i) // so that none blocks another, and they are spread over the partitions
			if _, err := log.Append(t.Context(), []eventlog.Event{e}); err != nil {
				t.Fatal(err)
			}
		}
		log.End()
		join := refStores()["several writers"]
		var servers sync.WaitGroup
		errs := make([]error, 3)
		for i := range 2 {
			runner := refRunner(t, mode, log, open(t, join(), clubModel, pickModel), 1+r.IntN(6))
			servers.Go(func() { errs[i] = runner.Run(t.Context()) })
		}
		servers.Wait()
		db := open(t, join(), clubModel, pickModel)
		last := refRunner(t, mode, log, db, 10) // what a server has left that was ahead of the other
		errs[2] = last.Run(t.Context())
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		clubs, picks := refRows(t, db)
		for id, p := range picks {
			club, there := clubs[p.ClubID]
			switch {
			case p.ClubID == "" && p.Club != nil, !there && mode.nullIfMissing && p.Club != nil:
				t.Errorf("pick %s of club %q holds a copy of %+v, which is not there", id, p.ClubID, p.Club)
			case there && (p.Club == nil || *p.Club != ClubCopy{club.ID, club.Name}):
				t.Errorf("pick %s holds %+v of %+v", id, p.Club, club)
			}
		}
	}
}

// prefix is a log as it was, or as far as a server has read it.
type prefix struct {
	eventlog.Source
	ends eventlog.Offsets
	more *atomic.Bool // it has read on
}

func (s prefix) Read(ctx context.Context, partition string, after uint64, limit int) ([]eventlog.Event, error) {
	events, err := s.Source.Read(ctx, partition, after, limit)
	return slices.DeleteFunc(slices.Clone(events), func(e eventlog.Event) bool {
		return !s.more.Load() && e.Offset > s.ends[partition]
	}), err
}

func (s prefix) Head(ctx context.Context, partition string) (uint64, error) {
	if s.more.Load() {
		return s.Source.Head(ctx, partition)
	}
	return s.ends[partition], nil
}

func (s prefix) Wait(context.Context, eventlog.Offsets) error { return io.EOF }

// A server that is held up between reading a club and writing a copy of it must not write the copy once another server
// has changed the club, and brought all copies up to date that it knew of.
func TestConcurrencyACopyIsOfTheRowAsItIsWhenItIsWritten(t *testing.T) {
	log := memlog.New(memlog.Options{Partitions: 2})
	n, ends := 0, eventlog.Offsets{}
	add := func(e eventlog.Event) (partition string) {
		n++
		e.ID, e.Time = fmt.Sprint(n), epoch
		got, err := log.Append(t.Context(), []eventlog.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		ends[got[0].Partition] = got[0].Offset
		return got[0].Partition
	}
	clubs := add(refEvent("club", ref{Op: "club", ID: "A", Text: "old"}))
	subject := "pick"
	for add(refEvent(subject, ref{Op: "delete", ID: "z"})) == clubs {
		subject += "x"
	}
	now := func() time.Time { return epoch }
	several := memstore.NewMultiWriter(memstore.Options{Now: now})
	fold := func(ends eventlog.Offsets, more *atomic.Bool, opts memstore.Options) *querydb.DB {
		opts.Now = now
		db := open(t, several.Join(opts), clubModel, pickModel)
		runner := refRunner(t, refMode{cascade: true}, prefix{log, maps.Clone(ends), more}, db, 100)
		if err := runner.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return db
	}
	fold(ends, new(atomic.Bool), memstore.Options{})
	before := maps.Clone(ends)
	add(refEvent("club", ref{Op: "club", ID: "A", Text: "new"}))
	withClub := maps.Clone(ends)
	picks := add(refEvent(subject, ref{Op: "set", ID: "a", Club: "A"}))
	before[picks] = ends[picks] // it has not come to the new name
	held, more := false, new(atomic.Bool)
	db := fold(before, more, heldUp(func(c memstore.Commit) bool {
		return slices.ContainsFunc(c.Batch.Writes, func(w driver.Write) bool { return w.Row.Key.PK == "a" })
	}, func() {
		held = true
		fold(withClub, new(atomic.Bool), memstore.Options{})
		more.Store(true)
	}))
	if _, got := refRows(t, db); !held || got["a"].Club == nil || got["a"].Club.Name != "new" {
		t.Errorf("held up: %t; the pick is %+v, and its club %+v: want the new name", held, got["a"], got["a"].Club)
	}
}

// A process that ends in the middle of a cascade leaves the rest to the next one.
func TestACascadeGoesOnWhereAProcessHasEnded(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	events := []eventlog.Event{refEvent("", ref{Op: "club", ID: "A", Text: "0"})}
	for i := range 5 {
		events = append(events, refEvent("", ref{Op: "set", ID: string(rune('a' + i)), Club: "A"}))
	}
	for i := range 6 {
		events = append(events, refEvent("", ref{Op: "club", ID: "A", Text: fmt.Sprint(i)}))
	}
	log := logOf(t, events...)
	for range 40 {
		store := newFaultyStore()
		ended := 0
		for done := false; !done; {
			ctx, kill := context.WithCancel(t.Context())
			end := store.applies + 1 + r.IntN(8)
			store.before = func(n int) error {
				if n < end {
					return nil
				}
				kill()
				return errors.New("the process has ended")
			}
			db := open(t, store, clubModel, pickModel)
			err := refRunner(t, refMode{cascade: true}, log, db, 1+r.IntN(3)).Run(ctx)
			if done = err == nil; !done {
				ended++
			}
			kill()
		}
		store.before = nil
		_, picks := refRows(t, open(t, store, clubModel, pickModel))
		for id, p := range picks {
			if p.Club == nil || p.Club.Name != "5" {
				t.Errorf("after %d ends of a process: pick %s holds %+v, want club A of the name 5", ended, id, p.Club)
			}
		}
		if len(picks) != 5 || ended == 0 {
			t.Errorf("%d picks, and the process has ended %d times", len(picks), ended)
		}
	}
}

// What refers to a row must say to which, unless the reference may be null.
func TestARequiredReferenceNeedsAnIdentifier(t *testing.T) {
	required := *pickModel
	required.Fields = slices.Clone(pickModel.Fields)
	required.Fields[1].Nullable = false
	ops := refMode{}.picks()
	codec := *ops.Codec
	codec.Model, ops.Codec = &required, &codec
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
func TestCopiesCostOneReadAWindowAndOneWriteEach(t *testing.T) {
	const picks = 50
	db := open(t, memstore.New(), clubModel, pickModel)
	var events []eventlog.Event
	for i := range 5 {
		events = append(events, refEvent("", ref{Op: "club", ID: fmt.Sprint("club", i), Text: "old"}))
	}
	fold := func(more ...eventlog.Event) (clubs, rows querydb.Stats) {
		t.Helper()
		before := map[string]querydb.Stats{}
		for _, s := range db.Stats() {
			before[s.Model] = s
		}
		events = append(events, more...)
		if err := refRunner(t, refMode{cascade: true}, logOf(t, events...), db, 1000).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		now := map[string]querydb.Stats{}
		for _, s := range db.Stats() {
			was := before[s.Model]
			s.Gets, s.KeysRequested, s.Writes = s.Gets-was.Gets, s.KeysRequested-was.KeysRequested, s.Writes-was.Writes
			now[s.Model] = s
		}
		return now["Club"], now["Pick"]
	}
	fold()
	var sets []eventlog.Event
	for i := range picks {
		sets = append(sets, refEvent("", ref{Op: "set", ID: fmt.Sprint("pick", i), Club: fmt.Sprint("club", i%5)}))
	}
	if clubs, rows := fold(sets...); clubs.Gets != 1 || clubs.KeysRequested != 5 || rows.Writes != picks {
		t.Errorf("a window of %d picks of 5 clubs reads %d clubs in %d batches, and writes %d picks: want 5 in 1", picks,
			clubs.KeysRequested, clubs.Gets, rows.Writes)
	}
	rename := refEvent("", ref{Op: "club", ID: "club0", Text: "new"})
	if _, rows := fold(rename); rows.KeysRequested != picks/5 || rows.Writes != picks/5 {
		t.Errorf("a cascade to %d picks reads %d and writes %d, want each once", picks/5, rows.KeysRequested, rows.Writes)
	}
}
