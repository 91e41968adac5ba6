package health

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/foldql/foldql/projection"
)

// TestManyProbesAskTheSourceOnce, also where the one has gone whose request was the first.
func TestManyProbesAskTheSourceOnce(t *testing.T) {
	asked, down := 0, errors.New("the source is down")
	s := &shared{find: func(ctx context.Context) ([]projection.Status, error) {
		if err := ctx.Err(); err != nil {
			t.Errorf("it is asked for one who has gone: %v", err)
		}
		if _, ends := ctx.Deadline(); !ends {
			t.Error("it may take for ever")
		}
		asked++
		return []projection.Status{{Projection: "p"}}, down
	}}
	gone, leave := context.WithCancel(t.Context())
	leave()
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if list, err := s.get(gone); len(list) != 1 || err != down {
				t.Errorf("%d projections, error %v", len(list), err)
			}
		})
	}
	all.Wait()
	if asked > 10 { // a slow machine may take longer than one answer counts
		t.Errorf("the source was asked %d times for 100 probes", asked)
	}
}
