package read

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/internal/parallel"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// Joined reads the rows of join keys of a target. A failed read fails the keys that it was for.
func (rd *Reader) Joined(ctx context.Context, g Target, ids JoinKeyList, fields []int) JoinedRows {
	out, v := NewJoinedRows(len(ids.Keys)), rd.Viewer(ctx)
	allowed := v.LevelOf(g.Type.Rule)
	if err := rd.served.knowsOwner(ctx, g.Type, allowed); err != nil {
		out.failAll(rd.Errors().Read(ctx, err, g.Type.Name))
		return out
	}
	if g.batched() {
		err := batches{rd: rd, distinct: ids.distinct()}.fetch(ctx, allowed, g, ids.Keys, out.Records)
		out.failAll(rd.Errors().Read(ctx, err, g.Type.Name))
		return out
	}
	var keep func(*querydb.Row) bool
	if allowed == access.OwnRowsOnly && !g.single() {
		keep = v.KeepOwn(g.Type)
	}
	errs := make([]error, len(ids.Keys))
	var gate gate
	parallel.Each(len(ids.Keys), rd.Config.Parallelism, func(i int) {
		if errs[i] = gate.closed(); errs[i] != nil {
			return
		}
		defer func() { gate.close(errs[i]) }()
		at := ids.At(i)
		if errs[i] = rd.passJoinRule(ctx, v, g, at); errs[i] != nil {
			return
		}
		var rec record.Record
		var err error
		if allowed == access.OwnRowsOnly && keep == nil {
			rec, err = judging{rd, v, g.Type}.row(ctx, func(ctx context.Context) (record.Record, error) {
				return rd.first(ctx, g, at, fields, false, nil)
			})
		} else {
			rec, err = rd.first(ctx, g, at, fields, false, keep)
		}
		switch {
		case keep != nil:
			err = rd.Errors().unnamed(ctx, err, g.Type.Name)
		case allowed == access.OwnRowsOnly && hidesFrom(v, g.Type, err):
			rd.Errors().logHidden(ctx, err, g.Type.Name)
			err = nil
		}
		out.Records[i], errs[i] = rec, err
	})
	for i, err := range errs {
		if err != nil {
			out.Fail(i, rd.Errors().Read(ctx, err, g.Type.Name))
		}
	}
	return out
}

// gate is closed by the first of several reads that has spent the budget of the request, or its time: the others would
// fail too, at the store's cost. It is safe for concurrent use.
type gate struct{ why atomic.Pointer[error] }

func (g *gate) closed() error {
	if why := g.why.Load(); why != nil {
		return *why
	}
	return nil
}

func (g *gate) close(err error) {
	if errors.Is(err, driver.ErrOverBudget) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		g.why.CompareAndSwap(nil, &err)
	}
}

// batches reads the rows of a table by their whole keys.
type batches struct {
	rd         *Reader
	consistent bool
	distinct   bool // no key repeats
}

// keyBytes is what a key is charged with, whether there is a row under it or not: reading it costs the store as much.
const keyBytes = 256

// fetch reads the rows under the keys that a viewer of the level may see.
func (b batches) fetch(ctx context.Context, allowed access.Level, g Target, ks []keys.Key, recs []record.Record) error {
	if budget := driver.BudgetOf(ctx); budget != nil && len(ks) > JudgedAtOnce {
		if err := budget.Take(keyBytes * len(ks)); err != nil {
			return err
		}
	}
	if allowed == access.OwnRowsOnly {
		return b.fetchOwn(ctx, g, ks, recs)
	}
	return b.fetchBatch(ctx, g, ks, recs)
}

func (b batches) fetchBatch(ctx context.Context, g Target, ks []keys.Key, recs []record.Record) error {
	return b.rd.db.GetRecords(ctx, g.Type.Model,
		querydb.Get{Keys: ks, Consistent: b.consistent, Distinct: b.distinct}, recs)
}

// JudgedAtOnce is how many rows of an operation are in memory before it is known whose they are, at most.
const JudgedAtOnce = querydb.MinFilterBatch

