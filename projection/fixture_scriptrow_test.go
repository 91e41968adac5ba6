package projection_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Row is a row.
type Row struct {
	ID        string
	Version   string
	Customer  *string
	Rank      *int
	Total     int
	Notes     []string
	CreatedAt time.Time
	UpdatedAt time.Time
	Expires   *time.Time
}

// Key is the key of a Row.
type Key struct{ ID, Version string }

// The ordinals of the fields.
const (
	fieldID = iota
	fieldVersion
	fieldCustomer
	fieldRank
	fieldTotal
	fieldNotes
	fieldCreatedAt
	fieldUpdatedAt
	fieldExpires
	fieldCount
)

func layout(kind keys.Kind, field string) keys.Layout {
	return keys.Layout{Segments: []keys.Segment{{Field: field, Kind: kind}}}
}

// Model has an index whose halves are both nullable: by customer, sorted by rank.
var Model = &querydb.Model{
	Name: "Script", Table: "Script", Version: "1",
	Fields: []querydb.Field{
		{Name: "id", Scalar: "ID"},
		{Name: "version", Scalar: "String"},
		{Name: "customer", Scalar: "String", Nullable: true},
		{Name: "rank", Scalar: "Int", Nullable: true},
		{Name: "total", Scalar: "Int"},
		{Name: "notes", Scalar: "String", List: true},
		{Name: "createdAt", Scalar: "DateTime"},
		{Name: "updatedAt", Scalar: "DateTime"},
		{Name: "expires", Scalar: "DateTime", Nullable: true},
	},
	PK: querydb.Half{Layout: layout(keys.KindString, "id"), Fields: []int{fieldID}},
	SK: querydb.Half{Layout: layout(keys.KindString, "version"), Fields: []int{fieldVersion}},
	Indexes: []querydb.Index{{
		Name: "byCustomer",
		PK:   querydb.Half{Layout: layout(keys.KindString, "customer"), Fields: []int{fieldCustomer}},
		SK:   querydb.Half{Layout: layout(keys.KindInt, "rank"), Fields: []int{fieldRank}},
	}},
	TTL: fieldExpires, CreatedAt: fieldCreatedAt, UpdatedAt: fieldUpdatedAt,
}

// Codec is the codec of Row.
var Codec = &querydb.Codec[Row]{
	Model:   Model,
	Encode:  encode,
	Decode:  decode,
	Value:   value,
	Clone:   clone,
	Time:    timeOf,
	SetTime: setTime,
}

// Ops makes the ops.
var Ops = &projection.Ops[Row, Key, string]{
	Codec:        Codec,
	Key:          func(k Key) (keys.Key, error) { return querydb.KeyOf(Codec, &Row{ID: k.ID, Version: k.Version}) },
	Partition:    func(id string) (string, error) { return Model.PK.Layout.Compose(keys.String(id)) },
	SetKeyFields: func(row *Row, k Key) { row.ID, row.Version = k.ID, k.Version },
}

// Fields are the fields that a patch can name. ID is here to be refused.
var Fields = struct {
	ID       *projection.PatchField[Row, string]
	Customer *projection.PatchField[Row, string]
	Rank     *projection.PatchField[Row, int]
	Total    *projection.PatchField[Row, int]
}{
	ID: &projection.PatchField[Row, string]{Ordinal: fieldID, Write: func(r *Row, v string) { r.ID = v }},
	Customer: &projection.PatchField[Row, string]{
		Ordinal: fieldCustomer,
		Write:   func(r *Row, v string) { r.Customer = &v },
		Reset:   func(r *Row) { r.Customer = nil },
	},
	Rank: &projection.PatchField[Row, int]{
		Ordinal: fieldRank,
		Write:   func(r *Row, v int) { r.Rank = &v },
		Reset:   func(r *Row) { r.Rank = nil },
	},
	Total: &projection.PatchField[Row, int]{Ordinal: fieldTotal, Write: func(r *Row, v int) { r.Total = v }},
}

