package dynamotest

import (
	"testing"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// RowOf makes a row of texts, nil for absent ones, with their JSON as it is.
func RowOf(t *testing.T, k keys.Key, fill func(b *record.Builder), n int) driver.Row {
	t.Helper()
	var b record.Builder
	b.Begin(n)
	fill(&b)
	rec, f, err := b.Finish()
	if err != nil {
		t.Fatal(f, err)
	}
	return driver.Row{Key: k, Record: rec}
}

// SmallRow is a row of the table Small.
func SmallRow(t *testing.T, id string, total int) driver.Row {
	return RowOf(t, keys.Key{PK: id}, func(b *record.Builder) { b.String(id); b.Int(total) }, 2)
}

// Order is a row of the table tracking.
func Order(t *testing.T) driver.Row {
	row := RowOf(t, keys.Key{PK: "o1", SK: "2024-01-15T10:30:00.123Z456"}, func(b *record.Builder) {
		b.String("o1")
		b.DateTime(time.Date(2024, 1, 15, 10, 30, 0, 123456000, time.UTC))
		b.String("c1")
		b.String("placed")
		b.Float(12.5)
		b.Null()
	}, 6)
	row.Indexes = []driver.IndexKey{
		{Key: keys.Key{PK: "c1"}, HasPK: true},
		{Key: keys.Key{PK: "placed", SK: row.Key.SK}, HasPK: true, HasSK: true},
		{Key: keys.Key{SK: "0000000000000012.5"}, HasSK: true},
	}
	return row
}

// DeviceBatch is a batch of a writer that sets its text and its number, or takes them away where the text is empty.
func DeviceBatch(t *testing.T, writer, textOf, digits string, offset uint64) driver.Batch {
	w := driver.Write{Table: Device, Part: PartOf[writer], Kind: driver.Delete, Row: driver.Row{Key: keys.Key{PK: "d"}}}
	if textOf != "" {
		w.Kind = driver.Put
		w.Row = RowOf(t, w.Row.Key, func(b *record.Builder) {
			b.String("d")
			for range 2 {
				b.String(textOf)
				b.String(digits)
			}
		}, 5)
		k := driver.IndexKey{Key: keys.Key{PK: textOf, SK: textOf}, HasPK: true, HasSK: true}
		w.Row.Indexes = []driver.IndexKey{k}
	}
	w.Row.Position = Position(offset)
	return driver.Batch{Writer: writer, Writes: []driver.Write{w}}
}

// AccountWrite writes a row of the table Account, as the event at the offset has it.
func AccountWrite(t *testing.T, id, email string, offset uint64) driver.Write {
	row := RowOf(t, keys.Key{PK: id}, func(b *record.Builder) { b.String(id); b.String(email) }, 2)
	row.Indexes = []driver.IndexKey{{Key: keys.Key{PK: email}, HasPK: true}}
	row.Position = Position(offset)
	return driver.Write{Table: Account, Row: row}
}

// Position is that of the event at the offset, in the one partition of these tests.
func Position(offset uint64) driver.Position {
	return driver.Position{Partition: "events", Offset: offset}
}
