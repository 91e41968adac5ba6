package execute

import (
	"bytes"

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
	case isNodes(r.Query):
		return writeNodes(w, r, &a.rows)
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

// writeNodes writes the rows of global identifiers, and null in the place of each that is not there.
func writeNodes(w *writer, r *plan.Root, found *read.FoundNodes) bool {
	if r.Query.Kind == catalog.QueryNode {
		if found.Records[0] == nil {
			return w.absent(&r.Member)
		}
		return w.object(r.Items[found.Types[0]], 0) || w.null(&r.Member)
	}
	list, next := w.openList(), make([]int, len(r.Items)) // row of each type
	for i, rec := range found.Records {
		typ := found.Types[i]
		if rec == nil {
			w.noElement(&list)
		} else if !w.element(&list, r.Items[typ], next[typ], true) {
			break
		}
		next[typ]++
	}
	return w.closeList(list)
}
