package graph

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/querydb/record"
)

var executions = sync.Pool{New: func() any { return new(execution) }}

// answer is what one root field has asked for and read.
type answer struct {
	req  request
	rec  record.Record
	page page
	err  error
}

// run executes a plan and returns the JSON text of the answer's data. Errors go to the context's response.
func (rt *Runtime) run(ctx context.Context, p *plan, vars map[string]any) []byte {
	e := executions.Get().(*execution)
	e.begin(ctx, rt, rt.viewer(ctx), p.nodes)
	data := e.run(p, vars)
	e.end()
	executions.Put(e) // not where run panics: what it left is not fit for another run
	return data
}

func (e *execution) run(p *plan, vars map[string]any) []byte {
	answers := e.readRoots(p.roots, vars)
	var joined []*node
	for i := range p.roots {
		joined = e.place(&p.roots[i], &answers[i], joined)
	}
	e.resolveJoins(joined)

	ok := true
	e.buf = append(e.buf, '{')
	for i := range p.roots {
		ok = e.root(&p.roots[i], &answers[i]) && ok
	}
	e.buf = append(e.buf, '}')
	if e.stopped != nil || e.tooLarge() {
		graphql.AddError(e.ctx, e.stop())
		ok = false
	}
	if !ok {
		return []byte("null")
	}
	if cap(e.buf) <= maxKeptBuffer {
		return bytes.Clone(e.buf)
	}
	data := e.buf // which is not kept for another run
	e.buf = nil
	return data
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
	e.rt.parallel(len(roots), func(i int) { e.readRoot(&roots[i], vars, &e.answers[i]) })
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
		a.rec, a.err = e.rt.readOne(e.ctx, e.viewer, r.query, &a.req)
	} else {
		a.page, a.err = e.rt.readPage(e.ctx, e.viewer, r.query, &a.req)
	}
}

// place hands the rows of a root to its nodes, and appends those nodes that have joins to follow.
func (e *execution) place(r *root, a *answer, joined []*node) []*node {
	if a.err != nil || r.query == nil {
		return joined
	}
	if r.query.Collection != nil {
		apart := a.page.apart(len(r.query.Collection.Members))
		for i, n := range r.items { // the members, over and over
			joined = e.hand(n, apart[i%len(apart)], joined)
		}
		return joined
	}
	recs := e.records(r, a)
	for _, n := range r.items {
		joined = e.hand(n, recs, joined)
	}
	return joined
}

// hand gives a node its rows, and appends it where it has joins to follow.
func (e *execution) hand(n *node, recs []record.Record, joined []*node) []*node {
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

func (e *execution) root(r *root, a *answer) bool {
	e.buf = append(e.buf, r.key...)
	if r.text != nil {
		e.buf = append(e.buf, r.text...)
		return true
	}
	e.enter(r.alias)
	defer e.leave()
	switch {
	case a.err != nil:
		return e.failRoot(r, a.err)
	case r.row == nil:
		return e.connection(r, &a.page) || e.null(&r.member)
	case a.rec == nil:
		return e.absent(&r.member)
	}
	return e.object(r.row, 0) || e.null(&r.member)
}

func (e *execution) failRoot(r *root, err error) bool {
	var argument *argumentError
	if !errors.As(err, &argument) {
		return e.fail(&r.member, err)
	}
	e.enter(argument.name)
	if argument.element != nil {
		e.at(*argument.element)
	}
	e.report(&r.member, argument.err)
	if argument.element != nil {
		e.leave()
	}
	e.leave()
	return e.null(&r.member)
}

func (e *execution) connection(r *root, p *page) bool {
	start, ok := len(e.buf), true
	e.buf = append(e.buf, '{')
	for i := range r.connection {
		m := &r.connection[i]
		e.buf = append(e.buf, m.key...)
		switch {
		case m.text != nil:
			e.buf = append(e.buf, m.text...)
		case m.items != nil:
			ok = e.items(m, p) && ok
		case p.next == "":
			e.buf = append(e.buf, "null"...)
		default:
			e.buf = strconv.AppendQuote(e.buf, p.next) // URL-safe text: no escapes
		}
	}
	if !ok {
		e.buf = e.buf[:start]
		return false
	}
	e.buf = append(e.buf, '}')
	return true
}

func (e *execution) items(m *connectionMember, p *page) bool {
	e.enter(m.alias)
	defer e.leave()
	list := e.openList()
	if p.of == nil {
		for i := range p.rows {
			if !e.element(&list, m.items[0], i, m.elemNull) {
				break
			}
		}
		return e.closeList(list) || e.null(&m.member)
	}
	met := make([]int, len(m.items)) // rows of each member
	for _, i := range p.of {
		if !e.element(&list, m.items[i], met[i], m.elemNull) {
			break
		}
		met[i]++
	}
	return e.closeList(list) || e.null(&m.member)
}
