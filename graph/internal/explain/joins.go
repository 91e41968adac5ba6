package explain

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
)

// joins are the steps of what the rows of a node are joined to.
func (e operation) joins(n *plan.Node, rows int) (steps []Step, err error) {
	for _, j := range n.Joins {
		s, err := e.join(n, j, rows)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	for _, p := range n.Pages {
		s, err := e.pages(n, p, rows)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// path are the response keys of a place below the root, of which a plan tells the types too.
func (e operation) path(steps string) string {
	path := e.root.Alias
	for step := range strings.SplitSeq(steps, ".") {
		path += "." + step[strings.LastIndexByte(step, ':')+1:]
	}
	return path
}

func (e operation) join(n *plan.Node, j *plan.Join, rows int) (Step, error) {
	most := 0
	switch {
	case j.Many: // nobody knows how long the lists are
		rows = e.MaxFanout
	case rows > e.MaxFanout:
		rows, most = e.MaxFanout, e.MaxFanout
	}
	s := Step{Path: e.path(j.Path), Field: n.Type.Name + "." + j.Field, How: Batch, Reads: 1, Rows: rows, Keys: rows,
		Most: most}
	s.By = namesOf(n.Type, j.By)
	if !j.Batched() {
		s.How, s.Reads, s.Keys = ForEach, rows, 2*rows // each as a page of one row
	}
	s.place(j.Type.Model, j.Index, j.Node.Fields)
	s.completeEach()
	if s.Owner = e.guardOf(j); s.Owner != "" {
		s.owners = rows
	}
	err := e.below(&s, []*plan.Node{j.Node})
	return s, err
}

// namesOf are the names of stored fields of the type.
func namesOf(t *catalog.Type, ordinals []int) (names []string) {
	for _, ordinal := range ordinals {
		names = append(names, t.Model.Fields[ordinal].Name)
	}
	return names
}

// pages is the step of a virtual field that answers each of so many rows with a page.
func (e operation) pages(n *plan.Node, p *plan.Pages, rows int) (Step, error) {
	s := Step{Path: e.path(p.Path), Field: n.Type.Name + "." + p.Field, How: Pages,
		By: namesOf(n.Type, p.By)}
	var req read.Request
	if err := p.Args.Read(p.Query, e.vars, &req); err != nil {
		return s, fmt.Errorf("%s: %w", s.Path, err)
	}
	limit, err := read.PageSize(p.Query, &req.Page)
	if err != nil {
		return s, fmt.Errorf("%s: %w", s.Path, err)
	}
	ranges, err := read.Ranges(e.Catalog, p.Query, &req)
	if err != nil {
		return s, fmt.Errorf("%s: %w", s.Path, err)
	}
	pages := rows
	if most := e.MaxFanout / limit; pages > most {
		pages, s.Most = most, most
	}
	s.Reads, s.Rows, s.Keys = pages*ranges, pages*limit, pages*(limit+ranges)
	fields, err := e.filter(&s, p.Query, &req.Page, p.Fields)
	if err != nil {
		return s, fmt.Errorf("%s: %w", s.Path, err)
	}
	s.place(e.Catalog.Types[p.Query.Type].Model, p.Query.Index, fields)
	if p.Query.Rule != nil && p.Query.Rule.AuthTable != "" {
		s.Owner, s.owners = p.Query.Rule.AuthTable, pages
	}
	s.completeEach()
	return s, e.below(&s, p.Items)
}

// completeEach has each read of the step complete its rows by itself, where they lack fields.
func (s *Step) completeEach() {
	if s.completions > 0 {
		s.completions = s.Reads
	}
}

// guardOf is the type whose rows say who may follow a join: the rule of an index holds for joins through it too.
func (e *Explainer) guardOf(j *plan.Join) string {
	for _, q := range e.Catalog.Queries {
		if q.Collection == nil && q.Type == j.Type.Name && q.Index == j.Index && q.Rule != nil && q.Rule.AuthTable != "" {
			return q.Rule.AuthTable
		}
	}
	return ""
}
