package execute

import (
	"context"
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/internal/distinct"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Joins are the rows of every node of an answer, and what each of them is joined to.
type Joins struct {
	rd     *read.Reader
	ctx    context.Context
	viewer access.Viewer
	source RowSource
	vars   map[string]any // of the operation
	nodes  []nodeRows
	pages  []pageRows
	seen   distinct.Places // of the ids of the joined node whose keys are being found, where those are many
	// Failing counts the places in the answer that have a wrong argument.
	Failing int
}

// RowSource is where the rows of joins come from. A plan has the reader itself: it asks for each row once. Resolvers
// have the loaders of their operation, which remember rows for the fields that ask for them later.
type RowSource interface {
	// Load reads the rows of join keys. It does not keep the list.
	Load(ctx context.Context, g read.Target, ids read.JoinKeyList, fields []int) read.JoinedRows
	// Pages reads the pages under distinct keys.
	Pages(ctx context.Context, p *plan.Pages, ids []read.PageKey, r *read.Request) []read.Paged
	// Refuse closes the virtual field at a path for all its parents.
	Refuse(path string, err error)
}

// planSource is the RowSource of a plan.
type planSource struct{ rd *read.Reader }

func (s planSource) Load(ctx context.Context, g read.Target, ids read.JoinKeyList, fields []int) read.JoinedRows {
	return s.rd.Joined(ctx, g, ids, fields)
}

func (s planSource) Pages(ctx context.Context, p *plan.Pages, ids []read.PageKey, r *read.Request) []read.Paged {
	return read.Paging{Reader: s.rd, Query: p.Query}.Read(ctx, ids, r)
}

func (planSource) Refuse(string, error) {} // the nodes know it

// nodeRows are the rows of one node. In a joined node they are distinct, however many parents share one:
// refs[starts[i]:starts[i+1]] are the rows that parent i leads to.
type nodeRows struct {
	read.JoinedRows
	single [1]record.Record // what recs is where there is one row at most
	ids    read.JoinKeyList
	starts []int32
	refs   []int32
	denied error // nobody may follow this join
	damage error // of the parents whose stored ids are no values of their types, the same for all
}

// errorOf returns what keeps the rows that a parent is joined to from being shown.
func (js *Joins) errorOf(n *nodeRows, j *plan.Join, refs []int32) error {
	if len(refs) > 0 && n.denied != nil {
		return n.denied
	}
	for _, ref := range refs {
		if ref == unknown {
			return js.rd.NotKnown(js.ctx, j.Type, "what leads to them")
		}
		if ref == unreadable {
			return n.damage
		}
		if ref >= 0 {
			if err := n.Err(int(ref)); err != nil {
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
	unknown    = -3 // the row is of a former schema, which does not say the id
)

// maxKeptIDs bounds the ids whose memory is kept for the next run.
const maxKeptIDs = 4096

// NewJoins makes the joins of the rows of an answer, of an operation with these variables.
func NewJoins(ctx context.Context, rd *read.Reader, source RowSource, size plan.Size, vars map[string]any) *Joins {
	js := new(Joins)
	js.begin(ctx, rd, source, size, vars)
	return js
}

func (js *Joins) begin(ctx context.Context, rd *read.Reader, source RowSource, size plan.Size, vars map[string]any) {
	js.ctx, js.rd, js.viewer, js.source, js.vars = ctx, rd, rd.Viewer(ctx), source, vars
	if cap(js.nodes) < size.Nodes {
		js.nodes = make([]nodeRows, size.Nodes)
	}
	js.nodes = js.nodes[:size.Nodes]
	if size.Pages > 0 {
		js.pages = make([]pageRows, size.Pages)
	}
}

// end lets go of everything but the memory that the next run can use.
func (js *Joins) end() {
	for i := range js.nodes {
		n := &js.nodes[i]
		if len(n.starts) > maxKeptIDs || len(n.refs) > maxKeptIDs || len(n.ids.Keys) > maxKeptIDs {
			*n = nodeRows{}
			continue
		}
		n.ids.Clear()
		*n = nodeRows{ids: n.ids, starts: n.starts[:0], refs: n.refs[:0]}
	}
	js.seen.Clear(maxKeptIDs)
	js.ctx, js.rd, js.viewer, js.source, js.vars, js.pages = nil, nil, access.Viewer{}, nil, nil, nil
	js.Failing = 0
}

// SetRows gives a node its rows.
func (js *Joins) SetRows(n *plan.Node, recs []record.Record) { js.nodes[n.ID].Records = recs }

// Resolve reads what the rows of the nodes are joined to, and what those are joined to, one level after the other.
func (js *Joins) Resolve(level []*plan.Node) {
	for len(level) > 0 {
		var below []*plan.Node
		var joins []*plan.Join
		for _, n := range level {
			for _, j := range n.Joins {
				js.findKeys(n, j)
				joins, below = append(joins, j), append(below, j.Node)
			}
		}
		js.readLevel(joins)
		for _, n := range level {
			for _, p := range n.Pages {
				js.findPages(n, p)
				js.readPages(p)
				below = append(below, p.Items...)
			}
		}
		level = slices.DeleteFunc(below, func(n *plan.Node) bool { return len(js.nodes[n.ID].Records) == 0 })
	}
}

// findKeys notes which rows each row of the node leads to.
func (js *Joins) findKeys(n *plan.Node, j *plan.Join) {
	parents, child := &js.nodes[n.ID].JoinedRows, &js.nodes[j.Node.ID]
	js.seen.Clear(maxKeptIDs)
	find, err := js.rd.JoinKeys(js.ctx, j.Target)
	if err != nil {
		js.deny(j, err)
	}
	follower := follower{js: js, join: j, child: child, find: find, fields: n.Type.Model.Fields}
	child.starts = append(child.starts, 0)
	charged := 0
	for i, rec := range parents.Records {
		if rec != nil && parents.Err(i) == nil && !js.closed(n, j.Rule, rec) {
			follower.follow(rec)
		}
		child.starts = append(child.starts, int32(len(child.refs)))
		held := len(child.refs)*refBytes + len(child.ids.Keys)*idBytes
		if held-charged >= chargedFrom && child.denied == nil {
			if err := js.mayLead(child, held-charged); err != nil {
				js.deny(j, err)
			}
			charged = held
		}
	}
}

// What a row that leads to another takes, and each of the ids that are led to. Few are not charged: the rows that they
// stand in are.
const (
	refBytes    = 4
	idBytes     = 64
	chargedFrom = 16 << 10
)

// mayLead takes memory for what rows lead to off the budget of the request. The error says why they may not lead to
// more.
func (js *Joins) mayLead(child *nodeRows, bytes int) error {
	if n := len(child.ids.Keys); n > js.rd.Config.MaxFanout {
		return js.rd.TooManyJoins(n)
	}
	err := js.ctx.Err()
	if err == nil {
		err = driver.ChargeRows(driver.BudgetOf(js.ctx), 1, bytes)
	}
	return js.rd.Errors().Read(js.ctx, err, "what rows lead to")
}

// closed reports whether a rule of the field keeps the viewer from following it from the row: not even how many rows
// it leads to is theirs to know.
func (js *Joins) closed(n *plan.Node, rule *catalog.Field, rec record.Record) bool {
	if rule == nil {
		return false
	}
	return js.viewer.CheckField(n.Type, rule, func() access.Owning { return js.viewer.Owning(n.Type, rec) }) != nil
}

// fewIDs is up to how many ids are compared one by one, which is faster than a map of them.
const fewIDs = 8

// refTo returns the place of the join key among the ids of the joined node, to which it is added where it is new.
func (js *Joins) refTo(child *nodeRows, at *read.JoinKey) int32 {
	ids, next := &child.ids, len(child.ids.Keys)
	if next <= fewIDs {
		for i := range next {
			if ids.Is(i, at) {
				return int32(i)
			}
		}
	}
	if next == fewIDs { // from now on they are too many for that
		for i, k := range ids.Keys {
			js.seen.Add(distinct.Hash(k), i, func(int) bool { return false })
		}
	}
	if next >= fewIDs {
		place := js.seen.Add(distinct.Hash(at.Key), next, func(i int) bool { return ids.Is(i, at) })
		if place != next {
			return int32(place)
		}
	}
	ids.Add(*at)
	return int32(next)
}

// readLevel reads the rows of all joins of one level: joins to the same target share their batches.
func (js *Joins) readLevel(joins []*plan.Join) {
	for _, j := range joins {
		child := &js.nodes[j.Node.ID]
		if js.viewer.LevelOf(j.Type.Rule) == access.Refused {
			child.denied = js.viewer.Refusal(j.Type.Name)
			continue
		}
		if n := len(child.ids.Keys); n > js.rd.Config.MaxFanout {
			js.deny(j, js.rd.TooManyJoins(n))
		}
	}
	for i, j := range joins {
		if child := &js.nodes[j.Node.ID]; child.denied == nil && len(child.ids.Keys) > 0 && child.Records == nil {
			js.readTarget(j.Target, joins[i:])
		}
	}
	for _, j := range joins {
		if js.viewer.LevelOf(j.Type.Rule) == access.OwnRowsOnly {
			js.refuseOthers(j)
		}
	}
}

// deny closes a join for all its parents.
func (js *Joins) deny(j *plan.Join, err error) {
	js.nodes[j.Node.ID].denied = err
	js.source.Refuse(j.Path, err)
}

// readTarget reads the rows of those joins that lead to the target.
func (js *Joins) readTarget(g read.Target, joins []*plan.Join) {
	same := joins[:0:0]
	for _, j := range joins {
		if j.Target == g && js.nodes[j.Node.ID].denied == nil {
			same = append(same, j)
		}
	}
	if len(same) == 1 {
		child := &js.nodes[same[0].Node.ID]
		child.JoinedRows = js.source.Load(js.ctx, g, child.ids, same[0].Node.Fields)
		return
	}
	var ids read.JoinKeyList
	places := map[read.JoinKey]int{}
	for _, j := range same {
		of := &js.nodes[j.Node.ID].ids
		for i := range of.Keys {
			id := of.At(i)
			if _, ok := places[id]; !ok {
				places[id] = len(ids.Keys)
				ids.Add(id)
			}
		}
	}
	got := js.source.Load(js.ctx, g, ids, fieldsOf(same))
	for _, j := range same {
		child := &js.nodes[j.Node.ID]
		child.JoinedRows = read.NewJoinedRows(len(child.ids.Keys))
		for i := range child.ids.Keys {
			place := places[child.ids.At(i)]
			child.Records[i] = got.Records[place]
			if err := got.Err(place); err != nil {
				child.Fail(i, err)
			}
		}
	}
}

// fieldsOf are the ordinals that any of the joins reads of its rows.
func fieldsOf(joins []*plan.Join) []int {
	all := []int{} // nil would be all that a row has
	for _, j := range joins {
		all = append(all, j.Node.Fields...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// refuseOthers fails the rows that are not the viewer's own, and those that are not there: see ownership.
func (js *Joins) refuseOthers(j *plan.Join) {
	child := &js.nodes[j.Node.ID]
	for i, rec := range child.Records {
		if child.Err(i) == nil && !js.viewer.Owns(j.Type, rec) {
			child.Fail(i, js.viewer.Refusal(j.Type.Name))
		}
	}
}

// refusal is the error of a rule for a row, or of what the rule rests on.
func (js *Joins) refusal(t *catalog.Type, err error) error {
	if err == access.ErrOwnerUnknown {
		return js.rd.NotKnown(js.ctx, t, "the owner")
	}
	return err
}
