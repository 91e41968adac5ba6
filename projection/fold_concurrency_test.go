package projection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// The hazards of folding on a store that commits write by write and has other writers, one test for each. Two known
// ones are no hazards here. A side effect that happens twice: projectors are pure and have none. A reader that takes
// what it reads in an index for the newest: that is the read side's; the fold itself reads rows by key and by
// partition alone, and always asks for the newest, which TestConcurrencyTheFoldReadsTheNewest holds it to.

// server is one of several processes that fold the script on one store.
type server struct {
	*projection.Runner
	db *querydb.DB
}

type setting struct {
	t     *testing.T
	store *memstore.MultiWriter
	clock *clock
	ops   *OpsOf
}

func newSetting(t *testing.T) *setting {
	c := &clock{at: epoch}
	return &setting{t, memstore.NewMultiWriter(memstore.Options{}), c, kinds["blind"]}
}

// server opens another server. Hooks are of its own commits.
func (s *setting) server(log eventlog.Source, window int, opts memstore.Options) server {
	s.t.Helper()
	opts.Now = s.clock.now
	return s.over(s.store.Join(opts), log, window)
}

func (s *setting) over(drv driver.Driver, log eventlog.Source, window int) server {
	s.t.Helper()
	cfg := quick()
	cfg.WindowEvents, cfg.Now = window, s.clock.now
	db := open(s.t, drv, s.ops.Codec.Model)
	r, err := projection.NewRunner(ProjectionOf("script", s.ops), log, db, cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	return server{r, db}
}

func (s *setting) run(srv server) {
	s.t.Helper()
	if err := srv.Run(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// fold has one more server fold the log to its end, window by window, and returns it.
func (s *setting) fold(log eventlog.Source, window int) server {
	s.t.Helper()
	srv := s.server(log, window, memstore.Options{})
	s.run(srv)
	return srv
}

// totals are the totals of the rows of version v1, as a server sees them that starts now.
func (s *setting) totals() map[string]int {
	s.t.Helper()
	var ks []keys.Key
	for _, id := range []string{"a", "b", "c"} {
		ks = append(ks, keys.Key{PK: id, SK: "v1"})
	}
	rows, err := readRows(open(s.t, s.store.Join(memstore.Options{}), s.ops.Codec.Model), s.ops.Codec.Model, ks)
	if err != nil {
		s.t.Fatal(err)
	}
	got := map[string]int{}
	for k, r := range rows {
		got[k.ID] = r.Row.Total
	}
	return got
}

func (s *setting) want(when string, want map[string]int) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.totals()); diff != "" {
		s.t.Errorf("%s: totals (-want +got):\n%s", when, diff)
	}
}

// checkpoint is how far the projection is on record.
func (s *setting) checkpoint() string {
	s.t.Helper()
	db := open(s.t, s.store.Join(memstore.Options{}))
	header, err := db.Notes().Value(context.Background(), "projection", "script")
	if errors.Is(err, querydb.ErrNotFound) {
		return ""
	}
	var at struct {
		Table      string
		Generation int
	}
	if err == nil {
		err = json.Unmarshal(header, &at)
	}
	var value []byte
	if err == nil {
		value, err = db.Notes().Value(context.Background(), fmt.Sprintf("checkpoint:%s.g%d:script", at.Table,
			at.Generation), "0")
	}
	if err != nil && !errors.Is(err, querydb.ErrNotFound) {
		s.t.Fatal(err)
	}
	return string(value)
}

var errKilled = fmt.Errorf("%w: killed", driver.ErrUnavailable)

// killed runs a server until the hook, called after a commit, ends its process there.
func (s *setting) killed(log eventlog.Source, window int, when func(memstore.Commit) bool) {
	s.t.Helper()
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	dead := false
	srv := s.server(log, window, memstore.Options{
		Before: func(memstore.Commit) error {
			if dead {
				return errKilled
			}
			return nil
		},
		After: func(c memstore.Commit) error {
			if !when(c) {
				return nil
			}
			dead = true
			kill()
			return errKilled
		},
	})
	if err := srv.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		s.t.Fatal(err)
	}
	if !dead {
		s.t.Fatal("the server was to be killed, and has come to the end")
	}
}

