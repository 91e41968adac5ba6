package verifier

import (
	"encoding/json"
	"testing"

	"github.com/foldql/foldql/querydb/driver"
)

// TestARowThatARetryReplacesAtTheCheckpointWasThereBefore: the row was in its index until the retry of a dead letter,
// which takes effect after the last event that the checkpoint covers.
func TestARowThatARetryReplacesAtTheCheckpointWasThereBefore(t *testing.T) {
	h := &history{states: map[string][]driver.Position{
		"first":  {{Partition: "0", Offset: 5}},
		"second": {{Partition: "0", Offset: 5, Step: 1}},
		"third":  {{}},
	}}
	for _, c := range []struct {
		row   string
		after uint64
		right bool
	}{
		{"first", 4, true}, {"first", 5, false},
		{"second", 4, true}, {"second", 5, true}, {"second", 6, false},
		{"third", 6, true},
		{"none", 0, false},
	} {
		answer := &Answer{After: c.after, Rows: []json.RawMessage{json.RawMessage(c.row)}}
		if right := h.wrong(answer) == ""; right != c.right {
			t.Errorf("the %s row, asked for at checkpoint %d: right %t, want %t", c.row, c.after, right, c.right)
		}
	}
}
