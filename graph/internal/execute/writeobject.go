package execute

import (
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/querydb/record"
)

// objects writes the object that a field holds, or the list of them.
func (w *writer) objects(m *plan.Member, text []byte) bool {
	if !m.Object.List {
		return w.nested(m, text) || w.null(m)
	}
	l := w.openList()
	whole := record.List(text, func(elem []byte) bool {
		if l.n > 0 {
			w.buf = append(w.buf, ',')
		}
		w.at(l.n)
		l.n++
		l.broken = !w.nested(m, elem) || l.broken
		w.leave()
		return w.stopped == nil
	})
	if !whole && w.stopped == nil {
		w.report(m, damaged())
		l.broken = true
	}
	return w.closeList(l) || w.null(m)
}

// nested writes one object.
func (w *writer) nested(m *plan.Member, text []byte) bool {
	if !w.mayGoOn(len(w.buf)) {
		return false
	}
	o, first := m.Object, len(w.fields)
	w.fields = append(w.fields, make([][]byte, o.Stored)...)
	fields := w.fields[first:]
	defer func() { w.fields = w.fields[:first] }()
	if !record.Object(text, fields) {
		w.report(m, damaged())
		return false
	}
	start, ok := len(w.buf), true
	w.buf = append(w.buf, '{')
	for k := range o.Members {
		inner := &o.Members[k]
		w.buf = append(w.buf, inner.Key...)
		switch {
		case inner.Text != nil:
			w.buf = append(w.buf, inner.Text...)
		case inner.Part != "":
			ok = w.guardedPart(o, inner, fields[inner.Ordinal]) && ok
		default:
			ok = w.stored(inner, fields[inner.Ordinal]) && ok
		}
	}
	if !ok {
		w.buf = w.buf[:start]
		return false
	}
	w.buf = append(w.buf, '}')
	return true
}

// guardedPart writes a field of an object under a rule.
func (w *writer) guardedPart(o *plan.Object, m *plan.Member, text []byte) bool {
	owns := func() bool { return w.joins.viewer.Owns(w.node.Type, w.row) }
	if err := w.joins.viewer.CheckPart(o.Type, m.Part, owns); err != nil {
		w.enter(m.Alias)
		defer w.leave()
		return w.fail(m, err)
	}
	return w.stored(m, text)
}

// damaged is the error of an object that is not stored as its type says.
func damaged() error {
	return graphqlerr.New(graphqlerr.Internal, "the stored object is not of its type")
}
