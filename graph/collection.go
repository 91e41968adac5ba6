package graph

import (
	"context"
	"slices"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// readCollection answers a query whose rows are of several types: one range, or, where only some of them are asked for, one
// range for each.
func (rd *reader) readCollection(ctx context.Context, v viewer, q *Query, r *request) (page, error) {
	chosen, err := chosenMembers(q, r.only)
	if err != nil {
		return page{}, err
	}
	var own []int // members of which the viewer is admitted to own rows only
	for _, i := range chosen {
		switch t := rd.catalog.Types[q.Collection.Members[i]]; v.access(t.Rule) {
		case refused:
			return page{}, v.refusal(t.Name)
		case ownerOnly:
			own = append(own, i)
		}
	}
	cq, err := rd.collectionQuery(q, chosen, r)
	if err != nil {
		return page{}, err
	}
	owner, err := rd.passIndexRule(ctx, v, q, r.pk, cq.PK, len(own) > 0)
	if err != nil {
		return page{}, err
	}
	judged := map[string]func(*querydb.Row) bool{}
	for _, i := range own {
		t, m := rd.catalog.Types[q.Collection.Members[i]], q.Collection.Stored.Members[i]
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
		if cq.Start, err = rd.tokens.open(binding, *r.page.NextToken); err != nil {
			return page{}, err
		}
	}
	answer, err := rd.db.QueryCollection(ctx, q.Collection.Stored, cq)
	if err != nil {
		return page{}, rd.errors().userKey(ctx, err, q.Name)
	}
	p := page{rows: answer.Rows}
	if p.members, err = rd.membersOf(ctx, q, answer.Rows); err != nil {
		return page{}, err
	}
	for k, row := range p.rows {
		if t := rd.catalog.Types[q.Collection.Members[p.members[k]]]; v.access(t.Rule) == ownerOnly && !v.owns(t, row.Record) {
			return page{}, v.refusal(t.Name) // see ownRows
		}
	}
	if answer.Next != nil && r.token {
		p.next = rd.tokens.seal(binding, *answer.Next)
	}
	return p, nil
}

// chosenMembers are the members whose rows are asked for: those that only names, else all.
func chosenMembers(q *Query, only []string) ([]int, error) {
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
func (rd *reader) collectionQuery(q *Query, chosen []int, r *request) (cq querydb.CollectionQuery, err error) {
	if cq.PK, err = rd.partition(q, r.pk); err != nil {
		return cq, err
	}
	if cq.Limit, cq.Reverse, err = pageSize(q, &r.page); err != nil {
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
func (rd *reader) membersOf(ctx context.Context, q *Query, rows []querydb.Row) ([]int, error) {
	of := make([]int, len(rows))
	for i := range rows {
		of[i] = slices.IndexFunc(q.Collection.Stored.Members, func(m querydb.Member) bool { return m.Model.Entity.Kind == rows[i].Kind })
		if of[i] < 0 {
			return nil, rd.errors().internal(ctx, errNoMember(rows[i].Kind), q.Name)
		}
	}
	return of, nil
}

type errNoMember string

func (e errNoMember) Error() string {
	return "the row is of " + string(e) + ", which is no member of the collection"
}

// byMember are the records of the page by the members that they are of.
func (p *page) byMember(members int) [][]record.Record {
	recs := make([][]record.Record, members)
	for i := range p.rows {
		recs[p.members[i]] = append(recs[p.members[i]], p.rows[i].Record)
	}
	return recs
}
