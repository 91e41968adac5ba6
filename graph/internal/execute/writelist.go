package execute

import "github.com/foldql/foldql/graph/internal/plan"

// list is a list while it is written.
type list struct {
	start, n int
	broken   bool // an element is null that must not be
}

func (r *response) openList() list {
	l := list{start: len(r.buf)}
	r.buf = append(r.buf, '[')
	return l
}

// element writes row i of a node into the list, and reports whether there may be more elements.
func (w *writer) element(l *list, n *plan.Node, i int, elemNull bool) bool {
	if l.n > 0 {
		w.buf = append(w.buf, ',')
	}
	w.at(l.n)
	l.n++
	if !w.object(n, i) {
		w.buf = append(w.buf, "null"...)
		l.broken = l.broken || !elemNull
	}
	w.leave()
	return w.stopped == nil
}

// noElement writes that there is no element.
func (r *response) noElement(l *list) {
	if l.n > 0 {
		r.buf = append(r.buf, ',')
	}
	r.buf = append(r.buf, "null"...)
	l.n++
}

func (r *response) closeList(l list) bool {
	if l.broken {
		r.buf = r.buf[:l.start]
		return false
	}
	r.buf = append(r.buf, ']')
	return true
}
