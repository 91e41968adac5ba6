package projection_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

func set(id string, total int) Step {
	return Step{Op: "set", ID: id, Version: "v1", Total: total}
}

func upsert(id string, total int) Step {
	return Step{Op: "upsert", ID: id, Version: "v1", Total: total}
}

// needs is an event that fails until there is a row of the id.
func needs(id string, total int) Step {
	return Step{Op: "update", ID: id, Version: "v1", Total: total}
}

// totals returns the total of each row's id.
func totals(t *testing.T, db *querydb.DB, store *faultyStore) map[string]int {
	t.Helper()
	got := map[string]int{}
	for k, r := range rowsOf(t, db, store.keys()) {
		got[k.ID] = r.Row.Total
	}
	return got
}

// broken is a log in which events 2, 4 and 6 are dead letters: 2 needs a row that event 5 makes, the others are
// behind it.
func broken() []eventlog.Event {
	return []eventlog.Event{
		event("other", upsert("o", 1)),
		event("s", needs("a", 10)),
		event("other", upsert("o", 2)),
		event("s", upsert("a", 100)),
		event("maker", set("a", 1)),
		event("s", upsert("a", 1000)),
		event("", needs("nowhere", 1)),
		event("", upsert("o", 4)),
	}
}

func TestAFailingEventHoldsBackItsSubjectAlone(t *testing.T) {
	for _, window := range []int{1, 2, 3, 100} {
		store := newFaultyStore()
		db := open(t, store)
		cfg := quick()
		cfg.WindowEvents = window
		r := run(t, logOf(t, broken()...), db, cfg)
		if diff := cmp.Diff(map[string]int{"o": 7, "a": 1}, totals(t, db, store)); diff != "" {
			t.Errorf("windows of %d: rows (-want +got):\n%s", window, diff)
		}
		want := []string{"0@2", "0@4 behind 0@2", "0@6 behind 0@2", "0@7"}
		if diff := cmp.Diff(want, deadLettersOf(t, r)); diff != "" {
			t.Errorf("windows of %d: dead letters (-want +got):\n%s", window, diff)
		}
	}
}

func TestABlockedSubjectStaysSoAfterARestart(t *testing.T) {
	store := newFaultyStore()
	log := openLog(t, broken()...)
	run(t, ended(log), open(t, store), quick())
	add(t, log, 8, event("s", upsert("a", 5000)))
	db := open(t, store)
	r := run(t, ended(log), db, quick())
	if got := totals(t, db, store)["a"]; got != 1 {
		t.Errorf("total of a is %d, want 1: the later event must wait", got)
	}
	if got := deadLettersOf(t, r); len(got) != 5 || got[4] != "0@9 behind 0@2" {
		t.Errorf("dead letters: %v, want the new event last", got)
	}
}

// ended is a view of a log that ends where it is.
func ended(log eventlog.Log) eventlog.Source { return endedLog{log} }

type endedLog struct{ eventlog.Log }

func (l endedLog) Wait(ctx context.Context, after eventlog.Offsets) error {
	return waitOrEnd(ctx, l.Log, after)
}

func TestRetryFoldsTheEventAndThoseBehindItInOrder(t *testing.T) {
	store := newFaultyStore()
	db := open(t, store)
	r := run(t, logOf(t, broken()...), db, quick())
	ctx := t.Context()

	if err := r.Retry(ctx, "0@4"); err == nil || !strings.Contains(err.Error(), "0@2") {
		t.Errorf("retry of an event that waits for another: %v, want an error that names it", err)
	}
	if err := r.Retry(ctx, "0@3"); !errors.Is(err, projection.ErrNoDeadLetter) {
		t.Errorf("retry of an event that is not dead letters: %v, want ErrNoDeadLetter", err)
	}
	if err := r.Retry(ctx, "rubbish"); err == nil {
		t.Error("retry of rubbish succeeds")
	}
	if err := r.Retry(ctx, "0@7"); err == nil || !strings.Contains(err.Error(), "there is no such row") {
		t.Errorf("retry of an event that fails again: %v, want its reason", err)
	}
	if err := r.Retry(ctx, "0@2"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"o": 7, "a": 1111}, totals(t, db, store)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"0@7"}, deadLettersOf(t, r)); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

