package graph

import (
	"context"
	"sync/atomic"

	"github.com/foldql/foldql/querydb/record"
)

// usage is what the resolvers of one operation have taken of what its answer may be. They hand over rows before any
// text is written of them, so what is counted is the text that there will be.
type usage struct {
	bytes, objects atomic.Int64
	// ended is set where the answer is to be an error. One of the fields tells it; the others are silent, because there may
	// be a great many of them.
	ended atomic.Bool
}

// end ends the answer, and returns the error where that was to be done yet.
func (u *usage) end(err error) error {
	if u.ended.Swap(true) {
		return nil
	}
	return err
}

// spend counts what is about to be answered, and ends the answer where that is too much, or too late.
func (rs *resolver) spend(ctx context.Context, u *usage, bytes, objects int) error {
	tooLong := u.bytes.Add(int64(bytes)) > int64(rs.limit)
	tooMany := u.objects.Add(int64(objects)) > int64(rs.limit.objects())
	if tooLong || tooMany {
		return u.end(rs.limit.errTooLarge())
	}
	if err := ctx.Err(); err != nil {
		return u.end(errOutOfTime(ctx, rs.rd.errors(), err))
	}
	if err := reserve(ctx, copies*bytes+resolvedBytes*objects); err != nil {
		return u.end(err)
	}
	return nil
}

// spendRows is spend for rows of which a node is about to be answered.
func (rs *resolver) spendRows(ctx context.Context, u *usage, n *node, recs []record.Record) error {
	v := rs.rd.viewer(ctx)
	bytes, objects := 0, 0
	for _, rec := range recs {
		if rec == nil {
			continue
		}
		objects++
		for i := range n.members {
			m := &n.members[i]
			bytes += len(m.key) + len(m.text)
			switch {
			case m.rule != nil && v.mayReadField(n.typ, m.rule, func() bool { return v.owns(n.typ, rec) }) != nil:
				objects += errorObjects
			case m.text == nil && m.join == nil:
				bytes += len(rec.JSON(m.ordinal))
			}
		}
	}
	return rs.spend(ctx, u, bytes, objects)
}
