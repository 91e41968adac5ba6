package item

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// How long DynamoDB holds on to what may go.
const (
	keepExpired = 2 * 24 * time.Hour // a fold may lag that far behind
	// keepDeleted is for what is known of deleted rows. Where all servers ended amid a batch, whoever folds its events
	// again must still find what it has deleted.
	keepDeleted = 30 * 24 * time.Hour
)

// CheckKey refuses a key that DynamoDB would refuse or, where it is no UTF-8, change.
func (s *Codec) CheckKey(k keys.Key) error {
	switch {
	case k.PK == "":
		return fmt.Errorf("%w: the partition key is empty", driver.ErrInvalid)
	case s.SK != "" && k.SK == "":
		return fmt.Errorf("%w: the sort key is empty", driver.ErrInvalid)
	case s.SK == "" && k.SK != "":
		return fmt.Errorf("%w: the key has a sort half, and the table has none", driver.ErrInvalid)
	}
	return CheckTexts(k)
}

// CheckTexts refuses halves that are too long or no UTF-8.
func CheckTexts(k keys.Key) error {
	switch {
	case len(k.PK) > keys.MaxPK:
		return fmt.Errorf("%w: the partition key has %d bytes, and may have %d", driver.ErrInvalid, len(k.PK), keys.MaxPK)
	case len(k.SK) > keys.MaxSK:
		return fmt.Errorf("%w: the sort key has %d bytes, and may have %d", driver.ErrInvalid, len(k.SK), keys.MaxSK)
	case !utf8.ValidString(k.PK) || !utf8.ValidString(k.SK):
		return fmt.Errorf("%w: the key is no UTF-8, the only text that DynamoDB has", driver.ErrInvalid)
	}
	return nil
}

// Encode returns the values of the shape's columns for a row, nil where a column is absent. now is the time of the
// write.
func (s *Codec) Encode(row *driver.Row, now time.Time) ([]Value, error) {
	if row.Record.Len() != len(s.Fields) || len(row.Indexes) != len(s.Table.Indexes) {
		return nil, fmt.Errorf("%w: a record of %d fields and %d index keys is none of this table", driver.ErrInvalid,
			row.Record.Len(), len(row.Indexes))
	}
	vals := make([]Value, len(s.Columns))
	if err := s.encodeHalves(row, vals); err != nil {
		return nil, err
	}
	if err := s.encodeFields(row, vals); err != nil {
		return nil, err
	}
	s.mark(vals)
	if len(row.Writers) > 0 {
		vals[s.writers] = &types.AttributeValueMemberSS{Value: row.Writers}
	}
	if row.Expires.IsZero() {
		return vals, nil
	}
	if s.Table.NoExpiry {
		return nil, fmt.Errorf("%w: the row expires, and rows of this table never do", driver.ErrInvalid)
	}
	vals[s.Expires] = Number(InstantText(row.Expires))
	if len(row.Writers) == 0 { // the end is one writer's to say, and the others' parts stay
		vals[s.TTL] = Removal(row.Expires, now)
	}
	return vals, nil
}

// Tombstone returns the values of the columns of a deleted row.
func (s *Codec) Tombstone(now time.Time) []Value {
	vals := make([]Value, len(s.Columns))
	vals[s.Deleted], vals[s.TTL] = &types.AttributeValueMemberBOOL{Value: true}, wholeSeconds(now.Add(keepDeleted))
	s.mark(vals)
	return vals
}

// mark says which of the models that share the table the row is of.
func (s *Codec) mark(vals []Value) {
	if s.Marked >= 0 {
		vals[s.Marked] = Text(s.Table.Kind)
	}
}

// Removal is when DynamoDB may remove what has expired by the moment, or by the write if that is later.
func Removal(expires, now time.Time) Value {
	if expires.Before(now) {
		expires = now
	}
	return wholeSeconds(expires.Add(keepExpired))
}

// wholeSeconds is the moment, or the next that is a whole number of seconds.
func wholeSeconds(t time.Time) Value {
	return Number(InstantText(t.Add(time.Second - 1).Truncate(time.Second)))
}

