package projection_test

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestAnOpOfAModelOutsideTheGroupIsADeadLetter that names the models of which it could be.
func TestAnOpOfAModelOutsideTheGroupIsADeadLetter(t *testing.T) {
	all := refProjections(refMode{}.picks())
	all[1].Project = func(*eventlog.Event, projection.Meta) ([]projection.Op, error) {
		return []projection.Op{badgeOps.Set(Badge{ID: "x"})}, nil
	}
	db := open(t, memstore.New(), clubModel, pickModel)
	runner, err := projection.NewRunner(projection.Group(all)[0], logOf(t, refEvent("a", ref{Op: "club", ID: "A"})), db,
		quick())
	if err == nil {
		err = runner.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	const want = "an op is of Badge and does not change rows of Club or Pick"
	if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, want) {
		t.Errorf("dead letters are %+v, %v: want one with %q", letters, err, want)
	}
}
