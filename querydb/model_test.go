package querydb_test

import (
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// order is the row of the model that the tests of this package use.
type order struct {
	ID       string
	At       time.Time
	Customer *string
	Status   string
	Total    float64
	Until    time.Time
}

const (
	fID = iota
	fAt
	fCustomer
	fStatus
	fTotal
	fUntil
)

const (
	byCustomer = iota // without sort half, all fields
	byStatus          // sorted by at, key fields only
)

func orderModel() *querydb.Model {
	half := func(kind keys.Kind, name string, f int) querydb.Half {
		return querydb.Half{Layout: keys.Layout{Segments: []keys.Segment{{Field: name, Kind: kind}}}, Fields: []int{f}}
	}
	return &querydb.Model{
		Name: "Order", Table: "Orders", Version: "1",
		Fields: []querydb.Field{
			{Name: "id", Scalar: "ID"}, {Name: "at", Scalar: "DateTime"}, {Name: "customer", Scalar: "String", Nullable: true},
			{Name: "status", Scalar: "String"}, {Name: "total", Scalar: "Float"}, {Name: "until", Scalar: "DateTime",
				Nullable: true},
		},
		PK: half(keys.KindString, "id", fID),
		SK: half(keys.KindDateTime, "at", fAt),
		Indexes: []querydb.Index{
			{Name: "customer", PK: half(keys.KindString, "customer", fCustomer)},
			{Name: "byStatus", PK: half(keys.KindString, "status", fStatus), SK: half(keys.KindDateTime, "at", fAt),
				Projected: []int{fID, fAt, fStatus}},
		},
		TTL: fUntil, CreatedAt: -1, UpdatedAt: -1,
	}
}

func orderCodec(m *querydb.Model) *querydb.Codec[order] {
	return &querydb.Codec[order]{
		Model: m,
		Encode: func(b *record.Builder, r *order) {
			b.String(r.ID)
			b.DateTime(r.At)
			if r.Customer == nil {
				b.Null()
			} else {
				b.String(*r.Customer)
			}
			b.String(r.Status)
			b.Float(r.Total)
			if r.Until.IsZero() {
				b.Null()
			} else {
				b.DateTime(r.Until)
			}
		},
		Value: func(r *order, f int) keys.Value {
			switch f {
			case fID:
				return keys.String(r.ID)
			case fAt:
				return keys.DateTime(r.At)
			case fCustomer:
				if r.Customer == nil {
					return keys.Value{}
				}
				return keys.String(*r.Customer)
			case fStatus:
				return keys.String(r.Status)
			}
			return keys.Value{}
		},
		Time: func(r *order, f int) time.Time {
			if f == fUntil {
				return r.Until
			}
			return r.At
		},
	}
}
