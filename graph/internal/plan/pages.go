package plan

import (
	"strings"

	"github.com/foldql/foldql/graph/catalog"
)

// Pages is a virtual field in a node that answers each of its rows with a page: of the rows that have a value of that
// row in the partition key of the query.
type Pages struct {
	Asked
	ID    int            // every one of a plan has its own
	Path  string         // the steps that lead here
	Field string         // its name
	By    []int          // the fields that hold the value, or the values of a partition key of several fields
	Rule  *catalog.Field // set where a rule holds for the field
}

func (c *Compiler) pages(parent *catalog.Type, f *catalog.Field, s selected) *Pages {
	q := c.Catalog.Queries[f.Join.Pages]
	p := &Pages{
		Asked: Asked{Query: q, Args: c.queryArguments(s.Field, q)}, ID: c.Size.Pages, Field: f.Name, By: heldBy(f),
	}
	c.Size.Pages++
	c.within(parent.Name, s.Alias, func() {
		p.Path = strings.Join(c.Path, ".")
		p.selectPage(c, s.Of)
	})
	p.Fields = p.readFields(c.Catalog.Types[q.Type])
	return p
}
