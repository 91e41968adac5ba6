package graph

import (
	"context"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// readOne answers a query of kind One. A nil record is no row.
func (rd *reader) readOne(ctx context.Context, v viewer, q *Query, r *request) (record.Record, error) {
	t := rd.catalog.Types[q.Type]
	allowed := v.access(t.Rule)
	if allowed == refused {
		return nil, v.refusal(t.Name)
	}
	pk, err := rd.partition(q, r.pk)
	if err != nil {
		return nil, err
	}
	ownOnly := allowed == ownerOnly && !wholeKey(q, t, r)
	owner, err := rd.passIndexRule(ctx, v, q, r.pk, pk, ownOnly)
	if err != nil {
		return nil, err
	}
	if half := rd.partitionHalf(q); ownOnly && !owner && !v.ownPartition(t, &half, r.pk, pk) {
		return nil, v.refusal(t.Name)
	}
	rec, err := rd.lookUp(allowed.reading(ctx), q, t, pk, r)
	if err == nil {
		rec, err = v.kept(ctx, t, allowed, rec)
	}
	if err != nil {
		return nil, rd.errors().userKey(ctx, err, t.Name)
	}
	// To somebody who is admitted to own rows only, a row that is not there is as closed as another's: the answer does
	// not tell the two apart.
	if allowed == ownerOnly && rec == nil {
		return nil, v.refusal(t.Name)
	}
	return rec, nil
}

// lookUp reads the row under the whole key, or the row with the greatest sort key where none is given.
func (rd *reader) lookUp(ctx context.Context, q *Query, t *Type, pk string, r *request) (record.Record, error) {
	if isEntity(t) {
		return rd.lookUpEntity(ctx, q, t, pk, r)
	}
	if len(r.sk) > len(q.SK) {
		sk, given, err := composeHalf(q, t.Model.SK.Layout, q.SK, q.SKParts, r.sk)
		if err != nil {
			return nil, err
		}
		if r.sk = nil; given {
			return rd.rowAt(ctx, t, keys.Key{PK: pk, SK: sk}, r)
		}
	}
	whole, err := wholeSortKey(q, r.sk)
	if err != nil {
		return nil, err
	}
	if q.Index != driver.Primary || (len(q.SK) > 0 && !whole) || (len(q.SK) == 0 && t.Model.SK.Layout.Exists()) {
		return rd.first(ctx, target{typ: t, via: q.Index}, joinKey{Key: keys.Key{PK: pk}}, r.fields, r.consistent, nil)
	}
	key := keys.Key{PK: pk}
	if whole {
		if key.SK, err = compose(t.Model.SK.Layout, q.SK, r.sk); err != nil {
			return nil, graphqlerr.New(graphqlerr.BadUserInput, "%s: %w", q.Name, err)
		}
	}
	return rd.rowAt(ctx, t, key, r)
}

func (rd *reader) rowAt(ctx context.Context, t *Type, key keys.Key, r *request) (record.Record, error) {
	rows, err := rd.db.Get(ctx, t.Model, []keys.Key{key}, r.consistent)
	if err != nil {
		return nil, err
	}
	return rows[0].Record, nil
}

// wholeSortKey reports whether the arguments that compose the sort key are given; they are given all or none.
func wholeSortKey(q *Query, sk []keys.Value) (bool, error) {
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

// lookUpEntity reads the row under a whole key of the table, or of a unique index.
func (rd *reader) lookUpEntity(ctx context.Context, q *Query, t *Type, pk string, r *request) (record.Record, error) {
	at := joinKey{Key: keys.Key{PK: pk}}
	if _, half := halves(q, t.Model); half.Layout.Exists() {
		var err error
		if at.SK, err = half.Layout.Compose(r.sk...); err != nil {
			return nil, operandError(q, err)
		}
	}
	return rd.first(ctx, target{typ: t, via: q.Index}, at, r.fields, r.consistent, nil)
}

// wholeKey reports whether the query reads the one row that there can be under the key that the request gives.
func wholeKey(q *Query, t *Type, r *request) bool {
	switch {
	case q.Kind != One:
		return false
	case isEntity(t):
		return true // its queries of kind One take the whole key, of the table or of a unique index
	case q.Index != driver.Primary:
		return false
	}
	whole, _ := wholeSortKey(q, r.sk)
	return whole || !t.Model.SK.Layout.Exists()
}