func TestSkipForgetsTheEventAndFoldsThoseBehindIt(t *testing.T) {
	store := newFaultyStore()
	db := open(t, store)
	r := run(t, logOf(t, broken()...), db, quick())
	for _, event := range []string{"0@4", "0@2", "0@7"} {
		if err := r.Skip(t.Context(), event); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]int{"o": 7, "a": 1001}, totals(t, db, store)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if got := deadLettersOf(t, r); len(got) != 0 {
		t.Errorf("dead letters: %v, want none", got)
	}
	if s := status(t, r); s.DeadLetters != 0 {
		t.Errorf("status counts %d dead letters, want none", s.DeadLetters)
	}
}

func TestRetryWorksWithoutARun(t *testing.T) {
	store := newFaultyStore()
	log := logOf(t, broken()...)
	run(t, log, open(t, store), quick())
	db := open(t, store)
	if err := newRunner(t, "script", log, db, quick()).Retry(t.Context(), "0@2"); err != nil {
		t.Fatal(err)
	}
	if got := totals(t, db, store)["a"]; got != 1111 {
		t.Errorf("total of a is %d, want 1111", got)
	}
}

// TestARetryWhoseAnswerIsLostTakesEffectOnce loses the answer to the commit of a retry: once with a later attempt that
// finds it out, once with none, because the caller has gone.
func TestARetryWhoseAnswerIsLostTakesEffectOnce(t *testing.T) {
	for _, gone := range []bool{false, true} {
		store := newFaultyStore()
		log := openLog(t, broken()...)
		db := open(t, store)
		r := run(t, ended(log), db, quick())
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		lost := 0
		store.after = func(int) error {
			if lost++; lost > 1 {
				return nil
			}
			if gone {
				leave()
			}
			return driver.ErrUnavailable
		}
		if err := r.Retry(ctx, "0@2"); (err != nil) != gone {
			t.Fatalf("caller gone %t: retry: %v", gone, err)
		}
		if err := r.Retry(t.Context(), "0@2"); !errors.Is(err, projection.ErrNoDeadLetter) {
			t.Errorf("caller gone %t: second retry: %v, want ErrNoDeadLetter", gone, err)
		}
		add(t, log, 8, event("s", upsert("a", 10000)))
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := totals(t, db, store)["a"]; got != 11111 {
			t.Errorf("caller gone %t: total of a is %d, want 11111", gone, got)
		}
	}
}

// TestThoseBehindAnEventAreFoldedThoughTheProcessHasEnded after the event was retried or skipped.
func TestThoseBehindAnEventAreFoldedThoughTheProcessHasEnded(t *testing.T) {
	for _, tt := range []struct {
		name  string
		act   func(*projection.Runner, context.Context, string) error
		total int
	}{
		{"retried", (*projection.Runner).Retry, 1111},
		{"skipped", (*projection.Runner).Skip, 1101},
	} {
		store := newFaultyStore()
		log := openLog(t, broken()...)
		cfg := quick()
		cfg.WindowEvents = 1
		r := run(t, ended(log), open(t, store), cfg)
		ctx, kill := context.WithCancel(t.Context())
		last := store.applies + 1
		store.before = func(n int) error {
			if n > last {
				kill()
				return driver.ErrUnavailable
			}
			return nil
		}
		if err := tt.act(r, ctx, "0@2"); err == nil {
			t.Fatalf("%s: the process has not ended", tt.name)
		}
		store.before = nil
		db := open(t, store)
		r = run(t, ended(log), db, cfg)
		if diff := cmp.Diff([]string{"0@7"}, deadLettersOf(t, r)); diff != "" {
			t.Errorf("%s: dead letters (-want +got):\n%s", tt.name, diff)
		}
		if got := totals(t, db, store)["a"]; got != tt.total {
			t.Errorf("%s: total of a is %d, want %d", tt.name, got, tt.total)
		}
	}
}

