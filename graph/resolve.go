package graph

import (
	"cmp"
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Connection is a page of items and the token of the next; a nil token says that there is none. Items are pointers to rows,
// or the rows of several types of a collection.
type Connection[I any] struct {
	Items     []I
	NextToken *string
}

// FetchOne answers a generated query of kind One, and prefetches what the operation joins to the row. It returns nil
// where there is no row. pk and sk are the values of the query's arguments; absent ones in sk are not given.
func FetchOne[R any](ctx context.Context, rt *Runtime, query string, c *querydb.Codec[R], pk, sk []keys.Value, consistent *bool) (*R, error) {
	q := rt.catalog.Queries[query]
	r := request{pk: pk, sk: sk, consistent: consistent != nil && *consistent}
	rec, err := rt.readOne(ctx, rt.viewer(ctx), q, &r)
	if err != nil || rec == nil {
		return nil, err
	}
	row, err := decode(ctx, rt, c, rec)
	if err != nil {
		return nil, err
	}
	err = rt.lookAhead(ctx, func(c *compiler, sets []ast.SelectionSet) []*node {
		return []*node{c.node(rt.catalog.Types[q.Type], sets)}
	}, []record.Record{rec})
	return row, err
}

// FetchPage answers a generated query of kind Many, and prefetches what the operation joins to the rows.
func FetchPage[R any](ctx context.Context, rt *Runtime, query string, c *querydb.Codec[R], pk []keys.Value, a PageArgs) (*Connection[*R], error) {
	q := rt.catalog.Queries[query]
	p, err := rt.readPage(ctx, rt.viewer(ctx), q, &request{pk: pk, sk: a.Sort, page: a, token: true})
	if err != nil {
		return nil, err
	}
	conn := &Connection[*R]{Items: make([]*R, len(p.rows)), NextToken: p.token()}
	for i := range p.rows {
		if conn.Items[i], err = decode(ctx, rt, c, p.rows[i].Record); err != nil {
			return nil, err
		}
	}
	err = rt.lookAhead(ctx, func(c *compiler, sets []ast.SelectionSet) (nodes []*node) {
		c.eachItems(q, sets, func(of []ast.SelectionSet) { nodes = append(nodes, c.node(rt.catalog.Types[q.Type], of)) })
		return nodes
	}, p.records())
	return conn, err
}

// eachItems calls f with the selections of each response key of a connection under which its items stand.
func (c *compiler) eachItems(q *Query, sets []ast.SelectionSet, f func([]ast.SelectionSet)) {
	for _, s := range c.collect(q.Connection, sets) {
		if s.Name == "items" {
			c.trail = append(c.trail, s.Alias)
			f(s.of)
			c.trail = c.trail[:len(c.trail)-1]
		}
	}
}

// JoinOne answers a virtual field of one row, by @resolves. It returns nil where the id is absent or leads to no row.
func JoinOne[R any](ctx context.Context, rt *Runtime, parent, field string, c *querydb.Codec[R], id keys.Value) (*R, error) {
	if !id.Present() {
		return nil, nil
	}
	found, err := JoinMany(ctx, rt, parent, field, c, []keys.Value{id})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// JoinMany answers a virtual field of many rows, by @resolvesMany: the rows in the order of their ids, without those
// that are not there. Rows that a look-ahead has read are not read again.
func JoinMany[R any](ctx context.Context, rt *Runtime, parent, field string, c *querydb.Codec[R], ids []keys.Value) ([]*R, error) {
	g := rt.target(rt.catalog.Types[parent].Fields[field].Join)
	recs, err := rt.answerJoin(ctx, g, ids)
	if err != nil {
		return nil, copyError(err)
	}
	out := make([]*R, len(recs))
	for i, rec := range recs {
		if out[i], err = decode(ctx, rt, c, rec); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// answerJoin is joinedRecords within what the answer may be.
func (rt *Runtime) answerJoin(ctx context.Context, g target, ids []keys.Value) ([]record.Record, error) {
	l := rt.loaders(ctx)
	if l.ended.Load() {
		return nil, nil
	}
	recs, err := rt.joinedRecords(ctx, l, g, ids)
	if err != nil {
		return nil, cmp.Or(rt.spend(ctx, &l.allowance, 0, 1), err)
	}
	if n := l.node(ctx, g.typ); n != nil {
		err = rt.spendRows(ctx, &l.allowance, n, recs)
	}
	if l.ended.Load() {
		return nil, err
	}
	return recs, nil
}

// joinedRecords returns the records that the ids lead to, in their order, without those that are not there.
func (rt *Runtime) joinedRecords(ctx context.Context, l *loaders, g target, ids []keys.Value) ([]record.Record, error) {
	v := rt.viewer(ctx)
	allowed := v.access(g.typ.Rule)
	if allowed == refused && len(ids) > 0 {
		return nil, v.refusal(g.typ.Name)
	}
	spots, places, err := rt.distinct(g, ids)
	if err != nil {
		return nil, rt.internalError(ctx, err, g.typ.Name)
	}
	if err := l.refusal(ctx); err != nil && len(ids) > 0 {
		return nil, err
	}
	if len(spots) > rt.cfg.MaxJoinFanout {
		return nil, rt.tooManyJoins(len(spots))
	}
	got := l.load(ctx, g, spots)
	recs := make([]record.Record, 0, len(places))
	for _, i := range places {
		switch rec := got.recs[i]; {
		case got.err(i) != nil:
			return nil, got.err(i)
		case allowed == ownerOnly && !v.owns(g.typ, rec):
			return nil, v.refusal(g.typ.Name)
		case rec == nil:
		default:
			recs = append(recs, rec)
		}
	}
	return recs, nil
}

// distinct finds where ids lead: each spot once, and for each id that leads somewhere the place of its spot.
func (rt *Runtime) distinct(g target, ids []keys.Value) (spots []spot, places []int, err error) {
	seen := map[spot]int{}
	for _, id := range ids {
		at, ok, err := rt.spot(g, id)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		place, known := seen[at]
		if !known {
			place = len(spots)
			seen[at] = place
			spots = append(spots, at)
		}
		places = append(places, place)
	}
	return spots, places, nil
}

// Guard says whether the caller may read a field of the row: the rule is the field's own, or, for a virtual field
// without one, that of the field that holds its ids.
func Guard[P any](ctx context.Context, rt *Runtime, typ, field string, c *querydb.Codec[P], row *P) error {
	t := rt.catalog.Types[typ]
	v := rt.viewer(ctx)
	return v.mayReadField(t, t.Fields[field], func() bool {
		return t.Owner >= 0 && v.Subject != "" && c.Value(row, t.Owner) == keys.String(v.Subject)
	})
}

func decode[R any](ctx context.Context, rt *Runtime, c *querydb.Codec[R], rec record.Record) (*R, error) {
	row := new(R)
	if err := c.Decode(rec, row); err != nil {
		return nil, rt.internalError(ctx, err, c.Model.Name)
	}
	return row, nil
}

// lookAhead reads what the operation joins to the rows of the field that is being resolved, level by level in exact
// batches, so that the resolvers of those joins find their rows loaded. It fails where the rows make the answer too large.
func (rt *Runtime) lookAhead(ctx context.Context, nodes func(*compiler, []ast.SelectionSet) []*node, recs []record.Record) error {
	if len(recs) == 0 {
		return nil
	}
	return rt.lookAheadNodes(ctx, nodes, func(*node) []record.Record { return recs })
}

// lookAheadNodes is lookAhead where each node has rows of its own.
func (rt *Runtime) lookAheadNodes(ctx context.Context, nodes func(*compiler, []ast.SelectionSet) []*node, recs func(*node) []record.Record) error {
	field := graphql.GetFieldContext(ctx)
	if field == nil || !graphql.HasOperationContext(ctx) {
		return nil
	}
	c := rt.compiler(ctx)
	top := nodes(c, []ast.SelectionSet{field.Field.Selections})
	var e execution
	e.begin(ctx, rt, rt.viewer(ctx), c.nodes)
	e.loaders = rt.loaders(ctx)
	for _, n := range top {
		e.nodes[n.id].recs = recs(n)
		if err := rt.spendRows(ctx, &e.loaders.allowance, n, recs(n)); err != nil {
			return err
		}
	}
	e.resolveJoins(top)
	return nil
}

// compiler returns one for what is selected of the field that is being resolved.
func (rt *Runtime) compiler(ctx context.Context) *compiler {
	op := graphql.GetOperationContext(ctx)
	return &compiler{catalog: rt.catalog, fragments: op.Doc.Fragments, vars: op.Variables, trail: []string{placeOf(ctx)}}
}

// Prefetch reads what the operation joins to rows that a resolver of the project's own is about to return, so that one
// level of joins costs one batch there too. Rows are of the type that typ names; the field being resolved returns them
// as they are, alone or in a list. It fails where they make the answer too large.
func Prefetch[R any](ctx context.Context, rt *Runtime, typ string, c *querydb.Codec[R], rows []*R) error {
	var b record.Builder
	recs := make([]record.Record, 0, len(rows))
	for _, row := range rows {
		stored, err := querydb.Encode(c, &b, row)
		if err != nil {
			return graphqlerr.New(graphqlerr.Internal, "%s cannot be prefetched: %w", typ, err)
		}
		recs = append(recs, stored.Record)
	}
	return rt.lookAhead(ctx, func(c *compiler, sets []ast.SelectionSet) []*node {
		return []*node{c.node(rt.catalog.Types[typ], sets)}
	}, recs)
}
