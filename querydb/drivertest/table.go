package drivertest

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Fields of the table: its key, two that are in no key, and the halves of the index keys, as they are in every model.
const (
	fieldPK = iota
	fieldSK
	fieldText
	fieldMore
	fieldGroup // of plain
	fieldClass // of sorted
	fieldRank
	fieldPlace // of half
	fieldTime
	fieldCount
)

// Indexes of the table.
const (
	plain  = iota // no sort half, all fields
	sorted        // with sort half, key fields only
	half          // with sort half, and one field more
	indexCount
)

// Tables of the cases.
var (
	rowsTable     = newTable("Rows", 0)
	rowsAnew      = newTable("Rows", 1)
	otherTable    = newTable("Other", 0)
	unsortedTable = &driver.Table{Name: "Unsorted", Fields: rowsTable.Fields, PK: rowsTable.PK}
	notesTable    = &driver.Table{
		Name: "Notes", Sorted: true, NoExpiry: true, Fields: rowsTable.Fields, PK: rowsTable.PK, SK: rowsTable.SK,
	}
)

func newTable(name string, generation int) *driver.Table {
	nullable := func(name string) driver.Field { return driver.Field{Name: name, Scalar: "String", Nullable: true} }
	return &driver.Table{
		Name: name, Generation: generation, Sorted: true,
		Fields: []driver.Field{
			{Name: "pk", Scalar: "ID"}, {Name: "sk", Scalar: "String"}, nullable("text"), nullable("more"),
			nullable("group"), nullable("class"), nullable("rank"), nullable("place"), nullable("time"),
		},
		PK: []int{fieldPK}, SK: []int{fieldSK},
		Indexes: []driver.Index{
			{Name: "plain", PK: []int{fieldGroup}},
			{Name: "sorted", PK: []int{fieldClass}, SK: []int{fieldRank}, Projected: []int{fieldPK, fieldSK}},
			{Name: "half", PK: []int{fieldPlace}, SK: []int{fieldTime}, Projected: []int{fieldPK, fieldSK, fieldText}},
		},
	}
}

// fields are the texts of a row; a field without one is null.
type fields map[int]string

// row makes a row of a table whose fields are texts. Its keys are composed of the fields.
func (f fields) row(t *driver.Table) driver.Row {
	var r driver.Row
	r.Key.PK, _ = f.compose(t.PK)
	r.Key.SK, _ = f.compose(t.SK)
	for i := range t.Indexes {
		var k driver.IndexKey
		k.PK, k.HasPK = f.compose(t.Indexes[i].PK)
		k.SK, k.HasSK = f.compose(t.Indexes[i].SK)
		r.Indexes = append(r.Indexes, k)
	}
	var b record.Builder
	b.Begin(len(t.Fields))
	for i := range t.Fields {
		if s, there := f[i]; there {
			b.String(s)
		} else {
			b.Null()
		}
	}
	r.Record = finished(&b)
	return r
}

// compose makes the half of a key of its fields; it is absent where one of them is.
func (f fields) compose(half []int) (text string, there bool) {
	parts := make([]string, len(half))
	for i, field := range half {
		if parts[i] = f[field]; parts[i] == "" {
			return "", false
		}
	}
	return strings.Join(parts, "#"), len(half) > 0
}

func finished(b *record.Builder) record.Record {
	rec, field, err := b.Finish()
	if err != nil {
		panic(fmt.Sprintf("drivertest: field %d: %v", field, err))
	}
	return rec
}

// texts are the fields of a row that is in no index.
func texts(pk, sk string) fields {
	return fields{fieldPK: pk, fieldSK: sk, fieldText: "text of " + sk, fieldMore: "more of " + sk}
}

func newRow(pk, sk string) driver.Row { return texts(pk, sk).row(rowsTable) }

// in adds what puts the row into an index, under the key given; an empty half is absent. xsk is of no account for
// plain.
func (f fields) in(index int, xpk, xsk string) fields {
	x := &rowsTable.Indexes[index]
	if xpk != "" {
		f[x.PK[0]] = xpk
	}
	if index != plain && xsk != "" {
		f[x.SK[0]] = xsk
	}
	return f
}

// indexed makes a row that is in one index.
func indexed(pk, sk string, index int, xpk, xsk string) driver.Row {
	return texts(pk, sk).in(index, xpk, xsk).row(rowsTable)
}

// indexKey makes a key whose halves are absent where they are empty.
func indexKey(pk, sk string) driver.IndexKey {
	return driver.IndexKey{Key: keys.Key{PK: pk, SK: sk}, HasPK: pk != "", HasSK: sk != ""}
}
