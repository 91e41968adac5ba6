package projection_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

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
			case there && (p.Club == nil || *p.Club != ClubCopy(club)):
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

// TestConcurrencyACopyIsOfTheRowAsItIsWhenItIsWritten has another process change the club while a pick gets a copy of
// it.
func TestConcurrencyACopyIsOfTheRowAsItIsWhenItIsWritten(t *testing.T) {
	for _, mode := range []refMode{{cascade: true}, transactional} {
		l := newHeldLog(t)
		clubs := l.add(refEvent("club", ref{Op: "club", ID: "A", Text: "old"}))
		subject := l.besides(clubs)
		l.fold(mode, l.ends, new(atomic.Bool), memstore.Options{})
		before := maps.Clone(l.ends)
		l.add(refEvent("club", ref{Op: "club", ID: "A", Text: "new"}))
		withClub := maps.Clone(l.ends)
		picks := l.add(refEvent(subject, ref{Op: "set", ID: "a", Club: "A"}))
		before[picks] = l.ends[picks] // it has not come to the new name
		l.holdUp(mode, before, withClub, "a")
	}
}

// TestConcurrencyACopyFollowsAChangeThatDidNotKnowOfIt has another process give a pick a copy of the club while the
// change of the club is on its way, which has found no pick by then.
func TestConcurrencyACopyFollowsAChangeThatDidNotKnowOfIt(t *testing.T) {
	for _, c := range []struct {
		mode refMode
		club bool // there is one before
	}{
		{refMode{cascade: true}, true},
		{refMode{cascade: true, nullIfMissing: true}, false},
		{transactional, true},
		{refMode{cascade: true, nullIfMissing: true, transactional: true}, false},
	} {
		l := newHeldLog(t)
		clubs := l.add(refEvent("club", ref{Op: "delete", ID: "z"}))
		if c.club {
			l.add(refEvent("club", ref{Op: "club", ID: "A", Text: "old"}))
		}
		subject := l.besides(clubs)
		l.fold(c.mode, l.ends, new(atomic.Bool), memstore.Options{})
		before := maps.Clone(l.ends)
		l.add(refEvent(subject, ref{Op: "set", ID: "a", Club: "A"}))
		withPick := maps.Clone(l.ends)
		l.add(refEvent("club", ref{Op: "club", ID: "A", Text: "new"}))
		before[clubs] = l.ends[clubs] // it has not come to the pick
		l.holdUp(c.mode, before, withPick, "A")
	}
}

// heldLog is a log of two partitions, and a store that several processes write.
type heldLog struct {
	t    *testing.T
	log  *memlog.Log
	n    int
	ends eventlog.Offsets
	*memstore.MultiWriter
}

func newHeldLog(t *testing.T) *heldLog {
	return &heldLog{t: t, log: memlog.New(memlog.Options{Partitions: 2}), ends: eventlog.Offsets{},
		MultiWriter: memstore.NewMultiWriter(memstore.Options{Now: epochNow})}
}

func epochNow() time.Time { return epoch }

// add appends an event, and reports to which partition.
func (l *heldLog) add(e eventlog.Event) (partition string) {
	l.t.Helper()
	l.n++
	e.ID, e.Time = fmt.Sprint(l.n), epoch
	got, err := l.log.Append(l.t.Context(), []eventlog.Event{e})
	if err != nil {
		l.t.Fatal(err)
	}
	l.ends[got[0].Partition] = got[0].Offset
	return got[0].Partition
}

// besides finds a subject whose events are in the other partition.
func (l *heldLog) besides(partition string) (subject string) {
	subject = "pick"
	for l.add(refEvent(subject, ref{Op: "delete", ID: "z"})) == partition {
		subject += "x"
	}
	return subject
}

// fold has a process fold the log up to the ends, or whole once more is set.
func (l *heldLog) fold(mode refMode, ends eventlog.Offsets, more *atomic.Bool, opts memstore.Options) *querydb.DB {
	l.t.Helper()
	opts.Now = epochNow
	db := open(l.t, l.Join(opts), clubModel, pickModel)
	if err := refRunner(l.t, mode, prefix{l.log, maps.Clone(ends), more}, db, 100).Run(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	return db
}

// holdUp holds up the process that has come to the first ends, right before it writes the row, until another has come
// to the second ends; then it goes on with the whole log. The pick holds the new name after that.
func (l *heldLog) holdUp(mode refMode, first, second eventlog.Offsets, row string) {
	l.t.Helper()
	held, more := false, new(atomic.Bool)
	db := l.fold(mode, first, more, heldUp(func(c memstore.Commit) bool {
		return slices.ContainsFunc(c.Batch.Writes, func(w driver.Write) bool { return w.Row.Key.PK == row })
	}, func() {
		held = true
		l.fold(mode, second, new(atomic.Bool), memstore.Options{})
		more.Store(true)
	}))
	if _, got := refRows(l.t, db); !held || got["a"].Club == nil || got["a"].Club.Name != "new" {
		l.t.Errorf("%+v: held up: %t; the pick is %+v, and its club %+v: want the new name", mode, held, got["a"],
			got["a"].Club)
	}
}

// TestConcurrencyACascadeThatAnotherProcessWasAskedForOutlivesAChangeByThisOne has a process end before the copies
// follow, and another, which does not know of them, change the club again.
func TestConcurrencyACascadeThatAnotherProcessWasAskedForOutlivesAChangeByThisOne(t *testing.T) {
	mode := refMode{nullIfMissing: true} // by the schema, copies follow when the club is gone
	l := newHeldLog(t)
	clubs := l.add(refEvent("club", ref{Op: "club", ID: "A", Text: "old"}))
	for _, id := range []string{"a", "b", "c"} {
		l.add(refEvent("club", ref{Op: "set", ID: id, Club: "A"}))
	}
	subject := l.besides(clubs)
	before := l.ends[l.add(refEvent(subject, ref{Op: "delete", ID: "z"}))]
	l.fold(mode, l.ends, new(atomic.Bool), memstore.Options{})
	l.add(refEvent(subject, ref{Op: "set", ID: "other"}))
	besides := l.add(refEvent(subject, ref{Op: "rename", ID: "A", Text: "newer"}))
	ends := maps.Clone(l.ends)
	l.add(refEvent("club", ref{Op: "rename", ID: "A", Text: "new", Cascade: &projection.Cascade{}}))
	run := func(ctx context.Context, ends eventlog.Offsets, opts memstore.Options) error {
		opts.Now = epochNow
		return refRunner(t, mode, prefix{l.log, ends, new(atomic.Bool)}, open(t, l.Join(opts), clubModel, pickModel), 1).Run(
			ctx)
	}
	writes := func(row string) func(memstore.Commit) bool {
		return func(c memstore.Commit) bool {
			return slices.ContainsFunc(c.Batch.Writes, func(w driver.Write) bool { return w.Row.Key.PK == row })
		}
	}
	err := run(t.Context(), ends, heldUp(writes("other"), func() {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		asked := eventlog.Offsets{clubs: l.ends[clubs], besides: before}
		if err := run(ctx, asked, heldUp(writes("A"), end)); !errors.Is(err, context.Canceled) {
			t.Errorf("the process that is to end after the commit of the club returns %v", err)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, l.Join(memstore.Options{Now: epochNow}), clubModel, pickModel)
	if got := copiedNames(t, db); got != "newer newer newer" {
		t.Errorf("the copies are %q, want all to follow: an event has asked for that", got)
	}
}

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
