package graph

import (
	"context"
	"slices"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// joins are the rows of every node of an answer, and what each of them is joined to.
type joins struct {
	rd     *reader
	ctx    context.Context
	viewer viewer
	source rowSource
	nodes  []nodeRows
	seen   map[joinKey]int32
}

// rowSource is where the rows of joins come from. A plan has the reader itself: it asks for each row once. Resolvers have
// the loaders of their operation, which remember rows for the fields that ask for them later.
type rowSource interface {
	// load reads the rows of distinct keys.
	load(ctx context.Context, g target, ids []joinKey, fields []int) rows
	// refuse closes a join for all its parents.
	refuse(j *join, err error)
}

// planSource is the rowSource of a plan.
type planSource struct{ rd *reader }

func (s planSource) load(ctx context.Context, g target, ids []joinKey, fields []int) rows {
	return s.rd.fetch(ctx, g, ids, fields)
}

func (planSource) refuse(*join, error) {} // the nodes know it

// nodeRows are the rows of one node. In a joined node they are distinct, however many parents share one:
// refs[starts[i]:starts[i+1]] are the rows that parent i leads to.
type nodeRows struct {
	rows
	single [1]record.Record // what recs is where there is one row at most
	ids    []joinKey
	starts []int32
	refs   []int32
	denied error // nobody may follow this join
}

// errorOf returns what keeps the rows that a parent is joined to from being shown.
func (n *nodeRows) errorOf(j *join, refs []int32) error {
	if len(refs) > 0 && n.denied != nil {
		return n.denied
	}
	for _, ref := range refs {
		if ref == unreadable {
			return graphqlerr.New(graphqlerr.Internal, "%s cannot be read: internal error", j.typ.Name)
		}
		if ref >= 0 {
			if err := n.err(int(ref)); err != nil {
				return err
			}
		}
	}
	return nil
}

// References of a parent that are no row.
const (
	nowhere    = -1 // the id cannot be a key, so there is no row under it
	unreadable = -2 // the stored id is not a value of its type
)

// maxKeptIDs bounds the ids whose memory is kept for the next run.
const maxKeptIDs = 4096

func (js *joins) begin(ctx context.Context, rd *reader, v viewer, source rowSource, nodes int) {
	js.ctx, js.rd, js.viewer, js.source = ctx, rd, v, source
	if cap(js.nodes) < nodes {
		js.nodes = make([]nodeRows, nodes)
	}
	js.nodes = js.nodes[:nodes]
}

// end lets go of everything but the memory that the next run can use.
func (js *joins) end() {
	for i := range js.nodes {
		n := &js.nodes[i]
		clear(n.ids)
		*n = nodeRows{ids: n.ids[:0], starts: n.starts[:0], refs: n.refs[:0]}
	}
	if len(js.seen) > maxKeptIDs {
		js.seen = nil
	}
	clear(js.seen)
	js.ctx, js.rd, js.viewer, js.source = nil, nil, viewer{}, nil
}

// resolve reads what the rows of the nodes are joined to, and what those are joined to, one level after the other.
func (js *joins) resolve(level []*node) {
	for len(level) > 0 {
		var joins []*join
		for _, n := range level {
			for _, j := range n.joins {
				js.findKeys(n, j)
				joins = append(joins, j)
			}
		}
		js.readLevel(joins)
		level = level[:0:0]
		for _, j := range joins {
			if len(js.nodes[j.node.id].recs) > 0 {
				level = append(level, j.node)
			}
		}
	}
}

// findKeys notes which rows each row of the node leads to.
func (js *joins) findKeys(n *node, j *join) {
	parents, child := &js.nodes[n.id].rows, &js.nodes[j.node.id]
	field := &n.typ.Model.Fields[j.ordinal]
	if js.seen == nil {
		js.seen = map[joinKey]int32{}
	}
	clear(js.seen)
	child.starts = append(child.starts, 0)
	for i, rec := range parents.recs {
		if rec != nil && parents.err(i) == nil {
			js.findKeysOf(child, j, field, rec.JSON(j.ordinal))
		}
		child.starts = append(child.starts, int32(len(child.refs)))
	}
}

func (js *joins) findKeysOf(child *nodeRows, j *join, field *driver.Field, text []byte) {
	switch {
	case text == nil:
	case !field.List:
		child.refs = append(child.refs, js.ref(child, j, field, text))
	default:
		ok := record.List(text, func(elem []byte) bool {
			child.refs = append(child.refs, js.ref(child, j, field, elem))
			return true
		})
		if !ok {
			child.refs = append(child.refs, unreadable)
		}
	}
}

// ref returns the place of the row that an id leads to among the rows of the joined node.
func (js *joins) ref(child *nodeRows, j *join, field *driver.Field, text []byte) int32 {
	at, ok, err := js.rd.joinKeyOfStored(j.target, field, text)
	if err != nil {
		js.rd.cfg.Logger.ErrorContext(js.ctx, "stored id unreadable", "field", field.Name, "target", j.typ.Name, "error", err)
		return unreadable
	}
	if !ok {
		return nowhere
	}
	return js.refTo(child, at)
}

// fewIDs is up to how many ids are compared one by one, which is faster than a map of them.
const fewIDs = 8

// refTo returns the place of the spot among the ids of the joined node, to which it is added where it is new.
func (js *joins) refTo(child *nodeRows, at joinKey) int32 {
	next := int32(len(child.ids))
	if next <= fewIDs {
		if i := slices.Index(child.ids, at); i >= 0 {
			return int32(i)
		}
	} else if i, known := js.seen[at]; known {
		return i
	}
	child.ids = append(child.ids, at)
	switch {
	case next == fewIDs:
		for i, id := range child.ids {
			js.seen[id] = int32(i)
		}
	case next > fewIDs:
		js.seen[at] = next
	}
	return next
}

// readLevel reads the rows of all joins of one level: joins to the same target share their batches.
func (js *joins) readLevel(joins []*join) {
	for _, j := range joins {
		child := &js.nodes[j.node.id]
		if js.viewer.access(j.typ.Rule) == refused {
			child.denied = js.viewer.refusal(j.typ.Name)
			continue
		}
		if n := len(child.ids); n > js.rd.cfg.MaxFanout {
			js.refuse(j, js.rd.tooManyJoins(n))
		}
	}
	for i, j := range joins {
		if child := &js.nodes[j.node.id]; child.denied == nil && len(child.ids) > 0 && child.recs == nil {
			js.readTarget(j.target, joins[i:])
		}
	}
	for _, j := range joins {
		if js.viewer.access(j.typ.Rule) == ownerOnly {
			js.refuseOthers(j)
		}
	}
}

// refuse closes a join for all its parents.
func (js *joins) refuse(j *join, err error) {
	js.nodes[j.node.id].denied = err
	js.source.refuse(j, err)
}

// readTarget reads the rows of those joins that lead to the target.
func (js *joins) readTarget(g target, joins []*join) {
	same := joins[:0:0]
	for _, j := range joins {
		if j.target == g && js.nodes[j.node.id].denied == nil {
			same = append(same, j)
		}
	}
	if len(same) == 1 {
		child := &js.nodes[same[0].node.id]
		child.rows = js.source.load(js.ctx, g, child.ids, same[0].node.fields)
		return
	}
	var ids []joinKey
	places := map[joinKey]int{}
	for _, j := range same {
		for _, id := range js.nodes[j.node.id].ids {
			if _, ok := places[id]; !ok {
				places[id] = len(ids)
				ids = append(ids, id)
			}
		}
	}
	got := js.source.load(js.ctx, g, ids, nil)
	for _, j := range same {
		child := &js.nodes[j.node.id]
		child.rows = newRows(len(child.ids))
		for i, id := range child.ids {
			child.recs[i] = got.recs[places[id]]
			if err := got.err(places[id]); err != nil {
				child.fail(i, err)
			}
		}
	}
}

// refuseOthers fails the rows that are not the viewer's own, and those that are not there: see ownership.
func (js *joins) refuseOthers(j *join) {
	child := &js.nodes[j.node.id]
	for i, rec := range child.recs {
		if child.err(i) == nil && !js.viewer.owns(j.typ, rec) {
			child.fail(i, js.viewer.refusal(j.typ.Name))
		}
	}
}