// heldUp is a hook that holds a server up once, before the commit that is named, while something else goes on.
func heldUp(when func(memstore.Commit) bool, meanwhile func()) memstore.Options {
	done := false
	return memstore.Options{Before: func(c memstore.Commit) error {
		if !done && when(c) {
			done = true
			meanwhile()
		}
		return nil
	}}
}

// rows and last tell commits of rows from the commit of the notes.
func rows(c memstore.Commit) bool { return c.Number < len(c.Batch.Writes) }

func last(c memstore.Commit) bool { return !rows(c) }

// writes reports whether the commit is the first that has to do with the row.
func writes(id string) func(memstore.Commit) bool {
	return func(c memstore.Commit) bool {
		return rows(c) && c.Batch.Writes[c.Number].Row.Key.PK == id
	}
}

func upserts(n int) []eventlog.Event {
	events := make([]eventlog.Event, n)
	for i := range events {
		events[i] = event("", upsert([]string{"a", "b", "c"}[i%3], 1<<i))
	}
	return events
}

// Events are folded together into one write of a row; a server that folds them again, in other windows, must not count
// again those that are in the row already.
func TestConcurrencyCoalescedEventsAreNotCountedTwice(t *testing.T) {
	want := map[string]int{"a": 1 + 8 + 64, "b": 2 + 16 + 128, "c": 4 + 32}
	for window := 1; window <= 8; window++ {
		for again := 1; again <= 8; again++ {
			for cut := range 4 {
				s := newSetting(t)
				log := logOf(t, upserts(8)...)
				n := 0
				s.killed(log, window, func(c memstore.Commit) bool { n++; return n > 1 && c.Number == min(cut, c.Of-1) })
				s.fold(log, again)
				s.want(fmt.Sprintf("windows of %d, cut at %d, then of %d", window, cut, again), want)
			}
		}
	}
}

// A write of a row that was deleted since must not bring it back, whether its server was cut off or held up.
func TestConcurrencyDeletedRowsStayDeleted(t *testing.T) {
	events := []eventlog.Event{
		event("", set("a", 1)), event("", set("b", 1)),
		event("", Step{Op: "delete", ID: "a", Version: "v1"}),
		event("", set("c", 1)),
	}
	want := map[string]int{"b": 1, "c": 1}
	for again := 1; again <= 4; again++ {
		s := newSetting(t)
		log := logOf(t, events...)
		s.killed(log, 4, func(c memstore.Commit) bool { return writes("a")(c) })
		s.fold(log, again)
		s.want(fmt.Sprintf("cut off after the deletion, then windows of %d", again), want)

		s = newSetting(t)
		s.run(s.server(log, 1, heldUp(writes("a"), func() { s.fold(log, again) })))
		s.want(fmt.Sprintf("held up before the row was made, while others went on in windows of %d", again), want)
	}
}

// Positions of different partitions have no order. A row keeps one of each.
func TestConcurrencyPositionsOfPartitionsAreNotCompared(t *testing.T) {
	log := memlog.New(memlog.Options{Partitions: 2})
	t.Cleanup(func() { log.Close() })
	want := map[string]int{}
	for i := range 12 {
		e := event(fmt.Sprint("subject ", i), upsert("a", 1<<i))
		add(t, log, i, e)
		want["a"] += 1 << i
	}
	log.End()
	for _, p := range []string{"0", "1"} {
		if head, err := log.Head(t.Context(), p); err != nil || head == 0 {
			t.Fatalf("partition %s ends at %d, %v: this test wants events in both", p, head, err)
		}
	}
	for cut := 1; cut < 12; cut++ {
		s := newSetting(t)
		n := 0
		s.killed(log, 2, func(memstore.Commit) bool { n++; return n == cut })
		s.run(s.server(log, 3, heldUp(last, func() { s.fold(log, 1) })))
		s.want(fmt.Sprintf("cut off after commit %d", cut), want)
	}
}

