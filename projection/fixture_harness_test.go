// The name of a test file begins with what its tests are about: fold, ops, limits and failure with how events become
// rows; deadletters and decisions with events that cannot be folded; references, cascade, aggregate, series, writers
// and expiry with kinds of rows; rebuild with the generations of a table, source with the log, and status with what a
// Runner tells. Fixtures are the models, stores and oracles that tests share.

package projection_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// epoch is the time of the first event; each is a second after the one before.
var epoch = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

// faultyStore fails calls as it is told, but for those in the background, and remembers which keys were written.
type faultyStore struct {
	driver.Driver

	mu      sync.Mutex
	before  func(n int) error // called before the n-th Apply, counted from 1; an error keeps it from happening
	after   func(n int) error // called when it has happened; an error hides that
	applies int
	rows    int
	written map[keys.Key]bool
	last    driver.Write // of a row
}

func newFaultyStore() *faultyStore {
	return &faultyStore{Driver: memstore.New(), written: map[keys.Key]bool{}}
}

func (s *faultyStore) Apply(ctx context.Context, b driver.Batch) error {
	if driver.IsInBackground(ctx) {
		return s.Driver.Apply(ctx, b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applies++
	if s.before != nil {
		if err := s.before(s.applies); err != nil {
			return err
		}
	}
	if err := s.Driver.Apply(ctx, b); err != nil {
		return err
	}
	for _, w := range b.Writes {
		if w.Kind != driver.DeletePartition {
			s.written[w.Row.Key], s.last = true, w
		}
	}
	s.rows += len(b.Writes)
	if s.after != nil {
		return s.after(s.applies)
	}
	return nil
}

// Scan reads whole tables, as the store does.
func (s *faultyStore) Scan(ctx context.Context, q driver.Scan) ([]driver.Row, bool, error) {
	return s.Driver.(driver.Scanner).Scan(ctx, q)
}

// Close keeps the memory, so that the store can be opened again after a crash.
func (s *faultyStore) Close() error { return nil }

func (s *faultyStore) keys() []keys.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ks []keys.Key
	for k := range s.written {
		ks = append(ks, k)
	}
	return ks
}

func open(t testing.TB, store driver.Driver, models ...*querydb.Model) *querydb.DB {
	t.Helper()
	return openAt(t, func() time.Time { return epoch }, store, models...)
}

// openAt opens a DB of that clock.
func openAt(t testing.TB, now func() time.Time, store driver.Driver, models ...*querydb.Model) *querydb.DB {
	t.Helper()
	if models == nil {
		models = []*querydb.Model{Model}
	}
	db, err := querydb.Open(context.Background(), store, models, querydb.Config{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// event is a script event about a subject.
func event(subject string, steps ...Step) eventlog.Event {
	return eventlog.Event{Source: "/test", Type: EventType, Subject: subject, Data: JSON(steps...)}
}

// logOf is a log that ends after the events; they get ids and times by their number.
func logOf(t testing.TB, events ...eventlog.Event) *memlog.Log {
	t.Helper()
	log := openLog(t, events...)
	log.End()
	return log
}

func openLog(t testing.TB, events ...eventlog.Event) *memlog.Log {
	t.Helper()
	log := memlog.New(memlog.Options{})
	t.Cleanup(func() { log.Close() })
	add(t, log, 0, events...)
	return log
}

// add appends events to a log that has n already.
func add(t testing.TB, log *memlog.Log, n int, events ...eventlog.Event) {
	t.Helper()
	for i, e := range events {
		e.ID = strconv.Itoa(n + i + 1)
		if e.Time.IsZero() {
			e.Time = epoch.Add(time.Duration(n+i) * time.Second)
		}
		if _, err := log.Append(context.Background(), []eventlog.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
}

// quick is a configuration that loses no time between attempts.
func quick() projection.RunnerConfig {
	return projection.RunnerConfig{
		MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond,
		Now: func() time.Time { return epoch },
	}
}

func newRunner(t testing.TB, name string, src eventlog.Source, db *querydb.DB,
	cfg projection.RunnerConfig) *projection.Runner {
	t.Helper()
	r, err := projection.NewRunner(Projection(name), src, db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run folds a log to its end and returns the runner.
func run(t testing.TB, src eventlog.Source, db *querydb.DB, cfg projection.RunnerConfig) *projection.Runner {
	t.Helper()
	r := newRunner(t, "script", src, db, cfg)
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

// stored is a row with all that the store keeps of it.
type stored struct {
	Row      Row
	Indexes  []querydb.IndexKey
	Position querydb.Position
}

// rowsOf reads every row that was ever written and is there, expired or not.
func rowsOf(t testing.TB, db *querydb.DB, ks []keys.Key) map[Key]stored {
	t.Helper()
	rows, err := readRows(db, Model, ks)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func readRows(db *querydb.DB, m *querydb.Model, ks []keys.Key) (map[Key]stored, error) {
	rows, err := db.ForFold("").Get(context.Background(), m, ks, true)
	if err != nil {
		return nil, err
	}
	got := map[Key]stored{}
	for _, row := range rows {
		if row.Record == nil {
			continue
		}
		s := stored{Indexes: row.Indexes, Position: row.Position}
		if err := Codec.Decode(row.Record, &s.Row); err != nil {
			return nil, err
		}
		got[Key{ID: s.Row.ID, Version: s.Row.Version}] = s
	}
	return got, nil
}

// deadLettersOf lists the dead letters as "offset: reason", without stacks.
func deadLettersOf(t testing.TB, r *projection.Runner) []string {
	t.Helper()
	events, err := r.DeadLetters(context.Background(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		s := e.Ref
		if e.BlockedBy != "" {
			s += fmt.Sprintf(" behind %s", e.BlockedBy)
		}
		got = append(got, s)
	}
	return got
}

func ptr[V any](v V) *V { return &v }
