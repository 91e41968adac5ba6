// Package explain says what answering an operation reads, and reads nothing.
package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/vektah/gqlparser/v2/ast"
)

// Explanation is what answering an operation reads, at most.
type Explanation struct {
	Steps []Step `json:"steps"` // of the query fields, which are read at the same time
	// Levels is how many reads follow one another: those of a level need what the level before has read.
	Levels int `json:"levels"`
	Reads  int `json:"reads"` // batches, ranges and rows that are read
	Rows   int `json:"rows"`
	Keys   int `json:"keys"` // that the store examines
}

// How says in which way rows are found.
type How string

// The ways of finding rows.
const (
	ByKey    How = "by key"                // one row under its whole key
	Last     How = "last of a partition"   // the row with the greatest sort key
	First    How = "first of a partition"  // the row with the least sort key
	Range    How = "range of a partition"  // of the sort keys
	Batch    How = "batch of keys"         // rows under their whole keys, at once
	ForEach  How = "a partition each"      // one row of a partition for each value that leads there
	Pages    How = "a range each"          // a page of a partition for each value that leads there
	Together How = "range of a collection" // rows of several types, which lie together
)

// Step is a query or a join.
type Step struct {
	Path  string   `json:"path"` // response keys
	Field string   `json:"field"`
	How   How      `json:"how"`
	Table string   `json:"table"`
	Index string   `json:"index,omitempty"` // "" for the table itself
	By    []string `json:"by,omitempty"`    // the arguments that are the partition key, or the field that leads there
	Reads int      `json:"reads"`
	Rows  int      `json:"rows"`
	Keys  int      `json:"keys"`
	// What follows is read besides. Reads, Rows and Keys do not count it; those of the Explanation do.

	// Filter are the fields that a filter names. Reads and Keys are as if the filters of the operation had nothing else to
	// look at, and no row had it all.
	Filter []string `json:"filter,omitempty"`
	// Lacks are the fields that the entries of the index do not have: the rows of each read are completed by a batch.
	Lacks []string `json:"lacks,omitempty"`
	// Items is how many items a row may have, where it is an aggregate: they are read by a range for each row.
	Items int `json:"items,omitempty"`
	// Most is how many distinct values may lead to the step, where the rows above could have more: those are refused.
	Most int `json:"most,omitempty"`
	// Owner is the type whose row says whether the caller may use a key of the index, where a rule does.
	Owner string `json:"owner,omitempty"`
	Joins []Step `json:"joins,omitempty"`

	completions int // batches that complete rows
	owners      int // rows of Owner
	examined    int // rows that are read for a filter; 0 for none
	// Of a batch of rows of several types: the rows that are no aggregates, and the batches of these.
	plain, plainReads int
}

// besides is what is read of the step that it does not count.
func (s *Step) besides() (reads, rows, keys int) {
	if s.examined > 0 {
		reads, keys = s.besidesFilter()
		return reads + s.owners, s.owners, keys + s.owners
	}
	reads, rows, keys = s.completions+s.owners, s.owners, s.completions*s.Rows+s.owners
	if s.How == Pages || s.How == ForEach { // each completes rows of its own
		keys = min(s.completions, 1)*s.Rows + s.owners
	}
	switch {
	case s.Items == 0:
	case s.How == ByKey || s.How == Batch: // in the place of what it counts
		aggregates := s.Rows - s.plain
		return reads + aggregates - (s.Reads - s.plainReads), rows, keys + aggregates*s.Items - (s.Keys - s.plain)
	default:
		return reads + s.Rows, rows, keys + s.Rows*s.Items
	}
	return reads, rows, keys
}

// ErrResolvers is of operations that resolvers answer: nobody but they know what they read.
var ErrResolvers = errors.New("resolvers answer this operation: it has a field of the project's own, asks for the " +
	"schema, or is no query")

// Explainer explains operations of an API.
type Explainer struct {
	Catalog     *catalog.Catalog
	Schema      *ast.Schema
	MaxFanout   int // rows that one join may lead to
	MaxExamined int // rows that the filters of an operation may look at
	Parallelism int // pages of a level that are read at once
}

