package graph

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Limits of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// PageArgs are the arguments that a query with pages takes beside its key; nil means not given.
type PageArgs struct {
	// Eq, Prefix, From and To are text of the sort key. A query of an entity has, in their place, Sort, the values of the
	// parts of the sort key, absent ones where they are not given, and Where, the conditions on the first of those.
	Eq, Prefix, From, To *string
	Sort                 []keys.Value
	Where                keys.Condition
	Reverse              *bool
	Limit                *int
	NextToken            *string
}

// request is a query with its arguments as values.
type request struct {
	pk, sk     []keys.Value
	room       [2]keys.Value // for pk and sk, as long as they are few
	page       PageArgs
	consistent bool
	only       []string // types of members of a collection; nil for all
	// fields are the ordinals that will be read of the rows, nil for all; token says that the next token will be.
	fields []int
	token  bool
}

// halves returns the key that the query of a type reads by.
func (q *Query) halves(m *querydb.Model) (pk, sk querydb.Half) {
	if q.Index == driver.Primary {
		return m.PK, m.SK
	}
	return m.Indexes[q.Index].PK, m.Indexes[q.Index].SK
}

// partitionHalf returns the partition half of the key that the query reads by. All members of a collection have the same.
func (rt *Runtime) partitionHalf(q *Query) querydb.Half {
	if q.Collection != nil {
		first := q.Collection.Stored.Members[0]
		return first.Model.Indexes[first.Index].PK
	}
	half, _ := q.halves(rt.catalog.Types[q.Type].Model)
	return half
}

// partition composes the partition key that the arguments name.
func (rt *Runtime) partition(q *Query, vals []keys.Value) (string, error) {
	half := rt.partitionHalf(q)
	if !half.Layout.Exists() {
		return keys.Singleton, nil
	}
	if len(vals) > len(q.PK) {
		pk, given, err := q.wholeHalf(half.Layout, q.PK, q.PKParts, vals)
		if err == nil && !given {
			err = graphqlerr.New(graphqlerr.BadUserInput, "%s: give %s, or %s", q.Name, q.PK[0].Name, names(q.PKParts))
		}
		return pk, err
	}
	pk, err := compose(half.Layout, q.PK, vals)
	if given := keys.CountLeading(vals); given < len(vals) && q.PK[given].Optional {
		pk, err = q.cutShort(half.Layout, vals, given)
	}
	if err != nil {
		return "", graphqlerr.New(graphqlerr.BadUserInput, "%s: %w", q.Name, err)
	}
	return pk, nil
}

// cutShort composes a partition key of its leading attributes.
func (q *Query) cutShort(l keys.Layout, vals []keys.Value, given int) (string, error) {
	for i := given; i < len(vals); i++ {
		if vals[i].Present() {
			return "", fmt.Errorf("%s is given without %s, which comes before it in the key", q.PK[i].Name, q.PK[given].Name)
		}
	}
	return l.Truncate(vals[:given]...)
}

// compose composes a half of a key of the values of its arguments: one for each of its fields. Where the API takes the
// half as one id, of several fields or of one that is no text, the value is the text of the half itself, as operands are.
func compose(l keys.Layout, args []Arg, vals []keys.Value) (string, error) {
	isText := len(vals) == 1 && vals[0].Kind() == keys.KindString
	if !isText || len(l.Segments) == 1 && l.Segments[0].Kind == keys.KindString {
		return l.Compose(vals...)
	}
	return l.Whole(args[0].Name, vals[0].Text())
}

// readOne answers a query of kind One. A nil record is no row.
func (rt *Runtime) readOne(ctx context.Context, v viewer, q *Query, r *request) (record.Record, error) {
	t := rt.catalog.Types[q.Type]
	allowed := v.access(t.Rule)
	if allowed == refused {
		return nil, v.refusal(t.Name)
	}
	pk, err := rt.partition(q, r.pk)
	if err != nil {
		return nil, err
	}
	ownOnly := allowed == ownerOnly && !q.wholeKey(t, r)
	owner, err := rt.passIndexRule(ctx, v, q, r.pk, pk, ownOnly)
	if err != nil {
		return nil, err
	}
	if half := rt.partitionHalf(q); ownOnly && !owner && !v.ownPartition(t, &half, r.pk, pk) {
		return nil, v.refusal(t.Name)
	}
	rec, err := rt.lookUp(allowed.reading(ctx), q, t, pk, r)
	if err == nil {
		rec, err = v.kept(ctx, t, allowed, rec)
	}
	if err != nil {
		return nil, rt.userKeyError(ctx, err, t.Name)
	}
	// To somebody who is admitted to own rows only, a row that is not there is as closed as another's: the answer does
	// not tell the two apart.
	if allowed == ownerOnly && rec == nil {
		return nil, v.refusal(t.Name)
	}
	return rec, nil
}

