package execute

import (
	"context"
	"sync"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/internal/parallel"
	"github.com/foldql/foldql/querydb/record"
)

var executions = sync.Pool{New: func() any { return new(execution) }}

// execution is the state of one run of a plan.
type execution struct {
	Joins
	writer
	answers []answer
}

// answer is what one root field has asked for and read.
type answer struct {
	req  read.Request
	rec  record.Record
	recs []record.Record // of a query of kind QueryMany, for each of its ids
	rows read.FoundNodes // of a query of kind QueryNode or QueryNodes
	page read.Page
	err  error
}

// Run executes a plan and returns the JSON text of the answer's data: it reads the rows of the root fields, then what
// they are joined to, level by level, and writes all of it. Errors go to the context's response.
func Run(ctx context.Context, rd *read.Reader, limit Limit, p *plan.Plan, vars map[string]any) []byte {
	e := executions.Get().(*execution)
	e.Joins.begin(ctx, rd, planSource{rd}, p.Size, vars)
	e.writer.begin(&e.Joins, limit)
	data := e.run(p, vars)
	e.end()
	executions.Put(e) // not where run panics: what it left is not fit for another run
	return data
}

func (e *execution) run(p *plan.Plan, vars map[string]any) []byte {
	answers := e.readRoots(p.Roots, vars)
	var joined []*plan.Node
	for i := range p.Roots {
		joined = e.assignRows(&p.Roots[i], &answers[i], joined)
	}
	e.Resolve(joined)
	return e.write(p.Roots, answers)
}

// end lets go of everything but the memory that the next run can use.
func (e *execution) end() {
	clear(e.answers)
	e.Joins.end()
	e.writer.end()
}

// readRoots reads what each root field asks for, several at a time where there are several.
func (e *execution) readRoots(roots []plan.Root, vars map[string]any) []answer {
	if cap(e.answers) < len(roots) {
		e.answers = make([]answer, len(roots))
	}
	e.answers = e.answers[:len(roots)]
	if len(roots) == 1 {
		e.readRoot(&roots[0], vars, &e.answers[0])
		return e.answers
	}
	parallel.Each(len(roots), e.rd.Config.Parallelism, func(i int) { e.readRoot(&roots[i], vars, &e.answers[i]) })
	return e.answers
}

func (e *execution) readRoot(r *plan.Root, vars map[string]any, a *answer) {
	if r.Query == nil {
		return
	}
	a.req.Fields, a.req.WantNext, a.req.WantToken, a.req.WantCursors = r.Fields, r.Next, r.Token, r.Cursors
	if a.err = r.Args.Read(r.Query, vars, &a.req); a.err != nil {
		return
	}
	switch r.Query.Kind {
	case catalog.QueryOne:
		a.rec, a.err = e.rd.Row(e.ctx, e.viewer, r.Query, &a.req)
	case catalog.QueryMany:
		var found read.Found
		found, a.err = read.ByIDs{Reader: e.rd, Query: r.Query}.Read(e.ctx, &a.req)
		if a.err == nil {
			a.recs = found.Records()
		}
	case catalog.QueryNode, catalog.QueryNodes:
		a.rows, a.err = read.Nodes{Reader: e.rd, Query: r.Query}.Read(e.ctx, &a.req)
	default:
		a.page, a.err = e.rd.Page(e.ctx, e.viewer, r.Query, &a.req)
	}
}

// assignRows gives the rows of a root to its nodes, and appends those nodes that have joins to follow.
func (e *execution) assignRows(r *plan.Root, a *answer, joined []*plan.Node) []*plan.Node {
	if a.err != nil || r.Query == nil {
		return joined
	}
	if r.Query.Collection != nil {
		members := a.page.ByMember(len(r.Query.Collection.Members))
		for i, n := range r.Items { // the members, over and over
			joined = e.assign(n, members[i%len(members)], joined)
		}
		return joined
	}
	if isNodes(r.Query) {
		for i, recs := range a.rows.ByType(len(r.Items)) {
			joined = e.assign(r.Items[i], recs, joined)
		}
		return joined
	}
	recs := e.records(r, a)
	for _, n := range r.Items {
		joined = e.assign(n, recs, joined)
	}
	return joined
}

// isNodes reports whether a query answers with rows of several types by their global identifiers.
func isNodes(q *catalog.Query) bool {
	return q.Kind == catalog.QueryNode || q.Kind == catalog.QueryNodes
}

// assign gives a node its rows, and appends it where it has joins to follow.
func (e *execution) assign(n *plan.Node, recs []record.Record, joined []*plan.Node) []*plan.Node {
	e.SetRows(n, recs)
	if len(n.Joins)+len(n.Pages) > 0 && len(recs) > 0 {
		joined = append(joined, n)
	}
	return joined
}

func (e *execution) records(r *plan.Root, a *answer) []record.Record {
	switch {
	case r.Row == nil:
		return a.page.Records()
	case r.Query.Kind == catalog.QueryMany:
		return a.recs
	case a.rec == nil:
		return nil
	}
	one := &e.nodes[r.Row.ID].single
	one[0] = a.rec
	return one[:]
}
