package read

import (
	"testing"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
)

// TestAnItemThatSaysNoKindIsOfTheOneAskedFor, and of none where several are.
func TestAnItemThatSaysNoKindIsOfTheOneAskedFor(t *testing.T) {
	of := func(kind string) *driver.Table {
		return &driver.Table{
			Name: "Blog", Sorted: true, Kind: kind, Keys: driver.KeyNames{PK: "pk", SK: "sk", Kind: "__edd_e__"},
			Fields: []driver.Field{{Name: "title", Scalar: "String"}},
		}
	}
	post, user := of("post"), of("user")
	for name, tt := range map[string]struct {
		says    string
		members []*driver.Table
		want    string
	}{
		"of nothing said":              {"", nil, "post"},
		"of the kind":                  {"post", nil, "post"},
		"of another":                   {"user", nil, ""},
		"of one member":                {"", []*driver.Table{post}, "post"},
		"of several":                   {"", []*driver.Table{post, user}, ""},
		"of several, and says which":   {"user", []*driver.Table{post, user}, "user"},
		"of several, and says another": {"team", []*driver.Table{post, user}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			it := item.Item{"title": item.Text("Hello"), "pk": item.Text("user#123"), "sk": item.Text("post#abc")}
			if tt.says != "" {
				it["__edd_e__"] = item.Text(tt.says)
			}
			p, err := NewReader(nil, item.NewCodecs("")).pager(codecOf(t, post), &driver.Query{Table: post,
				Index: driver.Primary, Members: tt.members,
				Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			row, there, err := p.row(it)
			if err != nil || there != (tt.want != "") || there && row.Kind != tt.want {
				t.Errorf("the item is a row: %t, of kind %q, %v; want %q", there, row.Kind, err, tt.want)
			}
		})
	}
}
