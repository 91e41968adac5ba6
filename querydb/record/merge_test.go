package record_test

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/querydb/record"
)

func TestMergeTakesTheNamedFieldsOfOneRecordAndTheOthersOfAnother(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	of := func(texts ...string) record.Record {
		var b record.Builder
		b.Begin(len(texts))
		for _, s := range texts {
			if s == "" {
				b.Null()
			} else {
				b.String(s)
			}
		}
		rec, _, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	for name, c := range map[string]struct {
		n           int
		under, over record.Record
		fields      []int
		want        []string
	}{
		"some":                {3, of("a", "b", "c"), of("A", "B", "C"), []int{1}, []string{"a", "B", "c"}},
		"all":                 {2, of("a", "b"), of("A", "B"), []int{0, 1}, []string{"A", "B"}},
		"none":                {2, of("a", "b"), of("A", "B"), nil, []string{"a", "b"}},
		"absent over present": {2, of("a", "b"), of("A", ""), []int{1}, []string{"a", ""}},
		"over nothing":        {3, nil, of("A", "B", "C"), []int{0, 2}, []string{"A", "", "C"}},
		"nothing over":        {3, of("a", "b", "c"), nil, []int{0, 2}, []string{"", "b", ""}},
		"over a shorter one":  {3, of("a"), of("A", "B", "C"), []int{2}, []string{"a", "", "C"}},
		"to a large one":      {2, of("a", long), of(long, "B"), []int{0}, []string{long, long}},
	} {
		t.Run(name, func(t *testing.T) {
			got := record.Merge(c.n, c.under, c.over, c.fields)
			if !got.Valid() || got.Len() != len(c.want) {
				t.Fatalf("the record is valid: %t, and has %d fields, want %d", got.Valid(), got.Len(), len(c.want))
			}
			for i, want := range c.want {
				if s, _ := record.String(got.JSON(i)); s != want || (got.JSON(i) == nil) != (want == "") {
					t.Errorf("field %d is of %d bytes, want %d", i, len(s), len(want))
				}
			}
		})
	}
}