// A rebuild counts from the first position again. What is held up from before must not write into it.
func TestConcurrencyARebuildIsApartFromWhatCameBefore(t *testing.T) {
	s := newSetting(t)
	log := logOf(t, upserts(6)...)
	s.run(s.server(log, 3, heldUp(writes("b"), func() {
		before := s.fold(log, 2)
		if err := before.db.Apply(context.Background(),
			querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err != nil {
			t.Fatal(err)
		}
		s.fold(log, 4)
	})))
	s.want("after the rebuild", map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32})
}

// The checkpoint is on record when all rows below it are, and not before; events that change nothing move it too.
func TestConcurrencyTheCheckpointIsTheLowWaterMark(t *testing.T) {
	events := upserts(6)
	for i := range 5 {
		events = append(events, eventlog.Event{Source: "/test", Type: "Other", Data: []byte("{}"), Subject: fmt.Sprint(i)})
	}
	log := logOf(t, events...)
	for cut := range 3 {
		s := newSetting(t)
		opened := ""
		s.killed(log, 6, func(c memstore.Commit) bool {
			if last(c) {
				opened = s.checkpoint() // which claims the partition, and covers nothing
				return false
			}
			return c.Number == cut
		})
		if got := s.checkpoint(); got != opened {
			t.Errorf("cut off after write %d: the checkpoint is %s, want still %s", cut, got, opened)
		}
	}
	s := newSetting(t)
	s.fold(log, 4)
	if got, want := s.checkpoint(), `{"offset":11,"anchor":{"offset":11,`; !strings.Contains(got, want) {
		t.Errorf("the checkpoint is %s, want it at the last event, which is of another type", got)
	}
}

// The checkpoint of a server that was held up must not take back that of another.
func TestConcurrencyTheCheckpointFollowsTheOneThatWasRead(t *testing.T) {
	for window := 1; window <= 6; window++ {
		s := newSetting(t)
		log := logOf(t, upserts(6)...)
		ahead := ""
		first := s.server(log, window, heldUp(func(c memstore.Commit) bool {
			return last(c) && len(c.Batch.Writes) > 0 // not those that begin the projection
		}, func() {
			s.fold(log, 2)
			ahead = s.checkpoint()
		}))
		s.run(first)
		if got := s.checkpoint(); ahead == "" || got != ahead {
			t.Errorf("windows of %d: the checkpoint is %s, want %s, which another server has written", window, got, ahead)
		}
		s.want(fmt.Sprintf("windows of %d", window), map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32})
	}
}

// Two servers that begin at once must fold into the same generation.
func TestConcurrencyServersThatOpenAtOnceAgree(t *testing.T) {
	s := newSetting(t)
	log := logOf(t, upserts(6)...)
	s.run(s.server(log, 2, heldUp(last, func() { s.fold(log, 4) })))
	s.want("both at the beginning", map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32})
	srv := s.server(log, 1, memstore.Options{})
	got, err := projection.TargetGenerations(t.Context(), srv.db, []projection.Projection{ProjectionOf("script", s.ops)})
	if err != nil || got[0][s.ops.Codec.Model] != 0 {
		t.Errorf("the rows are in %v, %v: want generation 0, which both of them began", got, err)
	}
}

// A write that fails may have been done: the answer alone does not say. The row does.
func TestConcurrencyAFailedWriteMayHaveBeenDone(t *testing.T) {
	want := map[string]int{"a": 1 + 8, "b": 2 + 16, "c": 4 + 32}
	for fail := 1; fail <= 8; fail++ {
		for name, hook := range map[string]func(func(memstore.Commit) error) memstore.Options{
			"after it was done":  func(f func(memstore.Commit) error) memstore.Options { return memstore.Options{After: f} },
			"before it was done": func(f func(memstore.Commit) error) memstore.Options { return memstore.Options{Before: f} },
		} {
			s := newSetting(t)
			n := 0
			log := logOf(t, upserts(6)...)
			s.run(s.server(log, 3, hook(func(memstore.Commit) error {
				if n++; n == fail {
					return driver.ErrUnavailable
				}
				return nil
			})))
			s.want(fmt.Sprintf("write %d fails %s", fail, name), want)
		}
	}
}

