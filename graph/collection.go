package graph

import (
	"context"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// readCollection answers a query whose rows are of several types: one range, or, where only some of them are asked for, one
// range for each.
func (rt *Runtime) readCollection(ctx context.Context, v viewer, q *Query, r *request) (page, error) {
	chosen, err := q.chosen(r.only)
	if err != nil {
		return page{}, err
	}
	var own []int // members of which the viewer is admitted to own rows only
	for _, i := range chosen {
		switch t := rt.catalog.Types[q.Collection.Members[i]]; v.access(t.Rule) {
		case refused:
			return page{}, v.refusal(t.Name)
		case ownerOnly:
			own = append(own, i)
		}
	}
	cq, err := rt.collectionQuery(q, chosen, r)
	if err != nil {
		return page{}, err
	}
	owner, err := rt.passIndexRule(ctx, v, q, r.pk, cq.PK, len(own) > 0)
	if err != nil {
		return page{}, err
	}
	judged := map[string]func(*querydb.Row) bool{}
	for _, i := range own {
		t, m := rt.catalog.Types[q.Collection.Members[i]], q.Collection.Stored.Members[i]
		if v.ownPartition(t, &m.Model.Indexes[m.Index].PK, r.pk, cq.PK) {
			continue
		}
		if !owner {
			return page{}, v.refusal(t.Name)
		}
		judged[m.Model.Entity.Kind] = v.ownAlone(t)
	}
	if len(judged) > 0 {
		cq.Keep = func(row *querydb.Row) bool { keep := judged[row.Kind]; return keep == nil || keep(row) }
	}
	binding := newBinding(q, &querydb.Query{PK: cq.PK, Ranges: cq.Ranges, Reverse: cq.Reverse}, v)
	if r.page.NextToken != nil {
		if cq.Start, err = rt.openToken(binding, *r.page.NextToken); err != nil {
			return page{}, err
		}
	}
	answer, err := rt.db.QueryCollection(ctx, q.Collection.Stored, cq)
	if err != nil {
		return page{}, rt.userKeyError(ctx, err, q.Name)
	}
	p := page{rows: answer.Rows}
	if p.of, err = rt.membersOf(ctx, q, answer.Rows); err != nil {
		return page{}, err
	}
	for k, row := range p.rows {
		if t := rt.catalog.Types[q.Collection.Members[p.of[k]]]; v.access(t.Rule) == ownerOnly && !v.owns(t, row.Record) {
			return page{}, v.refusal(t.Name) // see ownRows
		}
	}
	if answer.Next != nil && r.token {
		p.next = rt.sealToken(binding, *answer.Next)
	}
	return p, nil
}

// chosen are the members whose rows are asked for: those that only names, else all.
func (q *Query) chosen(only []string) ([]int, error) {
	if only != nil && len(only) == 0 {
		return nil, graphqlerr.New(graphqlerr.BadUserInput, "%s: only names no type; leave it out for all of them", q.Name)
	}
	var chosen []int
	for i, name := range q.Collection.Members {
		if only == nil || slices.Contains(only, name) {
			chosen = append(chosen, i)
		}
	}
	return chosen, nil
}

// collectionQuery turns the arguments into the ranges to read, but for where the page starts.
func (rt *Runtime) collectionQuery(q *Query, chosen []int, r *request) (cq querydb.CollectionQuery, err error) {
	if cq.PK, err = rt.partition(q, r.pk); err != nil {
		return cq, err
	}
	if cq.Limit, cq.Reverse, err = q.pageSize(&r.page); err != nil {
		return cq, err
	}
	if len(chosen) == len(q.Collection.Members) {
		cq.Ranges = []keys.Range{q.Collection.Range}
		return cq, nil
	}
	for _, i := range chosen {
		m := q.Collection.Stored.Members[i]
		ranges, err := m.Model.Indexes[m.Index].SK.Layout.Select(nil, keys.Condition{})
		if err != nil {
			return cq, operandError(q, err)
		}
		cq.Ranges = append(cq.Ranges, ranges...)
	}
	cq.Ranges = keys.SortRanges(cq.Ranges...)
	return cq, nil
}

// membersOf finds of which member of the collection each row is.
func (rt *Runtime) membersOf(ctx context.Context, q *Query, rows []querydb.Row) ([]int, error) {
	of := make([]int, len(rows))
	for i := range rows {
		of[i] = slices.IndexFunc(q.Collection.Stored.Members, func(m querydb.Member) bool { return m.Model.Entity.Kind == rows[i].Kind })
		if of[i] < 0 {
			return nil, rt.internalError(ctx, errNoMember(rows[i].Kind), q.Name)
		}
	}
	return of, nil
}

type errNoMember string

func (e errNoMember) Error() string {
	return "the row is of " + string(e) + ", which is no member of the collection"
}

// ItemReader reads items of a collection of the stored rows of one of its members.
type ItemReader[I any] func(ctx context.Context, rt *Runtime, rec record.Record) (I, error)

// ItemsOf makes the ItemReader of a member.
func ItemsOf[R, I any](c *querydb.Codec[R], item func(*R) I) ItemReader[I] {
	return func(ctx context.Context, rt *Runtime, rec record.Record) (I, error) {
		row, err := decode(ctx, rt, c, rec)
		if err != nil {
			var none I
			return none, err
		}
		return item(row), nil
	}
}

// Names are the values of an enum as text; nil stays nil.
func Names[E ~string](values []E) []string {
	if values == nil {
		return nil
	}
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return names
}

// FetchCollection answers a generated query of a collection, and prefetches what the operation joins to its items. only
// names the types that are asked for, nil for all; read has one function for each member of the collection.
func FetchCollection[I any](ctx context.Context, rt *Runtime, query string, read []ItemReader[I], pk []keys.Value, only []string, a PageArgs) (*Connection[I], error) {
	q := rt.catalog.Queries[query]
	p, err := rt.readPage(ctx, rt.viewer(ctx), q, &request{pk: pk, only: only, page: a, token: true})
	if err != nil {
		return nil, err
	}
	conn := &Connection[I]{Items: make([]I, len(p.rows)), NextToken: p.token()}
	for i := range p.rows {
		if conn.Items[i], err = read[p.of[i]](ctx, rt, p.rows[i].Record); err != nil {
			return nil, err
		}
	}
	return conn, rt.lookAheadItems(ctx, q, &p)
}

// lookAheadItems is lookAhead for the items of a page of a collection, which are of several types.
func (rt *Runtime) lookAheadItems(ctx context.Context, q *Query, p *page) error {
	apart := p.apart(len(q.Collection.Members))
	recs := map[*node][]record.Record{}
	return rt.lookAheadNodes(ctx, func(c *compiler, sets []ast.SelectionSet) (nodes []*node) {
		c.eachItems(q, sets, func(of []ast.SelectionSet) {
			for i, n := range c.itemNodes(q, of) {
				nodes, recs[n] = append(nodes, n), apart[i]
			}
		})
		return nodes
	}, func(n *node) []record.Record { return recs[n] })
}

// itemNodes makes the nodes of the items of a collection, one for each of its members.
func (c *compiler) itemNodes(q *Query, sets []ast.SelectionSet) []*node {
	nodes := make([]*node, len(q.Collection.Members))
	for i, name := range q.Collection.Members {
		nodes[i] = c.node(c.catalog.Types[name], sets)
	}
	return nodes
}

// apart are the records of the page by the members that they are of.
func (p *page) apart(members int) [][]record.Record {
	recs := make([][]record.Record, members)
	for i := range p.rows {
		recs[p.of[i]] = append(recs[p.of[i]], p.rows[i].Record)
	}
	return recs
}