// operation is one with the values of its variables.
type operation struct {
	*Explainer
	vars map[string]any
	root *plan.Root // that is being explained
}

// Explain explains an operation of a valid document.
func (e *Explainer) Explain(doc *ast.QueryDocument, op *ast.OperationDefinition, vars map[string]any) (*Explanation,
	error) {
	c := plan.Compiler{Catalog: e.Catalog, Schema: e.Schema, Fragments: doc.Fragments, Vars: vars}
	p := c.Compile(op)
	if p == nil {
		return nil, ErrResolvers
	}
	x, of := &Explanation{}, operation{Explainer: e, vars: vars}
	for i := range p.Roots {
		r := &p.Roots[i]
		if r.Query == nil {
			continue
		}
		var req read.Request
		if err := r.Args.Read(r.Query, vars, &req); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Alias, err)
		}
		of.root = r
		s, err := of.step(&req)
		if err != nil {
			return nil, err
		}
		x.Steps = append(x.Steps, s)
	}
	x.total(x.Steps, 1)
	return x, nil
}

// total adds the steps of a level, and of those below.
func (x *Explanation) total(steps []Step, level int) {
	for i := range steps {
		s := &steps[i]
		x.Levels = max(x.Levels, level)
		reads, rows, keys := s.besides()
		x.Reads, x.Rows, x.Keys = x.Reads+s.Reads+reads, x.Rows+s.Rows+rows, x.Keys+s.Keys+keys
		x.total(s.Joins, level+1)
	}
}

// step is the step of the query of the root.
func (e operation) step(req *read.Request) (Step, error) {
	q := e.root.Query
	s := Step{Path: e.root.Alias, Field: q.Name, By: argumentsOf(q, req), Reads: 1, Rows: 1, Keys: 1}
	if q.Rule != nil && q.Rule.AuthTable != "" {
		s.Owner, s.owners = q.Rule.AuthTable, 1
	}
	if q.Kind == catalog.QueryPage {
		if err := e.page(&s, req); err != nil {
			return s, err
		}
	}
	switch {
	case q.Collection != nil:
		return s, e.collection(&s)
	case q.Kind == catalog.QueryNode, q.Kind == catalog.QueryNodes:
		return s, e.nodes(&s, req)
	}
	return s, e.rows(&s, req)
}

// page completes the step of a page: it has as many rows as it may, and a range may be several.
func (e operation) page(s *Step, req *read.Request) error {
	limit, err := read.PageSize(e.root.Query, &req.Page)
	if err != nil {
		return err
	}
	if s.Reads, err = read.Ranges(e.Catalog, e.root.Query, req); err != nil {
		return err
	}
	s.How, s.Rows, s.Keys = Range, limit, limit+s.Reads // one key more says whether there is a next page
	return nil
}

// collection completes the step of rows of several types that lie together.
func (e operation) collection(s *Step) error {
	members := e.root.Query.Collection.Stored.Members
	s.How, s.Table = Together, members[0].Model.Table
	s.Index = members[0].Model.Indexes[members[0].Index].Name
	for i, n := range e.root.Items { // the members, over and over
		m := members[i%len(members)]
		if lacks := lacking(m.Model, m.Index, allFields(m.Model)); len(lacks) > 0 { // whichever are asked for
			s.completions += s.Reads // the rows of each range are completed by themselves
			for _, name := range lacks {
				s.Lacks = append(s.Lacks, n.Type.Name+"."+name)
			}
		}
	}
	return e.below(s, e.root.Items)
}

