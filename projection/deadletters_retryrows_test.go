package projection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// versions are the totals of the rows of a that there are among those of some versions.
func (s *setting) versions(of ...string) map[string]int {
	s.t.Helper()
	var ks []keys.Key
	for _, v := range of {
		ks = append(ks, keys.Key{PK: "a", SK: v})
	}
	rows, err := readRows(open(s.t, s.store.Join(memstore.Options{}), s.ops.Codec.Model), s.ops.Codec.Model, ks)
	if err != nil {
		s.t.Fatal(err)
	}
	got := map[string]int{}
	for k, r := range rows {
		got[k.Version] = r.Row.Total
	}
	return got
}

func followA(version string, total int) Step {
	return Step{Op: "follow", ID: "a", Version: version, Total: total}
}

// TestARetryKeepsFewRowsOfAPartition in memory, however many there are: on a shared store it reads all of them, to see
// whether another process has followed one that the event changes, and decodes those that the event needs.
func TestARetryKeepsFewRowsOfAPartition(t *testing.T) {
	const history = 3000
	for name, retried := range map[string]struct {
		step  Step
		total int // of the row afterwards
	}{
		"of a change":           {Step{Op: "upsert", ID: "a", Version: "v001000", Total: 10}, 1001 + 10},
		"of an op that follows": {followA("v9", 10), history + 10},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetting(t)
			decoded, ops, codec := 0, *s.ops, *s.ops.Codec
			codec.Decode = func(rec record.Record, row *Row) error {
				decoded++
				return Codec.Decode(rec, row)
			}
			ops.Codec, s.ops = &codec, &ops
			events := []eventlog.Event{event("s", needs("b", 1), retried.step)}
			for i := range history {
				events = append(events, event("", followA(fmt.Sprintf("v%06d", i), 1)))
			}
			srv := s.fold(logOf(t, append(events, event("", set("b", 1)))...), 500)
			decoded = 0
			if err := srv.Retry(t.Context(), "0@1"); err != nil {
				t.Fatal(err)
			}
			if decoded > 20 {
				t.Errorf("%d rows of a partition of %d were decoded", decoded, history)
			}
			version := retried.step.Version
			if got := s.versions(version)[version]; got != retried.total {
				t.Errorf("the row has the total %d, want %d", got, retried.total)
			}
		})
	}
}

// TestARetryFollowsTheRowBefore the one that was the latest, where the event deletes that first: on a shared store too,
// where such an event is a commit of its own.
func TestARetryFollowsTheRowBefore(t *testing.T) {
	s := newSetting(t)
	srv := s.fold(logOf(t, event("s", needs("b", 1), Step{Op: "delete", ID: "a", Version: "v3"}, followA("v4", 1)),
		event("", followA("v1", 1)), event("", followA("v2", 1)), event("", followA("v3", 1)), event("", set("b", 1))), 10)
	if err := srv.Retry(t.Context(), "0@1"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"v1": 1, "v2": 2, "v4": 3}, s.versions("v1", "v2", "v3", "v4")); diff != "" {
		t.Errorf("totals by row (-want +got):\n%s", diff)
	}
}

// TestARetryThatFollowsWaitsForWhatIsAhead kills a process that has followed a row, and retries an event that is to
// follow too: it must not take effect before the other is done.
func TestARetryThatFollowsWaitsForWhatIsAhead(t *testing.T) {
	s := newSetting(t)
	log := logOf(t, event("s", needs("b", 1), followA("v2", 1)), event("t", needs("b", 1), followA("v4", 100)),
		event("", set("a", 1)), event("", set("b", 1)), event("", followA("v3", 10)))
	s.killed(log, 1, func(c memstore.Commit) bool {
		return last(c) && len(c.Batch.Writes) > 0 && c.Batch.Writes[0].Row.Key.PK == "b"
	})
	other := s.server(log, 1, memstore.Options{})
	if err := other.Retry(t.Context(), "0@1"); err != nil { // it remembers the latest row then
		t.Fatal(err)
	}
	s.killed(log, 1, func(c memstore.Commit) bool { return rows(c) && c.Batch.Writes[0].Row.Key.SK == "v3" })
	if err := other.Retry(t.Context(), "0@2"); err == nil || !strings.Contains(err.Error(), "in the middle of a commit") {
		t.Errorf("retry while the latest row is ahead: %v, want an error that says so", err)
	}
	s.run(other)
	if err := other.Retry(t.Context(), "0@2"); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"v1": 1, "v2": 2, "v3": 12, "v4": 112}
	if diff := cmp.Diff(want, s.versions("v1", "v2", "v3", "v4")); diff != "" {
		t.Errorf("totals by row (-want +got):\n%s", diff)
	}
}
