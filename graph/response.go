package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// response is the answer while it is written: JSON text, and the path of the place that is being written.
type response struct {
	buf   []byte
	trail []step
}

// step is one element of a path: a response key, or, without one, a place in a list.
type step struct {
	key   string
	index int
}

// maxKeptBuffer bounds the memory that an execution keeps for the next one.
const maxKeptBuffer = 1 << 20

func (r *response) end() {
	if cap(r.buf) > maxKeptBuffer {
		r.buf = nil
	}
	r.buf, r.trail = r.buf[:0], r.trail[:0]
}

func (r *response) enter(key string) { r.trail = append(r.trail, step{key: key}) }
func (r *response) at(index int)     { r.trail = append(r.trail, step{index: index}) }
func (r *response) leave()           { r.trail = r.trail[:len(r.trail)-1] }

// path returns where the answer stands.
func (r *response) path() ast.Path {
	path := make(ast.Path, len(r.trail))
	for i, s := range r.trail {
		if s.key != "" {
			path[i] = ast.PathName(s.key)
		} else {
			path[i] = ast.PathIndex(s.index)
		}
	}
	return path
}

// written is how much of an answer is written, but for its bytes, and when to look whether it may go on.
type written struct {
	objects int // and errors, each for errorObjects
	look    int // at how many of them to look next
	room    int // bytes that there may be before memory is asked for more
	limit   int // bytes that there may be
	stopped error
}

// An answer asks for memory beyond what each has, in steps. It is twice what is written: as it grows it is copied.
const (
	firstRoom = 64 << 10
	moreRoom  = 128 << 10
	copies    = 2
)

// memory is the budget of a request where it counts more than what is read.
type memory interface{ Hold(bytes int) error }

// hold asks for memory.
func hold(ctx context.Context, bytes int) error {
	if m, ok := driver.BudgetOf(ctx).(memory); ok {
		return m.Hold(bytes)
	}
	return nil
}

// lookEvery is after how many objects it is looked whether there is time and room for more.
const lookEvery = 256

// mayGoOn reports whether one more object may be written. It is asked for each.
func (e *execution) mayGoOn() bool {
	e.objects++
	return e.objects < e.look && len(e.buf) <= min(e.room, e.limit) || e.stop() == nil
}

// stop returns why the answer must not become longer, if that is so.
func (e *execution) stop() error {
	switch err := e.ctx.Err(); {
	case e.stopped != nil:
	case err != nil:
		e.stopped = e.rt.outOfTime(e.ctx, err)
	case e.tooLarge():
		e.stopped = e.rt.tooLarge()
	case len(e.buf) > e.room:
		e.stopped = hold(e.ctx, copies*(len(e.buf)-e.room+moreRoom))
		e.room = len(e.buf) + moreRoom
	}
	e.look = e.objects + lookEvery
	if e.stopped != nil {
		e.look = 0
	}
	return e.stopped
}

func (e *execution) tooLarge() bool { return len(e.buf) > e.limit || e.objects > e.rt.maxObjects() }

// The writers below report whether they wrote a value. Where they did not, a null stood where the schema allows none,
// nothing is left of what they wrote, and the null is for the place above.

// fail reports an error of a member at the place where the answer stands, and writes null for it.
func (e *execution) fail(m *member, err error) bool {
	e.report(m, err)
	return e.null(m)
}

func (e *execution) report(m *member, err error) {
	gql, ok := copyError(err).(*gqlerror.Error)
	if !ok {
		gql = gqlerror.Wrap(err)
	}
	gql.Path = e.path()
	e.objects += errorObjects
	e.room -= errorBytes
	for _, s := range e.trail {
		e.limit, e.room = e.limit-len(s.key), e.room-len(s.key)
	}
	if m.line > 0 {
		gql.Locations = []gqlerror.Location{{Line: m.line, Column: m.column}}
	}
	graphql.AddError(e.ctx, gql)
}

func (e *execution) null(m *member) bool {
	if m.nonNull {
		return false
	}
	e.buf = append(e.buf, "null"...)
	return true
}

// absent writes null for a member whose value is not there.
func (e *execution) absent(m *member) bool {
	if m.nonNull {
		return e.fail(m, graphqlerr.New(graphqlerr.Internal, "the value is absent in the stored row, and the schema allows no null"))
	}
	return e.null(m)
}

