package graph

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// match and practice hold objects of one type; of a list nobody is the owner.
type (
	match    struct{ owner string }
	practice struct{ owner string }
	list     struct{}
	element  interface{ isElement() }
)

func (*match) isElement() {}

// TestTheOwnerOfAPartIsThatOfTheRowThatItStandsIn, and not of another on the way to it: rows of several types can hold
// objects of one type, and lead to each other.
func TestTheOwnerOfAPartIsThatOfTheRowThatItStandsIn(t *testing.T) {
	rows := []HoldingRow{
		RowOf(&querydb.Codec[match]{Value: func(m *match, _ int) keys.Value { return keys.String(m.owner) }}, 0),
		RowOf(&querydb.Codec[practice]{Value: func(p *practice, _ int) keys.Value { return keys.String(p.owner) }}, 0),
		RowOf(&querydb.Codec[list]{}, -1),
	}
	anns, bobs := &practice{"ann"}, &match{"bob"}
	node := element(bobs)
	for name, c := range map[string]struct {
		way  []any // from the query to the object
		owns string
	}{
		"a row":                            {[]any{bobs}, "bob"},
		"an element of a list":             {[]any{[]*match{bobs}, &bobs}, "bob"},
		"a row that another leads to":      {[]any{anns, "", bobs}, "bob"},
		"the other way round":              {[]any{bobs, "", anns}, "ann"},
		"a row without owner":              {[]any{anns, &list{}}, ""},
		"a row that is not there":          {[]any{anns, (*match)(nil)}, ""},
		"an element of several types":      {[]any{[]element{node}, &node}, "bob"},
		"a row behind what is no such row": {[]any{anns, "", nil}, "ann"},
		"no row":                           {[]any{""}, ""},
	} {
		ctx := t.Context()
		for _, result := range append(c.way, "the object", nil) {
			ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Result: result})
		}
		for _, subject := range []string{"ann", "bob"} {
			if got, want := ownsHolder(ctx, rows, subject), subject == c.owns; got != want {
				t.Errorf("%s: %s owns it: %t, want %t", name, subject, got, want)
			}
		}
	}
}
