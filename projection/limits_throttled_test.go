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
)

// slowStore refuses to read more than a few rows at a time.
type slowStore struct {
	driver.Driver
	refused int
}

func (s *slowStore) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	if g.Table.Name == Model.Table && len(g.Keys) > 4 && s.refused < 50 {
		s.refused++
		return nil, driver.ErrThrottled
	}
	return s.Driver.Get(ctx, g)
}

// TestAStoreThatIsThrottledIsAskedForLessAtATime: it would never have enough for a whole window.
func TestAStoreThatIsThrottledIsAskedForLessAtATime(t *testing.T) {
	var events []eventlog.Event
	for i := range 32 {
		events = append(events, event("", set(fmt.Sprint(i), i)))
	}
	store := &slowStore{Driver: memstore.New()}
	run(t, logOf(t, events...), open(t, store), quick())
	if store.refused >= len(events) {
		t.Errorf("%d reads were refused, of %d rows", store.refused, len(events))
	}
}

// lateCounter counts the batches that were late.
type lateCounter struct {
	*memstore.MultiWriter
	late int
}

func (s *lateCounter) Apply(ctx context.Context, b driver.Batch) error {
	err := s.MultiWriter.Apply(ctx, b)
	if errors.Is(err, driver.ErrLate) {
		s.late++
	}
	return err
}

// mostLate is how many commits are late until they are so small that none is any more: 128 rows at once, 64, 32, 16,
// and 8, of which no more than half of the deadline may be left.
const mostLate = 5

// TestACommitThatIsTooSlowForItsDeadlineIsTriedWithFewerEvents, and the status says why the projection stands still. It
// is not tried with more as soon as one is in time.
func TestACommitThatIsTooSlowForItsDeadlineIsTriedWithFewerEvents(t *testing.T) {
	const count, most = 128, 2000
	var events []eventlog.Event
	for i := range count {
		events = append(events, event("", set(fmt.Sprint(i), i)))
	}
	s := newSetting(t)
	ctx, giveUp := context.WithCancelCause(t.Context())
	defer giveUp(nil)
	var srv server
	var late projection.Status
	written := 0
	after := func(memstore.Commit) (err error) {
		s.clock.move(time.Minute) // of the ten that a commit has
		if written++; written == most {
			giveUp(fmt.Errorf("%d rows are written, of %d events", most, count))
		}
		if late.LastError == "" {
			late, err = srv.Status(context.Background())
		}
		return err
	}
	store := &lateCounter{MultiWriter: s.store.Join(memstore.Options{Now: s.clock.now, After: after})}
	srv = s.over(store, logOf(t, events...), count)
	if err := srv.Run(ctx); err != nil {
		t.Fatal(context.Cause(ctx), err)
	}
	if !strings.Contains(late.LastError, "deadline") || late.State != projection.StateStalled {
		t.Errorf("while commits are late, the status is %s, %q", late.State, late.LastError)
	}
	if store.late == 0 || store.late > mostLate {
		t.Errorf("%d commits were late, want some and no more than %d", store.late, mostLate)
	}
}

// TestCopiesThatCannotFollowByADeadlineFollowFewerAtOnce, of one row in pages, and of several rows together.
func TestCopiesThatCannotFollowByADeadlineFollowFewerAtOnce(t *testing.T) {
	const picks, most = 128, 2000
	for name, clubs := range map[string]int{"of one row": 1, "of several rows": 16} {
		t.Run(name, func(t *testing.T) {
			var before, after []eventlog.Event
			for i := range clubs {
				before = append(before, refEvent("", ref{Op: "club", ID: fmt.Sprint("club", i), Text: "old"}))
				after = append(after, refEvent("", ref{Op: "club", ID: fmt.Sprint("club", i), Text: "new"}))
			}
			for i := range picks {
				before = append(before, refEvent("", ref{Op: "set", ID: fmt.Sprint(i), Club: fmt.Sprint("club", i%clubs)}))
			}
			several := memstore.NewMultiWriter(memstore.Options{})
			c := &clock{at: epoch}
			ctx, giveUp := context.WithCancelCause(t.Context())
			defer giveUp(nil)
			written := 0
			fold := func(opts memstore.Options, events ...eventlog.Event) (*querydb.DB, int) {
				opts.Now = c.now
				store := &lateCounter{MultiWriter: several.Join(opts)}
				db := open(t, store, clubModel, pickModel)
				cfg := quick()
				cfg.WindowEvents, cfg.Now = len(events), c.now
				r, err := projection.NewRunner(refGroup(refMode{cascade: true}), logOf(t, events...), db, cfg)
				if err == nil {
					err = r.Run(ctx)
				}
				if err != nil {
					t.Fatal(context.Cause(ctx), err)
				}
				return db, store.late
			}
			fold(memstore.Options{}, before...)
			db, late := fold(memstore.Options{Before: func(m memstore.Commit) error {
				for _, w := range m.Batch.Writes { // they are one commit
					if w.Table.Name == pickModel.Table {
						c.move(time.Minute) // of the ten that a commit has
						written++
					}
				}
				if written > most {
					giveUp(fmt.Errorf("%d copies are written, of %d", written, picks))
				}
				return nil
			}}, slices.Concat(before, after)...)
			if late == 0 || late > mostLate {
				t.Errorf("%d commits were late, want some and no more than %d", late, mostLate)
			}
			for i := range picks {
				if p := pickOf(t, db, fmt.Sprint(i)); p.Club == nil || p.Club.Name != "new" {
					t.Fatalf("pick %d holds %+v, want the new name", i, p.Club)
				}
			}
		})
	}
}
