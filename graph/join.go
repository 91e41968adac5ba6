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

// half returns the partition half that an id is the key of.
func (g target) half() querydb.Half {
	if g.via == driver.Primary {
		return g.typ.Model.PK
	}
	return g.typ.Model.Indexes[g.via].PK
}

// batched reports whether an id is the whole key of a row, so that many rows are read in one batch.
func (g target) batched() bool {
	return g.via == driver.Primary && !g.typ.Model.SK.Layout.Exists()
}

// key composes the key text that an id has in the target. ok is false where no row can be under it, as under an empty
// id: such an id leads nowhere, and is not an error.
func (g target) key(id keys.Value) (text string, ok bool, err error) {
	text, err = g.half().Layout.Compose(id)
	if err != nil {
		return "", false, err
	}
	return text, text != "" && len(text) <= keys.MaxPK, nil
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
func (rt *Runtime) fetch(ctx context.Context, g target, ids []string, fields []int) rows {
	if g.batched() {
		out := newRows(len(ids))
		out.failAll(rt.fetchBatch(ctx, g, ids, out.recs))
		return out
	}
	out, v := newRows(len(ids)), rt.viewer(ctx)
	errs := make([]error, len(ids))
	rt.parallel(len(ids), func(i int) {
		if errs[i] = rt.passJoinRule(ctx, v, g, ids[i]); errs[i] == nil {
			out.recs[i], errs[i] = rt.first(ctx, g, ids[i], fields, false)
		}
	})
	for i, err := range errs {
		if err != nil {
			out.fail(i, rt.readError(ctx, err, g.typ.Name))
		}
	}
	return out
}

func (rt *Runtime) fetchBatch(ctx context.Context, g target, ids []string, recs []record.Record) error {
	ks := make([]keys.Key, len(ids))
	for i, id := range ids {
		ks[i].PK = id
	}
	got, err := rt.db.Get(ctx, g.typ.Model, ks, false)
	if err != nil {
		return rt.readError(ctx, err, g.typ.Name)
	}
	for i := range got {
		recs[i] = got[i].Record
	}
	return nil
}

// first reads the row that stands for a whole partition: of a table the one with the greatest sort key, of an index the
// first.
func (rt *Runtime) first(ctx context.Context, g target, partition string, fields []int, consistent bool) (record.Record, error) {
	if g.batched() {
		got, err := rt.db.Get(ctx, g.typ.Model, []keys.Key{{PK: partition}}, consistent)
		if err != nil {
			return nil, err
		}
		return got[0].Record, nil
	}
	p, err := rt.db.Query(ctx, g.typ.Model, querydb.Query{
		Index: g.via, PK: partition, Reverse: g.via == driver.Primary, Limit: 1, Consistent: consistent, Fields: fields,
	})
	if err != nil || len(p.Rows) == 0 {
		return nil, err
	}
	return p.Rows[0].Record, nil
}

// tooManyJoins is the error of a virtual field that leads to more rows than it may.
func (rt *Runtime) tooManyJoins(n int) error {
	return graphqlerr.New(graphqlerr.LimitExceeded, "the field leads to %d rows, and may lead to %d; ask for smaller pages",
		n, rt.cfg.MaxJoinFanout)
}
