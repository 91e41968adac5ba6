package execute

import (
	"slices"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/querydb/record"
)

// objects writes the object that a field holds, or the list of them.
func (w *writer) objects(m *plan.Member, text []byte) bool {
	if !m.Object.List {
		fields := w.fields.push(m.Object.Stored)
		ok := record.Object(text, fields)
		return w.nested(m, fields, ok) || w.null(m)
	}
	l := w.openList()
	all := record.ObjectsOf(text)
	for all.More() && w.stopped == nil {
		if l.n > 0 {
			w.buf = append(w.buf, ',')
		}
		w.at(l.n)
		l.n++
		fields := w.fields.push(m.Object.Stored)
		ok := all.Next(fields)
		l.broken = !w.nested(m, fields, ok) || l.broken
		w.leave()
	}
	if w.stopped == nil && !l.broken && !all.Whole() {
		w.report(m, damaged())
		l.broken = true
	}
	return w.closeList(l) || w.null(m)
}

// fieldStack holds the fields of the objects that are being written, the outermost first.
type fieldStack [][]byte

// push makes room for the fields of an object, until it is written.
func (s *fieldStack) push(n int) [][]byte {
	first := len(*s)
	*s = slices.Grow(*s, n)[:first+n]
	return (*s)[first:]
}

func (s *fieldStack) pop(n int) { *s = (*s)[:len(*s)-n] }

// nested writes one object of these fields, which are read where it is whole, and lets go of them.
func (w *writer) nested(m *plan.Member, fields [][]byte, whole bool) bool {
	ok := w.mayGoOn(len(w.buf))
	if ok && !whole {
		w.report(m, damaged())
		ok = false
	}
	ok = ok && w.fieldsOf(m.Object, fields)
	w.fields.pop(len(fields))
	return ok
}

func (w *writer) fieldsOf(o *plan.Object, fields [][]byte) bool {
	start, ok := len(w.buf), true
	buf := append(w.buf, '{')
	for k := range o.Members {
		inner := &o.Members[k]
		buf = append(buf, inner.Key...)
		text := inner.Text
		if inner.Plain {
			text = fields[inner.Ordinal]
		}
		if text != nil && !record.IsUnknown(text) { // as of most
			if len(text) >= largeText && w.stop(len(buf)+len(text)) != nil {
				w.buf = buf[:start]
				return false
			}
			buf = append(buf, text...)
			continue
		}
		w.buf = buf
		if inner.Part != "" {
			ok = w.guardedPart(o, inner, fields[inner.Ordinal]) && ok
		} else {
			ok = w.stored(inner, fields[inner.Ordinal]) && ok
		}
		buf = w.buf
	}
	w.buf = buf
	if !ok {
		w.buf = w.buf[:start]
		return false
	}
	w.buf = append(w.buf, '}')
	return true
}

// guardedPart writes a field of an object under a rule.
func (w *writer) guardedPart(o *plan.Object, m *plan.Member, text []byte) bool {
	owns := func() access.Owning { return w.joins.viewer.Owning(w.node.Type, w.row) }
	if err := w.joins.viewer.CheckPart(o.Type, m.Part, owns); err != nil {
		w.enter(m.Alias)
		defer w.leave()
		return w.fail(m, w.joins.refusal(w.node.Type, err))
	}
	return w.stored(m, text)
}

// damaged is the error of an object that is not stored as its type says.
func damaged() error {
	return graphqlerr.New(graphqlerr.Internal, "the stored object is not of its type")
}
