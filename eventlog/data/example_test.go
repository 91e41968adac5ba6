package data_test

import (
	"fmt"
	"time"

	"github.com/foldql/foldql/eventlog/data"
	"github.com/foldql/foldql/keys"
)

// What follows, up to the example itself, is what the generator writes for
//
//	enum Channel { WEB STORE }
//	type OrderedProduct { productId: ID! quantity: Int! }
//	type OrderPlaced {
//	  orderId: ID!
//	  customer: String!
//	  channel: Channel!
//	  lines: [OrderedProduct!]!
//	  notes: [String!]
//	  ratings: [Float]
//	  discount: Float
//	  total: Decimal!
//	  placedAt: DateTime!
//	}

// Channel is where an order comes from.
type Channel string

const (
	ChannelWeb   Channel = "WEB"
	ChannelStore Channel = "STORE"
)

var channelValues = []string{"WEB", "STORE"}

func readChannel(r *data.Reader) Channel { return Channel(r.Enum(channelValues...)) }

// OrderedProduct is an object inside of an event.
type OrderedProduct struct {
	ProductID string
	Quantity  int
}

var orderedProductFields = []data.Field{
	{Name: "productId", Required: true},
	{Name: "quantity", Required: true},
}

func readOrderedProduct(r *data.Reader) (v OrderedProduct) {
	for field := range r.Object(orderedProductFields) {
		switch field {
		case 0:
			v.ProductID = r.ID()
		case 1:
			v.Quantity = r.Int()
		}
	}
	return v
}

// OrderPlaced is an event.
type OrderPlaced struct {
	OrderID  string
	Customer string
	Channel  Channel
	Lines    []OrderedProduct
	Notes    []string
	Ratings  []*float64
	Discount *float64
	Total    keys.Decimal
	PlacedAt time.Time
}

var orderPlacedFields = []data.Field{
	{Name: "orderId", Required: true},
	{Name: "customer", Required: true},
	{Name: "channel", Required: true},
	{Name: "lines", Required: true},
	{Name: "notes"},
	{Name: "ratings"},
	{Name: "discount"},
	{Name: "total", Required: true},
	{Name: "placedAt", Required: true},
}

func readOrderPlaced(r *data.Reader) (v OrderPlaced) {
	for field := range r.Object(orderPlacedFields) {
		switch field {
		case 0:
			v.OrderID = r.ID()
		case 1:
			v.Customer = r.String()
		case 2:
			v.Channel = readChannel(r)
		case 3:
			v.Lines = data.List(r, readOrderedProduct)
		case 4:
			v.Notes = data.List(r, (*data.Reader).String)
		case 5:
			v.Ratings = data.List(r, data.Nullable((*data.Reader).Float))
		case 6:
			v.Discount = new(r.Float())
		case 7:
			v.Total = r.Decimal()
		case 8:
			v.PlacedAt = r.DateTime()
		}
	}
	return v
}

// DecodeOrderPlaced reads the data of an OrderPlaced; the error is a *eventlog.FieldError.
func DecodeOrderPlaced(b []byte) (OrderPlaced, error) { return data.Decode(b, readOrderPlaced) }

// A decoder as the generator writes it, and what it makes of good and of bad data.
func Example() {
	e, err := DecodeOrderPlaced([]byte(`{"orderId":7,"customer":"Ada","channel":"WEB","lines":[
		{"productId":"p1","quantity":2}],"ratings":[4.5,null],"discount":null,"total":"12.50",
		"placedAt":"2024-01-15T12:30:00+02:00","unknown":{"is":"skipped"}}`))
	fmt.Println(e.OrderID, e.Channel, e.Lines, e.Notes == nil, *e.Ratings[0], e.Discount, e.Total, e.PlacedAt, err)

	_, err = DecodeOrderPlaced([]byte(`{"orderId":"7","lines":[{"productId":"p1","quantity":"two"}]}`))
	fmt.Println(err)
	// Output:
	// 7 WEB [{p1 2}] true 4.5 <nil> 12.5 2024-01-15 10:30:00 +0000 UTC <nil>
	// field lines[0].quantity: want Int, got string
}