// What was read from a copy that lags behind would be written back as the newest.
func TestConcurrencyTheFoldReadsTheNewest(t *testing.T) {
	s := newSetting(t)
	log := logOf(t, event("", upsert("a", 1)), event("", Step{Op: "follow", ID: "a", Version: "v2"}),
		event("", upsert("a", 1)))
	reads := 0
	drv := consistent{s.store.Join(memstore.Options{Now: s.clock.now}), func(is bool) {
		if reads++; !is {
			t.Error("a read of the fold may be answered by what was before")
		}
	}}
	s.run(s.over(drv, log, 1))
	if reads == 0 {
		t.Error("nothing was read")
	}
}

// consistent tells whether reads are to see all that was written before.
type consistent struct {
	*memstore.MultiWriter
	asked func(bool)
}

func (c consistent) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	c.asked(g.Consistent)
	return c.MultiWriter.Get(ctx, g)
}

func (c consistent) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	c.asked(q.Consistent)
	return c.MultiWriter.Query(ctx, q)
}

// A store forgets deleted rows after a day or more. A server that was held up for so long must begin no write of what
// it had in hand, nor go on from what it knew.
func TestConcurrencyAFrozenServerWakes(t *testing.T) {
	events := []eventlog.Event{
		event("", set("a", 1)), event("", set("b", 1)), event("", set("a", 2)),
		event("", Step{Op: "delete", ID: "a", Version: "v1"}),
		event("", set("c", 1)),
	}
	want := map[string]int{"b": 1, "c": 1}
	for window := 1; window <= 3; window++ {
		for freeze := 1; freeze <= 4; freeze++ {
			s := newSetting(t)
			log := logOf(t, events...)
			pass := func() {
				s.fold(log, 2)
				s.clock.move(3 * 24 * time.Hour)
				s.store.Forget()
			}
			n := 0
			s.run(s.server(log, window, heldUp(func(c memstore.Commit) bool { n++; return n > 1 && n == freeze+1 }, pass)))
			s.want(fmt.Sprintf("frozen before commit %d, windows of %d", freeze, window), want)

			s = newSetting(t)
			s.run(s.server(newSleeper(log, freeze, pass), window, memstore.Options{}))
			s.want(fmt.Sprintf("frozen before read %d, windows of %d", freeze, window), want)
		}
	}
}

// sleeper is a source that holds a reader up once: the fold, or who compares what is on record with it.
type sleeper struct {
	eventlog.Source
	reads atomic.Int64
	sleep func()
}

func newSleeper(src eventlog.Source, reads int, sleep func()) *sleeper {
	s := &sleeper{Source: src, sleep: sleep}
	s.reads.Store(int64(reads))
	return s
}

func (s *sleeper) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if s.reads.Add(-1) == 0 {
		s.sleep()
	}
	return s.Source.Read(ctx, partition, after, most)
}

// A server that has waited for events for long looks whether it still knows how things stand, before it reads rows.
func TestConcurrencyAnIdleServerLooksFirst(t *testing.T) {
	s := newSetting(t)
	log := openLog(t, event("", set("a", 1)))
	source := &idler{Log: log, idle: func() {
		for deadline := time.Now().Add(time.Minute); !strings.Contains(s.checkpoint(), `{"offset":1,`); time.Sleep(
			time.Millisecond) {
			if time.Now().After(deadline) { // what is in hand is to be on record first
				t.Error("the first event is on record at no time")
				break
			}
		}
		s.clock.move(24 * time.Hour)
		add(t, log, 1, event("", set("b", 1)))
		log.End()
	}}
	s.run(s.server(source, 1, memstore.Options{Before: func(c memstore.Commit) error {
		if c.Batch.Deadline.Before(s.clock.now()) && len(c.Batch.Writes) > 0 {
			t.Error("the server makes a batch of what it knew a day ago")
		}
		return nil
	}}))
	s.want("in the end", map[string]int{"a": 1, "b": 1})
}

