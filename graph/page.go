package graph

import (
	"context"
	"errors"
	"slices"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Limits of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// page is the answer to a query of kind Many.
type page struct {
	rows    []querydb.Row
	members []int  // of a collection: which of its members each row is of
	next    string // "" where the page is the last, or nobody asked for it
}

func (p *page) token() *string {
	if p.next == "" {
		return nil
	}
	return &p.next
}

func (p *page) records() []record.Record {
	recs := make([]record.Record, len(p.rows))
	for i := range p.rows {
		recs[i] = p.rows[i].Record
	}
	return recs
}

// readPage answers a query of kind Many.
func (rd *reader) readPage(ctx context.Context, v viewer, q *Query, r *request) (page, error) {
	if q.Collection != nil {
		return rd.readCollection(ctx, v, q, r)
	}
	t := rd.catalog.Types[q.Type]
	allowed := v.access(t.Rule)
	if allowed == refused {
		return page{}, v.refusal(t.Name)
	}
	dbq, err := rd.pageQuery(q, t.Model, r)
	if err != nil {
		return page{}, err
	}
	owner, err := rd.passIndexRule(ctx, v, q, r.pk, dbq.PK, allowed == ownerOnly)
	if err != nil {
		return page{}, err
	}
	if half := rd.partitionHalf(q); allowed == ownerOnly && !v.ownPartition(t, &half, r.pk, dbq.PK) {
		if !owner {
			return page{}, v.refusal(t.Name)
		}
		dbq.Keep = v.ownAlone(t)
	}
	binding := newBinding(q, &dbq, v)
	if r.page.NextToken != nil {
		if dbq.Start, err = rd.tokens.open(binding, *r.page.NextToken); err != nil {
			return page{}, err
		}
	}
	answer, err := rd.db.Query(ctx, t.Model, dbq)
	if err != nil {
		return page{}, rd.errors().userKey(ctx, err, t.Name)
	}
	if allowed == ownerOnly {
		if err := v.ownRows(t, answer.Rows); err != nil {
			return page{}, err
		}
	}
	p := page{rows: answer.Rows}
	if answer.Next != nil && r.token {
		p.next = rd.tokens.seal(binding, *answer.Next)
	}
	return p, nil
}

// ownRows refuses a page of a partition of the viewer's own in which a row is another's all the same: the rows themselves
// have the last word on whose they are, and none is left out in silence.
func (v viewer) ownRows(t *Type, rows []querydb.Row) error {
	for _, row := range rows {
		if !v.owns(t, row.Record) {
			return v.refusal(t.Name)
		}
	}
	return nil
}

// pageQuery turns the arguments into the range to read, but for where it starts.
func (rd *reader) pageQuery(q *Query, m *querydb.Model, r *request) (querydb.Query, error) {
	pk, err := rd.partition(q, r.pk)
	if err != nil {
		return querydb.Query{}, err
	}
	dbq := querydb.Query{Index: q.Index, PK: pk, Consistent: r.consistent, Fields: r.fields}
	if dbq.Limit, dbq.Reverse, err = pageSize(q, &r.page); err != nil {
		return querydb.Query{}, err
	}
	_, sk := halves(q, m)
	switch {
	case m.Entity != nil:
		err = selectRows(q, sk, r, &dbq)
	case q.Operands:
		var given []keys.Value
		if given, err = leadingParts(q.SKParts, r.sk); err == nil {
			dbq.Range, err = sk.Layout.Range(keys.Operands{Eq: r.page.Eq, Prefix: r.page.Prefix, From: r.page.From, To: r.page.To}, given...)
		}
	}
	if err != nil {
		return querydb.Query{}, operandError(q, err)
	}
	return dbq, nil
}

// pageSize returns how many rows a page has at most, and in which direction it is read.
func pageSize(q *Query, a *PageArgs) (limit int, reverse bool, err error) {
	limit = DefaultLimit
	if a.Limit != nil {
		limit = *a.Limit
	}
	if limit < 1 || limit > MaxLimit {
		return 0, false, graphqlerr.New(graphqlerr.BadUserInput, "%s: limit is %d, and must be 1 to %d", q.Name, limit, MaxLimit)
	}
	return limit, a.Reverse != nil && *a.Reverse, nil
}

func operandError(q *Query, err error) error {
	var operand *keys.OperandError
	if errors.As(err, &operand) {
		return graphqlerr.New(graphqlerr.BadUserInput, "%s: %w", q.Name, operand)
	}
	return graphqlerr.New(graphqlerr.BadUserInput, "%s: %w", q.Name, err)
}

// selectRows finds the sort keys that the arguments of a query of an entity select.
func selectRows(q *Query, sk querydb.Half, r *request, dbq *querydb.Query) error {
	if !sk.Layout.Exists() {
		return nil
	}
	given := leading(q, r.sk)
	where, err := sk.Layout.Read(keys.CountLeading(given), r.page.Where)
	if err != nil {
		return err
	}
	ranges, err := sk.Layout.Select(given, where)
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

// leading are the values of the parts of a sort key. A part of the partition key is always given, and no reason to ask for
// those before it: after one that is not given it counts as not given either.
func leading(q *Query, sk []keys.Value) []keys.Value {
	given, missing := slices.Clone(sk), false
	for i := range given {
		missing = missing || !given[i].Present()
		if missing && slices.ContainsFunc(q.PK, func(a Arg) bool { return a.Name == q.SK[i].Name }) {
			given[i] = keys.Value{}
		}
	}
	return given
}
