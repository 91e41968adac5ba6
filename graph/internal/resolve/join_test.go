package resolve

import (
	"slices"
	"testing"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

func TestDistinctKeepsTheOrderOfIDs(t *testing.T) {
	id := keys.Layout{Sep: "/", Segments: []keys.Segment{{Field: "id", Kind: keys.KindString}}}
	product := &catalog.Type{Name: "Product", Model: &querydb.Model{Name: "Product", Table: "Product",
		Fields: []driver.Field{{Name: "id", Scalar: "ID"}}, PK: querydb.Half{Layout: id, Fields: []int{0}}}}
	db, err := querydb.Open(t.Context(), memstore.New(), []*querydb.Model{product.Model}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rd := read.New(db, &catalog.Catalog{}, read.Config{})
	find, err := rd.JoinKeys(t.Context(), read.Target{Type: product, Index: driver.Primary})
	if err != nil {
		t.Fatal(err)
	}
	ids := [][]keys.Value{{keys.String("b")}, {keys.String("a")}, {keys.String("")}, {keys.String("b")}}
	found, places, err := distinct(find, ids)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(found.Keys, []keys.Key{{PK: "b"}, {PK: "a"}}) {
		t.Errorf("join keys %v", found)
	}
	if !slices.Equal(places, []int{0, 1, 0}) {
		t.Errorf("places %v", places)
	}
}
