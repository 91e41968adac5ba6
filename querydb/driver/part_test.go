package driver_test

import (
	"testing"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// TestAHalfThatEveryWriterWritesStaysUntilTheLastOneGoes: it is composed of the row's key, or of nothing.
func TestAHalfThatEveryWriterWritesStaysUntilTheLastOneGoes(t *testing.T) {
	var b record.Builder
	b.Begin(2)
	b.String("a")
	b.String("x")
	rec, _, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	table := &driver.Table{
		Fields: []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "state", Scalar: "String", Nullable: true}}, PK: []int{0},
		Indexes: []driver.Index{{Name: "byID", PK: []int{0}, AlwaysSorted: true}, {Name: "byState", PK: []int{1},
			AlwaysSorted: true}},
	}
	both := driver.IndexKey{HasPK: true, HasSK: true}
	both.PK, both.SK = "p", "s"
	before := &driver.Row{Record: rec, Indexes: []driver.IndexKey{both, both}, Writers: []string{"one", "two"}}
	w := driver.Write{Table: table, Kind: driver.Delete, Part: &driver.Part{Fields: []int{1}, PK: []int{0, 1},
		SK: []int{0, 1}}}

	out := w.RowAfter("one", before)
	if out.Indexes[0] != both {
		t.Errorf("the key of the row's own is %+v", out.Indexes[0])
	}
	if x := out.Indexes[1]; x.HasPK || !x.HasSK {
		t.Errorf("the key of the writer's own is %+v", x)
	}
	if last := w.RowAfter("two", &out); last.Record != nil {
		t.Error("the row stays when its last writer has gone")
	}
}
