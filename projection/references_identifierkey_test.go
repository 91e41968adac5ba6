package projection_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// TestARowIsCopiedByTheOneFieldOfItsKeyInWhicheverHalf: it is the identifier as the sort key too, where all rows are in
// one partition, and in both halves.
func TestARowIsCopiedByTheOneFieldOfItsKeyInWhicheverHalf(t *testing.T) {
	literal, headed := literalHalf(), headedHalf()
	events := [][]ref{
		{{Op: "club", ID: "A", Text: "old"}}, {{Op: "club", ID: "B", Text: "other"}},
		{{Op: "set", ID: "a", Club: "A"}}, {{Op: "set", ID: "b", Club: "B"}}, {{Op: "set", ID: "c", Club: "C"}},
		{{Op: "club", ID: "A", Text: "new"}}, {{Op: "club", ID: "C", Text: "late"}},
	}
	all := []*ClubCopy{{"A", "new"}, {"B", "other"}, {"C", "late"}}
	gone := []ref{{Op: "noclubs", ID: "A"}}
	for what, tt := range map[string]struct {
		pk, sk  querydb.Half
		removed []*ClubCopy // what copies are left of when the partition of A is deleted
	}{
		"the sort key":        {literal, headed, []*ClubCopy{nil, nil, nil}},
		"both halves":         {idHalf(), headed, []*ClubCopy{nil, all[1], all[2]}},
		"the partition alone": {headed, literal, []*ClubCopy{nil, all[1], all[2]}},
	} {
		for how, mode := range map[string]refMode{
			"after the commit": {nullIfMissing: true, cascade: true},
			"in the commit":    {nullIfMissing: true, cascade: true, transactional: true},
		} {
			for _, window := range []int{1, 100} {
				for store, join := range refStores() {
					clubs := newKeyedClubs(mode, tt.pk, tt.sk)
					for _, step := range []struct {
						events [][]ref
						want   []*ClubCopy
					}{{events, all}, {append(events, gone), tt.removed}} {
						clubs.fold(t, join(), window, step.events...)
						if d := cmp.Diff(step.want, clubs.copies(t, join(), "a", "b", "c")); d != "" {
							t.Errorf("%s, %s, on the store of %s, window %d: copies differ after %d events (-want +got):\n%s", what, how,
								store, window, len(step.events), d)
						}
					}
				}
			}
		}
	}
}

// TestAnEventWaitsForTheRowWhoseSortKeyIsTheIdentifier, and is folded when that is there.
func TestAnEventWaitsForTheRowWhoseSortKeyIsTheIdentifier(t *testing.T) {
	for _, window := range []int{1, 100} {
		for store, join := range refStores() {
			clubs := newKeyedClubs(refMode{}, literalHalf(), headedHalf())
			clubs.fold(t, join(), window, []ref{{Op: "set", ID: "a", Club: "A"}},
				[]ref{{Op: "club", ID: "B", Text: "another"}}, []ref{{Op: "club", ID: "A", Text: "late"}})
			if d := cmp.Diff([]*ClubCopy{{"A", "late"}}, clubs.copies(t, join(), "a")); d != "" {
				t.Errorf("on the store of %s, window %d: copies differ (-want +got):\n%s", store, window, d)
			}
		}
	}
}

func literalHalf() querydb.Half { return querydb.Half{Layout: keys.Layout{Head: "clubs"}} }

// headedHalf holds the identifier behind a literal.
func headedHalf() querydb.Half {
	h := idHalf()
	h.Layout.Head, h.Layout.Sep = "club", "#"
	return h
}
