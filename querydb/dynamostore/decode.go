package dynamostore

import (
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// decoder turns items of a table, or of one of its indexes, into rows.
type decoder struct {
	*shape
	index     int // ordinal of the index, driver.Primary for the table
	projected []bool
	writer    string
}

func (s *shape) decoder(index int, writer string) decoder {
	d := decoder{shape: s, index: index, writer: writer}
	if index == driver.Primary || s.table.Indexes[index].Projected == nil {
		return d
	}
	d.projected = make([]bool, len(s.fields))
	for _, f := range s.table.Indexes[index].Projected {
		d.projected[f] = true
	}
	return d
}

// row reads an item. A deleted row has no Record.
func (d *decoder) row(it item) (driver.Row, error) {
	row, err := d.read(it)
	if err != nil {
		return row, fmt.Errorf("table %s, row %s: %w: %w", d.layout.table, driver.PrintableKey(row.Key), errDamaged, err)
	}
	return row, nil
}

func (d *decoder) read(it item) (row driver.Row, err error) {
	row.Kind = d.table.Kind
	row.Key.PK, _ = stringOf(it[d.pk])
	if d.sk != "" {
		row.Key.SK, _ = stringOf(it[d.sk])
	}
	if d.index == driver.Primary {
		if row.Revision, err = countOf(it[attrRev]); err != nil {
			return row, fmt.Errorf("attribute %s: %w", attrRev, err)
		}
		if row.Position, row.Applied, err = positions(it, d.writer); err != nil {
			return row, err
		}
		if it[attrDeleted] != nil {
			return row, nil
		}
		row.Indexes, row.Writers = d.indexKeys(it), writersOf(it)
	}
	if digits, there := numberOf(it[attrExpires]); there {
		if row.Expires, err = parseInstant(digits); err != nil {
			return row, fmt.Errorf("attribute %s: %w", attrExpires, err)
		}
	}
	row.Record, err = d.record(it, row.Key)
	return row, err
}

func (d *decoder) indexKeys(it item) []driver.IndexKey {
	if len(d.table.Indexes) == 0 {
		return nil
	}
	list := make([]driver.IndexKey, len(d.table.Indexes))
	for i := range list {
		k := &list[i]
		k.PK, k.HasPK = stringOf(it[d.halves[2*i].attr])
		if attr := d.halves[2*i+1].attr; attr != "" {
			k.SK, k.HasSK = stringOf(it[attr])
		}
	}
	return list
}

var builders = sync.Pool{New: func() any { return new(record.Builder) }}

// record builds the record of an item.
func (d *decoder) record(it item, k keys.Key) (record.Record, error) {
	b := builders.Get().(*record.Builder)
	defer builders.Put(b)
	var own item
	if m, is := it[attrOwn].(*types.AttributeValueMemberM); is {
		own = m.Value
	}
	b.Begin(len(d.fields))
	for f := range d.fields {
		field := &d.table.Fields[f]
		v := d.field(it, own, k, f)
		if v == nil {
			b.Null()
		} else if !appendField(b, field, v) {
			return nil, fmt.Errorf("attribute %s is no %s", field.Name, field.Scalar)
		}
	}
	rec, f, err := b.Finish()
	if err != nil {
		return nil, fmt.Errorf("attribute %s: %w", d.table.Fields[f].Name, err)
	}
	return rec, nil
}

// field returns the value of a field, nil where it is absent, or is not to be had from the index.
func (d *decoder) field(it, own item, k keys.Key, f int) value {
	if d.projected != nil && !d.projected[f] {
		return nil
	}
	if v := own[d.table.Fields[f].Name]; v != nil {
		if _, null := v.(*types.AttributeValueMemberNULL); null {
			return nil
		}
		return v
	}
	place := &d.fields[f]
	if place.attr != "" {
		if v := it[place.attr]; v != nil {
			return v
		}
	}
	if place.whole {
		return text(k.PK)
	}
	return nil
}

// errDamaged is about an item that this store has not written.
var errDamaged = fmt.Errorf("%w: the item is none that this store wrote", driver.ErrDamaged)
