package projection_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/foldql/foldql/eventlog"
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
