package read

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
)

func TestAPartitionKeyIsCutShortAtItsEndAlone(t *testing.T) {
	l := keys.Layout{Head: "$s#v1#t", Sep: "#", Segments: []keys.Segment{
		{Field: "a", Kind: keys.KindString, Before: "a_"}, {Field: "b", Kind: keys.KindString, Before: "b_"}, {Field: "c",
			Kind: keys.KindString, Before: "c_"},
	}}
	q := &catalog.Query{PK: []catalog.KeyArg{{Name: "a"}, {Name: "b", Optional: true}, {Name: "c", Optional: true}}}
	x, none := keys.String("x"), keys.Value{}
	for _, test := range []struct {
		vals []keys.Value
		want string
	}{
		{[]keys.Value{x, x, none}, "$s#v1#t#a_x#b_x"},
		{[]keys.Value{x, none, none}, "$s#v1#t#a_x"},
		{[]keys.Value{x, none, x}, "c is given without b"},
	} {
		got, err := cutShort(q, &keys.Composer{Layout: l}, test.vals, keys.CountLeading(test.vals))
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, test.want) || err == nil && got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
