package dynamostore

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// prioritised are tasks of a table whose index has the table's own partition key.
func prioritised() *driver.Table {
	return &driver.Table{
		Name: "Local", Sorted: true, NoExpiry: true, Kind: "task", Keys: driver.KeyNames{PK: "pk", SK: "sk",
			Kind: "__edd_e__"},
		Fields: []driver.Field{
			{Name: "projectId", Scalar: "ID"}, {Name: "taskId", Scalar: "ID"}, {Name: "priority", Scalar: "Int", Nullable: true},
		},
		PK: []int{0}, SK: []int{1},
		Indexes: []driver.Index{{Name: "lsi1", PK: []int{0}, SK: []int{2}, Keys: driver.KeyNames{PK: "pk", SK: "lsi1sk"}}},
	}
}

// TestRowsAreKeptInALocalSecondaryIndex that somebody else has made, and in a global one of the same keys.
func TestRowsAreKeptInALocalSecondaryIndex(t *testing.T) {
	for _, local := range []bool{true, false} {
		t.Run(fmt.Sprintf("local %t", local), func(t *testing.T) {
			onEngines(t, func(t *testing.T, s *Store) { testLocalIndex(t, s, local) })
		})
	}
}

func testLocalIndex(t *testing.T, s *Store, local bool) {
	table := prioritised()
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
	l := layoutOf(s.cfg.Prefix, table)
	in := createInput(&l)
	g := in.GlobalSecondaryIndexes[0]
	in.GlobalSecondaryIndexes = nil
	in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{IndexName: g.IndexName, KeySchema: g.KeySchema,
		Projection: g.Projection}}
	if _, err := s.client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func TestALocalIndexThatHoldsTooLittleIsRefused(t *testing.T) {
	layouts, _, err := (&Tables{Needed: []*driver.Table{prioritised()}}).layouts("p-")
	if err != nil {
		t.Fatal(err)
	}
	want := layouts[0]
	d := asMade(want)
	d.LocalSecondaryIndexes = []types.LocalSecondaryIndexDescription{{
		IndexName: d.GlobalSecondaryIndexes[0].IndexName, KeySchema: d.GlobalSecondaryIndexes[0].KeySchema,
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
	}}
	d.GlobalSecondaryIndexes = nil
	plan := makePlan([]layout{want}, nil, map[string]*live{want.table: d}, true)
	if len(plan.Steps) != 0 || len(plan.Wrong) != 1 {
		t.Errorf("steps %v, wrong %q; want the index refused, which cannot be changed", plan.Steps, plan.Wrong)
	}
}
