// Package recopy gives stored rows another copy of a row that they refer to, and leaves the rest of them as it is
// stored. Of each row it looks at two fields, the identifier and the copy. Only one row is decoded and encoded: the new
// copy is the same in all of them.
package recopy

import (
	"errors"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Suits reports whether the rows of a model hold the copies of a reference in a field of their own, beside that of the
// identifier, so that a Recopier can replace them.
func Suits(m *querydb.Model, ref *querydb.AnyReference) bool {
	if m.Aggregate != nil || ref.Nested || ref.Field < 0 || ref.ID < 0 {
		return false
	}
	id := &m.Fields[ref.ID]
	return !id.List && (id.Scalar == "ID" || id.Scalar == "String")
}

// Recopier gives rows that refer to a row a copy of it.
type Recopier struct {
	Codec      querydb.AnyCodec
	Reference  *querydb.AnyReference
	Identifier string
	// Source is a pointer to the row that is copied, nil where the copies are to be null.
	Source any
	// OnlyAbsent leaves copies as they are that are there.
	OnlyAbsent bool

	builder record.Builder
	sample  record.Record // a row with the new copy
}

// errForeign is of a record that the codec has not made.
var errForeign = errors.New("the record is not one of the model")

// Row returns a stored row with the new copy, as it is to be written; follows is false where it is to stay as it is. An
// error says that the row cannot be read, or cannot hold the copy.
func (c *Recopier) Row(stored *querydb.Row) (row querydb.Row, follows bool, err error) {
	if follows, err = c.follows(stored.Record); err != nil || !follows {
		return row, false, err
	}
	if c.sample == nil {
		if err := c.make(stored); err != nil {
			return row, false, err
		}
	}
	return querydb.Row{
		Key: stored.Key, Record: record.Merge(c.sample.Len(), stored.Record, c.sample, []int{c.Reference.Field}),
		Indexes: stored.Indexes, Position: stored.Position, Writers: stored.Writers, Expires: stored.Expires,
	}, true, nil
}

// follows reports whether a row has a place for the copy.
func (c *Recopier) follows(stored record.Record) (bool, error) {
	if stored == nil {
		return false, nil
	}
	if stored.Len() != len(c.Codec.Model.Fields) {
		return false, errForeign
	}
	text := stored.JSON(c.Reference.ID)
	if text == nil || c.OnlyAbsent && stored.JSON(c.Reference.Field) != nil {
		return false, nil
	}
	id, ok := record.String(text)
	if !ok {
		return false, errForeign
	}
	return id == c.Identifier, nil
}

// make makes a row with the new copy of one without.
func (c *Recopier) make(stored *querydb.Row) error {
	row, err := c.Codec.Decode(stored.Record)
	if err != nil {
		return err
	}
	c.Reference.Fill(row, 0, c.Source)
	filled, err := c.Codec.EncodeWithKey(&c.builder, row, stored.Key)
	c.sample = filled.Record
	return err
}
