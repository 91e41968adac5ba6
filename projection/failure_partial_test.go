package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// An event that is a dead letter has had no effect: a retry would be the second one of what it has had.

// refusingRow refuses the first n commits of a row, as a service does that finds something wrong with it.
func refusingRow(id string, n int, each func(n int)) func(memstore.Commit) error {
	return func(c memstore.Commit) error {
		if n == 0 || !writes(id)(c) {
			return nil
		}
		n--
		each(n)
		return fmt.Errorf("%w: the service will not have it", driver.ErrInvalid)
	}
}

func TestAnEventOfWhichARowIsWrittenBecomesNoDeadLetter(t *testing.T) {
	for window := 1; window <= 3; window++ {
		s := newSetting(t)
		log := logOf(t, event("", upsert("c", 1)), event("", upsert("a", 1), upsert("b", 1)), event("", upsert("c", 2)))
		var srv server
		var status projection.Status
		srv = s.server(log, window, memstore.Options{Before: refusingRow("b", 20, func(n int) {
			if n == 1 {
				var err error
				if status, err = srv.Status(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})})
		s.run(srv)
		s.want(fmt.Sprint("window ", window), map[string]int{"a": 1, "b": 1, "c": 3})
		if letters := deadLettersOf(t, srv.Runner); len(letters) > 0 {
			t.Errorf("window %d: dead letters %v", window, letters)
		}
		if status.State != projection.StateStalled || status.LastError == "" {
			t.Errorf("window %d: while the row is refused, the status is %s, %q", window, status.State, status.LastError)
		}
	}
}

func TestAnEventOfWhichAKilledServerWroteARowBecomesNoDeadLetter(t *testing.T) {
	s := newSetting(t)
	log := logOf(t, event("", upsert("a", 1), upsert("b", 1)))
	s.killed(log, 1, writes("a"))
	srv := s.server(log, 1, memstore.Options{Before: refusingRow("b", 20, func(int) {})})
	s.run(srv)
	s.want("in the end", map[string]int{"a": 1, "b": 1})
	if letters := deadLettersOf(t, srv.Runner); len(letters) > 0 {
		t.Errorf("%v are dead letters", letters)
	}
}

// TestAnEventThatAnotherServerWritesMeanwhileBecomesNoDeadLetter: one server is about to put on record that it gives
// the event up, and cannot. Before it tries again, another server writes the row, and is killed.
func TestAnEventThatAnotherServerWritesMeanwhileBecomesNoDeadLetter(t *testing.T) {
	s := newSetting(t)
	log := logOf(t, event("", upsert("a", 1)))
	refused, written := 0, false
	srv := s.server(log, 1, memstore.Options{Before: func(c memstore.Commit) error {
		switch {
		case writes("a")(c):
			refused++
			return fmt.Errorf("%w: the service will not have it", driver.ErrInvalid)
		case refused < 3 || written || !slices.ContainsFunc(c.Batch.Last, isLetter):
			return nil
		}
		written = true
		s.killed(log, 1, writes("a"))
		return driver.ErrUnavailable
	}})
	s.run(srv)
	if !written {
		t.Fatal("the server has not given the event up")
	}
	s.want("in the end", map[string]int{"a": 1})
	if letters := deadLettersOf(t, srv.Runner); len(letters) > 0 {
		t.Errorf("%v are dead letters", letters)
	}
}

// isLetter reports whether a write is the note of a dead letter.
func isLetter(w driver.Write) bool { return strings.Contains(w.Row.Key.PK, "deadletter:") }

// TestAnEventOfOneRowBecomesADeadLetterWhereTheServiceRefusesIt though other rows of its window were written before.
func TestAnEventOfOneRowBecomesADeadLetterWhereTheServiceRefusesIt(t *testing.T) {
	for window := 1; window <= 3; window++ {
		s := newSetting(t)
		log := logOf(t, event("", upsert("a", 1), upsert("c", 1)), event("", upsert("b", 1)), event("", upsert("c", 2)))
		srv := s.server(log, window, memstore.Options{Before: refusingRow("b", 1000, func(int) {})})
		s.run(srv)
		s.want(fmt.Sprint("window ", window), map[string]int{"a": 1, "c": 3})
		if letters := deadLettersOf(t, srv.Runner); !slices.Equal(letters, []string{"0@2"}) {
			t.Errorf("window %d: dead letters %v, want the second event", window, letters)
		}
	}
}

// counts makes each event count in device a, and write device b.
func counts(o *DeviceOps) projection.Projection {
	return projection.New(o, projection.Projection{
		Name: "counts", Events: []string{"counts"},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			return []projection.Op{
				o.Upsert("a", Device{}, func(d *Device) {
					n := 1
					if d.At != nil {
						n += *d.At
					}
					d.At = &n
				}),
				o.Set(Device{ID: ptr("b"), At: ptr(1)}),
			}, nil
		},
	})
}

func TestAnEventOneOfWhoseRowsIsOfAnotherKindHasNoEffectBeforeItsRetry(t *testing.T) {
	o := deviceOps(deviceModel())
	m := o.Codec.Model
	store := memstore.NewMultiWriter(memstore.Options{})
	db := open(t, store, m)
	key, err := o.Key("b")
	if err != nil {
		t.Fatal(err)
	}
	other := *m.DriverTable(0)
	other.Kind, other.Indexes = "gadget", nil
	gadget := driver.Write{Table: &other, Row: driver.Row{Key: key}}
	gadget.Row.Record, err = recordOf(o, Device{ID: ptr("b")})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Apply(t.Context(), driver.Batch{Writes: []driver.Write{gadget}}); err != nil {
		t.Fatal(err)
	}
	cfg := quick()
	cfg.Now = time.Now
	r, err := projection.NewRunner(counts(o), logOf(t, deviceEvent("counts", "")), db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if letters := deadLettersOf(t, r); !slices.Equal(letters, []string{"0@1"}) {
		t.Errorf("%v are dead letters, want the event", letters)
	}
	if got, err := devicesOf(db, o, "a", "b"); err != nil || len(got) > 0 {
		t.Errorf("the event is a dead letter, and there are %v, %v", got, err)
	}
	gadget.Kind = driver.Delete
	gadget.Row = driver.Row{Key: key}
	if err := errors.Join(store.Apply(t.Context(), driver.Batch{Writes: []driver.Write{gadget}}),
		r.Retry(t.Context(), "0@1")); err != nil {
		t.Fatal(err)
	}
	got, err := devicesOf(db, o, "a", "b")
	if err != nil || len(got) != 2 || *got["a"].Device.At != 1 {
		t.Errorf("after the retry there are %v, %v, want a count of 1", got, err)
	}
}

func recordOf(o *DeviceOps, d Device) (record.Record, error) {
	var b record.Builder
	row, err := querydb.Encode(o.Codec, &b, &d)
	return row.Record, err
}

// spoilt is a store in which another program has put what is no row.
type spoilt struct {
	*memstore.MultiWriter
	id string
}

func (s *spoilt) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	for _, k := range g.Keys {
		if k.PK == s.id {
			return nil, fmt.Errorf("%w: an attribute has another type", driver.ErrDamaged)
		}
	}
	return s.MultiWriter.Get(ctx, g)
}

func TestAnEventOfADamagedRowBecomesADeadLetterAndTheOthersGoOn(t *testing.T) {
	for window := 1; window <= 3; window++ {
		s := newSetting(t)
		log := logOf(t, event("", upsert("a", 1)), event("", upsert("a", 2), upsert("b", 1)), event("", upsert("a", 4)))
		srv := s.over(&spoilt{s.store.Join(memstore.Options{Now: s.clock.now}), "b"}, log, window)
		s.run(srv)
		s.want(fmt.Sprint("window ", window), map[string]int{"a": 5})
		if letters := deadLettersOf(t, srv.Runner); !slices.Equal(letters, []string{"0@2"}) {
			t.Errorf("window %d: dead letters %v, want the second event", window, letters)
		}
	}
}
