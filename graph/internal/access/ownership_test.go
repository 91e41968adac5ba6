package access_test

import (
	"testing"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// TestAViewerOwnsThePartitionWhoseTextNamesThem, also beside a number whose marks in keys are those of the separator;
// and none whose text names somebody else.
func TestAViewerOwnsThePartitionWhoseTextNamesThem(t *testing.T) {
	typ := &catalog.Type{Name: "Account", Owner: 0}
	for _, c := range []struct {
		sep   string
		owner string
		n     int64
		owns  bool
	}{
		{"/", "ann", 7, true}, {":", "ann", 1e17, true}, {"~", "ann", -7, true}, {"/", "a/n", 7, false},
		{":", "bob", 1e17, false}, {"~", "bob", -7, false}, {"/", "", 7, false},
	} {
		half := querydb.Half{Fields: []int{0, 1}, Layout: keys.Layout{Sep: c.sep, Segments: []keys.Segment{
			{Field: "owner", Kind: keys.KindString}, {Field: "n", Kind: keys.KindInt}}}}
		text, err := half.Layout.Compose(keys.String(c.owner), keys.Int(c.n))
		if err != nil {
			t.Fatal(err)
		}
		v := access.Viewer{Caller: auth.Caller{Subject: "ann"}}
		if owns := v.OwnsPartition(typ, &half, []keys.Value{keys.String(text)}, text); owns != c.owns {
			t.Errorf("ann owns %q: %t, want %t", text, owns, c.owns)
		}
	}
}
