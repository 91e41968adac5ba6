package read

import (
	"context"
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// readCollection answers a query whose rows are of several types: one range, or, where only some of them are asked for,
// one range for each.
func (rd *Reader) readCollection(ctx context.Context, v access.Viewer, q *catalog.Query, r *Request) (Page, error) {
	chosen, err := chosenMembers(q, r.MemberTypes)
	if err != nil {
		return Page{}, err
	}
	own, by, err := rd.members(ctx, v, q, chosen)
	if err != nil {
		return Page{}, rd.Errors().Read(ctx, err, q.Name)
	}
	cq, err := collectionQuery(q, by, chosen, r)
	if err != nil {
		return Page{}, rd.served.asked(ctx, q.Collection.Stored.Members[chosen[0]].Model, err)
	}
	owner, err := rd.passIndexRule(ctx, v, q, r.PK, cq.PK, len(own) > 0)
	if err != nil {
		return Page{}, err
	}
	judged := map[string]func(*querydb.Row) bool{}
	for _, i := range own {
		t, m := rd.Catalog.Types[q.Collection.Members[i]], q.Collection.Stored.Members[i]
		if ownsPartition(v, t, q, &m.Model.Indexes[m.Index].PK, by[0], r.PK, cq.PK) {
			continue
		}
		if !owner {
			return Page{}, v.Refusal(t.Name)
		}
		judged[m.Model.Entity.Kind] = v.KeepOwn(t)
	}
	if len(judged) > 0 {
		cq.Visible = func(row *querydb.Row) bool { keep := judged[row.Kind]; return keep == nil || keep(row) }
		cq.Hidden = rd.Config.Allowance.Left(ctx).Hidden
	}
	binding := newBinding(q, &querydb.Query{PK: cq.PK, Ranges: cq.Ranges, Reverse: cq.Reverse, Visible: cq.Visible}, v,
		rd.served.formOf(ctx, q.Collection))
	if cq.Start, err = rd.tokens.start(ctx, binding, r); err != nil {
		return Page{}, err
	}
	cq.Reverse, cq.NoNext = cq.Reverse != backward(&r.Page), !r.WantNext
	answer, err := rd.db.QueryCollection(ctx, q.Collection.Stored, cq)
	if cq.Visible != nil {
		err = rd.Errors().unnamed(ctx, err, q.Name)
	}
	if err != nil {
		return Page{}, rd.Errors().userKey(ctx, err, q.Name)
	}
	p := Page{Rows: answer.Rows}
	if p.Members, err = membersOf(ctx, rd.Errors(), q, answer.Rows); err != nil {
		return Page{}, err
	}
	for k, row := range p.Rows {
		if t := rd.Catalog.Types[q.Collection.Members[p.Members[k]]]; v.LevelOf(t.Rule) == access.OwnRowsOnly &&
			!v.Owns(t, row.Record) {
			return Page{}, v.Refusal(t.Name) // see checkOwnRows
		}
	}
	rd.tokens.place(&p, r, binding, answer.Starts, answer.Next)
	return p, nil
}

// members finds out of which of the chosen members the viewer is admitted to own rows only, and how the keys of each
// are composed.
func (rd *Reader) members(
	ctx context.Context, v access.Viewer, q *catalog.Query, chosen []int,
) (own []int, by []*querydb.Key, err error) {
	by = make([]*querydb.Key, len(chosen))
	for n, i := range chosen {
		t, m := rd.Catalog.Types[q.Collection.Members[i]], q.Collection.Stored.Members[i]
		allowed := v.LevelOf(t.Rule)
		switch allowed {
		case access.Refused:
			return nil, nil, v.Refusal(t.Name)
		case access.OwnRowsOnly:
			own = append(own, i)
		}
		if by[n], err = rd.served.key(ctx, m.Model, m.Index); err == nil {
			err = rd.served.knowsOwner(ctx, t, allowed)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return own, by, nil
}

// formOf tells the keys of the members of a collection of one form from those of another: of all of them, since the
// ranges of a page tell which ones are asked for. A member of whose keys nothing is known has a form too.
func (sv served) formOf(ctx context.Context, c *catalog.Collection) (form uint64) {
	for _, m := range c.Stored.Members {
		form *= 31
		if key, err := sv.key(ctx, m.Model, m.Index); err == nil {
			form += key.Form
		}
	}
	return form
}

// chosenMembers are the members whose rows are asked for: those that only names, else all.
func chosenMembers(q *catalog.Query, only []string) ([]int, error) {
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
func collectionQuery(q *catalog.Query, by []*querydb.Key, chosen []int, r *Request) (cq querydb.CollectionQuery,
	err error) {
	if cq.PK, err = partition(q, &by[0].PK, r.PK); err != nil {
		return cq, err
	}
	if cq.Limit, cq.Reverse, err = pageSize(q, &r.Page); err != nil {
		return cq, err
	}
	same := !slices.ContainsFunc(by, func(k *querydb.Key) bool { return !k.PK.Same() || !k.SK.Same() })
	if len(chosen) == len(q.Collection.Members) && same {
		cq.Ranges = []keys.Range{q.Collection.Range}
		return cq, nil
	}
	cq.Members = chosen
	for _, k := range by {
		ranges, err := k.SK.Select(nil, keys.Condition{})
		if err != nil {
			return cq, operandError(q, err)
		}
		cq.Ranges = append(cq.Ranges, ranges...)
	}
	cq.Ranges = keys.SortRanges(cq.Ranges...)
	return cq, nil
}

// rangesOfMembers is Ranges of a collection.
func rangesOfMembers(q *catalog.Query, r *Request) (int, error) {
	chosen, err := chosenMembers(q, r.MemberTypes)
	if err != nil {
		return 0, err
	}
	if len(chosen) == len(q.Collection.Members) {
		return 1, nil
	}
	var all []keys.Range
	for _, i := range chosen {
		m := q.Collection.Stored.Members[i]
		ranges, err := m.Model.Indexes[m.Index].SK.Layout.Select(nil, keys.Condition{})
		if err != nil {
			return 0, operandError(q, err)
		}
		all = append(all, ranges...)
	}
	return max(1, len(keys.SortRanges(all...))), nil
}

// membersOf finds of which member of the collection each row is.
func membersOf(ctx context.Context, errs Errors, q *catalog.Query, rows []querydb.Row) ([]int, error) {
	of := make([]int, len(rows))
	for i := range rows {
		of[i] = slices.IndexFunc(q.Collection.Stored.Members, func(m querydb.CollectionMember) bool {
			return m.Model.Entity.Kind == rows[i].Kind
		})
		if of[i] < 0 {
			return nil, errs.Internal(ctx, errNoMember(rows[i].Kind), q.Name)
		}
	}
	return of, nil
}

type errNoMember string

func (e errNoMember) Error() string {
	return "the row is of " + string(e) + ", which is no member of the collection"
}

// ByMember are the records of the page by the members that they are of.
func (p *Page) ByMember(members int) [][]record.Record {
	recs := make([][]record.Record, members)
	for i := range p.Rows {
		recs[p.Members[i]] = append(recs[p.Members[i]], p.Rows[i].Record)
	}
	return recs
}
