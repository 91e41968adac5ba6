package plan

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/vektah/gqlparser/v2/ast"
)

// Compiler turns the selections of one operation into a plan. It knows the values of the Boolean variables that @skip
// and @include use, so that a plan has no conditions left.
type Compiler struct {
	Catalog   *catalog.Catalog
	Schema    *ast.Schema
	Fragments ast.FragmentDefinitionList
	Vars      map[string]any
	Size      Size // of what is compiled so far
	Members   int
	Path      []string // the steps that lead to the node being made: see Step
	// unsupported is set where something is selected that is not the catalog's to answer.
	unsupported bool
}

// selected is a field with all that was selected of it under one response key.
type selected struct {
	*ast.Field
	Of []ast.SelectionSet
}

// Collect flattens the selections of a type: fragments are spread, what is skipped is dropped, and fields of one
// response key become one, in the order of their first mention.
func (c *Compiler) Collect(typ string, sets []ast.SelectionSet) []selected {
	var out []selected
	spread := map[string]bool{}
	for _, set := range sets {
		out = c.collectSet(out, typ, set, spread)
	}
	return out
}

func (c *Compiler) collectSet(out []selected, typ string, set ast.SelectionSet, spread map[string]bool) []selected {
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.Field:
			if c.included(sel.Directives) {
				out = merge(out, sel)
			}
		case *ast.InlineFragment:
			if c.included(sel.Directives) && c.applies(sel.TypeCondition, typ) {
				out = c.collectSet(out, typ, sel.SelectionSet, spread)
			}
		case *ast.FragmentSpread:
			if spread[sel.Name] || !c.included(sel.Directives) {
				continue
			}
			spread[sel.Name] = true
			fragment := c.Fragments.ForName(sel.Name)
			if fragment == nil {
				c.unsupported = true
				continue
			}
			if c.included(fragment.Directives) && c.applies(fragment.TypeCondition, typ) {
				out = c.collectSet(out, typ, fragment.SelectionSet, spread)
			}
		}
	}
	return out
}

func merge(out []selected, f *ast.Field) []selected {
	i := slices.IndexFunc(out, func(s selected) bool { return s.Alias == f.Alias })
	if i < 0 {
		return append(out, selected{Field: f, Of: []ast.SelectionSet{f.SelectionSet}})
	}
	out[i].Of = append(out[i].Of, f.SelectionSet)
	return out
}

// applies reports whether a fragment on the condition holds for an object of the type. Without a schema, as in a
// look-ahead, it takes fragments on interfaces and unions to hold: the worst is a row that is read for nobody.
func (c *Compiler) applies(condition, typ string) bool {
	if condition == "" || condition == typ {
		return true
	}
	if c.Schema == nil {
		return c.Catalog.Types[condition] == nil
	}
	return slices.ContainsFunc(c.Schema.PossibleTypes[condition], func(d *ast.Definition) bool { return d.Name == typ })
}

// included evaluates @skip and @include. Any other directive is for somebody else to carry out.
func (c *Compiler) included(ds ast.DirectiveList) bool {
	included := true
	for _, d := range ds {
		condition, ok := c.condition(d)
		switch {
		case !ok:
			c.unsupported = true
		case d.Name == "skip" && condition, d.Name == "include" && !condition:
			included = false
		}
	}
	return included
}

func (c *Compiler) condition(d *ast.Directive) (value, ok bool) {
	if d.Name != "skip" && d.Name != "include" {
		return false, false
	}
	arg := d.Arguments.ForName("if")
	if arg == nil {
		return false, false
	}
	v, err := arg.Value.Value(c.Vars)
	value, ok = v.(bool)
	return value, ok && err == nil
}

// Node is a place in the answer where rows of one type stand. Every node of a plan has its own id.
type Node struct {
	ID      int
	Type    *catalog.Type
	Members []Member
	Joins   []*Join
	Pages   []*Pages
	// Fields are the ordinals that are read of each row.
	Fields []int
}

// Member is one response key of a node.
type Member struct {
	Key     []byte // `,"alias":`, the first member's without comma
	Alias   string
	Line    int
	Column  int
	NonNull bool
	Plain   bool // the answer is the stored text of the field, where there is one that is known
	Ordinal int
	Rule    *catalog.Field // set where a rule holds for the field
	Part    string         // the name of a field of an object for which a rule holds
	Text    []byte         // set where the answer is the same for all rows, as __typename
	Join    *Join          // set where the field is virtual: rows that ids lead to
	Pages   *Pages         // set where the field is virtual: pages of rows
	Object  *Object        // set where the field holds objects
	NodeKey []int          // set where the field is the global identifier: the fields whose values it has
}

// Join is a virtual field in a node.
type Join struct {
	read.Target
	Path     string // the steps that lead here
	Field    string // its name
	Many     bool
	ElemNull bool           // the list may hold null
	By       []int          // the fields that hold the key, one that holds the ids where it is alone
	Rule     *catalog.Field // set where a rule holds for the field
	Node     *Node
}

