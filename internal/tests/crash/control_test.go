package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
	if raceDetector { // it takes three times as long
		onlyIfMany(t)
	}
	isFoundOut(t, faultproxy.WriteConditions, subjects(t)[ledgerAt], 20)
}

// TestRowsOfAStreamWithoutConditionsOnPositionsAreFoundOut: servers of two releases fold one stream, and nothing keeps
// an event from being applied to rows that have it.
func TestRowsOfAStreamWithoutConditionsOnPositionsAreFoundOut(t *testing.T) {
	onlyIfMany(t)
	isFoundOut(t, faultproxy.PositionConditions, subjects(t)[streamAt], 10)
}

// TestRowsOfAStreamWithoutConditionsOnRevisionsAreFoundOut: nothing keeps a row from being written by who has read an
// older one.
func TestRowsOfAStreamWithoutConditionsOnRevisionsAreFoundOut(t *testing.T) {
	onlyIfMany(t)
	isFoundOut(t, faultproxy.RevisionConditions, subjects(t)[streamAt], 10)
}

// TestCopiesWithoutConditionsOnTheirSourcesAreFoundOut: with the guard off that keeps a row from getting a copy of one
// that has changed since it was read.
func TestCopiesWithoutConditionsOnTheirSourcesAreFoundOut(t *testing.T) {
	onlyIfMany(t)
	isFoundOut(t, faultproxy.SourceConditions, met(t), 20)
}

// TestCopiesThatMeetTheirSourcesAreRight where servers lack nothing: of the same events, in the same world.
func TestCopiesThatMeetTheirSourcesAreRight(t *testing.T) {
	onlyIfMany(t)
	const share = 20 // of the seeds that are asked for
	var total report
	defer func() { t.Log(&total) }()
	from := uint64(time.Now().UnixNano())
	for n := range max(1, count(t, "CRASH_SEEDS", 0)/share) {
		seed := from + uint64(n)
		if s := count(t, "CRASH_SEED", 0); s != 0 {
			seed = uint64(s)
		}
		tr, err := newTrial(t, seed, met(t), openDynamo(t, dynamolocal.Dynoxide, faultproxy.Nothing))
		if err != nil {
			t.Fatal(err)
		}
		t.Log(tr)
		survive(t, tr, &total)
	}
}

// met is the ledger with two partitions, whose events are meetings.
func met(t *testing.T) *subject {
	t.Helper()
	on := *subjects(t)[partedAt]
	on.name, on.events, on.partitions, on.windows, on.pair = "meetings", meetings, 2, []int{10}, true
	return &on
}

// meetings are events of cards in one partition, and of owners in the other that get their only name at about the time
// when cards get copies of them: nothing puts right later what was wrong.
func meetings(rng *rand.Rand) ([]string, error) {
	const pairs, apart = 200, 30
	w := &writer{rng: rng, now: time.Now().UTC().Truncate(time.Hour), bySubject: true}
	for i := range branches {
		w.nameBranch(fmt.Sprint("b", i))
	}
	for i := range pairs {
		w.nameOwner(within(1, "o", i))
		card, owner := within(0, "c", i), within(1, "o", max(0, i-apart+rng.IntN(2*apart)))
		w.write("CardIssued", card, data{"card": card, "branch": w.branch(), "holder": owner, "seal": owner})
	}
	return w.lines, nil
}

// within is an identifier whose events are in one of two partitions.
func within(partition int, of string, i int) string {
	id := fmt.Sprint(of, i)
	for partitionOf(id, 2) != partition {
		id += "'"
	}
	return id
}

// TestCopiesWithoutLinksAreFoundOut: where no link says which rows hold copies, no cascade comes to them.
func TestCopiesWithoutLinksAreFoundOut(t *testing.T) {
	onlyIfMany(t)
	isFoundOut(t, faultproxy.Links, subjects(t)[ledgerAt], 10)
}

// TestCascadesThatNobodyResumesAreFoundOut: where a server does not learn of the cascades of one that was killed.
func TestCascadesThatNobodyResumesAreFoundOut(t *testing.T) {
	onlyIfMany(t)
	isFoundOut(t, faultproxy.Resumption, subjects(t)[ledgerAt], 10)
}

// onlyIfMany skips a test unless trials are asked for, since it takes about as long as one of them.
func onlyIfMany(t *testing.T) {
	t.Helper()
	if count(t, "CRASH_SEEDS", 0) == 0 {
		t.Skip("it takes as long as a trial or more: make crash runs it")
	}
}

// isFoundOut fails unless one of the first trials finds rows that are wrong where servers lack something.
func isFoundOut(t *testing.T, without faultproxy.Without, on *subject, most int) {
	t.Helper()
	open := openDynamo(t, dynamolocal.Dynoxide, without)
	from := uint64(time.Now().UnixNano())
	for n := range most {
		tr, err := newTrial(t, from+uint64(n), on, open)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(tr)
		v, err := tr.run(t.Context())
		if v != nil && slices.ContainsFunc(v.Differences, isOfRows) {
			t.Logf("found at seed %d of at most %d:\n%v", n+1, most, verified(v, nil))
			return
		}
		if err != nil {
			t.Log("the trial came to no end:", err) // anything may happen
		}
	}
	t.Errorf("%d trials found nothing: they prove nothing", most)
}

// isOfRows reports whether a difference is one of rows: that of notes beside them comes of what servers lack.
func isOfRows(difference string) bool {
	return !strings.Contains(difference, " link ") && !strings.Contains(difference, " links ") &&
		!strings.Contains(difference, " cascade ")
}