// fetchOwn is fetchBatch that leaves out rows of others, see ownership. Of a long list it is found out first which rows
// are the viewer's. Those are then read again, in one batch, because that shows no event half applied. A commit may
// have given some of them to others meanwhile: what a row says of its owner holds for what was read with it.
func (b batches) fetchOwn(ctx context.Context, g Target, ks []keys.Key, recs []record.Record) error {
	if len(ks) <= JudgedAtOnce {
		return b.fetchJudged(ctx, g, ks, recs)
	}
	places, err := b.ownPlaces(ctx, g, ks)
	if err != nil {
		return err
	}
	own := make([]keys.Key, len(places))
	for i, at := range places {
		own[i] = ks[at]
	}
	got := make([]record.Record, len(own))
	err = b.fetchBatch(ctx, g, own, got)
	v := b.rd.Viewer(ctx)
	for i, at := range places {
		if v.Owns(g.Type, got[i]) {
			recs[at] = got[i]
		}
	}
	return err
}

// ownPlaces finds out which keys lead to rows of the viewer's. It reads a few rows at a time and keeps none of them.
func (b batches) ownPlaces(ctx context.Context, g Target, ks []keys.Key) (places []int, err error) {
	v, few := b.rd.Viewer(ctx), make([]record.Record, JudgedAtOnce)
	for from := 0; from < len(ks); from += JudgedAtOnce {
		some, before := ks[from:min(from+JudgedAtOnce, len(ks))], len(places)
		err := judging{b.rd, v, g.Type}.rows(ctx, len(some), func(ctx context.Context) (own int, err error) {
			defer clear(few)
			if err := b.fetchUnjudged(ctx, g, some, few); err != nil {
				return 0, err
			}
			for i := range some {
				if v.Owns(g.Type, few[i]) {
					places = append(places, from+i)
				}
			}
			return len(places) - before, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return places, nil
}

// fetchJudged reads few rows, and keeps those that are the viewer's.
func (b batches) fetchJudged(ctx context.Context, g Target, ks []keys.Key, recs []record.Record) error {
	v := b.rd.Viewer(ctx)
	return judging{b.rd, v, g.Type}.rows(ctx, len(ks), func(uncharged context.Context) (own int, err error) {
		err = b.fetchUnjudged(uncharged, g, ks, recs)
		others := false
		for i := 0; i < len(recs) && err == nil; i++ {
			if recs[i] == nil {
				continue
			}
			if recs[i], err = v.Keep(ctx, g.Type, recs[i]); recs[i] != nil {
				own++
			} else {
				others = true
			}
		}
		switch {
		case err != nil:
			clear(recs) // some are not judged yet
		case others: // the memory of theirs may be of one piece with that of own rows, and is charged to nobody
			for i := range recs {
				recs[i] = bytes.Clone(recs[i])
			}
		}
		return own, err
	})
}

// fetchUnjudged reads rows of which it is not known yet whose they are, with a context that charges nothing. One that
// cannot be read is no row, as its error would tell others that it is there: see hidesFrom.
func (b batches) fetchUnjudged(ctx context.Context, g Target, ks []keys.Key, recs []record.Record) error {
	v, err := b.rd.Viewer(ctx), b.fetchBatch(ctx, g, ks, recs)
	if !unreadable(err) {
		return err
	}
	for i := range ks {
		switch err := b.fetchBatch(ctx, g, ks[i:i+1], recs[i:i+1]); {
		case hidesFrom(v, g.Type, err):
			b.rd.Errors().logHidden(ctx, err, g.Type.Name)
			recs[i] = nil
		case err != nil:
			return err
		}
	}
	return nil
}

// TooManyJoins is the error of a virtual field that leads to more rows than it may.
func (rd *Reader) TooManyJoins(n int) error {
	return graphqlerr.New(graphqlerr.LimitExceeded, "the field leads to %d rows or more, and may lead to %d; ask for "+
		"smaller pages", n, rd.Config.MaxFanout)
}

// JoinedRows are the rows that a list of keys leads to, aligned with it: a nil record is no row. errs is nil where
// nothing failed, else it is aligned too.
type JoinedRows struct {
	Records []record.Record
	errs    []error
}

// NewJoinedRows returns the rows of n keys, of which none has been found and none has failed.
func NewJoinedRows(n int) JoinedRows { return JoinedRows{Records: make([]record.Record, n)} }

// Fail gives the i-th row an error.
func (r *JoinedRows) Fail(i int, err error) {
	if r.errs == nil {
		r.errs = make([]error, len(r.Records))
	}
	r.errs[i] = err
}

// failAll fails every row, if there is an error.
func (r *JoinedRows) failAll(err error) {
	for i := 0; err != nil && i < len(r.Records); i++ {
		r.Fail(i, err)
	}
}

// Err is the error of the i-th row, nil where it has not failed.
func (r *JoinedRows) Err(i int) error {
	if r.errs == nil {
		return nil
	}
	return r.errs[i]
}
