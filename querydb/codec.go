package querydb

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/validate"
	"github.com/foldql/foldql/querydb/record"
)

// Codec ties a Model to the Go type of its rows. The functions are generated and use no reflection.
type Codec[R any] struct {
	Model *Model
	// Encode appends the fields of the row to the builder, in order, between Begin and Finish.
	Encode func(b *record.Builder, row *R)
	// Decode reads a record into the row. It fails, naming the field, where the record is not of this model.
	Decode func(rec record.Record, row *R) error
	// Value returns a field as a composite attribute, absent where it is null or not a scalar.
	Value func(row *R, field int) keys.Value
	// Clone returns a copy that shares no memory that can be changed, and has the values that Decode reads where those
	// of the row are encoded: a list is nil only where it is null, and times are in UTC.
	Clone func(row *R) R
	// Time returns the date-time field, the zero time where it is null; SetTime sets it.
	Time    func(row *R, field int) time.Time
	SetTime func(row *R, field int, t time.Time)
	// References are the fields that hold copies of other rows, as ReferencesOf[R]; nil is none.
	References References
}

// Any is the codec for code that is compiled once for the rows of all models.
func Any[R any](c *Codec[R]) AnyCodec { return AnyCodec{c.Model, (*codecOf[R])(c)} }

// AnyCodec is a [Codec] without the type of its rows: a row is a *R in an interface, which takes no memory beside the
// row. What is done with the rows of any model is done with it, because code that is generic over R is compiled anew
// for each model of a project.
type AnyCodec struct {
	Model *Model
	typed typedCodec
}

// typedCodec is a *codecOf[R], and each row a *R.
type typedCodec interface {
	newRow() any
	copyRow(row any) any
	cloneRow(row any) any
	encodeRow(b *record.Builder, row any)
	decodeRow(rec record.Record, row any) error
	valueOf(row any, field int) keys.Value
	timeOf(row any, field int) time.Time
	setTimeOf(row any, field int, t time.Time)
	references() References
}

// codecOf has the methods that a Codec has not, so that a package compiles them where it calls Any, and not wherever it
// knows a Codec.
type codecOf[R any] Codec[R]

func (c *codecOf[R]) newRow() any { return new(R) }

func (c *codecOf[R]) copyRow(row any) any {
	r := *row.(*R)
	return &r
}

func (c *codecOf[R]) cloneRow(row any) any {
	r := c.Clone(row.(*R))
	return &r
}

func (c *codecOf[R]) encodeRow(b *record.Builder, row any) { c.Encode(b, row.(*R)) }

func (c *codecOf[R]) decodeRow(rec record.Record, row any) error { return c.Decode(rec, row.(*R)) }

func (c *codecOf[R]) valueOf(row any, field int) keys.Value { return c.Value(row.(*R), field) }

func (c *codecOf[R]) timeOf(row any, field int) time.Time { return c.Time(row.(*R), field) }

func (c *codecOf[R]) setTimeOf(row any, field int, t time.Time) { c.SetTime(row.(*R), field, t) }

func (c *codecOf[R]) references() References { return c.References }

// New returns a row whose fields are all zero.
func (c AnyCodec) New() any { return c.typed.newRow() }

// Copy returns a row of its own with the fields of another, which share what they refer to.
func (c AnyCodec) Copy(row any) any { return c.typed.copyRow(row) }

// Clone returns a copy that shares no memory that can be changed, with the values that Decode would read: see Codec.
func (c AnyCodec) Clone(row any) any { return c.typed.cloneRow(row) }

// Decode reads a record into a new row. It fails, naming the field, where the record is not of this model.
func (c AnyCodec) Decode(rec record.Record) (row any, err error) {
	row = c.typed.newRow()
	return row, c.typed.decodeRow(rec, row)
}

// Value returns a field as a composite attribute, absent where it is null or not a scalar.
func (c AnyCodec) Value(row any, field int) keys.Value { return c.typed.valueOf(row, field) }

// Time returns the date-time field, the zero time where it is null.
func (c AnyCodec) Time(row any, field int) time.Time { return c.typed.timeOf(row, field) }

// SetTime sets the date-time field.
func (c AnyCodec) SetTime(row any, field int, t time.Time) { c.typed.setTimeOf(row, field, t) }

// References are the fields that hold copies of other rows.
func (c AnyCodec) References() []AnyReference {
	if all := c.typed.references(); all != nil {
		return all.any()
	}
	return nil
}

// Encode builds the stored form of a row: key, record, index keys, expiry. It fails with ErrInvalid, naming model and
// field, where a key half is empty or a value cannot be stored.
//
// A half of an index is absent where one of its composites is, or where it would be the empty string; and where the
// model pairs its halves (Model.PairsHalves), where the other half is.
func Encode[R any](c *Codec[R], b *record.Builder, row *R) (Row, error) {
	key, err := KeyOf(c, row)
	if err != nil {
		return Row{}, err
	}
	return EncodeWithKey(c, b, row, key)
}

