package graph

import (
	"cmp"
	"context"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/record"
)

// answerJoin is joinedRecords within what the answer may be.
func (rs *resolver) answerJoin(ctx context.Context, g target, ids []keys.Value) ([]record.Record, error) {
	l := rs.loaders(ctx)
	if l.ended.Load() {
		return nil, nil
	}
	recs, err := rs.joinedRecords(ctx, l, g, ids)
	if err != nil {
		return nil, cmp.Or(rs.spend(ctx, &l.usage, 0, 1), err)
	}
	if n := l.node(ctx, g.typ); n != nil {
		err = rs.spendRows(ctx, &l.usage, n, recs)
	}
	if l.ended.Load() {
		return nil, err
	}
	return recs, nil
}

// joinedRecords returns the records that the ids lead to, in their order, without those that are not there.
func (rs *resolver) joinedRecords(ctx context.Context, l *loaders, g target, ids []keys.Value) ([]record.Record, error) {
	v := rs.rd.viewer(ctx)
	allowed := v.access(g.typ.Rule)
	if allowed == refused && len(ids) > 0 {
		return nil, v.refusal(g.typ.Name)
	}
	joinKeys, places, err := rs.distinct(g, ids)
	if err != nil {
		return nil, rs.rd.errors().internal(ctx, err, g.typ.Name)
	}
	if err := l.refusal(ctx); err != nil && len(ids) > 0 {
		return nil, err
	}
	if len(joinKeys) > rs.rd.cfg.MaxFanout {
		return nil, rs.rd.tooManyJoins(len(joinKeys))
	}
	got := l.load(ctx, g, joinKeys, nil)
	recs := make([]record.Record, 0, len(places))
	for _, i := range places {
		switch rec := got.recs[i]; {
		case got.err(i) != nil:
			return nil, got.err(i)
		case allowed == ownerOnly && !v.owns(g.typ, rec):
			return nil, v.refusal(g.typ.Name)
		case rec == nil:
		default:
			recs = append(recs, rec)
		}
	}
	return recs, nil
}

// distinct finds where ids lead: each join key once, and for each id that leads somewhere the place of its join key.
func (rs *resolver) distinct(g target, ids []keys.Value) (joinKeys []joinKey, places []int, err error) {
	seen := map[joinKey]int{}
	for _, id := range ids {
		at, ok, err := rs.rd.joinKey(g, id)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		place, known := seen[at]
		if !known {
			place = len(joinKeys)
			seen[at] = place
			joinKeys = append(joinKeys, at)
		}
		places = append(places, place)
	}
	return joinKeys, places, nil
}
