package graph

import (
	"context"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// fetch reads the rows of distinct keys of a target. A failed read fails the keys that it was for.
func (rd *reader) fetch(ctx context.Context, g target, ids []joinKey, fields []int) rows {
	out, v := newRows(len(ids)), rd.viewer(ctx)
	allowed := v.access(g.typ.Rule)
	if g.batched() {
		read := rd.fetchBatch
		if allowed == ownerOnly {
			read = rd.fetchOwn
		}
		out.failAll(rd.errors().read(ctx, read(ctx, g, ids, out.recs), g.typ.Name))
		return out
	}
	var keep func(*querydb.Row) bool
	if allowed == ownerOnly && !g.single() {
		keep = v.ownAlone(g.typ)
	}
	errs := make([]error, len(ids))
	parallel(len(ids), rd.cfg.Parallelism, func(i int) {
		if errs[i] = rd.passJoinRule(ctx, v, g, ids[i]); errs[i] != nil {
			return
		}
		rec, err := rd.first(allowed.reading(ctx), g, ids[i], fields, false, keep)
		if err == nil {
			rec, err = v.kept(ctx, g.typ, allowed, rec)
		}
		out.recs[i], errs[i] = rec, err
	})
	for i, err := range errs {
		if err != nil {
			out.fail(i, rd.errors().read(ctx, err, g.typ.Name))
		}
	}
	return out
}

func (rd *reader) fetchBatch(ctx context.Context, g target, ids []joinKey, recs []record.Record) error {
	ks := make([]keys.Key, len(ids))
	for i, id := range ids {
		ks[i] = id.Key
	}
	got, err := rd.db.Get(ctx, g.typ.Model, ks, false)
	for i := range got {
		recs[i] = got[i].Record
	}
	return err
}

// judgedAtOnce is how many rows of a batch are in memory before it is known whose they are, at most.
const judgedAtOnce = 16

// fetchOwn is fetchBatch that leaves out rows of others, see ownership. Of a long list it is found out first which rows
// are the viewer's. Those are then read again, in one batch, because that shows no event half applied.
func (rd *reader) fetchOwn(ctx context.Context, g target, ids []joinKey, recs []record.Record) error {
	if len(ids) <= judgedAtOnce {
		return rd.fetchJudged(ctx, g, ids, recs)
	}
	places, err := rd.ownPlaces(ctx, g, ids)
	if err != nil {
		return err
	}
	own := make([]joinKey, len(places))
	for i, at := range places {
		own[i] = ids[at]
	}
	got := make([]record.Record, len(own))
	err = rd.fetchBatch(ctx, g, own, got)
	for i, at := range places {
		recs[at] = got[i]
	}
	return err
}

// ownPlaces finds out which ids lead to rows of the viewer's. It reads a few rows at a time and keeps none of them: as
// they are not charged, nothing else bounds what large rows of others take of memory.
func (rd *reader) ownPlaces(ctx context.Context, g target, ids []joinKey) (places []int, err error) {
	v, few := rd.viewer(ctx), make([]record.Record, judgedAtOnce)
	for from := 0; from < len(ids); from += judgedAtOnce {
		some := ids[from:min(from+judgedAtOnce, len(ids))]
		if err := rd.fetchBatch(driver.Uncharged(ctx), g, some, few); err != nil {
			return nil, err
		}
		for i := range some {
			if v.owns(g.typ, few[i]) {
				places = append(places, from+i)
			}
		}
	}
	return places, nil
}

// fetchJudged reads few rows, and keeps those that are the viewer's.
func (rd *reader) fetchJudged(ctx context.Context, g target, ids []joinKey, recs []record.Record) error {
	err := rd.fetchBatch(driver.Uncharged(ctx), g, ids, recs)
	v := rd.viewer(ctx)
	for i := 0; i < len(recs) && err == nil; i++ {
		recs[i], err = v.kept(ctx, g.typ, ownerOnly, recs[i])
	}
	if err != nil {
		clear(recs) // some are not judged yet
	}
	return err
}

// tooManyJoins is the error of a virtual field that leads to more rows than it may.
func (rd *reader) tooManyJoins(n int) error {
	return graphqlerr.New(graphqlerr.LimitExceeded, "the field leads to %d rows, and may lead to %d; ask for smaller pages",
		n, rd.cfg.MaxFanout)
}