// EncodeWithKey is Encode for a row whose key, that of KeyOf, is known.
func EncodeWithKey[R any](c *Codec[R], b *record.Builder, row *R, key keys.Key) (Row, error) {
	return fields{
		model:  c.Model,
		value:  func(field int) keys.Value { return c.Value(row, field) },
		time:   func(field int) time.Time { return c.Time(row, field) },
		encode: func(b *record.Builder) { c.Encode(b, row) },
	}.encoded(b, key)
}

// EncodeWithKey is [Encode] for a row whose key, that of KeyOf, is known.
func (c AnyCodec) EncodeWithKey(b *record.Builder, row any, key keys.Key) (Row, error) {
	return fields{
		model:  c.Model,
		value:  func(field int) keys.Value { return c.Value(row, field) },
		time:   func(field int) time.Time { return c.Time(row, field) },
		encode: func(b *record.Builder) { c.typed.encodeRow(b, row) },
	}.encoded(b, key)
}

// fields is what is to be known of a row of any type to compose its key, and to store it. An AnyCodec and the row would
// do; but a package that calls Any compiles all that it can do for each model, and most packages need this alone.
type fields struct {
	model  *Model
	value  func(field int) keys.Value
	time   func(field int) time.Time
	encode func(*record.Builder)
}

// maxBuilt is the size at which the encoding of a row that is too large is given up; up to it, the error states the
// size.
const maxBuilt = 16 * MaxRowSize

var errMaxBuilt = fmt.Errorf("%w: the row has more than %d bytes, and may have %d", ErrTooLarge, maxBuilt, MaxRowSize)

func (c fields) encoded(b *record.Builder, key keys.Key) (Row, error) {
	m := c.model
	out := Row{Key: key}
	b.Begin(len(m.Fields))
	b.Bound(maxBuilt, errMaxBuilt)
	c.encode(b)
	rec, field, err := b.Finish()
	if err == errMaxBuilt {
		return Row{}, encodeError(m, key, err)
	}
	if err != nil {
		return Row{}, encodeError(m, key, fmt.Errorf("%w: field %s: %w", ErrInvalid, fieldName(m, field), err))
	}
	if err := validate.Values(m.Fields, m.enumHas, rec.JSON); err != nil {
		return Row{}, encodeError(m, key, err)
	}
	out.Record = rec
	if m.TTL >= 0 {
		out.Expires = c.time(m.TTL)
	}
	if m.physicalIndexes() == 0 {
		return out, nil
	}
	out.Indexes = make([]IndexKey, m.physicalIndexes())
	for i := range m.Indexes {
		if err := c.indexKey(&m.Indexes[i], &out.Indexes[m.PhysicalIndex(i)]); err != nil {
			return Row{}, encodeError(m, key, err)
		}
	}
	return out, nil
}

// Reindex returns a stored row with the index keys of the codec's model: those that it has of former indexes, as
// Layout.Reindexed says, and others as the codec composes them. Where the record is not what the codec makes of it,
// that is ErrDamaged.
func (c AnyCodec) Reindex(b *record.Builder, former []int, stored Row) (Row, error) {
	row, err := c.Decode(stored.Record)
	if err != nil {
		return Row{}, encodeError(c.Model, stored.Key, err)
	}
	out, err := c.EncodeWithKey(b, row, stored.Key)
	if err != nil {
		return Row{}, err
	}
	if !bytes.Equal(out.Record, stored.Record) {
		return Row{}, encodeError(c.Model, stored.Key, fmt.Errorf("%w: the record is not one of this model", ErrDamaged))
	}
	for i, from := range former {
		switch {
		case from >= len(stored.Indexes):
			return Row{}, encodeError(c.Model, stored.Key, fmt.Errorf("%w: a key of an index is missing", ErrDamaged))
		case from >= 0:
			out.Indexes[i] = stored.Indexes[from]
		}
	}
	stored.Indexes = out.Indexes
	return stored, nil
}

// KeyOf returns the key of a row. It fails with ErrInvalid, naming model and field, where a half is empty: where one of
// its fields has no value, or all are empty texts, whatever the key has around them.
func KeyOf[R any](c *Codec[R], row *R) (keys.Key, error) {
	return fields{model: c.Model, value: func(field int) keys.Value { return c.Value(row, field) }}.key()
}

// KeyOf returns the key of a row, as [KeyOf] does.
func (c AnyCodec) KeyOf(row any) (keys.Key, error) {
	return fields{model: c.Model, value: func(field int) keys.Value { return c.Value(row, field) }}.key()
}

