package execute

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

// drawNode draws what is selected of a type of a few fields, of which one holds an object.
func drawNode(t *rapid.T, typ *catalog.Type) *plan.Node {
	n := &plan.Node{Type: typ}
	for k := range rapid.IntRange(1, 6).Draw(t, "members") {
		m := plan.Member{Alias: fmt.Sprint("m", k), NonNull: rapid.Bool().Draw(t, "not null")}
		m.Key = []byte(`"` + m.Alias + `":`)
		switch rapid.IntRange(0, 5).Draw(t, "member") {
		case 0:
			m.Text = []byte(`"Thing"`)
		case 1:
			m.Ordinal = 0
			m.Object = &plan.Object{Stored: 2, Members: []plan.Member{
				{Key: []byte(`"a":`), Alias: "a", Ordinal: 0, Plain: true, NonNull: rapid.Bool().Draw(t, "a")},
				{Key: []byte(`,"b":`), Alias: "b", Ordinal: 1, Plain: true},
			}}
		case 2:
			m.NodeKey = []int{1}
		default:
			m.Plain, m.Ordinal = true, rapid.IntRange(1, 4).Draw(t, "field")
		}
		n.Members = append(n.Members, m)
	}
	return n
}

// notPlain is the node, but that all of its members go the way of those that are more than a text.
func notPlain(n *plan.Node) *plan.Node {
	other := *n
	other.Members = slices.Clone(n.Members)
	for k := range other.Members {
		m := &other.Members[k]
		if m.Plain = false; m.Object != nil {
			o := *m.Object
			o.Members = slices.Clone(o.Members)
			for i := range o.Members {
				o.Members[i].Plain = false
			}
			m.Object = &o
		}
	}
	return &other
}

func drawRecord(t *rapid.T) record.Record {
	var b record.Builder
	b.Begin(5)
	b.JSON([]byte(rapid.SampledFrom([]string{`["x",7]`, `[null,7]`, `["x",null]`, `["x"]`, record.Unknown}).Draw(t, "object")))
	for range 4 {
		switch rapid.IntRange(0, 5).Draw(t, "value") {
		case 0:
			b.Null()
		case 1:
			b.JSON([]byte(record.Unknown))
		default:
			b.String(rapid.String().Draw(t, "text"))
		}
	}
	rec, _, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestATextIsWrittenAsWhatIsMoreIs: a member that is plain, null, not known, or none that may be plain, gives the same
// answer and the same errors whether it is said to be plain or not.
func TestATextIsWrittenAsWhatIsMoreIs(t *testing.T) {
	typ := &catalog.Type{Name: "Thing", Owner: -1, Model: &querydb.Model{Name: "Thing", Table: "Things", TTL: -1,
		Fields: slices.Repeat([]driver.Field{{Name: "f", Scalar: "String", Nullable: true}}, 5)}}
	db, err := querydb.Open(t.Context(), memstore.New(), []*querydb.Model{typ.Model}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rd := read.New(db, &catalog.Catalog{Types: map[string]*catalog.Type{"Thing": typ}}, read.Config{AuthOff: true})
	rapid.Check(t, func(t *rapid.T) {
		n := drawNode(t, typ)
		recs := []record.Record{drawRecord(t), drawRecord(t)}
		write := func(n *plan.Node) string {
			ctx := graphql.WithResponseContext(context.Background(), graphql.DefaultErrorPresenter, graphql.DefaultRecover)
			js := NewJoins(ctx, rd, planSource{rd}, plan.Size{Nodes: 1}, nil)
			js.SetRows(n, recs)
			w := &writer{}
			w.begin(js, 1<<20)
			l := w.openList()
			for i := range recs {
				w.element(&l, n, i, true)
			}
			ok := w.closeList(l)
			return fmt.Sprintf("%t %s %v", ok, w.buf, graphql.GetErrors(ctx))
		}
		if got, want := write(n), write(notPlain(n)); got != want {
			t.Fatalf("the answer is %s, want %s", got, want)
		}
	})
}
