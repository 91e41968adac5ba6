package execute

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/querydb/record"
)

// writer writes the answer of a plan from rows that are read.
type writer struct {
	joins *Joins
	response
	meter
	fields fieldStack
	row    record.Record // that holds the fields
	node   *plan.Node    // of the row
}

func (w *writer) begin(js *Joins, limit Limit) {
	w.joins = js
	w.meter = newMeter(js.ctx, js.rd.Errors(), limit)
}

func (w *writer) end() {
	w.joins, w.meter, w.row, w.node = nil, meter{}, nil, nil
	clear(w.fields[:cap(w.fields)]) // they are parts of records, which nobody else may keep
	w.reset()
}

// The writers below report whether they wrote a value. Where they did not, a null stood where the schema allows none,
// nothing is left of what they wrote, and the null is for the place above.

// fail reports an error of a member at the place where the answer stands, and writes null for it.
func (w *writer) fail(m *plan.Member, err error) bool {
	w.report(m, err)
	return w.null(m)
}

func (w *writer) report(m *plan.Member, err error) {
	gql, ok := read.CopyError(err).(*gqlerror.Error)
	if !ok {
		gql = gqlerror.Wrap(err)
	}
	gql.Path = w.path()
	w.countError(w.steps)
	if m.Line > 0 {
		gql.Locations = []gqlerror.Location{{Line: m.Line, Column: m.Column}}
	}
	graphql.AddError(w.joins.ctx, gql)
}

func (r *response) null(m *plan.Member) bool {
	if m.NonNull {
		return false
	}
	r.buf = append(r.buf, "null"...)
	return true
}

// absent writes null for a member whose value is not there.
func (w *writer) absent(m *plan.Member) bool {
	if m.NonNull {
		return w.fail(m, graphqlerr.New(graphqlerr.Internal, "the value is absent in the stored row, and the schema "+
			"allows no null"))
	}
	return w.null(m)
}

// object writes row i of a node.
func (w *writer) object(n *plan.Node, i int) bool {
	if !w.mayGoOn(len(w.buf)) {
		return false
	}
	rec := w.joins.nodes[n.ID].Records[i]
	start, ok := len(w.buf), true
	buf := append(w.buf, '{')
	for k := range n.Members {
		m := &n.Members[k]
		buf = append(buf, m.Key...)
		text := m.Text
		if m.Plain {
			text = rec.JSON(m.Ordinal)
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
		ok = writeMember(w, n, m, rec, i) && ok
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

// writeMember writes a member of row i that is more than a text.
func writeMember(w *writer, n *plan.Node, m *plan.Member, rec record.Record, i int) bool {
	w.row, w.node = rec, n // which those of a join were meanwhile
	switch {
	case m.NodeKey != nil:
		return writeNodeID(w, n, m, rec)
	case m.Rule == nil && !m.Virtual():
		return w.stored(m, rec.JSON(m.Ordinal))
	}
	return w.guarded(n, m, rec, i)
}

// writeNodeID writes the global identifier of a row.
func writeNodeID(w *writer, n *plan.Node, m *plan.Member, rec record.Record) (ok bool) {
	start := len(w.buf)
	w.buf = append(w.buf, '"')
	if w.buf, ok = read.AppendNodeID(w.buf, n.Type, m.NodeKey, rec); ok {
		w.buf = append(w.buf, '"')
		return true
	}
	w.buf = w.buf[:start]
	w.enter(m.Alias)
	defer w.leave()
	return w.fail(m, w.joins.rd.NotKnown(w.joins.ctx, n.Type, "the key"))
}

// stored writes a field of a row, or of an object in one: the stored text of a scalar is the answer.
func (w *writer) stored(m *plan.Member, text []byte) bool {
	known := !record.IsUnknown(text)
	if text != nil && m.Object == nil && known {
		w.buf = append(w.buf, text...)
		return true
	}
	w.enter(m.Alias)
	ok := false
	switch {
	case !known:
		ok = w.fail(m, w.joins.rd.NotKnown(w.joins.ctx, w.node.Type, "the field "+m.Alias))
	case text == nil:
		ok = w.absent(m)
	default:
		ok = w.objects(m, text)
	}
	w.leave()
	return ok
}

// guarded writes a field under a rule, or a virtual one.
func (w *writer) guarded(n *plan.Node, m *plan.Member, rec record.Record, i int) bool {
	if m.Pages != nil {
		if err := w.joins.wrongArgument(m.Pages); err != nil {
			w.enter(m.Alias)
			defer w.leave()
			return w.fail(m, err)
		}
	}
	if m.Rule != nil {
		owns := func() access.Owning { return w.joins.viewer.Owning(n.Type, rec) }
		if err := w.joins.viewer.CheckField(n.Type, m.Rule, owns); err != nil {
			w.enter(m.Alias)
			defer w.leave()
			return w.fail(m, w.joins.refusal(w.node.Type, err))
		}
	}
	if !m.Virtual() {
		return w.stored(m, rec.JSON(m.Ordinal))
	}
	w.enter(m.Alias)
	defer w.leave()
	if m.Pages != nil {
		return w.page(m, i)
	}
	return w.joined(m, i)
}

// page writes the page that row i leads to.
func (w *writer) page(m *plan.Member, i int) bool {
	p, first, err := w.joins.page(m.Pages, i)
	if err != nil {
		return w.fail(m, err)
	}
	return w.mayGoOn(len(w.buf)) && w.connection(&m.Pages.Asked, p, first) || w.null(m)
}

// joined writes what row i leads to.
func (w *writer) joined(m *plan.Member, i int) bool {
	child := &w.joins.nodes[m.Join.Node.ID]
	refs := child.refs[child.starts[i]:child.starts[i+1]]
	if err := w.joins.errorOf(child, m.Join, refs); err != nil {
		return w.fail(m, err)
	}
	if m.Join.Many {
		return w.many(m, child, refs)
	}
	if len(refs) == 0 || refs[0] < 0 || child.Records[refs[0]] == nil {
		return w.absent(m)
	}
	return w.object(m.Join.Node, int(refs[0])) || w.null(m)
}

// many writes the rows that refs lead to, in their order; those that are not there are left out.
func (w *writer) many(m *plan.Member, child *nodeRows, refs []int32) bool {
	list := w.openList()
	for _, ref := range refs {
		if ref >= 0 && child.Records[ref] != nil {
			if !w.element(&list, m.Join.Node, int(ref), m.Join.ElemNull) {
				break
			}
		}
	}
	return w.closeList(list) || w.null(m)
}
