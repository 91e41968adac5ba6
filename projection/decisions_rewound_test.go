package projection_test

import (
	"context"
	"io"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestWhatWasReadBeforeASecondFoldIsNotFoldedAfterIt: a server that has read ahead is held up, while another retries an
// event, begins again, and ends amid the fold, which continues by what is on record now, with the retry at its
// position.
func TestWhatWasReadBeforeASecondFoldIsNotFoldedAfterIt(t *testing.T) {
	for cut := 1; cut <= 8; cut++ {
		s := newSetting(t)
		events := []eventlog.Event{
			event("", set("a", 1)),
			event("s", Step{Op: "update", ID: "b", Version: "v1", Total: 10}), // there is no b yet
			event("", set("b", 1)),
			event("", upsert("a", 2)), event("", upsert("a", 4)), event("", upsert("a", 8)), event("", upsert("a", 16)),
			event("", upsert("a", 32)),
		}
		log := logOf(t, events...)
		part := cutShort{log, 5}
		n := 0
		slow := s.server(log, 3, memstore.Options{Before: func(memstore.Commit) error {
			if n++; n == 1+cut {
				retryAndBeginAgain(s, log, part)
			}
			return nil
		}})
		s.run(slow)
		if got := s.totals(); got["a"] != 63 || got["b"] != 11 {
			t.Errorf("held up before commit %d: totals %v, want 63 of a and 11 of b", cut, got)
		}
	}
}

// retryAndBeginAgain has other servers fold all, retry the second event, and rebuild what is a part of it.
func retryAndBeginAgain(s *setting, log, part eventlog.Source) {
	other := s.server(log, 1, memstore.Options{})
	s.run(other)
	if err := other.Retry(context.Background(), "0@2"); err != nil {
		s.t.Fatal(err)
	}
	if err := other.db.Apply(context.Background(),
		querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("script")}}); err != nil {
		s.t.Fatal(err)
	}
	s.fold(part, 1)
}

// cutShort is a view of a log of which a part can be read.
type cutShort struct {
	*memlog.Log
	end uint64
}

func (l cutShort) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if after >= l.end {
		return nil, nil
	}
	return l.Log.Read(ctx, partition, after, min(most, int(l.end-after)))
}

func (l cutShort) Wait(_ context.Context, after eventlog.Offsets) error {
	if after["0"] >= l.end {
		return io.EOF
	}
	return nil
}
