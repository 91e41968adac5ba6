package graph

import (
	"context"
	"slices"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// execution is the state of one run of a plan: the rows of every node, and what each row of a node is joined to.
type execution struct {
	rt     *Runtime
	ctx    context.Context
	viewer viewer
	// loaders remember rows for resolvers; a plan reads without them.
	loaders *loaders
	answers []answer
	nodes   []nodeRows
	seen    map[spot]int32
	written
	response
}

// nodeRows are the rows of one node. In a joined node they are distinct, however many parents share one:
// refs[starts[i]:starts[i+1]] are the rows that parent i leads to.
type nodeRows struct {
	rows
	single [1]record.Record // what recs is where there is one row at most
	ids    []spot
	starts []int32
	refs   []int32
	denied error // nobody may follow this join
}

// References of a parent that are no row.
const (
	nowhere    = -1 // the id cannot be a key, so there is no row under it
	unreadable = -2 // the stored id is not a value of its type
)

// maxKeptIDs bounds the ids whose memory an execution keeps for the next one.
const maxKeptIDs = 4096

func (e *execution) begin(ctx context.Context, rt *Runtime, v viewer, nodes int) {
	e.ctx, e.rt, e.viewer = ctx, rt, v
	e.written = written{room: firstRoom, limit: rt.cfg.MaxAnswer, look: lookEvery}
	if cap(e.nodes) < nodes {
		e.nodes = make([]nodeRows, nodes)
	}
	e.nodes = e.nodes[:nodes]
}

// end lets go of everything but the memory that the next run can use.
func (e *execution) end() {
	for i := range e.nodes {
		n := &e.nodes[i]
		clear(n.ids)
		*n = nodeRows{ids: n.ids[:0], starts: n.starts[:0], refs: n.refs[:0]}
	}
	clear(e.answers)
	if len(e.seen) > maxKeptIDs {
		e.seen = nil
	}
	clear(e.seen)
	e.ctx, e.rt, e.viewer, e.loaders = nil, nil, viewer{}, nil
	e.written = written{}
	e.response.end()
}

// resolveJoins reads what the rows of the nodes are joined to, and what those are joined to, one level after the other.
func (e *execution) resolveJoins(level []*node) {
	for len(level) > 0 {
		var joins []*join
		for _, n := range level {
			for _, j := range n.joins {
				e.findKeys(n, j)
				joins = append(joins, j)
			}
		}
		e.readLevel(joins)
		level = level[:0:0]
		for _, j := range joins {
			if len(e.nodes[j.node.id].recs) > 0 {
				level = append(level, j.node)
			}
		}
	}
}

// findKeys notes which rows each row of the node leads to.
func (e *execution) findKeys(n *node, j *join) {
	parents, child := &e.nodes[n.id].rows, &e.nodes[j.node.id]
	field := &n.typ.Model.Fields[j.ordinal]
	if e.seen == nil {
		e.seen = map[spot]int32{}
	}
	clear(e.seen)
	child.starts = append(child.starts, 0)
	for i, rec := range parents.recs {
		if rec != nil && parents.err(i) == nil {
			e.findKeysOf(child, j, field, rec.JSON(j.ordinal))
		}
		child.starts = append(child.starts, int32(len(child.refs)))
	}
}

func (e *execution) findKeysOf(child *nodeRows, j *join, field *driver.Field, text []byte) {
	switch {
	case text == nil:
	case !field.List:
		child.refs = append(child.refs, e.ref(child, j, field, text))
	default:
		ok := record.List(text, func(elem []byte) bool {
			child.refs = append(child.refs, e.ref(child, j, field, elem))
			return true
		})
		if !ok {
			child.refs = append(child.refs, unreadable)
		}
	}
}

// ref returns the place of the row that an id leads to among the rows of the joined node.
func (e *execution) ref(child *nodeRows, j *join, field *driver.Field, text []byte) int32 {
	at, ok, err := e.rt.spotOfStored(j.target, field, text)
	if err != nil {
		e.rt.cfg.Logger.ErrorContext(e.ctx, "stored id unreadable", "field", field.Name, "target", j.typ.Name, "error", err)
		return unreadable
	}
	if !ok {
		return nowhere
	}
	return e.refTo(child, at)
}

// fewIDs is up to how many ids are compared one by one, which is faster than a map of them.
const fewIDs = 8

// refTo returns the place of the spot among the ids of the joined node, to which it is added where it is new.
func (e *execution) refTo(child *nodeRows, at spot) int32 {
	next := int32(len(child.ids))
	if next <= fewIDs {
		if i := slices.Index(child.ids, at); i >= 0 {
			return int32(i)
		}
	} else if i, known := e.seen[at]; known {
		return i
	}
	child.ids = append(child.ids, at)
	switch {
	case next == fewIDs:
		for i, id := range child.ids {
			e.seen[id] = int32(i)
		}
	case next > fewIDs:
		e.seen[at] = next
	}
	return next
}

// readLevel reads the rows of all joins of one level: joins to the same target share their batches.
func (e *execution) readLevel(joins []*join) {
	for _, j := range joins {
		child := &e.nodes[j.node.id]
		if e.viewer.access(j.typ.Rule) == refused {
			child.denied = e.viewer.refusal(j.typ.Name)
			continue
		}
		if n := len(child.ids); n > e.rt.cfg.MaxJoinFanout {
			e.refuse(j, e.rt.tooManyJoins(n))
		}
	}
	for i, j := range joins {
		if child := &e.nodes[j.node.id]; child.denied == nil && len(child.ids) > 0 && child.recs == nil {
			e.readTarget(j.target, joins[i:])
		}
	}
	for _, j := range joins {
		if e.viewer.access(j.typ.Rule) == ownerOnly {
			e.refuseOthers(j)
		}
	}
}

// refuse closes a join for all its parents.
func (e *execution) refuse(j *join, err error) {
	e.nodes[j.node.id].denied = err
	if e.loaders != nil {
		e.loaders.refuse(j.place, err)
	}
}

// readTarget reads the rows of those joins that lead to the target.
func (e *execution) readTarget(g target, joins []*join) {
	same := joins[:0:0]
	for _, j := range joins {
		if j.target == g && e.nodes[j.node.id].denied == nil {
			same = append(same, j)
		}
	}
	if len(same) == 1 {
		child := &e.nodes[same[0].node.id]
		child.rows = e.load(g, child.ids, same[0].node.fields)
		return
	}
	var ids []spot
	places := map[spot]int{}
	for _, j := range same {
		for _, id := range e.nodes[j.node.id].ids {
			if _, ok := places[id]; !ok {
				places[id] = len(ids)
				ids = append(ids, id)
			}
		}
	}
	got := e.load(g, ids, nil)
	for _, j := range same {
		child := &e.nodes[j.node.id]
		child.rows = newRows(len(child.ids))
		for i, id := range child.ids {
			child.recs[i] = got.recs[places[id]]
			if err := got.err(places[id]); err != nil {
				child.fail(i, err)
			}
		}
	}
}

// load reads the rows of distinct keys.
func (e *execution) load(g target, ids []spot, fields []int) rows {
	if e.loaders != nil {
		return e.loaders.load(e.ctx, g, ids)
	}
	return e.rt.fetch(e.ctx, g, ids, fields)
}

// refuseOthers fails the rows that are not the viewer's own, and those that are not there: see ownership.
func (e *execution) refuseOthers(j *join) {
	child := &e.nodes[j.node.id]
	for i, rec := range child.recs {
		if child.err(i) == nil && !e.viewer.owns(j.typ, rec) {
			child.fail(i, e.viewer.refusal(j.typ.Name))
		}
	}
}
