package dynamostore

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/dynamotest"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/record"
)

// profile is a row of up to 1 KB, as it is stored.
var profile = &driver.Table{
	Name: "Profile", PK: []int{0}, NoExpiry: true,
	Fields: []driver.Field{{Name: "userId", Scalar: "ID"}, {Name: "name", Scalar: "String"},
		{Name: "about", Scalar: "String"}, {Name: "logins", Scalar: "Int"}},
}

func profileRow(t *testing.T, id string, logins int, offset uint64) driver.Row {
	row := dynamotest.RowOf(t, keys.Key{PK: id}, func(b *record.Builder) {
		b.String(id)
		b.String("Somebody of some name")
		b.String(strings.Repeat("x", 850))
		b.Int(logins)
	}, 4)
	row.Position = dynamotest.Position(offset)
	return row
}

// TestAChangedRowCostsOneUnitAndAWindowOneCheckpoint measures what DynamoDB charges: per changed row of up to 1 KB at
// most 1.1 write units, no read before a write, one request for each row, and one for the checkpoint.
func TestAChangedRowCostsOneUnitAndAWindowOneCheckpoint(t *testing.T) {
	const rows, windows = 200, 3
	s := openWith(t, dynamolocal.Local, Config{}, profile, dynamotest.Small)
	for n := range windows {
		before := s.Stats()
		var b driver.Batch
		for i := range rows {
			b.Writes = append(b.Writes, driver.Write{Table: profile, Row: profileRow(t, fmt.Sprint("user-", i), n,
				uint64(rows*n+i+1))})
		}
		b.Last = []driver.Write{ifRevision(put(t, "checkpoint", n, 0), uint64(n))}
		applyTo(t, s, b)
		after := s.Stats()
		units, requests := after.WriteUnits-before.WriteUnits, after.Requests-before.Requests
		t.Logf("window %d: %d rows for %.1f write units, %.3f each, by %d requests", n, rows, units, units/rows, requests)
		if units/rows > 1.1 || after.ReadUnits != before.ReadUnits || requests != rows+1 {
			t.Errorf("window %d: %.3f write units for each row, %.1f read units, %d requests", n, units/rows,
				after.ReadUnits-before.ReadUnits, requests)
		}
	}
	name := s.tables.prefix + profile.Name
	out, err := s.client.API.Scan(t.Context(), &dynamodb.ScanInput{TableName: &name, Limit: aws.Int32(1)})
	if err != nil || len(out.Items) != 1 {
		t.Fatalf("%d items, %v", len(out.Items), err)
	}
	size := 0
	for attr, v := range out.Items[0] {
		size += len(attr) + item.ValueSize(v)
	}
	if size > 1024 || size < 900 {
		t.Errorf("the rows are stored in %d bytes", size)
	}
}

func TestARepeatedWindowOfBlindWritesIsNotReadFirst(t *testing.T) {
	s := openWith(t, dynamolocal.Local, Config{}, dynamotest.Small)
	var b driver.Batch
	for i := range 50 {
		b.Writes = append(b.Writes, put(t, fmt.Sprint(i), i, 1))
	}
	for range 2 {
		applyTo(t, s, b)
	}
	if got := s.Stats(); got.Requests != 100 || got.ConditionFailed != 50 || got.ReadUnits != 0 {
		t.Errorf("%+v, want 100 requests, of which 50 were done before", got)
	}
}

// bytesLeft is the driver.Budget of so many bytes.
type bytesLeft struct{ atomic.Int64 }

func budgetOf(bytes int) *bytesLeft {
	b := &bytesLeft{}
	b.Store(int64(bytes))
	return b
}

var errSpent = errors.New("the budget is spent")

func (b *bytesLeft) Take(bytes int) error {
	if b.Add(int64(-bytes)) < 0 {
		return errSpent
	}
	return nil
}

