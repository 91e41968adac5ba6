package events

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/server/internal/search"
)

func gap(partition string, after, upTo uint64) search.Gap {
	return search.Gap{Partition: partition, After: after, UpTo: upTo}
}

// TestAnExportBeginsBehindWhatIsForgottenMeanwhile, in one page or in the next: nothing of the partition is in the file
// yet.
func TestAnExportBeginsBehindWhatIsForgottenMeanwhile(t *testing.T) {
	x := &exporting{start: eventlog.Offsets{}}
	for _, page := range [][]search.Gap{{gap("a", 0, 15), gap("a", 15, 19), gap("b", 0, 3)}, nil, {gap("a", 19, 24)}} {
		if err := x.checkForgotten(page); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]search.Gap{gap("a", 0, 24), gap("b", 0, 3)}, x.lost); diff != "" {
		t.Errorf("the file lacks (-want +got):\n%s", diff)
	}
}

// TestAnExportThatRetentionOvertakesSaysWhatHelps: the file would lack events between others, and the position of an
// earlier export has to do with that only where there is one.
func TestAnExportThatRetentionOvertakesSaysWhatHelps(t *testing.T) {
	for _, c := range []struct {
		start eventlog.Offsets
		gaps  []search.Gap
		want  string
	}{
		{nil, []search.Gap{gap("a", 0, 15), gap("a", 16, 19)}, "up to 19 while it was exported: repeat the command"},
		{eventlog.Offsets{"b": 2}, []search.Gap{gap("a", 16, 19)}, "up to 19 while it was exported: repeat the command"},
		{eventlog.Offsets{"a": 10}, []search.Gap{gap("a", 10, 15)}, "name another file and leave --from out"},
	} {
		x := &exporting{start: c.start}
		if err := x.checkForgotten(c.gaps); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("from %v, without %v: error %v, want %s", c.start, c.gaps, err, c.want)
		}
	}
}
