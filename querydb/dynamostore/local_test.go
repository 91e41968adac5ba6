package dynamostore

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
	"github.com/foldql/foldql/querydb/record"
)

// TestRowsAreKeptInALocalSecondaryIndex that somebody else has made, and in a global one of the same keys.
func TestRowsAreKeptInALocalSecondaryIndex(t *testing.T) {
	for _, local := range []bool{true, false} {
		t.Run(fmt.Sprintf("local %t", local), func(t *testing.T) {
			onEngines(t, func(t *testing.T, s *Store) { testLocalIndex(t, s, local) })
		})
	}
}

func testLocalIndex(t *testing.T, s *Store, local bool) {
	table := dynamotest.Prioritised()
	if local {
		makeLocal(t, s, table)
	}
	if err := s.ApplyTables(t.Context(), Tables{Needed: []*driver.Table{table}}, false, func(string) {}); err != nil {
		t.Fatal(err)
	}
	const partition = "$app#v1#task#projectid_p1"
	write := func(id string, priority int, at uint64) {
		t.Helper()
		row := driver.Row{
			Key: keys.Key{PK: partition, SK: "$app#v1#task_1#taskid_" + id}, Kind: "task",
			Indexes: make([]driver.IndexKey, 1), Position: driver.Position{Partition: "0", Offset: at},
		}
		var b record.Builder
		b.Begin(3)
		b.String("p1")
		b.String(id)
		if priority == 0 {
			b.Null()
		} else {
			b.Int(priority)
			sk := fmt.Sprintf("$app#v1#task_1#priority_%016d", priority)
			row.Indexes[0] = driver.IndexKey{Key: keys.Key{PK: partition, SK: sk}, HasPK: true, HasSK: true}
		}
		var err error
		if row.Record, _, err = b.Finish(); err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{{Table: table, Row: row}}}); err != nil {
			t.Fatal(err)
		}
	}
	inOrder := func(want ...string) {
		t.Helper()
		page, err := s.Query(t.Context(), driver.Query{Table: table, Index: 0, PK: partition, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range page.Rows {
			id, _ := record.String(row.Record.JSON(1))
			got = append(got, id)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows by priority (-want +got):\n%s", diff)
		}
	}
	write("a", 2, 1)
	write("b", 1, 2)
	write("c", 0, 3)
	inOrder("b", "a")
	write("b", 0, 4) // leaves the index
	write("c", 3, 5)
	inOrder("a", "c")
}

// makeLocal makes the table with its index as a local one.
func makeLocal(t *testing.T, s *Store, table *driver.Table) {
	t.Helper()
	l := layout.Of(s.tables.prefix, table)
	in := createInput(&l)
	g := in.GlobalSecondaryIndexes[0]
	in.GlobalSecondaryIndexes = nil
	in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{IndexName: g.IndexName, KeySchema: g.KeySchema,
		Projection: g.Projection}}
	if _, err := s.client.API.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}
