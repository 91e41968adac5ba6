package item

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
	"github.com/foldql/foldql/querydb/record"
)

// Decoder turns items of a table, or of one of its indexes, into rows.
type Decoder struct {
	*Codec
	index     int // ordinal of the index, driver.Primary for the table
	projected []bool
	writer    string
}

// Decoder returns what reads items of the table, where index is driver.Primary, else those of an index. Of positions it
// reads those of the writer, "" where one projection writes the rows.
func (s *Codec) Decoder(index int, writer string) Decoder {
	d := Decoder{Codec: s, index: index, writer: writer}
	if index == driver.Primary || s.Table.Indexes[index].Projected == nil {
		return d
	}
	d.projected = make([]bool, len(s.Fields))
	for _, f := range s.Table.Indexes[index].Projected {
		d.projected[f] = true
	}
	return d
}

// Row reads an item. A deleted row has no Record.
func (d *Decoder) Row(it Item) (driver.Row, error) {
	row, err := d.read(it)
	if err != nil {
		return row, fmt.Errorf("table %s, row %s: %w: %w", d.Layout.Table, driver.PrintableKey(row.Key), errDamaged, err)
	}
	return row, nil
}

func (d *Decoder) read(it Item) (row driver.Row, err error) {
	row.Kind = d.Table.Kind
	row.Key.PK, _ = StringOf(it[d.PK])
	if d.SK != "" {
		row.Key.SK, _ = StringOf(it[d.SK])
	}
	if d.index == driver.Primary {
		if row.Revision, err = CountOf(it[layout.AttrRev]); err != nil {
			return row, fmt.Errorf("attribute %s: %w", layout.AttrRev, err)
		}
		if row.Position, row.Applied, err = positions(it, d.writer); err != nil {
			return row, err
		}
		if it[layout.AttrDeleted] != nil {
			return row, nil
		}
		row.Indexes, row.Writers = d.indexKeys(it), writersOf(it)
	}
	if digits, there := NumberOf(it[layout.AttrExpires]); there {
		if row.Expires, err = parseInstant(digits); err != nil {
			return row, fmt.Errorf("attribute %s: %w", layout.AttrExpires, err)
		}
	}
	row.Record, err = d.record(it, row.Key)
	return row, err
}

func (d *Decoder) indexKeys(it Item) []driver.IndexKey {
	if len(d.Table.Indexes) == 0 {
		return nil
	}
	list := make([]driver.IndexKey, len(d.Table.Indexes))
	for i := range list {
		k := &list[i]
		k.PK, k.HasPK = StringOf(it[d.Halves[2*i].attr])
		if attr := d.Halves[2*i+1].attr; attr != "" {
			k.SK, k.HasSK = StringOf(it[attr])
		}
	}
	return list
}

var builders = sync.Pool{New: func() any { return new(record.Builder) }}

// record builds the record of an item.
func (d *Decoder) record(it Item, k keys.Key) (record.Record, error) {
	b := builders.Get().(*record.Builder)
	defer builders.Put(b)
	var own Item
	if m, is := it[layout.AttrOwn].(*types.AttributeValueMemberM); is {
		own = m.Value
	}
	b.Begin(len(d.Fields))
	for f := range d.Fields {
		field := &d.Table.Fields[f]
		v := d.field(it, own, k, f)
		if v == nil {
			b.Null()
		} else if !appendField(b, field, v) {
			return nil, fmt.Errorf("attribute %s is no %s", field.Name, cmp.Or(field.Scalar, "object of its type"))
		}
	}
	rec, f, err := b.Finish()
	if err != nil {
		return nil, fmt.Errorf("attribute %s: %w", d.Table.Fields[f].Name, err)
	}
	return rec, nil
}

// field returns the value of a field, nil where it is absent, or is not to be had from the index.
func (d *Decoder) field(it, own Item, k keys.Key, f int) Value {
	if d.projected != nil && !d.projected[f] {
		return nil
	}
	if v := own[d.Table.Fields[f].Name]; v != nil {
		if _, null := v.(*types.AttributeValueMemberNULL); null {
			return nil
		}
		return v
	}
	place := &d.Fields[f]
	if place.Attr != "" {
		if v := it[place.Attr]; v != nil {
			return v
		}
	}
	if place.whole {
		return Text(k.PK)
	}
	if from := d.Table.Fields[f].Copied; from.Object != "" {
		if m, is := it[from.Object].(*types.AttributeValueMemberM); is {
			return m.Value[from.Field]
		}
	}
	return nil
}

// errDamaged is about an item that this store has not written.
var errDamaged = fmt.Errorf("%w: the item is none that this store wrote", driver.ErrDamaged)

// writersOf returns those that the row consists of parts of, ascending.
func writersOf(it Item) []string {
	list := slices.Clone(TextsOf(it[layout.AttrWriters]))
	slices.Sort(list)
	return list
}
