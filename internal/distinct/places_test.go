package distinct_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/internal/distinct"
	"github.com/foldql/foldql/keys"
)

// TestAValueIsFoundAtItsFirstPlace, however many there are and whatever their hashes are.
func TestAValueIsFoundAtItsFirstPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var places distinct.Places
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			var list []int
			hashes := rapid.IntRange(1, 300).Draw(t, "hashes") // where they are few, many values have the same
			first := map[int]int{}
			for _, v := range rapid.SliceOfN(rapid.IntRange(0, 200), 0, 300).Draw(t, "values") {
				hash := uint32(v % hashes)
				got := places.Add(hash, len(list), func(at int) bool { return list[at] == v })
				want, known := first[v]
				if !known {
					want, first[v], list = len(list), len(list), append(list, v)
				}
				if got != want {
					t.Fatalf("%d is at place %d, want %d", v, got, want)
				}
			}
			places.Clear(rapid.IntRange(0, 300).Draw(t, "kept"))
		}
	})
}

// TestEqualKeysHaveOneHash, and others hardly ever.
func TestEqualKeysHaveOneHash(t *testing.T) {
	known := map[uint32]bool{}
	for i := range 1000 {
		k := keys.Key{PK: string(rune('a' + i%26)), SK: string(rune(i))}
		if distinct.Hash(k) != distinct.Hash(keys.Key{PK: k.PK, SK: k.SK}) {
			t.Fatalf("%v has two hashes", k)
		}
		known[distinct.Hash(k)] = true
	}
	if len(known) < 900 {
		t.Errorf("1000 keys have %d hashes", len(known))
	}
}
