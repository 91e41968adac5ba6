package schema

import (
	"slices"
	"strconv"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/record"
)

// Aggregate says that the rows of a model are objects that are stored as several items of one partition.
type Aggregate struct {
	Collection string  // what partition keys begin with, beside the schema
	Edges      []*Edge // fields of the row that are items of their own, in order of declaration
	Root       *Node
	Local      *Index   // nil for none
	Context    []*Field // of the row, which all items repeat
	Pos        Pos
}

// Edge is a field of an aggregate, or of a part of one, that is stored as an item of its own, or whose elements are.
type Edge struct {
	Field     *Field     // an object, or a list of objects
	Reference *Reference // whose copies they are; nil for objects that are declared
	Many      bool
	Sub       bool     // an object with edges of its own
	Kind      string   // type of the items
	SK        []*Field // of the object, of which sort keys of elements are composed
	OrderBy   *Field   // of the object; nil for the order of sort keys
	// Discriminators tell the items of a sub-aggregate from those of another of its type.
	Discriminators []Discriminator
	Pos            Pos
}

// Discriminator is an attribute that has one value in all items of a sub-aggregate.
type Discriminator struct {
	Name   string
	Scalar string // Int String
	Int    int64
	Text   string
}

// JSON is the value as records hold it.
func (d Discriminator) JSON() string {
	if d.Scalar == "Int" {
		return strconv.FormatInt(d.Int, 10)
	}
	var b record.Builder
	b.Begin(1)
	b.String(d.Text)
	rec, _, err := b.Finish()
	if err != nil {
		return "" // no text is too large for a record
	}
	return string(rec.JSON(0))
}

func (d Discriminator) key() keys.Discriminator {
	if d.Scalar == "Int" {
		return keys.Discriminator{Name: d.Name, Value: keys.Int(d.Int)}
	}
	return keys.Discriminator{Name: d.Name, Value: keys.String(d.Text)}
}

// Node is a part of an aggregate at its place in it: the row itself, or what an edge leads to.
type Node struct {
	Name     string // where it is: "team1.players"; "" for the row itself
	Kind     string
	Edge     *Edge // that leads to it; nil for the row itself
	SK       Half
	Fields   []*Field // of the object
	Own      []*Field // those that its item holds
	Children []*Node
	// Discriminators are those of all edges that lead to it, the outermost first.
	Discriminators []Discriminator
	Context        []*Field // of the row
	References     []*Reference
}

// All are the node and those below it, in order of declaration.
func (n *Node) All() []*Node {
	all := []*Node{n}
	for _, c := range n.Children {
		all = append(all, c.All()...)
	}
	return all
}

// Alike reports whether two parts of one part are sub-aggregates of one type that nothing tells apart.
func (n *Node) Alike(other *Node) bool {
	return n.Edge.Sub && other.Edge.Sub && n.Edge.Field.Object == other.Edge.Field.Object &&
		n.SK.Layout.Head == other.SK.Layout.Head
}

// OtherType reports whether two nodes have items of one type for objects of two.
func (n *Node) OtherType(other *Node) bool {
	return n.Kind == other.Kind && (n.Edge == nil || other.Edge == nil || n.Edge.Field.Object != other.Edge.Field.Object)
}

// Guarded are the fields of an object that have rules of their own.
func (o *Object) Guarded() []*Field {
	return slices.DeleteFunc(slices.Clone(o.Fields), func(f *Field) bool { return f.Auth == nil })
}

// Holders are the models whose rows hold objects of a type, in some part.
func (m *Model) Holders(o *Object) (all []*ReadModel) {
	for _, r := range m.ReadModels {
		if r.Aggregate != nil && slices.ContainsFunc(r.Aggregate.Root.All(), func(n *Node) bool {
			return n.Edge != nil && n.Edge.Field.Object == o
		}) {
			all = append(all, r)
		}
	}
	return all
}

// Item is the sort key of the items of a kind, told apart by discriminators, and fields that tell elements apart.
func (t *Table) Item(kind string, by []Discriminator, sk []*Field) Half {
	var fixed []keys.Discriminator
	for _, d := range by {
		fixed = append(fixed, d.key())
	}
	return Half{Fields: sk, Layout: t.Key(kind, t.Casing).Item(fixed, SegmentsOf(sk)...)}
}

// Edges are the fields of the model's rows that are items of their own.
func (m *ReadModel) Edges() []*Edge {
	if m.Aggregate == nil {
		return nil
	}
	return m.Aggregate.Edges
}

// StoredIndexes are those that rows are in: those of the API, and the local index of an aggregate.
func (m *ReadModel) StoredIndexes() []*Index {
	if m.Aggregate == nil || m.Aggregate.Local == nil {
		return m.Indexes
	}
	return append(m.Indexes[:len(m.Indexes):len(m.Indexes)], m.Aggregate.Local)
}

// Place is where rows of a model hold copies of rows of another.
type Place struct {
	Path      string   // "team1.players.player"
	Way       []*Field // objects that lead to it, the outermost first
	Reference *Reference
}

// Places are all places of copies in rows of the model, in order of declaration.
func (m *ReadModel) Places() []Place {
	return placesIn(m.References, m.Edges(), "", nil)
}

func placesIn(references []*Reference, edges []*Edge, prefix string, way []*Field) (all []Place) {
	for _, r := range references {
		all = append(all, Place{Path: prefix + r.Copy.Name, Way: way, Reference: r})
	}
	for _, e := range edges {
		if o := e.Field.Object; o != nil && e.Reference == nil && len(way) < mostNested {
			next := append(way[:len(way):len(way)], e.Field)
			all = append(all, placesIn(o.References, o.Edges, prefix+e.Field.Name+".", next)...)
		}
	}
	return all
}

// mostNested bounds the walk through objects that contain themselves, which is reported.
const mostNested = 16
