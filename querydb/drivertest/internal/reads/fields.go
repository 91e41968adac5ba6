package reads

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// namesTable has fields whose names a store may have uses for, a key field of another name, and key fields elsewhere.
var namesTable = &driver.Table{
	Name: "Names", Sorted: true, PK: []int{0, 1}, SK: []int{2},
	Fields: func() (list []driver.Field) {
		for _, name := range []string{"status", "pk", "id", "_id", "_subId", "_ttl", "_rev", "_pos", "_own",
			"_deleted", "_expires",
			"name", "size", "key", "select", "_", "_upside_pk", "kind", "_kind", "expires", "position", "record",
			"value", "a__b"} {
			list = append(list, driver.Field{Name: name, Scalar: "String"})
		}
		return list
	}(),
	Indexes: []driver.Index{
		// the keys of the table, the other way round
		{Name: "upside", PK: []int{2}, SK: []int{0, 1}, Projected: []int{0, 1, 2, 5}},
		{Name: "own", PK: []int{2}, Projected: []int{0, 1, 2}},
		{Name: "x", PK: []int{0}, SK: []int{5}}, // a field of the key, and one that others have too
		{Name: "y", PK: []int{5}, SK: []int{6}},
	},
}

// fieldNames puts rows of which every field has a value of its own, and changes and deletes them.
func fieldNames(s *harness.Store) {
	row := func(n int) driver.Row {
		f := fixture.Fields{}
		for i, field := range s.Table.Fields {
			f[i] = field.Name + strconv.Itoa(n)
		}
		f[0], f[1], f[2] = "a", "b", "c"
		r := f.Row(s.Table)
		r.Position = driver.Position{Partition: "p", Offset: uint64(n)}
		r.Expires = fixture.Epoch.Add(time.Duration(n))
		return r
	}
	for n := 1; n < 3; n++ {
		wantWhole(s, row(n))
		wantInIndexes(s, row(n))
	}
	gone := driver.Row{Key: row(1).Key, Position: driver.Position{Partition: "p", Offset: 3}}
	s.Apply(driver.Batch{Writes: []driver.Write{{Table: s.Table, Kind: driver.Delete, Row: gone}}})
	for i, k := range row(2).Indexes {
		if got := s.Query(s.All(i, k.PK)).Rows; len(got) != 0 {
			s.Errorf("index %s has the row that was deleted", s.Table.Indexes[i].Name)
		}
	}
}

// wideTable has many fields.
var wideTable = func() *driver.Table {
	t := &driver.Table{Name: "Wide", PK: []int{0}, Fields: []driver.Field{{Name: "id", Scalar: "ID"}}}
	for i := range 300 {
		scalar := []string{"String", "Int", "Boolean", "Decimal"}[i%4]
		t.Fields = append(t.Fields, driver.Field{Name: fmt.Sprintf("field%d", i), Scalar: scalar, Nullable: true,
			List: i%7 == 0})
	}
	t.Indexes = []driver.Index{{Name: "last", PK: []int{297}, SK: []int{293}, Projected: []int{0, 1, 100, 200}}}
	return t
}()

func wideRows(s *harness.Store) {
	for round := range 3 { // in which other fields are null
		v := values{"id": "wide"}
		for i, f := range s.Table.Fields[1:] {
			if i%3 == round {
				continue
			}
			var value any
			switch f.Scalar {
			case "String":
				value = strings.Repeat(f.Name, round)
			case "Int":
				value = i * round
			case "Boolean":
				value = round == 1
			default:
				value = fmt.Sprintf("%d.%d", i, round)
			}
			if f.List {
				value = []any{value, value}
			}
			v[f.Name] = value
		}
		row := v.row(s.Table)
		row.Position = driver.Position{Partition: "p", Offset: uint64(round + 1)}
		wantWhole(s, row)
		wantInIndexes(s, row)
	}
}
