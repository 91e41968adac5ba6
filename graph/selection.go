package graph

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// compiler turns the selections of one operation into a plan. It knows the values of the Boolean variables that @skip
// and @include use, so that a plan has no conditions left.
type compiler struct {
	catalog   *Catalog
	schema    *ast.Schema
	fragments ast.FragmentDefinitionList
	vars      map[string]any
	nodes     int
	members   int
	path      []string // the response keys that lead to the node being made
	// unsupported is set where something is selected that is not the catalog's to answer.
	unsupported bool
}

// selected is a field with all that was selected of it under one response key.
type selected struct {
	*ast.Field
	of []ast.SelectionSet
}

// collect flattens the selections of a type: fragments are spread, what is skipped is dropped, and fields of one
// response key become one, in the order of their first mention.
func (c *compiler) collect(typ string, sets []ast.SelectionSet) []selected {
	var out []selected
	spread := map[string]bool{}
	for _, set := range sets {
		out = c.collectSet(out, typ, set, spread)
	}
	return out
}

func (c *compiler) collectSet(out []selected, typ string, set ast.SelectionSet, spread map[string]bool) []selected {
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
			fragment := c.fragments.ForName(sel.Name)
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
		return append(out, selected{Field: f, of: []ast.SelectionSet{f.SelectionSet}})
	}
	out[i].of = append(out[i].of, f.SelectionSet)
	return out
}

// applies reports whether a fragment on the condition holds for an object of the type. Without a schema, as in a
// look-ahead, it takes fragments on interfaces and unions to hold: the worst is a row that is read for nobody.
func (c *compiler) applies(condition, typ string) bool {
	if condition == "" || condition == typ {
		return true
	}
	if c.schema == nil {
		return c.catalog.Types[condition] == nil
	}
	return slices.ContainsFunc(c.schema.PossibleTypes[condition], func(d *ast.Definition) bool { return d.Name == typ })
}

// included evaluates @skip and @include. Any other directive is for somebody else to carry out.
func (c *compiler) included(ds ast.DirectiveList) bool {
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

func (c *compiler) condition(d *ast.Directive) (value, ok bool) {
	if d.Name != "skip" && d.Name != "include" {
		return false, false
	}
	arg := d.Arguments.ForName("if")
	if arg == nil {
		return false, false
	}
	v, err := arg.Value.Value(c.vars)
	value, ok = v.(bool)
	return value, ok && err == nil
}

// node is a place in the answer where rows of one type stand. Every node of a plan has its own id.
type node struct {
	id      int
	typ     *Type
	members []member
	joins   []*join
	// fields are the ordinals that are read of each row.
	fields []int
}

// member is one response key of a node.
type member struct {
	key     []byte // `,"alias":`, the first member's without comma
	alias   string
	line    int
	column  int
	nonNull bool
	ordinal int
	rule    *Field // set where a rule holds for the field
	text    []byte // set where the answer is the same for all rows, as __typename
	join    *join  // set where the field is virtual
}

// join is a virtual field in a node.
type join struct {
	target
	path     string // the response keys that lead here
	many     bool
	elemNull bool // the list may hold null
	ordinal  int  // of the field that holds the ids
	node     *node
}

func (c *compiler) node(t *Type, sets []ast.SelectionSet) *node {
	n := &node{id: c.nodes, typ: t, fields: []int{}}
	c.nodes++
	for i, s := range c.collect(t.Name, sets) {
		n.members = append(n.members, c.member(n, s, i == 0))
	}
	return n
}

func (c *compiler) member(n *node, s selected, first bool) member {
	c.members++
	m := member{key: responseKey(s.Alias, first), alias: s.Alias}
	if s.Position != nil {
		m.line, m.column = s.Position.Line, s.Position.Column
	}
	if s.Name == "__typename" {
		m.text = quoted(n.typ.Name)
		return m
	}
	f := n.typ.Fields[s.Name]
	if f == nil || s.Definition == nil {
		c.unsupported = true
		return m
	}
	m.nonNull, m.ordinal = s.Definition.Type.NonNull, f.Ordinal
	n.reads(f.Ordinal)
	if rule := fieldRule(n.typ, f); rule != nil {
		m.rule = f
		if rule.Owner {
			n.reads(n.typ.Owner)
		}
	}
	if f.Join != nil {
		m.join = c.join(f, s)
		n.joins = append(n.joins, m.join)
	}
	return m
}

func (c *compiler) join(f *Field, s selected) *join {
	t := c.catalog.Types[f.Join.Target]
	c.path = append(c.path, s.Alias)
	j := &join{target: target{typ: t, via: f.Join.Via}, path: strings.Join(c.path, "."), many: f.Join.Many, ordinal: f.Ordinal}
	j.node = c.node(t, s.of)
	c.path = c.path[:len(c.path)-1]
	if elem := s.Definition.Type.Elem; elem != nil {
		j.elemNull = !elem.NonNull
	}
	if t.Rule != nil && t.Rule.Owner {
		j.node.reads(t.Owner)
	}
	return j
}

// reads notes that the field is read of every row of the node.
func (n *node) reads(ordinal int) {
	if ordinal >= 0 && !slices.Contains(n.fields, ordinal) {
		n.fields = append(n.fields, ordinal)
	}
}

// itemNodes makes the nodes of the items of a collection, one for each of its members.
func (c *compiler) itemNodes(q *Query, sets []ast.SelectionSet) []*node {
	nodes := make([]*node, len(q.Collection.Members))
	for i, name := range q.Collection.Members {
		nodes[i] = c.node(c.catalog.Types[name], sets)
	}
	return nodes
}

// GraphQL names need no escaping in JSON.
func quoted(name string) []byte { return []byte(`"` + name + `"`) }

func responseKey(alias string, first bool) []byte {
	if first {
		return []byte(`"` + alias + `":`)
	}
	return []byte(`,"` + alias + `":`)
}