// TestARefoldDoesWhatRetryDid folds the whole log again after retries and skips: each takes effect at its moment, so
// the rows are the same, their positions and indexes included, whatever the windows.
func TestARefoldDoesWhatRetryDid(t *testing.T) {
	store := newFaultyStore()
	log := openLog(t, broken()...)
	db := open(t, store)
	r := run(t, ended(log), db, quick())
	decide := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	decide(r.Skip(t.Context(), "0@7"))
	decide(r.Retry(t.Context(), "0@2"))
	add(t, log, 8,
		event("s", Step{Op: "follow", ID: "a", Version: "v2", Total: 1}),
		event("t", needs("b", 1)), // a dead letter
		event("u", set("a", 7)),
		event("v", set("b", 1)),
	)
	r = run(t, ended(log), db, quick())
	decide(r.Retry(t.Context(), "0@10"))
	add(t, log, 12, event("t", upsert("b", 40)))
	r = run(t, ended(log), db, quick())
	want, wantLetters := rowsOf(t, db, store.keys()), deadLettersOf(t, r)
	if want[Key{ID: "a", Version: "v2"}].Row.Total != 1112 || want[Key{ID: "b", Version: "v1"}].Row.Total != 42 {
		t.Fatalf("the first fold is not what this test builds on: %+v", want)
	}

	for window := 1; window <= 14; window++ {
		if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err != nil {
			t.Fatal(err)
		}
		cfg := quick()
		cfg.WindowEvents = window
		r := run(t, ended(log), db, cfg)
		if diff := cmp.Diff(want, rowsOf(t, db, store.keys())); diff != "" {
			t.Errorf("windows of %d: rows (-first +again):\n%s", window, diff)
		}
		if diff := cmp.Diff(wantLetters, deadLettersOf(t, r)); diff != "" {
			t.Errorf("windows of %d: dead letters (-first +again):\n%s", window, diff)
		}
	}
}

// TestARefoldReleasesWhatALaterEventOfTheSubjectWaitsFor: an event that took effect when one before it was skipped
// does so again, although a later one of its subject, which failed then, is a dead letter at that position.
func TestARefoldReleasesWhatALaterEventOfTheSubjectWaitsFor(t *testing.T) {
	store := newFaultyStore()
	log := openLog(t,
		event("s", needs("x", 1)), // a dead letter
		event("s", set("b", 2)),   // behind it
		event("s", needs("y", 3)), // behind it, and fails by itself
		event("", set("c", 4)),
	)
	db := open(t, store)
	r := run(t, ended(log), db, quick())
	if err := r.Skip(t.Context(), "0@1"); err != nil {
		t.Fatal(err)
	}
	want, wantLetters := rowsOf(t, db, store.keys()), deadLettersOf(t, r)
	if want[Key{ID: "b", Version: "v1"}].Row.Total != 2 || len(wantLetters) != 1 {
		t.Fatalf("the first fold is not what this test builds on: %+v, dead letters %+v", want, wantLetters)
	}
	for window := 1; window <= 5; window++ {
		if err := db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err != nil {
			t.Fatal(err)
		}
		cfg := quick()
		cfg.WindowEvents = window
		r := run(t, ended(log), db, cfg)
		if diff := cmp.Diff(want, rowsOf(t, db, store.keys())); diff != "" {
			t.Errorf("windows of %d: rows (-first +again):\n%s", window, diff)
		}
		if diff := cmp.Diff(wantLetters, deadLettersOf(t, r)); diff != "" {
			t.Errorf("windows of %d: dead letters (-first +again):\n%s", window, diff)
		}
	}
}