func (c fields) key() (keys.Key, error) {
	m := c.model
	if m.Singleton() {
		return keys.Key{PK: keys.SingletonPK}, nil
	}
	var k keys.Key
	err := c.primaryHalf(&m.PK, &k.PK)
	if err == nil && m.SK.Layout.Exists() {
		err = c.primaryHalf(&m.SK, &k.SK)
	}
	if err != nil {
		return keys.Key{}, encodeError(m, k, err)
	}
	return k, nil
}

func (c fields) primaryHalf(h *Half, text *string) error {
	o, err := c.put(h)
	if err == nil && (o.Op != keys.SetKey || c.blank(h)) {
		err = fmt.Errorf("%w: the key is made of field %s, which is empty", ErrInvalid, fieldName(c.model, c.absent(h)))
	}
	*text = o.Key
	return err
}

// blank reports whether all fields of the half are empty texts: whatever is around them, they tell no row from another.
func (c fields) blank(h *Half) bool {
	for _, f := range h.Fields {
		if v := c.value(f); v.Kind() != keys.KindString || v.AsString() != "" {
			return false
		}
	}
	return len(h.Fields) > 0
}

func (c fields) indexKey(x *Index, k *IndexKey) (err error) {
	var pk, sk keys.HalfUpdate
	if pk, err = c.put(&x.PK); err == nil && x.SK.Layout.Exists() {
		sk, err = c.put(&x.SK)
	}
	if err != nil {
		return fmt.Errorf("index %s: %w", x.Name, err)
	}
	if c.model.PairsHalves() {
		pk, sk = keys.PairUpdates(pk, sk)
	}
	k.PK, k.HasPK = pk.Apply("", false)
	k.SK, k.HasSK = sk.Apply("", false)
	return nil
}

// put composes a half of the row.
func (c fields) put(h *Half) (keys.HalfUpdate, error) {
	var few [4]keys.Value
	vals := few[:0]
	for _, f := range h.Fields {
		vals = append(vals, c.value(f))
	}
	o, err := h.Layout.UpdateForPut(vals)
	if err != nil {
		return o, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if !utf8.ValidString(o.Key) { // the record would have another text, under which no one finds the row
		return o, fmt.Errorf("%w: the key %q is no valid UTF-8", ErrInvalid, o.Key)
	}
	return o, nil
}

// absent returns the first field of the half that has no value; where all have, the first.
func (c fields) absent(h *Half) int {
	for _, f := range h.Fields {
		if !c.value(f).Present() {
			return f
		}
	}
	return h.Fields[0]
}

// Decompose gives the row of an aggregate its Items: see aggregate.Plan.Decompose. The order of lists in the record is
// then the one in which they are read.
func (m *Model) Decompose(row *Row) (err error) {
	plan := m.ItemPlan()
	if row.Items, err = plan.Decompose(row); err != nil {
		return encodeError(m, row.Key, err)
	}
	whole, err := plan.Assemble(row.Items)
	if err != nil {
		return encodeError(m, row.Key, fmt.Errorf("%w: %s", ErrInvalid, err.Error()))
	}
	row.Record = whole.Record
	return nil
}

func fieldName(m *Model, f int) string {
	if f < 0 || f >= len(m.Fields) {
		return fmt.Sprintf("number %d", f)
	}
	return m.Fields[f].Name
}

func encodeError(m *Model, k keys.Key, err error) error {
	e := &Error{Op: "make a row of", Model: m.Name, Err: err}
	if k.PK != "" {
		e.Op, e.Key = "make", driver.PrintableKey(k)
	}
	return e
}

// KeyByIdentifier returns the key of the row of m that has the identifier. It fails with ErrInvalid where the
// identifier makes no key, or m has rows that one field does not identify.
func KeyByIdentifier(m *Model, identifier string) (k keys.Key, err error) {
	if m.Identifier() < 0 {
		return k, encodeError(m, k, fmt.Errorf("%w: its rows have no identifier", ErrInvalid))
	}
	if k.PK, err = composeOf(&m.PK, keys.String(identifier)); err == nil && m.SK.Layout.Exists() {
		k.SK, err = composeOf(&m.SK, keys.String(identifier))
	}
	if err != nil {
		return keys.Key{}, encodeError(m, k, err)
	}
	return k, nil
}

// composeOf composes a half of a primary key of one value alone. It may not be empty.
func composeOf(h *Half, value keys.Value) (string, error) {
	var few [4]keys.Value
	vals := few[:0]
	for range h.Fields {
		vals = append(vals, value)
	}
	o, err := h.Layout.UpdateForPut(vals)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrInvalid, err)
	case o.Op != keys.SetKey:
		return "", fmt.Errorf("%w: the identifier is empty", ErrInvalid)
	}
	return o.Key, nil
}
