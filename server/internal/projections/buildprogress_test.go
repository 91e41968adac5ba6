package projections

import (
	"errors"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestTheErrorOfRowsThatAreBuiltTellsOfEventsPastTheirFirstGoal, which is where the log ended when the build began, and
// that they wait for the switch once they are complete.
func TestTheErrorOfRowsThatAreBuiltTellsOfEventsPastTheirFirstGoal(t *testing.T) {
	store := memstore.NewMultiWriter(memstore.Options{})
	first, second := openVersion(t, store, "1"), openVersion(t, store, "2")
	first.fold(t, first.db, "T", "T")
	log := logOf(t, "T", "T")
	t.Cleanup(func() { log.Close() })
	set := second.serve(t, log, Keep{Manual: true}, projection.RunnerConfig{})
	until(t, "the rows are built", func() bool { return set.units[0].built(t.Context()) })
	if _, err := log.Append(t.Context(), []eventlog.Event{
		{ID: "a", Source: "/more", Type: "T", Time: time.Unix(9, 0), Data: []byte("{}")},
		{ID: "b", Source: "/more", Type: "T", Time: time.Unix(9, 0), Data: []byte("{}")},
		{ID: "c", Source: "/more", Type: "T", Time: time.Unix(9, 0), Data: []byte("{}")},
	}); err != nil {
		t.Fatal(err)
	}
	progress := func() querydb.Progress {
		var e *querydb.NotRebuiltError
		if err := second.db.Rebuilds().NotRebuilt(second.p.Models()[0], "the index"); !errors.As(err, &e) {
			t.Fatal(err)
		}
		return e.Progress
	}
	want := querydb.Progress{Folded: 5, Total: 5, ETASeconds: -1, Waits: true}
	until(t, "the error tells of all events", func() bool {
		set.Statuses(t.Context())
		return progress() == want
	})

	one := &set.units[0].of[0].build
	one.tell(one.runner(), &projection.Status{
		Partitions: []projection.PartitionStatus{{Partition: "0", Head: 9, HeadKnown: true}},
	}, false)
	if p := progress(); p.Folded != 5 || p.Total != 9 || p.Waits {
		t.Errorf("of a log that ends at 9 the error tells %+v", p)
	}
}