// idler is a log that calls idle when it is waited for the first time.
type idler struct {
	*memlog.Log
	idle func()
}

func (l *idler) Wait(ctx context.Context, after eventlog.Offsets) error {
	if l.idle != nil {
		l.idle()
		l.idle = nil
	}
	return l.Log.Wait(ctx, after)
}

// A row that is ahead may be the one to follow, though the window has touched other rows since it was read.
func TestConcurrencyAFollowFindsTheRowThatIsAhead(t *testing.T) {
	s := newSetting(t)
	log := logOf(t,
		event("", Step{Op: "delete", ID: "a", Version: "v1"}),
		event("", Step{Op: "set", ID: "a", Version: "v2", Total: 10}, set("a", 1)),
		event("", Step{Op: "follow", ID: "a", Version: "v3", Total: 100}),
	)
	s.killed(log, 2, func(c memstore.Commit) bool { return rows(c) && c.Batch.Writes[c.Number].Row.Key.SK == "v2" })
	s.fold(log, 3)
	rows, err := readRows(open(t, s.store.Join(memstore.Options{}), s.ops.Codec.Model), s.ops.Codec.Model,
		[]keys.Key{{PK: "a", SK: "v3"}})
	if err != nil || rows[Key{"a", "v3"}].Row.Total != 110 {
		t.Errorf("rows %+v, %v: want v3 to follow v2, whose sort key is the greatest of its event", rows, err)
	}
}

// A server that has read ahead when another begins again must go back, or the events in between are in nobody's rows.
// Events carry no number within their stream; that a source leaves none out is its own promise, and that offsets ascend
// the reader checks.
func TestConcurrencyNoEventIsLeftOutWhereAnotherBeginsAgain(t *testing.T) {
	for window := 1; window <= 4; window++ {
		s := newSetting(t)
		log := logOf(t, upserts(8)...)
		n := 0
		s.run(s.server(log, window, heldUp(func(c memstore.Commit) bool { n++; return n == 8 }, func() {
			other := s.server(log, 1, memstore.Options{})
			if err := other.db.Apply(context.Background(),
				querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err != nil {
				t.Fatal(err)
			}
			// it opens, and begins again
			if err := other.Skip(context.Background(), "0@1"); !errors.Is(err, projection.ErrNoDeadLetter) {
				t.Fatal(err)
			}
		})))
		s.want(fmt.Sprintf("windows of %d", window), map[string]int{"a": 1 + 8 + 64, "b": 2 + 16 + 128, "c": 4 + 32})
	}
}

// TestConcurrencyTheLogIsRestoredToBeforeRowsThatAreAhead: a server ends between a row and the checkpoint, and the
// log that it is started with again has lost the event of the row. Another event in its place would pass for applied.
func TestConcurrencyTheLogIsRestoredToBeforeRowsThatAreAhead(t *testing.T) {
	events := []eventlog.Event{event("", set("a", 1)), event("", set("b", 1)), event("", set("c", 1)),
		event("", set("c", 2))}
	for window := 1; window <= 3; window++ {
		s := newSetting(t)
		s.killed(logOf(t, events...), window, func(c memstore.Commit) bool {
			return rows(c) && c.Batch.Writes[c.Number].Row.Key.PK == "c"
		})
		other := logOf(t, events[0], events[1], event("", set("c", 5)))
		srv := s.server(other, window, memstore.Options{})
		var m *projection.MismatchError
		if err := srv.Run(t.Context()); !errors.As(err, &m) {
			t.Errorf("windows of %d: a log that has lost the event of a row is folded: %v", window, err)
		}
		s.fold(logOf(t, events...), window)
		s.want("from the log that has it", map[string]int{"a": 1, "b": 1, "c": 2})
	}
}
