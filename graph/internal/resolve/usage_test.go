package resolve

import (
	"testing"

	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/plan"
)

// TestObjectsInsideOfRowsCount, however deep they are and however little each takes: of each, a resolver makes values.
func TestObjectsInsideOfRowsCount(t *testing.T) {
	name := plan.Member{}
	inner := &plan.Object{Stored: 1, List: true, Members: []plan.Member{name}}
	outer := plan.Object{Stored: 2, Members: []plan.Member{name, {Ordinal: 1, Object: inner}}}
	outers := outer
	outers.List = true
	for _, c := range []struct {
		object *plan.Object
		text   string
		want   int
	}{
		{nil, `"x"`, 0},
		{inner, `[]`, 0},
		{inner, `[["a"],["b"],["c"]]`, 3},
		{&outer, `["a",[["b"],["c"]]]`, 3},
		{&outer, `["a",null]`, 1},
		{&outers, `[["a",[["b"]]],["c",[["d"],["e"]]],["f",null]]`, 6},
		{&outer, `["a",!]`, 1},
		{&outer, `!`, 0},
	} {
		var text []byte
		if c.text != "" {
			text = []byte(c.text)
		}
		objects, refused := inside(access.Viewer{}, c.object, text, func() access.Owning { return access.Own })
		if objects != c.want || refused != 0 {
			t.Errorf("%s: %d objects, %d refused fields; want %d and none", c.text, objects, refused, c.want)
		}
	}
}
