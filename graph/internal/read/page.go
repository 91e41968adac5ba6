package read

import (
	"context"
	"errors"
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Page is the answer to a query of kind QueryPage.
type Page struct {
	Rows    []querydb.Row
	Members []int  // of a collection: which of its members each row is of
	Next    string // "" where the page is the last, or nobody asked for it
	placed
}

// NextToken is Next as GraphQL answers it: nil for "".
func (p *Page) NextToken() *string {
	if p.Next == "" {
		return nil
	}
	return &p.Next
}

// Records are those of the rows, in their order.
func (p *Page) Records() []record.Record {
	recs := make([]record.Record, len(p.Rows))
	for i := range p.Rows {
		recs[i] = p.Rows[i].Record
	}
	return recs
}

// Page answers a query of kind QueryPage.
func (rd *Reader) Page(ctx context.Context, v access.Viewer, q *catalog.Query, r *Request) (Page, error) {
	if q.Collection != nil {
		return rd.readCollection(ctx, v, q, r)
	}
	t := rd.Catalog.Types[q.Type]
	allowed := v.LevelOf(t.Rule)
	if allowed == access.Refused {
		return Page{}, v.Refusal(t.Name)
	}
	key, err := rd.served.key(ctx, t.Model, q.Index)
	if err == nil {
		err = rd.served.knowsOwner(ctx, t, allowed)
	}
	if err != nil {
		return Page{}, rd.Errors().Read(ctx, err, t.Name)
	}
	dbq, err := pageQuery(q, t.Model, key, r)
	if err != nil {
		return Page{}, rd.served.asked(ctx, t.Model, err)
	}
	owner, err := rd.passIndexRule(ctx, v, q, r.PK, dbq.PK, allowed == access.OwnRowsOnly)
	if err != nil {
		return Page{}, err
	}
	if half := partitionHalf(q, t); allowed == access.OwnRowsOnly && !ownsPartition(v, t, q, &half, key, r.PK, dbq.PK) {
		if !owner {
			return Page{}, v.Refusal(t.Name)
		}
		dbq.Visible, dbq.Hidden = v.KeepOwn(t), rd.Config.Allowance.Left(ctx).Hidden
	}
	sought, err := newFiltering(ctx, rd, v, t, r)
	if err != nil {
		return Page{}, err
	}
	binding := newBinding(q, &dbq, v, key.Form)
	if sought != nil {
		binding.filter = r.soughtSum[:]
		sought.all = allowed == access.OwnRowsOnly && dbq.Visible == nil
		sought.apply(ctx, &dbq)
	}
	if dbq.Start, err = rd.tokens.start(ctx, binding, r); err != nil {
		return Page{}, err
	}
	dbq.Reverse, dbq.NoNext = dbq.Reverse != backward(&r.Page), !r.WantNext
	answer, err := rd.db.Query(ctx, t.Model, dbq)
	if dbq.Visible != nil {
		err = rd.Errors().unnamed(ctx, err, t.Name)
	}
	if err = sought.failure(ctx, q, err); err != nil {
		return Page{}, rd.Errors().userKey(ctx, err, t.Name)
	}
	if allowed == access.OwnRowsOnly {
		if err := checkOwnRows(v, t, answer.Rows); err != nil {
			return Page{}, err
		}
	}
	p := Page{Rows: answer.Rows}
	rd.tokens.place(&p, r, binding, answer.Starts, answer.Next)
	return p, nil
}

// checkOwnRows refuses a page of a partition of the viewer's own in which a row is another's all the same: the rows
// themselves have the last word on whose they are, and none is left out in silence.
func checkOwnRows(v access.Viewer, t *catalog.Type, rows []querydb.Row) error {
	for _, row := range rows {
		if !v.Owns(t, row.Record) {
			return v.Refusal(t.Name)
		}
	}
	return nil
}

// pageQuery turns the arguments into the range to read, but for where it starts.
func pageQuery(q *catalog.Query, m *querydb.Model, key *querydb.Key, r *Request) (querydb.Query, error) {
	half := &key.PK
	if r.held && half.Enums != nil { // under a value that its enum has lost, a page is empty
		plain := *half
		plain.Enums, half = nil, &plain
	}
	pk, err := partition(q, half, r.PK)
	if err != nil {
		return querydb.Query{}, err
	}
	dbq := querydb.Query{Index: q.Index, PK: pk, Consistent: r.Consistent, Fields: r.Fields}
	if dbq.Limit, dbq.Reverse, err = pageSize(q, &r.Page); err != nil {
		return querydb.Query{}, err
	}
	sk := &key.SK
	switch {
	case m.Entity != nil:
		err = selectRows(q, sk, r, &dbq)
	case q.HasOperands:
		var given []keys.Value
		if given, err = leadingParts(q.SKParts, r.SK); err == nil {
			dbq.Range, err = sk.ParseOperands(keys.Operands{Eq: r.Page.Eq, Prefix: r.Page.Prefix, From: r.Page.From,
				To: r.Page.To}, given...)
		}
	}
	if err != nil {
		return querydb.Query{}, operandError(q, err)
	}
	return dbq, nil
}

// Ranges is how many ranges a page of a query of kind QueryPage is read by at most, where rows are stored as the schema
// says: some members of a collection have a range each, and so have keys that end with a value and those that go on.
func Ranges(c *catalog.Catalog, q *catalog.Query, r *Request) (int, error) {
	if q.Collection != nil {
		return rangesOfMembers(q, r)
	}
	m := c.Types[q.Type].Model
	half := &m.SK
	if q.Index != driver.Primary {
		half = &m.Indexes[q.Index].SK
	}
	if m.Entity == nil || !half.Layout.Exists() {
		return 1, nil
	}
	given := leading(q, r.SK)
	where, err := half.Layout.ParseCondition(keys.CountLeading(given), r.Page.Where)
	if err != nil {
		return 0, operandError(q, err)
	}
	ranges, err := half.Layout.Select(given, where)
	if err != nil {
		return 0, operandError(q, err)
	}
	return max(1, len(ranges)), nil
}

// PageSize is how many rows a page of a query of kind QueryPage has at most.
func PageSize(q *catalog.Query, a *catalog.PageArgs) (limit int, err error) {
	limit, _, err = pageSize(q, a)
	return limit, err
}

// pageSize returns how many rows a page has at most, and whether the greatest come first.
func pageSize(q *catalog.Query, a *catalog.PageArgs) (limit int, reverse bool, err error) {
	if err := checkCursors(q, a); err != nil {
		return 0, false, err
	}
	argument, limit := queryarg.Limit, queryarg.DefaultLimit
	switch {
	case a.First != nil:
		argument, limit = queryarg.First, *a.First
	case a.Last != nil:
		argument, limit = queryarg.Last, *a.Last
	case a.Limit != nil:
		limit = *a.Limit
	}
	if limit < 1 || limit > queryarg.MaxLimit {
		return 0, false, graphqlerr.New(graphqlerr.BadUserInput, "%s: %s is %d, and must be 1 to %d", q.Name, argument,
			limit, queryarg.MaxLimit)
	}
	return limit, a.Reverse != nil && *a.Reverse, nil
}

func operandError(q *catalog.Query, err error) error {
	if errors.Is(err, keys.ErrFormerLayout) {
		return err
	}
	var operand *keys.OperandError
	if errors.As(err, &operand) {
		return graphqlerr.New(graphqlerr.BadUserInput, "%s: %w", q.Name, operand)
	}
	return graphqlerr.New(graphqlerr.BadUserInput, "%s: %w", q.Name, err)
}

// selectRows finds the sort keys that the arguments of a query of an entity select.
func selectRows(q *catalog.Query, sk *keys.Composer, r *Request, dbq *querydb.Query) error {
	if !sk.Layout.Exists() {
		return nil
	}
	given := leading(q, r.SK)
	where, err := sk.ParseCondition(keys.CountLeading(given), r.Page.Where)
	if err != nil {
		return err
	}
	ranges, err := sk.Select(given, where)
	switch {
	case err != nil:
		return err
	case len(ranges) == 1:
		dbq.Range = ranges[0]
	default:
		dbq.Ranges = ranges
	}
	return nil
}

// leading are the values of the parts of a sort key. A part of the partition key is always given, and no reason to ask
// for those before it: after one that is not given it counts as not given either.
func leading(q *catalog.Query, sk []keys.Value) []keys.Value {
	given, missing := slices.Clone(sk), false
	for i := range given {
		missing = missing || !given[i].Present()
		if missing && slices.ContainsFunc(q.PK, func(a catalog.KeyArg) bool { return a.Name == q.SK[i].Name }) {
			given[i] = keys.Value{}
		}
	}
	return given
}
