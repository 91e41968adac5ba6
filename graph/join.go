package graph

import (
	"context"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// target is where a join leads: the table of a type, or one of its indexes.
type target struct {
	typ *Type
	via int
}

func (rt *Runtime) target(j *Join) target {
	return target{typ: rt.catalog.Types[j.Target], via: j.Via}
}

// halves returns the key of the target.
func (g target) halves() (pk, sk *querydb.Half) {
	if g.via == driver.Primary {
		return &g.typ.Model.PK, &g.typ.Model.SK
	}
	x := &g.typ.Model.Indexes[g.via]
	return &x.PK, &x.SK
}

// batched reports whether an id is the whole key of a row, so that many rows are read in one batch.
func (g target) batched() bool {
	return g.via == driver.Primary && (g.typ.isEntity() || !g.typ.Model.SK.Layout.Exists())
}

// spot is where an id leads in a target: to the row under Key, or, without a sort half, to those of a partition.
type spot struct {
	keys.Key
	auth keys.Key // where a rule holds in the target: of the row that names the owner
}

// spot finds where an id leads. ok is false where no row can be, as under an empty id: such an id leads nowhere, and is not
// an error.
func (rt *Runtime) spot(g target, id keys.Value) (s spot, ok bool, err error) {
	if s.Key, err = g.key(id); err != nil {
		return spot{}, false, err
	}
	if g.via != driver.Primary {
		if q := rt.guarded[g]; q != nil && q.Rule.AuthTable != "" {
			if s.auth, err = rt.catalog.Types[q.Rule.AuthTable].key(id); err != nil {
				return spot{}, false, err
			}
		}
	}
	ok = s.PK != "" && len(s.PK) <= keys.MaxPK && len(s.SK) <= keys.MaxSK && (s.SK != "" || !g.keyed())
	return s, ok, nil
}

// key composes the key that an id has in the target. The sort half is left out where it has other fields than the id.
func (g target) key(id keys.Value) (k keys.Key, err error) {
	pk, sk := g.halves()
	if k.PK, err = composeID(pk, id); err == nil && g.keyed() {
		k.SK, err = composeID(sk, id)
	}
	return k, err
}

// keyed reports whether an id says both halves of a key: that of a table, or that of an index in which the partition half
// has no fields.
func (g target) keyed() bool {
	pk, sk := g.halves()
	return sk.Layout.Exists() && (g.batched() || len(pk.Fields) == 0)
}

// key composes the key of the row of a model that an id alone is the key of.
func (t *Type) key(id keys.Value) (keys.Key, error) {
	return target{typ: t, via: driver.Primary}.key(id)
}

// composeID composes a half that has the id as its one field, or none.
func composeID(h *querydb.Half, id keys.Value) (string, error) {
	if len(h.Fields) == 0 {
		return h.Layout.Compose()
	}
	return h.Layout.Compose(id)
}

// rows are the rows that a list of keys leads to, aligned with it: a nil record is no row. errs is nil where nothing
// failed, else it is aligned too.
type rows struct {
	recs []record.Record
	errs []error
}

func newRows(n int) rows { return rows{recs: make([]record.Record, n)} }

func (r *rows) fail(i int, err error) {
	if r.errs == nil {
		r.errs = make([]error, len(r.recs))
	}
	r.errs[i] = err
}

// failAll fails every row, if there is an error.
func (r *rows) failAll(err error) {
	for i := 0; err != nil && i < len(r.recs); i++ {
		r.fail(i, err)
	}
}

func (r *rows) err(i int) error {
	if r.errs == nil {
		return nil
	}
	return r.errs[i]
}

// fetch reads the rows of distinct keys of a target. A failed read fails the keys that it was for.
func (rt *Runtime) fetch(ctx context.Context, g target, ids []spot, fields []int) rows {
	out, v := newRows(len(ids)), rt.viewer(ctx)
	allowed := v.access(g.typ.Rule)
	if g.batched() {
		read := rt.fetchBatch
		if allowed == ownerOnly {
			read = rt.fetchOwn
		}
		out.failAll(rt.readError(ctx, read(ctx, g, ids, out.recs), g.typ.Name))
		return out
	}
	var keep func(*querydb.Row) bool
	if allowed == ownerOnly && !g.single() {
		keep = v.ownAlone(g.typ)
	}
	errs := make([]error, len(ids))
	rt.parallel(len(ids), func(i int) {
		if errs[i] = rt.passJoinRule(ctx, v, g, ids[i]); errs[i] != nil {
			return
		}
		rec, err := rt.first(allowed.reading(ctx), g, ids[i], fields, false, keep)
		if err == nil {
			rec, err = v.kept(ctx, g.typ, allowed, rec)
		}
		out.recs[i], errs[i] = rec, err
	})
	for i, err := range errs {
		if err != nil {
			out.fail(i, rt.readError(ctx, err, g.typ.Name))
		}
	}
	return out
}

func (rt *Runtime) fetchBatch(ctx context.Context, g target, ids []spot, recs []record.Record) error {
	ks := make([]keys.Key, len(ids))
	for i, id := range ids {
		ks[i] = id.Key
	}
	got, err := rt.db.Get(ctx, g.typ.Model, ks, false)
	for i := range got {
		recs[i] = got[i].Record
	}
	return err
}

// judgedAtOnce is how many rows of a batch are in memory before it is known whose they are, at most.
const judgedAtOnce = 16

// fetchOwn is fetchBatch that leaves out rows of others, see ownership. Of a long list it is found out first which rows
// are the viewer's. Those are then read again, in one batch, because that shows no event half applied.
func (rt *Runtime) fetchOwn(ctx context.Context, g target, ids []spot, recs []record.Record) error {
	if len(ids) <= judgedAtOnce {
		return rt.fetchJudged(ctx, g, ids, recs)
	}
	places, err := rt.ownPlaces(ctx, g, ids)
	if err != nil {
		return err
	}
	own := make([]spot, len(places))
	for i, at := range places {
		own[i] = ids[at]
	}
	got := make([]record.Record, len(own))
	err = rt.fetchBatch(ctx, g, own, got)
	for i, at := range places {
		recs[at] = got[i]
	}
	return err
}

// ownPlaces finds out which ids lead to rows of the viewer's. It reads a few rows at a time and keeps none of them: as
// they are not charged, nothing else bounds what large rows of others take of memory.
func (rt *Runtime) ownPlaces(ctx context.Context, g target, ids []spot) (places []int, err error) {
	v, few := rt.viewer(ctx), make([]record.Record, judgedAtOnce)
	for from := 0; from < len(ids); from += judgedAtOnce {
		some := ids[from:min(from+judgedAtOnce, len(ids))]
		if err := rt.fetchBatch(driver.Uncharged(ctx), g, some, few); err != nil {
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
func (rt *Runtime) fetchJudged(ctx context.Context, g target, ids []spot, recs []record.Record) error {
	err := rt.fetchBatch(driver.Uncharged(ctx), g, ids, recs)
	v := rt.viewer(ctx)
	for i := 0; i < len(recs) && err == nil; i++ {
		recs[i], err = v.kept(ctx, g.typ, ownerOnly, recs[i])
	}
	if err != nil {
		clear(recs) // some are not judged yet
	}
	return err
}

// first reads the row that stands at a spot: of a partition of a table the one with the greatest sort key, of an index the
// first. In a partition it is one of those that keep keeps.
func (rt *Runtime) first(
	ctx context.Context, g target, at spot, fields []int, consistent bool, keep func(*querydb.Row) bool,
) (record.Record, error) {
	if g.batched() {
		got, err := rt.db.Get(ctx, g.typ.Model, []keys.Key{at.Key}, consistent)
		if err != nil {
			return nil, err
		}
		return got[0].Record, nil
	}
	within, err := g.rows(at)
	if err != nil {
		return nil, err
	}
	p, err := rt.db.Query(ctx, g.typ.Model, querydb.Query{
		Index: g.via, PK: at.PK, Range: within, Reverse: g.via == driver.Primary, Limit: 1, Consistent: consistent, Fields: fields,
		Keep: keep,
	})
	if err != nil || len(p.Rows) == 0 {
		return nil, err
	}
	return p.Rows[0].Record, nil
}

// rows is where the rows of a spot lie in its partition: among rows of other types, where the table is shared.
func (g target) rows(at spot) (keys.Range, error) {
	_, sk := g.halves()
	switch {
	case at.SK != "":
		return keys.Range{Op: keys.Equal, Lo: at.SK}, nil
	case !g.typ.isEntity() || !sk.Layout.Exists():
		return keys.Range{}, nil
	}
	ranges, err := sk.Layout.Select(nil, keys.Condition{})
	if err != nil {
		return keys.Range{}, err
	}
	return ranges[0], nil
}

// tooManyJoins is the error of a virtual field that leads to more rows than it may.
func (rt *Runtime) tooManyJoins(n int) error {
	return graphqlerr.New(graphqlerr.LimitExceeded, "the field leads to %d rows, and may lead to %d; ask for smaller pages",
		n, rt.cfg.MaxJoinFanout)
}