// lookUp reads the row under the whole key, or the row with the greatest sort key where none is given.
func (rt *Runtime) lookUp(ctx context.Context, q *Query, t *Type, pk string, r *request) (record.Record, error) {
	if t.isEntity() {
		return rt.lookUpEntity(ctx, q, t, pk, r)
	}
	if len(r.sk) > len(q.SK) {
		sk, given, err := q.wholeHalf(t.Model.SK.Layout, q.SK, q.SKParts, r.sk)
		if err != nil {
			return nil, err
		}
		if r.sk = nil; given {
			return rt.rowAt(ctx, t, keys.Key{PK: pk, SK: sk}, r)
		}
	}
	whole, err := q.wholeSortKey(r.sk)
	if err != nil {
		return nil, err
	}
	if q.Index != driver.Primary || (len(q.SK) > 0 && !whole) || (len(q.SK) == 0 && t.Model.SK.Layout.Exists()) {
		return rt.first(ctx, target{typ: t, via: q.Index}, spot{Key: keys.Key{PK: pk}}, r.fields, r.consistent, nil)
	}
	key := keys.Key{PK: pk}
	if whole {
		if key.SK, err = compose(t.Model.SK.Layout, q.SK, r.sk); err != nil {
			return nil, graphqlerr.New(graphqlerr.BadUserInput, "%s: %w", q.Name, err)
		}
	}
	return rt.rowAt(ctx, t, key, r)
}

func (rt *Runtime) rowAt(ctx context.Context, t *Type, key keys.Key, r *request) (record.Record, error) {
	rows, err := rt.db.Get(ctx, t.Model, []keys.Key{key}, r.consistent)
	if err != nil {
		return nil, err
	}
	return rows[0].Record, nil
}

// wholeSortKey reports whether the arguments that compose the sort key are given; they are given all or none.
func (q *Query) wholeSortKey(sk []keys.Value) (bool, error) {
	given, missing := 0, ""
	for i, a := range q.SK {
		if i < len(sk) && sk[i].Present() {
			given++
		} else if missing == "" {
			missing = a.Name
		}
	}
	if given > 0 && missing != "" {
		return false, graphqlerr.New(graphqlerr.BadUserInput, "%s: the argument %s is missing: give the whole sort key, or nothing of it for the last row", q.Name, missing)
	}
	return given > 0, nil
}

// page is the answer to a query of kind Many.
type page struct {
	rows []querydb.Row
	of   []int  // of a collection: which of its members each row is of
	next string // "" where the page is the last, or nobody asked for it
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
func (rt *Runtime) readPage(ctx context.Context, v viewer, q *Query, r *request) (page, error) {
	if q.Collection != nil {
		return rt.readCollection(ctx, v, q, r)
	}
	t := rt.catalog.Types[q.Type]
	allowed := v.access(t.Rule)
	if allowed == refused {
		return page{}, v.refusal(t.Name)
	}
	dbq, err := rt.pageQuery(q, t.Model, r)
	if err != nil {
		return page{}, err
	}
	owner, err := rt.passIndexRule(ctx, v, q, r.pk, dbq.PK, allowed == ownerOnly)
	if err != nil {
		return page{}, err
	}
	if half := rt.partitionHalf(q); allowed == ownerOnly && !v.ownPartition(t, &half, r.pk, dbq.PK) {
		if !owner {
			return page{}, v.refusal(t.Name)
		}
		dbq.Keep = v.ownAlone(t)
	}
	binding := newBinding(q, &dbq, v)
	if r.page.NextToken != nil {
		if dbq.Start, err = rt.openToken(binding, *r.page.NextToken); err != nil {
			return page{}, err
		}
	}
	answer, err := rt.db.Query(ctx, t.Model, dbq)
	if err != nil {
		return page{}, rt.userKeyError(ctx, err, t.Name)
	}
	if allowed == ownerOnly {
		if err := v.ownRows(t, answer.Rows); err != nil {
			return page{}, err
		}
	}
	p := page{rows: answer.Rows}
	if answer.Next != nil && r.token {
		p.next = rt.sealToken(binding, *answer.Next)
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
func (rt *Runtime) pageQuery(q *Query, m *querydb.Model, r *request) (querydb.Query, error) {
	pk, err := rt.partition(q, r.pk)
	if err != nil {
		return querydb.Query{}, err
	}
	dbq := querydb.Query{Index: q.Index, PK: pk, Consistent: r.consistent, Fields: r.fields}
	if dbq.Limit, dbq.Reverse, err = q.pageSize(&r.page); err != nil {
		return querydb.Query{}, err
	}
	_, sk := q.halves(m)
	switch {
	case m.Entity != nil:
		err = q.selectRows(sk, r, &dbq)
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
func (q *Query) pageSize(a *PageArgs) (limit int, reverse bool, err error) {
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
