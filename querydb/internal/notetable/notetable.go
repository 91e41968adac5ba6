// Package notetable keeps notes as rows of a table of their own, so that a driver needs no method for them.
package notetable

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Name is the name of the table that holds the notes of all projections, and those of querydb itself.
const Name = "foldql"

// Table is the table of notes. The kind of a note is the partition key, its ID the sort key, and the value one string
// field, in base64 because it may be any bytes.
var Table = &driver.Table{
	Name: Name, Sorted: true,
	Fields: []driver.Field{
		{Name: "kind", Scalar: "String"}, {Name: "id", Scalar: "String"}, {Name: "value", Scalar: "String"},
	},
	PK: []int{0}, SK: []int{1}, NoExpiry: true,
}

const valueField = 2 // its ordinal

var errDamaged = errors.New("the stored note is damaged")

// Encode makes the record of a note.
func Encode(b *record.Builder, kind, id string, value []byte) (record.Record, error) {
	b.Begin(len(Table.Fields))
	b.String(kind)
	b.String(id)
	b.String(base64.RawURLEncoding.EncodeToString(value))
	rec, _, err := b.Finish()
	return rec, err
}

// Decode returns the value of the note that the record holds.
func Decode(rec record.Record) ([]byte, error) {
	if !rec.Valid() || rec.Len() != len(Table.Fields) {
		return nil, errDamaged
	}
	text, ok := record.String(rec.JSON(valueField))
	if !ok {
		return nil, errDamaged
	}
	value, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return value, nil
}