// object writes row i of a node.
func (e *execution) object(n *node, i int) bool {
	if !e.mayGoOn() {
		return false
	}
	rec := e.nodes[n.id].recs[i]
	start, ok := len(e.buf), true
	e.buf = append(e.buf, '{')
	for k := range n.members {
		m := &n.members[k]
		e.buf = append(e.buf, m.key...)
		if m.text != nil {
			e.buf = append(e.buf, m.text...)
		} else if m.rule == nil && m.join == nil {
			ok = e.stored(m, rec) && ok
		} else {
			ok = e.guarded(n, m, rec, i) && ok
		}
	}
	if !ok {
		e.buf = e.buf[:start]
		return false
	}
	e.buf = append(e.buf, '}')
	return true
}

// stored writes a field of a record: the stored text is the answer.
func (e *execution) stored(m *member, rec record.Record) bool {
	if text := rec.JSON(m.ordinal); text != nil {
		e.buf = append(e.buf, text...)
		return true
	}
	e.enter(m.alias)
	ok := e.absent(m)
	e.leave()
	return ok
}

// guarded writes a field under a rule, or a virtual one.
func (e *execution) guarded(n *node, m *member, rec record.Record, i int) bool {
	if m.rule != nil {
		owns := func() bool { return e.viewer.owns(n.typ, rec) }
		if err := e.viewer.mayReadField(n.typ, m.rule, owns); err != nil {
			e.enter(m.alias)
			defer e.leave()
			return e.fail(m, err)
		}
	}
	if m.join == nil {
		return e.stored(m, rec)
	}
	e.enter(m.alias)
	defer e.leave()
	return e.joined(m, i)
}

// joined writes what row i leads to.
func (e *execution) joined(m *member, i int) bool {
	child := &e.nodes[m.join.node.id]
	refs := child.refs[child.starts[i]:child.starts[i+1]]
	if err := e.joinError(m.join, child, refs); err != nil {
		return e.fail(m, err)
	}
	if m.join.many {
		return e.many(m, child, refs)
	}
	return e.one(m, child, refs)
}

// joinError returns what keeps the rows of a parent from being shown.
func (e *execution) joinError(j *join, child *nodeRows, refs []int32) error {
	if len(refs) > 0 && child.denied != nil {
		return child.denied
	}
	for _, ref := range refs {
		if ref == unreadable {
			return graphqlerr.New(graphqlerr.Internal, "%s cannot be read: internal error", j.typ.Name)
		}
		if ref >= 0 {
			if err := child.err(int(ref)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *execution) one(m *member, child *nodeRows, refs []int32) bool {
	if len(refs) == 0 || refs[0] < 0 || child.recs[refs[0]] == nil {
		return e.absent(m)
	}
	return e.object(m.join.node, int(refs[0])) || e.null(m)
}

// many writes the rows that refs lead to, in their order; those that are not there are left out.
func (e *execution) many(m *member, child *nodeRows, refs []int32) bool {
	list := e.openList()
	for _, ref := range refs {
		if ref >= 0 && child.recs[ref] != nil {
			if !e.element(&list, m.join.node, int(ref), m.join.elemNull) {
				break
			}
		}
	}
	return e.closeList(list) || e.null(m)
}

// list is a list while it is written.
type list struct {
	start, n int
	broken   bool // an element is null that must not be
}

func (e *execution) openList() list {
	l := list{start: len(e.buf)}
	e.buf = append(e.buf, '[')
	return l
}

// element writes row i of a node into the list, and reports whether there may be more elements.
func (e *execution) element(l *list, n *node, i int, elemNull bool) bool {
	if l.n > 0 {
		e.buf = append(e.buf, ',')
	}
	e.at(l.n)
	l.n++
	if !e.object(n, i) {
		e.buf = append(e.buf, "null"...)
		l.broken = l.broken || !elemNull
	}
	e.leave()
	return e.stopped == nil
}

func (e *execution) closeList(l list) bool {
	if l.broken {
		e.buf = e.buf[:l.start]
		return false
	}
	e.buf = append(e.buf, ']')
	return true
}
