package projection_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
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

// TestACommitThatIsTooSlowForItsDeadlineIsTriedWithFewerEvents, and the status says why the projection stands still.
func TestACommitThatIsTooSlowForItsDeadlineIsTriedWithFewerEvents(t *testing.T) {
	const count, most = 32, 1000
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
	srv = s.server(logOf(t, events...), count, memstore.Options{After: func(c memstore.Commit) (err error) {
		s.clock.move(time.Minute) // of the ten that a commit has
		if written++; written == most {
			giveUp(fmt.Errorf("%d rows are written, of %d events", most, count))
		}
		if late.LastError == "" {
			late, err = srv.Status(context.Background())
		}
		return err
	}})
	if err := srv.Run(ctx); err != nil {
		t.Fatal(context.Cause(ctx), err)
	}
	if !strings.Contains(late.LastError, "deadline") || late.State != projection.StateStalled {
		t.Errorf("while commits are late, the status is %s, %q", late.State, late.LastError)
	}
}