// encodeHalves sets the key attributes of the indexes. Several halves may share an attribute, and then have one text.
func (s *Codec) encodeHalves(row *driver.Row, vals []Value) error {
	for i := range s.Halves {
		if half, there := HalfOf(row, i); there && s.Halves[i].Column >= 0 {
			vals[s.Halves[i].Column] = Text(half)
		}
	}
	for i, place := range s.Halves {
		if place.attr == "" {
			continue
		}
		half, there := HalfOf(row, i)
		if err := CheckTexts(row.Indexes[i/2].Key); err != nil {
			return fmt.Errorf("index %s: %w", s.Table.Indexes[i/2].Name, err)
		}
		if _, partner := HalfOf(row, i^1); !there && !partner && s.IsKey(place.attr) {
			continue // without the other half the table's own key does not bring the row into the index
		}
		shared, taken := s.shared(row, place, vals)
		if there && half == "" || there != taken || half != shared {
			return fmt.Errorf("%w: index %s has the key half %q under the attribute %s, which holds %q", driver.ErrInvalid,
				s.Table.Indexes[i/2].Name, half, place.attr, shared)
		}
	}
	return nil
}

// HalfOf returns the text of a half of an index key: 2i is the partition half of the index i, 2i+1 the sort half.
func HalfOf(row *driver.Row, i int) (half string, there bool) {
	k := &row.Indexes[i/2]
	if i%2 == 0 {
		half, there = k.PK, k.HasPK
	} else {
		half, there = k.SK, k.HasSK
	}
	if !there {
		half = ""
	}
	return half, there
}

// shared returns what the attribute of a half holds.
func (s *Codec) shared(row *driver.Row, place halfPlace, vals []Value) (half string, there bool) {
	switch {
	case place.Column >= 0:
		return StringOf(vals[place.Column])
	case place.attr == s.PK:
		return row.Key.PK, true
	}
	return row.Key.SK, true
}

// encodeFields sets the attributes of the fields. What an attribute cannot hold, because it holds the text of a key or
// because DynamoDB has no such number, is in _own.
func (s *Codec) encodeFields(row *driver.Row, vals []Value) error {
	own := Item{}
	for f := range s.Fields {
		field, place := &s.Table.Fields[f], &s.Fields[f]
		v, kept, err := FieldValue(field, row.Record.JSON(f))
		if err == nil && place.inKeys {
			err = s.agrees(row, place, v, vals)
		}
		switch {
		case err != nil:
			return fmt.Errorf("%w: field %s: %w", driver.ErrInvalid, field.Name, err)
		case place.Keyed:
			held, taken := s.shared(row, halfPlace{place.Attr, place.Column}, vals)
			KeyedField(own, field, v, held, taken)
		case v == nil:
		case place.Attr == "" || !kept:
			own[field.Name] = v
		default:
			vals[place.Column] = v
		}
	}
	if len(own) > 0 {
		vals[s.Own] = &types.AttributeValueMemberM{Value: own}
	}
	return nil
}

// agrees refuses a row whose key says of a field what its record does not: an index that has only the key would show
// it.
func (s *Codec) agrees(row *driver.Row, place *FieldPlace, v Value, vals []Value) error {
	held, taken := row.Key.PK, true
	if !place.whole {
		held, taken = s.shared(row, halfPlace{place.Attr, place.Column}, vals)
	}
	if is, _ := StringOf(v); taken && is != held {
		return fmt.Errorf("it is %q, and the key that is made of it %q", is, held)
	}
	return nil
}

// KeyedField keeps a field apart whose attribute holds the text of a key, where that is not the field's value.
func KeyedField(own Item, field *driver.Field, v Value, held string, taken bool) {
	if v == nil {
		if taken {
			own[field.Name] = &types.AttributeValueMemberNULL{Value: true}
		}
		return
	}
	if is, ok := StringOf(v); !ok || !taken || is != held || !layout.IsText(field) {
		own[field.Name] = v
	}
}
