package driver

import "testing"

// TestAWriterHasNotAppliedWhatAnotherHas: on a MultiWriter store the position of a row may be another writer's.
func TestAWriterHasNotAppliedWhatAnotherHas(t *testing.T) {
	at := func(partition string, offset uint64) Position { return Position{Partition: partition, Offset: offset} }
	for name, test := range map[string]struct {
		row  Row
		want uint64
	}{
		"a row of a store with one writer":     {Row{Position: at("p", 5)}, 5},
		"another partition":                    {Row{Position: at("q", 5)}, 0},
		"a row that another writer has":        {Row{Position: at("p", 5), Revision: 1}, 0},
		"a row that both have":                 {Row{Position: at("p", 5), Applied: []Position{at("p", 3)}, Revision: 2}, 3},
		"a row that came to another partition": {Row{Position: at("p", 5), Applied: []Position{at("q", 3)}, Revision: 2}, 0},
	} {
		if got := test.row.LastApplied("p"); got.Offset != test.want {
			t.Errorf("%s: %d, want %d", name, got.Offset, test.want)
		}
	}
}
