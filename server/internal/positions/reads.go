package positions

import (
	"sync/atomic"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/server/internal/projections"
)

// reads is what an operation reads.
type reads struct {
	models  []*querydb.Model
	all     bool // what it reads is not known: it asks a resolver that is not generated
	indexes bool // it reads indexes, or collections, or may
}

// operations finds what operations depend on.
type operations struct {
	catalog *catalog.Catalog
	folds   *folds
}

// dependencies are what an operation reads, and the projections that this depends on.
type dependencies struct {
	reads
	folds []*projections.Running
	told  atomic.Pointer[told]
}

// of returns what an operation depends on. To find it takes time in the size of the document and of the schema, so it
// is remembered in the memo of the operation, where it has one.
func (o *operations) of(op *ast.OperationDefinition, memo *atomic.Value) *dependencies {
	if memo != nil {
		if known, ok := memo.Load().(*dependencies); ok {
			return known
		}
	}
	d := &dependencies{reads: readsOf(o.catalog, op)}
	d.folds = o.folds.those(&d.reads)
	if memo != nil {
		memo.Store(d)
	}
	return d
}

// readsOf finds what an operation reads: rows that it asks for, and those that say who may see them.
func readsOf(c *catalog.Catalog, op *ast.OperationDefinition) reads {
	var r reads
	r.roots(c, op.SelectionSet)
	return r
}

func (r *reads) roots(c *catalog.Catalog, set ast.SelectionSet) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			r.root(c, s)
		case *ast.InlineFragment:
			r.roots(c, s.SelectionSet)
		case *ast.FragmentSpread:
			r.roots(c, s.Definition.SelectionSet)
		}
	}
}

func (r *reads) root(c *catalog.Catalog, f *ast.Field) {
	q := c.Queries[f.Name]
	switch {
	case len(f.Name) > 1 && f.Name[:2] == "__":
		return
	case q == nil:
		r.all, r.indexes = true, true
		return
	case q.Kind == catalog.QueryNode || q.Kind == catalog.QueryNodes: // of any type, which the identifiers say
		for _, name := range c.Nodes {
			r.add(c.Types[name])
		}
	case q.Collection != nil:
		r.indexes = true
		for _, name := range q.Collection.Members {
			r.add(c.Types[name])
		}
	default:
		r.indexes = r.indexes || q.Index != driver.Primary
		r.add(c.Types[q.Type])
	}
	if q.Rule != nil && q.Rule.AuthTable != "" {
		r.add(c.Types[q.Rule.AuthTable])
	}
	r.fields(c, f.SelectionSet)
}

// fields finds what the joins among the fields of rows read. A field of which nothing is selected is no join.
func (r *reads) fields(c *catalog.Catalog, set ast.SelectionSet) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if len(s.SelectionSet) == 0 {
				continue
			}
			if s.ObjectDefinition != nil {
				r.join(c, c.Types[s.ObjectDefinition.Name], s.Name)
			}
			r.fields(c, s.SelectionSet)
		case *ast.InlineFragment:
			r.fields(c, s.SelectionSet)
		case *ast.FragmentSpread:
			r.fields(c, s.Definition.SelectionSet)
		}
	}
}

func (r *reads) join(c *catalog.Catalog, t *catalog.Type, field string) {
	if t == nil || t.Fields[field] == nil {
		return
	}
	j := t.Fields[field].Join
	if j == nil {
		return
	}
	r.indexes = r.indexes || j.Index != driver.Primary
	r.add(c.Types[j.Target])
	for _, q := range c.Queries { // the rule of an index holds for what is joined through it
		if q.Rule != nil && q.Rule.AuthTable != "" && q.Type == j.Target && q.Index == j.Index {
			r.add(c.Types[q.Rule.AuthTable])
		}
	}
}

func (r *reads) add(t *catalog.Type) {
	if t == nil {
		r.all = true
		return
	}
	for _, m := range r.models {
		if m == t.Model {
			return
		}
	}
	r.models = append(r.models, t.Model)
}
