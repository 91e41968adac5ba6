package execute

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/keys"
)

// TestAJoinKeyIsReferredToByItsFirstPlace, however many there are, and in run after run with the same memory.
func TestAJoinKeyIsReferredToByItsFirstPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		js, child := new(Joins), new(nodeRows)
		for range rapid.IntRange(1, 3).Draw(t, "runs") {
			first := map[read.JoinKey]int32{}
			texts := rapid.StringMatching(`[a-z]{0,2}`)
			for range rapid.IntRange(0, 60).Draw(t, "ids") {
				at := read.JoinKey{Key: keys.Key{PK: texts.Draw(t, "pk")}}
				if rapid.Bool().Draw(t, "sorted") {
					at.SK = texts.Draw(t, "sk")
				}
				want, known := first[at]
				if !known {
					want = int32(len(first))
					first[at] = want
				}
				if got := js.refTo(child, &at); got != want {
					t.Fatalf("%v is at place %d, want %d", at.Key, got, want)
				}
				if child.ids.At(int(want)) != at {
					t.Fatalf("at place %d is %v, want %v", want, child.ids.At(int(want)), at)
				}
			}
			child.ids.Clear()
			js.seen.Clear(maxKeptIDs)
		}
	})
}
