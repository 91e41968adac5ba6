package resolve

import (
	"slices"
	"testing"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

func TestDistinctKeepsTheOrderOfIDs(t *testing.T) {
	id := keys.Layout{Sep: "/", Segments: []keys.Segment{{Field: "id", Kind: keys.KindString}}}
	product := &catalog.Type{Name: "Product", Model: &querydb.Model{Name: "Product", PK: querydb.Half{Layout: id,
		Fields: []int{0}}}}
	rs := &Resolver{Reader: read.New(nil, &catalog.Catalog{}, read.Config{})}
	ids := []keys.Value{keys.String("b"), keys.String("a"), keys.String(""), keys.String("b")}
	found, places, err := rs.distinct(read.Target{Type: product, Index: driver.Primary}, ids)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(found, []read.JoinKey{{Key: keys.Key{PK: "b"}}, {Key: keys.Key{PK: "a"}}}) {
		t.Errorf("join keys %v", found)
	}
	if !slices.Equal(places, []int{0, 1, 0}) {
		t.Errorf("places %v", places)
	}
}
