package read

import (
	"context"
	"errors"
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Row answers a query of kind QueryOne. A nil record is no row.
func (rd *Reader) Row(ctx context.Context, v access.Viewer, q *catalog.Query, r *Request) (record.Record, error) {
	t := rd.Catalog.Types[q.Type]
	allowed := v.LevelOf(t.Rule)
	if allowed == access.Refused {
		return nil, v.Refusal(t.Name)
	}
	key, err := rd.served.key(ctx, t.Model, q.Index)
	if err == nil {
		err = rd.served.knowsOwner(ctx, t, allowed)
	}
	if err != nil {
		return nil, rd.Errors().Read(ctx, err, t.Name)
	}
	pk, err := partition(q, &key.PK, r.PK)
	if err != nil {
		return nil, rd.served.asked(ctx, t.Model, err)
	}
	ownOnly := allowed == access.OwnRowsOnly && !wholeKey(q, t, r)
	owner, err := rd.passIndexRule(ctx, v, q, r.PK, pk, ownOnly)
	if err != nil {
		return nil, err
	}
	if half := partitionHalf(q, t); ownOnly && !owner && !ownsPartition(v, t, q, &half, key, r.PK, pk) {
		return nil, v.Refusal(t.Name)
	}
	var rec record.Record
	if allowed == access.OwnRowsOnly {
		rec, err = judging{rd, v, t}.row(ctx, func(ctx context.Context) (record.Record, error) {
			return rd.lookUp(ctx, q, t, key, pk, r)
		})
	} else {
		rec, err = rd.lookUp(ctx, q, t, key, pk, r)
	}
	if allowed == access.OwnRowsOnly && !ownOnly && hidesFrom(v, t, err) {
		rd.Errors().logHidden(ctx, err, t.Name)
		err = nil
	}
	if errors.Is(err, keys.ErrFormerLayout) {
		return nil, rd.served.asked(ctx, t.Model, err)
	}
	if err != nil {
		return nil, rd.Errors().userKey(ctx, err, t.Name)
	}
	// To somebody who is admitted to own rows only, a row that is not there is as closed as another's, and as one that
	// cannot be read, of which nobody knows whose it is: the answer does not tell them apart.
	if allowed == access.OwnRowsOnly && rec == nil {
		return nil, v.Refusal(t.Name)
	}
	return rec, nil
}

// lookUp reads the row under the whole key, or the row with the greatest sort key where none is given.
func (rd *Reader) lookUp(ctx context.Context, q *catalog.Query, t *catalog.Type, by *querydb.Key, pk string,
	r *Request) (record.Record, error) {
	if IsEntity(t) {
		return rd.lookUpEntity(ctx, q, t, by, pk, r)
	}
	if len(r.SK) > len(q.SK) {
		sk, given, err := composeHalf(q, &by.SK, q.SK, q.SKParts, r.SK)
		if err != nil {
			return nil, err
		}
		if r.SK = nil; given {
			return rd.rowAt(ctx, t, keys.Key{PK: pk, SK: sk}, r)
		}
	}
	whole, err := wholeSortKey(q, r.SK)
	if err != nil {
		return nil, err
	}
	if q.Index != driver.Primary || (len(q.SK) > 0 && !whole) || (len(q.SK) == 0 && t.Model.SK.Layout.Exists()) {
		return rd.first(ctx, Target{Type: t, Index: q.Index}, JoinKey{Key: keys.Key{PK: pk}}, r.Fields, r.Consistent, nil)
	}
	key := keys.Key{PK: pk}
	if whole {
		if key.SK, err = compose(&by.SK, q.SK, r.SK); err != nil {
			return nil, badArgument(q, err)
		}
	}
	return rd.rowAt(ctx, t, key, r)
}

func (rd *Reader) rowAt(ctx context.Context, t *catalog.Type, key keys.Key, r *Request) (record.Record, error) {
	one := struct { // the memory of both at once
		key [1]keys.Key
		rec [1]record.Record
	}{key: [1]keys.Key{key}}
	err := rd.db.GetRecords(ctx, t.Model, querydb.Get{Keys: one.key[:], Consistent: r.Consistent}, one.rec[:])
	return one.rec[0], err
}

// wholeSortKey reports whether the arguments that compose the sort key are given; they are given all or none.
func wholeSortKey(q *catalog.Query, sk []keys.Value) (bool, error) {
	given, missing := 0, ""
	for i, a := range q.SK {
		if i < len(sk) && sk[i].Present() {
			given++
		} else if missing == "" {
			missing = a.Name
		}
	}
	if given > 0 && missing != "" {
		return false, graphqlerr.New(graphqlerr.BadUserInput, "%s: the argument %s is missing: give the whole sort key, or "+
			"nothing of it for the last row", q.Name, missing)
	}
	return given > 0, nil
}

// lookUpEntity reads the row under a whole key of the table, or of a unique index.
func (rd *Reader) lookUpEntity(ctx context.Context, q *catalog.Query, t *catalog.Type, by *querydb.Key, pk string,
	r *Request) (record.Record, error) {
	at := JoinKey{Key: keys.Key{PK: pk}}
	if by.SK.Layout.Exists() {
		var err error
		if at.SK, err = by.SK.Compose(r.SK...); err != nil {
			return nil, operandError(q, err)
		}
	}
	return rd.first(ctx, Target{Type: t, Index: q.Index}, at, r.Fields, r.Consistent, nil)
}

func absent(v keys.Value) bool { return !v.Present() }

// wholeKey reports whether the query reads the one row that there can be under the key that the request gives.
func wholeKey(q *catalog.Query, t *catalog.Type, r *Request) bool {
	switch {
	case q.Kind != catalog.QueryOne:
		return false
	case IsEntity(t):
		return true // its queries of kind QueryOne take the whole key, of the table or of a unique index
	case q.Index != driver.Primary:
		return false
	}
	if parts := r.SK[min(len(q.SK), len(r.SK)):]; len(parts) > 0 && !slices.ContainsFunc(parts, absent) {
		return true
	}
	whole, _ := wholeSortKey(q, r.SK)
	return whole || !t.Model.SK.Layout.Exists()
}
