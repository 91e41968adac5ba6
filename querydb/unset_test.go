package querydb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// bill is a row whose date a projector may forget to set.
type bill struct {
	id     string
	issued keys.Date
}

var bills = &querydb.Codec[bill]{
	Model: &querydb.Model{
		Name: "Bill", Table: "Bill",
		Fields: []querydb.Field{{Name: "id", Scalar: "ID"}, {Name: "issued", Scalar: "Date"}},
		PK: querydb.Half{
			Layout: keys.Layout{Segments: []keys.Segment{{Field: "id", Kind: keys.KindString}}}, Fields: []int{0},
		},
		TTL: -1, CreatedAt: -1, UpdatedAt: -1,
	},
	Encode: func(b *record.Builder, r *bill) {
		b.String(r.id)
		b.String(string(r.issued))
	},
	Value: func(r *bill, _ int) keys.Value { return keys.String(r.id) },
}

func TestADateThatWasNeverSetIsNotStored(t *testing.T) {
	var b record.Builder
	_, err := querydb.Encode(bills, &b, &bill{id: "b1"})
	if !errors.Is(err, querydb.ErrInvalid) || !strings.Contains(err.Error(), "field issued") {
		t.Errorf("encode a row without its date: %v, want ErrInvalid that names the field", err)
	}
	if _, err := querydb.Encode(bills, &b, &bill{id: "b1", issued: "2024-01-15"}); err != nil {
		t.Errorf("encode a row with its date: %v", err)
	}
}
