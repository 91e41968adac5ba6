package projection_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestACopyThatHasNoRoomFollowsWhenItIsRetried: until then it is listed, and the others have followed.
func TestACopyThatHasNoRoomFollowsWhenItIsRetried(t *testing.T) {
	full := strings.Repeat("x", querydb.MaxRowSize-200)
	events := append(picksOf(2),
		refEvent("", ref{Op: "set", ID: "a", Club: "A", Text: full}),
		refEvent("", ref{Op: "club", ID: "A", Text: strings.Repeat("n", 1000)}))
	log := openLog(t, events...)
	mode := refMode{cascade: true}
	db := open(t, &keptStore{memstore.New()}, clubModel, pickModel)
	runner := refRunner(t, mode, log, db, 10)
	log.End()
	if err := runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []projection.FailedCascade{{Model: "Club", ID: "A", Failed: 1}}
	ignore := cmpopts.IgnoreFields(projection.FailedCascade{}, "Reason")
	failed, err := runner.FailedCascades(t.Context())
	if diff := cmp.Diff(want, failed, ignore); err != nil || diff != "" {
		t.Fatalf("%v, failed cascades (-want +got):\n%s", err, diff)
	}
	if !strings.Contains(failed[0].Reason, "Pick") {
		t.Errorf("the reason %q names no row", failed[0].Reason)
	}
	tried, failed, err := runner.RetryCascades(t.Context())
	if diff := cmp.Diff(want, failed, ignore); err != nil || diff != "" || tried != 1 {
		t.Fatalf("retried without room: %d, %v (-want +got):\n%s", tried, err, diff)
	}
	more := logOf(t, append(events, refEvent("", ref{Op: "delete", ID: "a"}),
		refEvent("", ref{Op: "set", ID: "b", Club: "A", Text: "short"}))...)
	if err := refRunner(t, mode, more, db, 10).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	tried, failed, err = runner.RetryCascades(t.Context())
	if err != nil || tried > 1 || len(failed) != 0 {
		t.Errorf("retried with room: %d, %v, %v", tried, failed, err)
	}
}