// TestRowsByKeyAreNotReadFarBeyondTheBudget: who asks for many rows at once does not have them all in memory before it
// is found out that they are too large.
func TestRowsByKeyAreNotReadFarBeyondTheBudget(t *testing.T) {
	const rows = 1000
	s := openWith(t, dynamolocal.Local, Config{}, profile)
	var b driver.Batch
	g := driver.Get{Table: profile}
	for i := range rows {
		row := profileRow(t, fmt.Sprint("user-", i), 0, 1)
		b.Writes, g.Keys = append(b.Writes, driver.Write{Table: profile, Row: row}), append(g.Keys, row.Key)
	}
	applyTo(t, s, b)
	before := s.Stats()
	_, err := s.Get(driver.WithBudget(t.Context(), budgetOf(20<<10)), g)
	if requests := s.Stats().Requests - before.Requests; !errors.Is(err, driver.ErrOverBudget) || requests > 2 {
		t.Errorf("%d requests, error %v; want 2 at most and ErrOverBudget", requests, err)
	}
	got, err := s.Get(driver.WithBudget(t.Context(), budgetOf(10<<20)), g)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].Key != g.Keys[i] || got[i].Record == nil {
			t.Fatalf("row %d is %q, want %q", i, got[i].Key, g.Keys[i])
		}
	}
}

// TestRowsOfOneMomentAreChargedOnce, although they are read twice at least.
func TestRowsOfOneMomentAreChargedOnce(t *testing.T) {
	s := openWith(t, dynamolocal.Local, Config{}, profile)
	var b driver.Batch
	g := driver.Get{Table: profile, Snapshot: true}
	for i := range 20 {
		row := profileRow(t, fmt.Sprint("user-", i), 0, 1)
		b.Writes, g.Keys = append(b.Writes, driver.Write{Table: profile, Row: row}), append(g.Keys, row.Key)
	}
	applyTo(t, s, b)
	plain, snapshot := budgetOf(1<<20), budgetOf(1<<20)
	before := s.Stats()
	if _, err := s.Get(driver.WithBudget(t.Context(), snapshot), g); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats().Requests - before.Requests; n < 2 {
		t.Fatalf("they are read by %d requests, want 2", n)
	}
	g.Snapshot = false
	if _, err := s.Get(driver.WithBudget(t.Context(), plain), g); err != nil {
		t.Fatal(err)
	}
	if plain.Load() != snapshot.Load() {
		t.Errorf("%d bytes are left of the budget, want %d", snapshot.Load(), plain.Load())
	}
}

// TestAWriteCostsWhatTheDocsSay: twice the units in a transaction, as a note is that was read, and those of each index
// that holds the whole row. DynamoDB Local does not charge a row that is only checked, which DynamoDB does.
func TestAWriteCostsWhatTheDocsSay(t *testing.T) {
	found := &driver.Table{
		Name: "Found", PK: []int{0}, NoExpiry: true, Fields: profile.Fields,
		Indexes: []driver.Index{{Name: "byName", PK: []int{1}}, {Name: "names", PK: []int{1}, Projected: []int{0, 1}}},
	}
	s := openWith(t, dynamolocal.Local, Config{}, profile, found, dynamotest.Small)
	offset := uint64(0)
	row := func(table *driver.Table) driver.Write {
		offset++
		r := profileRow(t, "a", 1, offset)
		for range table.Indexes {
			r.Indexes = append(r.Indexes, driver.IndexKey{Key: keys.Key{PK: "Somebody of some name"}, HasPK: true})
		}
		return driver.Write{Table: table, Row: r}
	}
	applyTo(t, s, driver.Batch{Writes: []driver.Write{row(profile), row(found), put(t, "note", 1, 0)}})
	for _, c := range []struct { // in the order of their events: a row that has a later one is not written
		name  string
		batch driver.Batch
		units float64
	}{
		{"a row", driver.Batch{Writes: []driver.Write{row(profile)}}, 1},
		{"a row in a transaction", driver.Batch{Writes: []driver.Write{row(profile)}, Atomic: true}, 2},
		{"a note that was read", driver.Batch{Last: []driver.Write{ifRevision(put(t, "note", 2, 0), 1)}}, 2},
		{"a row in an index that holds it", driver.Batch{Writes: []driver.Write{row(found)}}, 2},
	} {
		before := s.Stats().WriteUnits
		applyTo(t, s, c.batch)
		if got := s.Stats().WriteUnits - before; got != c.units {
			t.Errorf("%s costs %v write units, want %v", c.name, got, c.units)
		}
	}
}
