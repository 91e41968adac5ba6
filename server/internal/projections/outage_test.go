package projections

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// unread is a store whose notes cannot be read while it is away.
type unread struct {
	*memstore.MultiWriter
	isAway atomic.Bool
}

// Query implements driver.Driver.
func (s *unread) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	if s.isAway.Load() && q.Table.Name == "foldql" {
		return driver.Page{}, fmt.Errorf("%w: throttled", driver.ErrUnavailable)
	}
	return s.MultiWriter.Query(ctx, q)
}

// TestAProjectionThatNobodyFoldsIsNotWell: where the record of which rows there are cannot be read, everybody ends who
// folds them, as nobody is to fold others' rows, and that is no end of the source.
func TestAProjectionThatNobodyFoldsIsNotWell(t *testing.T) {
	for _, off := range []bool{false, true} {
		t.Run(fmt.Sprintf("only answers %t", off), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &unread{MultiWriter: memstore.NewMultiWriter(memstore.Options{})}
				v := openVersionOn(t, store, "1")
				v.fold(t, v.db, "T")
				log := logOf(t, "T")
				t.Cleanup(func() { log.Close() })
				set := v.serve(t, log, Keep{Off: off}, projection.RunnerConfig{})
				well := func() bool {
					_, err := set.Statuses(t.Context())
					return err == nil
				}
				until(t, "it is well", well)
				store.isAway.Store(true)
				until(t, "it is not", func() bool { return !well() })
				s, err := set.All[0].healthy(t.Context(), projection.NewHeads(log))
				if err == nil || s.State != projection.StateStalled || !strings.Contains(s.LastError, "throttled") ||
					s.FailingSince.IsZero() {
					t.Errorf("a projection that nobody folds is %q since %v: %q, %v", s.State, s.FailingSince, s.LastError, err)
				}
				time.Sleep(time.Hour)
				if again, _ := set.Statuses(t.Context()); again[0].FailingSince != s.FailingSince {
					t.Errorf("an hour later it has failed since %v, want %v", again[0].FailingSince, s.FailingSince)
				}
				store.isAway.Store(false)
				until(t, "it is well again", well)
			})
		})
	}
}
