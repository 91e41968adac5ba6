package crash

import (
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/faultproxy"
)

// TestWritesWithoutConditionsAreFoundOut: with the guard off that keeps a row from being written out of its turn,
// trials find differences.
func TestWritesWithoutConditionsAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	isFoundOut(t, faultproxy.WriteConditions, subjects(t)[ledgerAt], 20)
}

// TestCopiesWithoutConditionsOnTheirSourcesAreFoundOut: with the guard off that keeps a copy from being made of a row
// that has changed since it was read.
func TestCopiesWithoutConditionsOnTheirSourcesAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	on := *subjects(t)[partedAt]
	on.windows, on.pair = []int{10, 40}, true
	isFoundOut(t, faultproxy.SourceConditions, &on, 40)
}

// TestCopiesWithoutLinksAreFoundOut: where no link says which rows hold copies, cascades do not come to them.
func TestCopiesWithoutLinksAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	isFoundOut(t, faultproxy.Links, subjects(t)[ledgerAt], 10)
}

// TestCascadesThatNobodyResumesAreFoundOut: where a server does not learn of the cascades of one that was killed.
func TestCascadesThatNobodyResumesAreFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	isFoundOut(t, faultproxy.Resumption, subjects(t)[ledgerAt], 10)
}

// isFoundOut fails unless one of the first trials finds that servers lack something.
func isFoundOut(t *testing.T, without faultproxy.Without, on *subject, most int) {
	t.Helper()
	open := openDynamo(t, dynamolocal.Dynoxide, without)
	from := uint64(time.Now().UnixNano())
	for n := range most {
		tr, err := newTrial(t.TempDir(), from+uint64(n), on, open)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(tr)
		v, err := tr.run(t.Context())
		if v != nil && len(v.Differences) > 0 {
			t.Logf("found at seed %d of at most %d:\n%v", n+1, most, verified(v, nil))
			return
		}
		if err != nil {
			t.Log("the trial came to no end:", err) // anything may happen
		}
	}
	t.Errorf("%d trials found nothing: they prove nothing", most)
}
