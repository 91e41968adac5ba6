package execute

import (
	"bytes"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/querydb/record"
)

// write writes the answer of the roots.
func (w *writer) write(roots []plan.Root, answers []answer) []byte {
	ok := true
	w.buf = append(w.buf, '{')
	for i := range roots {
		ok = w.root(&roots[i], &answers[i]) && ok
	}
	w.buf = append(w.buf, '}')
	if w.stopped != nil || w.tooLarge(len(w.buf)) {
		graphql.AddError(w.joins.ctx, w.stop(len(w.buf)))
		ok = false
	}
	if !ok {
		return []byte("null")
	}
	if cap(w.buf) <= maxKeptBuffer {
		return bytes.Clone(w.buf)
	}
	data := w.buf // which is not kept for another run
	w.buf = nil
	return data
}

func (w *writer) root(r *plan.Root, a *answer) bool {
	w.buf = append(w.buf, r.Key...)
	if r.Text != nil {
		w.buf = append(w.buf, r.Text...)
		return true
	}
	w.enter(r.Alias)
	defer w.leave()
	switch {
	case a.err != nil:
		return w.fail(&r.Member, a.err)
	case r.Row == nil:
		return w.connection(&r.Asked, &a.page, 0) || w.null(&r.Member)
	case r.Query.Kind == catalog.QueryMany:
		return writeMany(w, r.Row, a.recs)
	case a.rec == nil:
		return w.absent(&r.Member)
	}
	return w.object(r.Row, 0) || w.null(&r.Member)
}

// writeMany writes the rows of a node, and null in the place of each that is not there.
func writeMany(w *writer, n *plan.Node, recs []record.Record) bool {
	list := w.openList()
	for i, rec := range recs {
		if rec == nil {
			w.noElement(&list)
		} else if !w.element(&list, n, i, true) {
			break
		}
	}
	return w.closeList(list)
}

// connection writes a page, whose rows begin at a place among those of the nodes of its items.
func (w *writer) connection(of *plan.Asked, p *read.Page, first int) bool {
	start, ok := len(w.buf), true
	w.buf = append(w.buf, '{')
	for i := range of.Connection {
		m := &of.Connection[i]
		w.buf = append(w.buf, m.Key...)
		switch {
		case m.Text != nil:
			w.buf = append(w.buf, m.Text...)
		case m.Items != nil:
			ok = w.items(m, p, first) && ok
		case p.Next == "":
			w.buf = append(w.buf, "null"...)
		default:
			w.buf = strconv.AppendQuote(w.buf, p.Next) // URL-safe text: no escapes
		}
	}
	if !ok {
		w.buf = w.buf[:start]
		return false
	}
	w.buf = append(w.buf, '}')
	return true
}

func (w *writer) items(m *plan.ConnectionMember, p *read.Page, first int) bool {
	w.enter(m.Alias)
	defer w.leave()
	list := w.openList()
	if p.Members == nil {
		for i := range p.Rows {
			if !w.element(&list, m.Items[0], first+i, m.ElemNull) {
				break
			}
		}
		return w.closeList(list) || w.null(&m.Member)
	}
	next := make([]int, len(m.Items)) // row of each member
	for _, i := range p.Members {
		if !w.element(&list, m.Items[i], next[i], m.ElemNull) {
			break
		}
		next[i]++
	}
	return w.closeList(list) || w.null(&m.Member)
}