// AddNode compiles what is selected of an object of the type, by all the selection sets together, and all below it. The
// node is numbered in the order in which nodes are added.
func (c *Compiler) AddNode(t *catalog.Type, sets []ast.SelectionSet) *Node {
	n := &Node{ID: c.Size.Nodes, Type: t, Fields: []int{}}
	c.Size.Nodes++
	for i, s := range c.Collect(t.Name, sets) {
		m := c.member(n, s, i == 0)
		m.Plain = m.isPlain()
		n.Members = append(n.Members, m)
	}
	return n
}

func (c *Compiler) member(n *Node, s selected, first bool) Member {
	m := c.newMember(n.Type.Name, s, first)
	if m.Text != nil {
		return m
	}
	f := n.Type.Fields[s.Name]
	if f == nil || s.Definition == nil {
		c.unsupported = true
		return m
	}
	m.NonNull, m.Ordinal, m.Object = s.Definition.Type.NonNull, f.Ordinal, c.object(n, f.Object, s)
	m.NodeKey = f.NodeKey
	for _, ordinal := range heldBy(f) {
		n.reads(ordinal)
	}
	if rule := access.FieldRule(n.Type, f); rule != nil {
		m.Rule = f
		if rule.Owner {
			n.reads(n.Type.Owner)
		}
	}
	switch {
	case f.Join == nil:
	case f.Join.Pages != "":
		m.Pages = c.pages(n.Type, f, s)
		m.Pages.Rule = m.Rule
		n.Pages = append(n.Pages, m.Pages)
	default:
		m.Join = c.join(n.Type, f, s)
		m.Join.Rule = m.Rule
		n.Joins = append(n.Joins, m.Join)
	}
	return m
}

// Unsupported reports whether something was selected that is not the catalog's to answer.
func (c *Compiler) Unsupported() bool { return c.unsupported }

// newMember makes a member of an object of the type. __typename is all that is known of it here.
func (c *Compiler) newMember(typ string, s selected, first bool) Member {
	c.Members++
	m := Member{Key: responseKey(s.Alias, first), Alias: s.Alias}
	if s.Position != nil {
		m.Line, m.Column = s.Position.Line, s.Position.Column
	}
	if s.Name == "__typename" {
		m.Text = quoted(typ)
	}
	return m
}

// heldBy are the stored fields that a field is answered from: itself, or those that hold the key of what it leads to.
func heldBy(f *catalog.Field) []int {
	switch {
	case f.NodeKey != nil:
		return f.NodeKey
	case f.Join != nil && len(f.Join.By) > 0:
		return f.Join.By
	}
	return []int{f.Ordinal}
}

func (c *Compiler) join(parent *catalog.Type, f *catalog.Field, s selected) *Join {
	t := c.Catalog.Types[f.Join.Target]
	j := &Join{Target: read.NewTarget(c.Catalog, f.Join), Field: f.Name, Many: f.Join.Many, By: heldBy(f)}
	c.within(parent.Name, s.Alias, func() {
		j.Path = strings.Join(c.Path, ".")
		j.Node = c.AddNode(t, s.Of)
	})
	if elem := s.Definition.Type.Elem; elem != nil {
		j.ElemNull = !elem.NonNull
	}
	if t.Rule != nil && t.Rule.Owner {
		j.Node.reads(t.Owner)
	}
	return j
}

// Step is a step of the path that leads to a place in an answer, without indices of lists: a response key, and the type
// of the object that has it. Two members of a union may have the same keys for what is not the same.
func Step(typ, alias string) string { return typ + ":" + alias }

// within has what is compiled stand below a response key of an object.
func (c *Compiler) within(typ, alias string, compile func()) {
	c.Path = append(c.Path, Step(typ, alias))
	compile()
	c.Path = c.Path[:len(c.Path)-1]
}

// Each calls f with what is selected of a field of a type, under each response key.
func (c *Compiler) Each(typ, field string, sets []ast.SelectionSet, f func([]ast.SelectionSet)) {
	for _, s := range c.Collect(typ, sets) {
		if s.Name == field {
			c.within(typ, s.Alias, func() { f(s.Of) })
		}
	}
}

// Virtual reports whether the field is none of the row itself.
func (m *Member) Virtual() bool { return m.Join != nil || m.Pages != nil }

func (m *Member) isPlain() bool {
	return m.Text == nil && m.NodeKey == nil && m.Rule == nil && m.Part == "" && m.Object == nil && !m.Virtual()
}

// reads notes that the field is read of every row of the node.
func (n *Node) reads(ordinal int) {
	if ordinal >= 0 && !slices.Contains(n.Fields, ordinal) {
		n.Fields = append(n.Fields, ordinal)
	}
}

// GraphQL names need no escaping in JSON.
func quoted(name string) []byte { return []byte(`"` + name + `"`) }

func responseKey(alias string, first bool) []byte {
	if first {
		return []byte(`"` + alias + `":`)
	}
	return []byte(`,"` + alias + `":`)
}