func encode(b *record.Builder, r *Row) {
	b.String(r.ID)
	b.String(r.Version)
	optional(b, r.Customer, b.String)
	optional(b, r.Rank, b.Int)
	b.Int(r.Total)
	b.BeginList()
	for _, n := range r.Notes {
		b.String(n)
	}
	b.EndList()
	b.DateTime(r.CreatedAt)
	b.DateTime(r.UpdatedAt)
	optional(b, r.Expires, b.DateTime)
}

func optional[V any](b *record.Builder, v *V, append func(V)) {
	if v == nil {
		b.Null()
	} else {
		append(*v)
	}
}

func decode(rec record.Record, r *Row) error {
	if rec.Len() != fieldCount {
		return fmt.Errorf("record of %d fields, want %d", rec.Len(), fieldCount)
	}
	*r = Row{}
	ok := [fieldCount]bool{}
	r.ID, ok[fieldID] = record.String(rec.JSON(fieldID))
	r.Version, ok[fieldVersion] = record.String(rec.JSON(fieldVersion))
	ok[fieldCustomer] = nullable(rec.JSON(fieldCustomer), &r.Customer, record.String)
	ok[fieldRank] = nullable(rec.JSON(fieldRank), &r.Rank, record.Int)
	r.Total, ok[fieldTotal] = record.Int(rec.JSON(fieldTotal))
	ok[fieldNotes] = record.List(rec.JSON(fieldNotes), func(elem []byte) bool {
		s, ok := record.String(elem)
		r.Notes = append(r.Notes, s)
		return ok
	})
	r.CreatedAt, ok[fieldCreatedAt] = record.DateTime(rec.JSON(fieldCreatedAt))
	r.UpdatedAt, ok[fieldUpdatedAt] = record.DateTime(rec.JSON(fieldUpdatedAt))
	ok[fieldExpires] = nullable(rec.JSON(fieldExpires), &r.Expires, record.DateTime)
	if i := slices.Index(ok[:], false); i >= 0 {
		return fmt.Errorf("field %s is not of its type", Model.Fields[i].Name)
	}
	return nil
}

func nullable[V any](json []byte, field **V, read func([]byte) (V, bool)) bool {
	if json == nil {
		return true
	}
	v, ok := read(json)
	*field = &v
	return ok
}

func value(r *Row, field int) keys.Value {
	switch field {
	case fieldID:
		return keys.String(r.ID)
	case fieldVersion:
		return keys.String(r.Version)
	case fieldCustomer:
		if r.Customer != nil {
			return keys.String(*r.Customer)
		}
	case fieldRank:
		if r.Rank != nil {
			return keys.Int(int64(*r.Rank))
		}
	case fieldTotal:
		return keys.Int(int64(r.Total))
	case fieldCreatedAt, fieldUpdatedAt, fieldExpires:
		if t := timeOf(r, field); !t.IsZero() {
			return keys.DateTime(t)
		}
	}
	return keys.Value{}
}

func clone(r *Row) Row {
	c := *r
	c.Notes = slices.Clone(r.Notes)
	c.Customer, c.Rank, c.Expires = pointer(r.Customer), pointer(r.Rank), pointer(r.Expires)
	return c
}

func pointer[V any](v *V) *V {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}

func timeOf(r *Row, field int) time.Time {
	switch field {
	case fieldCreatedAt:
		return r.CreatedAt
	case fieldUpdatedAt:
		return r.UpdatedAt
	case fieldExpires:
		if r.Expires != nil {
			return *r.Expires
		}
	}
	return time.Time{}
}

func setTime(r *Row, field int, t time.Time) {
	switch field {
	case fieldCreatedAt:
		r.CreatedAt = t
	case fieldUpdatedAt:
		r.UpdatedAt = t
	case fieldExpires:
		r.Expires = &t
	}
}

// OpsOf are ops of a model of Rows.
type OpsOf = projection.Ops[Row, Key, string]

// Named is another model of the same rows, with its ops.
func Named(name string) *OpsOf {
	return Shaped(func(m *querydb.Model) { m.Name, m.Table = name, name })
}

// Shaped is a model of the same rows that is made otherwise, with its ops.
func Shaped(change func(*querydb.Model)) *OpsOf {
	model := *Model
	change(&model)
	codec := *Codec
	codec.Model = &model
	ops := *Ops
	ops.Codec = &codec
	return &ops
}