func TestAMalformedEventBecomesADeadLetter(t *testing.T) {
	store := newFaultyStore()
	db := open(t, store)
	log := malformed{ended(openLog(t, event("", set("a", 1)), event("", set("b", 2)))), 1}
	r := run(t, log, db, quick())
	if diff := cmp.Diff(map[string]int{"b": 2}, totals(t, db, store)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	events, err := r.DeadLetters(t.Context(), "", 10)
	if err != nil || len(events) != 1 || events[0].Reason != "not JSON" {
		t.Errorf("dead letters: %+v, %v, want one that is not JSON", events, err)
	}
}

// malformed is a source that cannot read the event of an offset.
type malformed struct {
	eventlog.Source
	offset uint64
}

func (m malformed) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	events, err := m.Source.Read(ctx, partition, after, most)
	for i := range events {
		if events[i].Offset == m.offset {
			events[i].Malformed = errors.New("not JSON")
		}
	}
	return events, err
}

// TestARowThatIsTooLargeFailsItsEvent, although a later event of the window makes the row small again.
func TestARowThatIsTooLargeFailsItsEvent(t *testing.T) {
	store := newFaultyStore()
	db := open(t, store)
	var events []eventlog.Event
	for range 9 {
		events = append(events, event("", upsert("a", 1)))
	}
	large := upsert("a", 100)
	large.Note = strings.Repeat("x", querydb.MaxRowSize)
	events[5] = event("s", large)
	events[7] = event("s", upsert("a", 100))
	events[8] = event("", set("a", 7))
	r := run(t, logOf(t, events...), db, quick())
	if got := totals(t, db, store)["a"]; got != 7 {
		t.Errorf("total is %d, want 7", got)
	}
	if diff := cmp.Diff([]string{"0@6", "0@8 behind 0@6"}, deadLettersOf(t, r)); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}

// refusing is a store that refuses rows of some key, for reasons of its own.
type refusing struct {
	*faultyStore
	pk string
}

func (s refusing) Apply(ctx context.Context, b driver.Batch) error {
	for _, w := range b.Writes {
		if w.Row.Key.PK == s.pk {
			return driver.ErrConflict
		}
	}
	return s.faultyStore.Apply(ctx, b)
}

// TestAnEventThatTheStoreRefusesIsFound stops the process after each commit of the search for the event.
func TestAnEventThatTheStoreRefusesIsFound(t *testing.T) {
	for stop := 1; stop <= 10; stop++ {
		var events []eventlog.Event
		for range 9 {
			events = append(events, event("", upsert("a", 1)))
		}
		events[5] = event("s", upsert("refused", 1), upsert("a", 100))
		events[7] = event("s", upsert("a", 100))
		store := refusing{newFaultyStore(), "refused"}
		log := logOf(t, events...)
		ctx, end := context.WithCancel(t.Context())
		store.after = func(n int) error {
			if n == stop {
				end()
				return driver.ErrUnavailable
			}
			return nil
		}
		if err := newRunner(t, "script", log, open(t, store), quick()).Run(ctx); err != nil &&
			!errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		end()
		db := open(t, store)
		r := run(t, log, db, quick())
		check := func(when string) {
			t.Helper()
			if got := totals(t, db, store.faultyStore)["a"]; got != 7 {
				t.Errorf("stopped after commit %d, %s: total is %d, want 7", stop, when, got)
			}
			if diff := cmp.Diff([]string{"0@6", "0@8 behind 0@6"}, deadLettersOf(t, r)); diff != "" {
				t.Errorf("stopped after commit %d, %s: dead letters (-want +got):\n%s", stop, when, diff)
			}
		}
		check("at the end")
		if err := r.Retry(t.Context(), "0@6"); err == nil {
			t.Error("retry of what the store refuses succeeds")
		}
		check("after a retry")
	}
}

func TestDeadLettersAreListedInPages(t *testing.T) {
	db := open(t, newFaultyStore())
	r := run(t, logOf(t, broken()...), db, quick())
	var refs []string
	for after := ""; ; {
		page, err := r.DeadLetters(t.Context(), after, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			refs = append(refs, e.Ref)
		}
		after = refs[len(refs)-1]
	}
	if diff := cmp.Diff([]string{"0@2", "0@4", "0@6", "0@7"}, refs); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}