// rows completes the step of rows of one type: of a page of them, of those of some keys, or of one.
func (e operation) rows(s *Step, req *read.Request) error {
	q := e.root.Query
	t := e.Catalog.Types[q.Type]
	fields, err := e.filter(s, q, &req.Page, e.root.Fields)
	if err != nil {
		return err
	}
	s.place(t.Model, q.Index, fields)
	if s.examined == 0 {
		s.completions *= s.Reads
	}
	switch q.Kind {
	case catalog.QueryMany:
		n := read.ByIDs{Query: q}.Asked(req)
		if err := read.CheckIDs(q, n, e.MaxFanout); err != nil {
			return err
		}
		s.How, s.By, s.Rows, s.Keys = Batch, []string{q.PK[0].Name}, n, n
	case catalog.QueryOne:
		s.How = howOfOne(q, t, req)
		if s.How != ByKey {
			s.Keys++ // as a page of one row
		}
	}
	return e.below(s, e.root.Items)
}

// nodes completes the step of rows by their global identifiers: a batch for each of their types.
func (e operation) nodes(s *Step, req *read.Request) error {
	r := e.root
	if err := read.CheckIDs(r.Query, len(req.IDs), e.MaxFanout); err != nil {
		return err
	}
	types, err := read.Nodes{Reader: &read.Reader{Catalog: e.Catalog}, Query: r.Query}.Types(req.IDs)
	if err != nil {
		return err
	}
	s.How, s.By, s.Rows, s.Keys, s.Reads = Batch, []string{r.Query.PK[0].Name}, len(types), len(types), 0
	var tables []string
	for i, name := range e.Catalog.Nodes {
		rows := 0
		for _, typ := range types {
			if typ == i {
				rows++
			}
		}
		if rows == 0 {
			continue
		}
		s.Reads++
		m := e.Catalog.Types[name].Model
		if m.Aggregate != nil {
			s.Items = querydb.MaxPageRows
		} else {
			s.plain, s.plainReads = s.plain+rows, s.plainReads+1
		}
		if !slices.Contains(tables, m.Table) {
			tables = append(tables, m.Table)
		}
		joins, err := e.joins(r.Items[i], rows)
		if err != nil {
			return err
		}
		s.Joins = append(s.Joins, joins...)
	}
	s.Table = strings.Join(tables, ", ")
	return nil
}

// below adds the steps of what the rows of a step are joined to, which stand in some nodes.
func (e operation) below(s *Step, nodes []*plan.Node) error {
	for _, n := range nodes {
		joins, err := e.joins(n, s.Rows)
		if err != nil {
			return err
		}
		s.Joins = append(s.Joins, joins...)
	}
	return nil
}

// place says where the rows are, and what is lacking there.
func (s *Step) place(m *querydb.Model, index int, fields []int) {
	s.Table = m.Table
	if m.Aggregate != nil {
		s.Items = querydb.MaxPageRows
	}
	if index == driver.Primary {
		return
	}
	s.Index = m.Indexes[index].Name
	if m.Aggregate == nil { // else all of it is read by its items
		s.Lacks = lacking(m, index, fields)
		s.completions = min(len(s.Lacks), 1)
	}
}

// lacking are those of the fields that the entries of an index do not have.
func lacking(m *querydb.Model, index int, fields []int) (names []string) {
	x := &m.Indexes[index]
	for _, f := range fields {
		if x.Projected != nil && !slices.Contains(x.Projected, f) {
			names = append(names, m.Fields[f].Name)
		}
	}
	return names
}

// allFields are the ordinals of the fields of a model.
func allFields(m *querydb.Model) []int {
	all := make([]int, len(m.Fields))
	for i := range all {
		all[i] = i
	}
	return all
}

// howOfOne is how the row of a query of kind QueryOne is found.
func howOfOne(q *catalog.Query, t *catalog.Type, req *read.Request) How {
	given := slices.ContainsFunc(req.SK, keys.Value.Present)
	switch {
	case q.Index != driver.Primary && !read.IsEntity(t):
		return First
	case read.IsEntity(t) || given || !t.Model.SK.Layout.Exists():
		return ByKey
	}
	return Last
}

// argumentsOf are the arguments that make the partition key.
func argumentsOf(q *catalog.Query, req *read.Request) (names []string) {
	args := slices.Concat(q.PK, q.PKParts)
	for i := range min(len(args), len(req.PK)) {
		if req.PK[i].Present() {
			names = append(names, args[i].Name)
		}
	}
	return names
}
