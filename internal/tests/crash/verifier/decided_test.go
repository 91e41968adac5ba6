package verifier

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/querydb"
)

// TestADecisionIsForTheGenerationOfTheFoldInMemory, as it is for that of the store's rows: one that was made beside
// those is done to a dead letter alone, and one that was made in them is done whatever others there were.
func TestADecisionIsForTheGenerationOfTheFoldInMemory(t *testing.T) {
	for _, c := range []struct {
		generation   int
		record, want string
	}{
		{0, `{"moment":2}`, `{"moment":2}`},
		{0, `{"moment":2,"beside":[1]}`, `{"moment":2}`},
		{0, `{"moment":2,"beside":[0,2]}`, `{"moment":2,"beside":[0]}`},
		{1, `{"moment":2,"beside":[0]}`, `{"moment":2}`},
		{1, `{"moment":2,"beside":[0,1]}`, `{"moment":2,"beside":[0]}`},
	} {
		d := decision{note: querydb.Note{Value: []byte(c.record)}}
		if err := json.Unmarshal([]byte(c.record), &d); err != nil {
			t.Fatal(err)
		}
		text, err := inFirst(c.generation, d)
		if err != nil {
			t.Fatal(err)
		}
		var got, want map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s in generation %d: %s", c.record, c.generation, diff)
		}
	}
}
