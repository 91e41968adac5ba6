package execute

import (
	"strconv"

	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
)

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
		case m.Kind == plan.Items:
			ok = w.items(m, p, first) && ok
		case m.Kind == plan.Edges:
			ok = writeEdges(w, m, p, first) && ok
		case m.Kind == plan.PageInfo:
			writeInfo(w, m.Info, p)
		default:
			w.token(p.Next)
		}
	}
	if !ok {
		w.buf = w.buf[:start]
		return false
	}
	w.buf = append(w.buf, '}')
	return true
}

// token writes a token or a cursor, null for "".
func (r *response) token(text string) {
	if text == "" {
		r.buf = append(r.buf, "null"...)
		return
	}
	r.buf = strconv.AppendQuote(r.buf, text) // URL-safe text: no escapes
}

func (w *writer) items(m *plan.ConnectionMember, p *read.Page, first int) bool {
	w.enter(m.Alias)
	defer w.leave()
	list, places := w.openList(), placesOf(p, first, len(m.Items))
	for i := range p.Rows {
		typ, place := places.of(i)
		if !w.element(&list, m.Items[typ], place, m.ElemNull) {
			break
		}
	}
	return w.closeList(list) || w.null(&m.Member)
}

// places tells where the rows of a page stand among those of the nodes of its items.
type places struct {
	page  *read.Page
	first int
	next  []int // of a collection: the row of each member that comes next
}

func placesOf(p *read.Page, first, types int) places {
	if p.Members == nil {
		return places{page: p, first: first}
	}
	return places{page: p, next: make([]int, types)}
}

// of is the type of row i, and its place among the rows of its type. It is called for each row in turn.
func (ps *places) of(i int) (typ, place int) {
	if ps.next == nil {
		return 0, ps.first + i
	}
	typ = ps.page.Members[i]
	ps.next[typ]++
	return typ, ps.next[typ] - 1
}

// writeEdges writes the rows of a page, each with its cursor.
func writeEdges(w *writer, m *plan.ConnectionMember, p *read.Page, first int) bool {
	w.enter(m.Alias)
	defer w.leave()
	list := w.openList()
	each := make([]places, len(m.Edge)) // as a row may be selected under several keys
	for k := range m.Edge {
		each[k] = placesOf(p, first, len(m.Edge[k].Node))
	}
	for i := 0; i < len(p.Rows) && w.stopped == nil; i++ {
		if list.n > 0 {
			w.buf = append(w.buf, ',')
		}
		w.at(list.n)
		list.n++
		list.broken = !writeEdge(w, m.Edge, p, i, each) || list.broken
		w.leave()
	}
	return w.closeList(list)
}

func writeEdge(w *writer, members []plan.EdgeMember, p *read.Page, i int, each []places) bool {
	if !w.mayGoOn(len(w.buf)) {
		return false
	}
	ok := true
	w.buf = append(w.buf, '{')
	for k := range members {
		m := &members[k]
		w.buf = append(w.buf, m.Key...)
		switch {
		case m.Text != nil:
			w.buf = append(w.buf, m.Text...)
		case m.Node == nil:
			w.token(p.Cursor(i))
		default:
			typ, place := each[k].of(i)
			w.enter(m.Alias)
			ok = w.object(m.Node[typ], place) && ok
			w.leave()
		}
	}
	w.buf = append(w.buf, '}')
	return ok
}

// writeInfo writes what a connection says of its page.
func writeInfo(w *writer, members []plan.InfoMember, p *read.Page) {
	w.buf = append(w.buf, '{')
	for k := range members {
		m := &members[k]
		w.buf = append(w.buf, m.Key...)
		switch {
		case m.Text != nil:
			w.buf = append(w.buf, m.Text...)
		case m.Kind == plan.HasNextPage:
			w.buf = strconv.AppendBool(w.buf, p.HasNext)
		case m.Kind == plan.HasPreviousPage:
			w.buf = strconv.AppendBool(w.buf, p.HasPrevious)
		case m.Kind == plan.StartCursor:
			w.token(p.Start())
		case m.Kind == plan.EndCursor:
			w.token(p.End())
		}
	}
	w.buf = append(w.buf, '}')
}
