package projection_test

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/projection"
)

// TestAnEventWhoseRowLeadsToATooLongKeyBecomesADeadLetter, also where only the function of an op makes the key: other
// events go on, and it can be skipped.
func TestAnEventWhoseRowLeadsToATooLongKeyBecomesADeadLetter(t *testing.T) {
	long := strings.Repeat("x", 3000)
	following := func(version string) Step { return Step{Op: "follow", ID: "a", Version: version, Total: 1} }
	for _, window := range []int{1, 100} {
		for kind, store := range stores {
			for _, op := range []string{"set", "update", "upsert", "patch"} {
				_, letters := foldRefs(t, store(), refMode{}, window,
					[]ref{{Op: "club", ID: "A"}}, []ref{{Op: "set", ID: "a", Club: "A"}},
					[]ref{{Op: op, ID: "a", Club: long}}, []ref{{Op: "set", ID: "b", Club: "A"}})
				wantLong(t, kind+" "+op, letters)
			}
			cfg := quick()
			cfg.WindowEvents = window
			db := open(t, store(), kinds["stamped"].Codec.Model)
			r, err := projection.NewRunner(ProjectionOf("script", kinds["stamped"]), logOf(t, event("", set("a", 1)),
				event("", following("v2")), event("", following(long)), event("", set("b", 1))), db, cfg)
			if err == nil {
				err = r.Run(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			letters, err := r.DeadLetters(t.Context(), "", 10)
			if err != nil {
				t.Fatal(err)
			}
			wantLong(t, kind+" follow", letters)
		}
	}
}

// TestATextThatIsCutInsideOfALetterIsNoPartOfARow wherever a batch ends, so that an op of a later event reads the same
// in any.
func TestATextThatIsCutInsideOfALetterIsNoPartOfARow(t *testing.T) {
	for _, window := range []int{1, 100} {
		store, cfg := newFaultyStore(), quick()
		cfg.WindowEvents = window
		r := newRunner(t, "script", logOf(t, event("", set("a", 1)),
			event("", Step{Op: "update", ID: "a", Version: "v1", Note: "cut", Total: 1}),
			event("", upsert("a", 1))), open(t, store), cfg)
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		letters, err := r.DeadLetters(t.Context(), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(letters) != 1 || letters[0].Ref != "0@2" || !strings.Contains(letters[0].Reason, "field customer: the text") {
			t.Errorf("windows of %d: dead letters %+v, want the event that cuts the text, with the field", window, letters)
		}
	}
}

func wantLong(t *testing.T, what string, letters []projection.DeadLetter) {
	t.Helper()
	if len(letters) != 1 || letters[0].Ref != "0@3" || !strings.Contains(letters[0].Reason, "bytes") {
		t.Errorf("%s: dead letters %+v, want the event whose key is too long, with the reason", what, letters)
	}
}
