package graph

import (
	"context"
	"sync"

	"github.com/foldql/foldql/querydb/record"
)

var executions = sync.Pool{New: func() any { return new(execution) }}

// execution is the state of one run of a plan.
type execution struct {
	joins
	writer
	answers []answer
}

// answer is what one root field has asked for and read.
type answer struct {
	req  request
	rec  record.Record
	page page
	err  error
}

// run executes a plan and returns the JSON text of the answer's data: it reads the rows of the root fields, then what they
// are joined to, level by level, and writes all of it. Errors go to the context's response.
func run(ctx context.Context, rd *reader, limit answerLimit, p *plan, vars map[string]any) []byte {
	e := executions.Get().(*execution)
	e.joins.begin(ctx, rd, rd.viewer(ctx), planSource{rd}, p.nodes)
	e.writer.begin(&e.joins, limit)
	data := e.run(p, vars)
	e.end()
	executions.Put(e) // not where run panics: what it left is not fit for another run
	return data
}

func (e *execution) run(p *plan, vars map[string]any) []byte {
	answers := e.readRoots(p.roots, vars)
	var joined []*node
	for i := range p.roots {
		joined = e.assignRows(&p.roots[i], &answers[i], joined)
	}
	e.resolve(joined)
	return e.write(p.roots, answers)
}

// end lets go of everything but the memory that the next run can use.
func (e *execution) end() {
	clear(e.answers)
	e.joins.end()
	e.writer.end()
}

// readRoots reads what each root field asks for, several at a time where there are several.
func (e *execution) readRoots(roots []root, vars map[string]any) []answer {
	if cap(e.answers) < len(roots) {
		e.answers = make([]answer, len(roots))
	}
	e.answers = e.answers[:len(roots)]
	if len(roots) == 1 {
		e.readRoot(&roots[0], vars, &e.answers[0])
		return e.answers
	}
	parallel(len(roots), e.rd.cfg.Parallelism, func(i int) { e.readRoot(&roots[i], vars, &e.answers[i]) })
	return e.answers
}

func (e *execution) readRoot(r *root, vars map[string]any, a *answer) {
	if r.query == nil {
		return
	}
	a.req.fields, a.req.token = r.fields, r.token
	if a.err = r.args.read(r.query, vars, &a.req); a.err != nil {
		return
	}
	if r.row != nil {
		a.rec, a.err = e.rd.readOne(e.ctx, e.viewer, r.query, &a.req)
	} else {
		a.page, a.err = e.rd.readPage(e.ctx, e.viewer, r.query, &a.req)
	}
}

// assignRows gives the rows of a root to its nodes, and appends those nodes that have joins to follow.
func (e *execution) assignRows(r *root, a *answer, joined []*node) []*node {
	if a.err != nil || r.query == nil {
		return joined
	}
	if r.query.Collection != nil {
		members := a.page.byMember(len(r.query.Collection.Members))
		for i, n := range r.items { // the members, over and over
			joined = e.assign(n, members[i%len(members)], joined)
		}
		return joined
	}
	recs := e.records(r, a)
	for _, n := range r.items {
		joined = e.assign(n, recs, joined)
	}
	return joined
}

// assign gives a node its rows, and appends it where it has joins to follow.
func (e *execution) assign(n *node, recs []record.Record, joined []*node) []*node {
	e.nodes[n.id].recs = recs
	if len(n.joins) > 0 && len(recs) > 0 {
		joined = append(joined, n)
	}
	return joined
}

func (e *execution) records(r *root, a *answer) []record.Record {
	switch {
	case r.row == nil:
		return a.page.records()
	case a.rec == nil:
		return nil
	}
	one := &e.nodes[r.row.id].single
	one[0] = a.rec
	return one[:]
}
