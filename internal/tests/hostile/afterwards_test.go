package hostile

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/foldql/foldql/internal/shop/projection/projectors"
)

// checkRows ends the log and compares the rows with those of a fold, in one go and into another store, of the events
// that were acknowledged.
func (r *run) checkRows(t *testing.T) {
	t.Helper()
	head, err := r.log.Head(t.Context(), "0")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(r.offsets)
	first := uint64(len(r.sample)) + 1
	for i, offset := range r.offsets {
		if offset != first+uint64(i) {
			t.Fatalf("an event was acknowledged at %d where %d is the next", offset, first+uint64(i))
		}
	}
	if last := first + uint64(len(r.offsets)) - 1; head != last {
		t.Errorf("the log ends at %d, the last event acknowledged is at %d", head, last)
	}
	r.log.End()
	r.folded(t)
	second := secondShop(t, r.log)
	differences, rows := compareStores(t, r.store, second.store)
	for _, d := range differences[:min(5, len(differences))] {
		t.Errorf("the attacked store is not what a fold of its events gives: %s", d)
	}
	letters := r.compareDeadLetters(t, second)
	r.compareAnswers(t, second)
	t.Logf("%d events in the log, %d of them dead letters of some projection, %d rows compared", head, letters, rows)
}

// compareDeadLetters fails the test where the dead letters are others.
func (r *run) compareDeadLetters(t *testing.T, other *site) (count int) {
	t.Helper()
	for _, p := range projectors.Projections() {
		after := ""
		for {
			got, want := r.listDeadLetters(t, p.Name, after), other.listDeadLetters(t, p.Name, after)
			if !slices.Equal(got, want) {
				t.Errorf("projection %s has other dead letters than the fold of the same log", p.Name)
			}
			if count += len(got); len(got) < 1000 {
				break
			}
			after = got[len(got)-1].Event
		}
	}
	return count
}

// deadLetter is one as the shop lists it.
type deadLetter struct{ Projection, Event, ID, Source, Type, Subject, Time, Reason, Behind string }

// listDeadLetters asks for a thousand dead letters.
func (s *site) listDeadLetters(t *testing.T, projection, after string) []deadLetter {
	t.Helper()
	v := url.Values{"projection": {projection}, "limit": {"1000"}}
	if after != "" {
		v.Set("after", after)
	}
	q := &request{method: http.MethodGet, path: deadLettersPath, query: v.Encode(), header: headers("Authorization",
		"Bearer "+writer)}
	a := q.send(s)
	var body struct{ DeadLetters []deadLetter }
	if err := wellFormed(a, &body, "application/json"); err != nil {
		t.Fatalf("%v: %s", err, &a.body)
	}
	return body.DeadLetters
}

// compareAnswers asks both shops good queries and wants the same answers.
func (r *run) compareAnswers(t *testing.T, other *site) {
	t.Helper()
	for n := range 300 {
		w := r.author(newDice(r.seed, 1<<41+uint64(n)), 0)
		doc := w.write()
		q := post("afterwards", doc.text, doc.variables).as(boss)
		got, want := q.send(r), q.send(other)
		if err := answered(got); err != nil {
			t.Fatalf("%v\n%s", err, q)
		}
		if got.body.String() != want.body.String() {
			t.Fatalf("after the attack the shop answers\n%.2000s\nand should\n%.2000s\n%s", got.body.String(),
				want.body.String(), q)
		}
	}
}
