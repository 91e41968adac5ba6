package projections

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/memstore"
)

// cannotBegin is a server, started, of rows that another version has folded into the store. Its writes fail as long as
// fails says.
func cannotBegin(t *testing.T, shared *memstore.MultiWriter, fails *atomic.Bool, logger *slog.Logger) (*Set,
	*memlog.Log) {
	t.Helper()
	first := openVersion(t, shared, "1")
	first.fold(t, first.db, "T")
	v := openVersionOn(t, shared.Join(memstore.Options{Before: func(memstore.Commit) error {
		if fails.Load() {
			return errors.New("there is no such table")
		}
		return nil
	}}), "2")
	fails.Store(true)
	log := logOf(t, "T", "T")
	t.Cleanup(func() { log.Close() })
	set := v.serve(t, log, Keep{}, projection.RunnerConfig{Logger: logger})
	return set, log
}

// TestABuildThatCannotBeginIsToldAsOneThatFails, with the reason, and the log says so once a minute.
func TestABuildThatCannotBeginIsToldAsOneThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Bool
		shared := memstore.NewMultiWriter(memstore.Options{})
		var logged safeBuffer
		set, log := cannotBegin(t, shared, &fails, slog.New(slog.NewTextHandler(&logged, nil)))
		status := func() projection.Status {
			s, err := set.All[0].Status(t.Context(), projection.NewHeads(log))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		until(t, "the status says why the build does not begin", func() bool {
			b := status().Build
			return b != nil && strings.Contains(b.LastError, "no such table")
		})
		time.Sleep(10 * time.Minute)
		if b := status().Build; b == nil || CheckBuild(b) == nil {
			t.Errorf("a build that could not begin for ten minutes is well: %+v", b)
		}
		if _, why := set.Statuses(t.Context()); why == nil || !strings.Contains(why.Error(), "no such table") {
			t.Errorf("the server whose rows fall behind is not ready, since %v", why)
		}
		all, err := set.Rebuilds(t.Context())
		if err != nil || len(all) != 1 || !strings.Contains(all[0].Why, "no such table") {
			t.Errorf("which rows there are is told as %+v, %v", all, err)
		}
		if n := strings.Count(logged.String(), "no such table"); n < 10 || n > 11 {
			t.Errorf("in ten minutes it is logged %d times, want once in each", n)
		}
		fails.Store(false)
		until(t, "the rows are built, and serve", func() bool { return !status().Frozen })
		if b := status().Build; b != nil {
			t.Errorf("there is a build of rows that serve: %+v", b)
		}
	})
}

// TestRowsThatOthersBeginEndTheFailureToBeginThem: a later failure is another one, since its own time.
func TestRowsThatOthersBeginEndTheFailureToBeginThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Bool
		shared := memstore.NewMultiWriter(memstore.Options{})
		set, log := cannotBegin(t, shared, &fails, slog.New(slog.DiscardHandler))
		b := &set.units[0].beginning
		until(t, "the rows cannot be begun", func() bool {
			why, _ := b.failing()
			return why != ""
		})
		other := openVersion(t, shared, "2")
		err := projection.BeginBuild(t.Context(), other.db, other.build, log, []projection.Projection{other.p},
			projection.RunnerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		until(t, "another server has begun them, so the failure is over", func() bool {
			why, _ := b.failing()
			return why == ""
		})
	})
}
