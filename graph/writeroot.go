package graph

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
)

// write writes the answer of the roots.
func (w *writer) write(roots []root, answers []answer) []byte {
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

func (w *writer) root(r *root, a *answer) bool {
	w.buf = append(w.buf, r.key...)
	if r.text != nil {
		w.buf = append(w.buf, r.text...)
		return true
	}
	w.enter(r.alias)
	defer w.leave()
	switch {
	case a.err != nil:
		return w.failRoot(r, a.err)
	case r.row == nil:
		return w.connection(r, &a.page) || w.null(&r.member)
	case a.rec == nil:
		return w.absent(&r.member)
	}
	return w.object(r.row, 0) || w.null(&r.member)
}

func (w *writer) failRoot(r *root, err error) bool {
	var argument *argumentError
	if !errors.As(err, &argument) {
		return w.fail(&r.member, err)
	}
	w.enter(argument.name)
	if argument.element != nil {
		w.at(*argument.element)
	}
	w.report(&r.member, argument.err)
	if argument.element != nil {
		w.leave()
	}
	w.leave()
	return w.null(&r.member)
}

func (w *writer) connection(r *root, p *page) bool {
	start, ok := len(w.buf), true
	w.buf = append(w.buf, '{')
	for i := range r.connection {
		m := &r.connection[i]
		w.buf = append(w.buf, m.key...)
		switch {
		case m.text != nil:
			w.buf = append(w.buf, m.text...)
		case m.items != nil:
			ok = w.items(m, p) && ok
		case p.next == "":
			w.buf = append(w.buf, "null"...)
		default:
			w.buf = strconv.AppendQuote(w.buf, p.next) // URL-safe text: no escapes
		}
	}
	if !ok {
		w.buf = w.buf[:start]
		return false
	}
	w.buf = append(w.buf, '}')
	return true
}

func (w *writer) items(m *connectionMember, p *page) bool {
	w.enter(m.alias)
	defer w.leave()
	list := w.openList()
	if p.members == nil {
		for i := range p.rows {
			if !w.element(&list, m.items[0], i, m.elemNull) {
				break
			}
		}
		return w.closeList(list) || w.null(&m.member)
	}
	next := make([]int, len(m.items)) // row of each member
	for _, i := range p.members {
		if !w.element(&list, m.items[i], next[i], m.elemNull) {
			break
		}
		next[i]++
	}
	return w.closeList(list) || w.null(&m.member)
}
