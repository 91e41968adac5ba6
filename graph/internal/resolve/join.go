package resolve

import (
	"cmp"
	"context"

	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/graph/internal/execute"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/record"
)

// AnswerJoin is joinedRecords within what the answer may be.
func (rs *Resolver) AnswerJoin(ctx context.Context, g read.Target, ids [][]keys.Value) ([]record.Record, error) {
	l := rs.Loaders(ctx)
	if l.ended.Load() {
		return nil, nil
	}
	recs, err := rs.joinedRecords(ctx, l, g, ids)
	if err != nil {
		return nil, cmp.Or(rs.spend(ctx, &l.usage, 0, execute.ErrorObjects), err)
	}
	for _, n := range l.nodesOf(ctx, g.Type, rowsOf(g.Type)) {
		err = rs.spendRows(ctx, &l.usage, n, recs)
	}
	if l.ended.Load() {
		return nil, err
	}
	return recs, nil
}

// joinedRecords returns the records that the ids lead to, each of one value or of several, in their order, without
// those that are not there.
func (rs *Resolver) joinedRecords(
	ctx context.Context, l *Loaders, g read.Target, ids [][]keys.Value,
) ([]record.Record, error) {
	v := rs.Reader.Viewer(ctx)
	allowed := v.LevelOf(g.Type.Rule)
	if allowed == access.Refused && len(ids) > 0 {
		return nil, v.Refusal(g.Type.Name)
	}
	find, err := rs.Reader.JoinKeys(ctx, g)
	if err != nil && len(ids) > 0 {
		return nil, err
	}
	joinKeys, places, err := distinct(find, ids)
	if err != nil {
		return nil, rs.Reader.Errors().Internal(ctx, err, g.Type.Name)
	}
	if err := l.refusal(ctx); err != nil && len(ids) > 0 {
		return nil, err
	}
	if n := len(joinKeys.Keys); n > rs.Reader.Config.MaxFanout {
		return nil, rs.Reader.TooManyJoins(n)
	}
	got := l.Load(ctx, g, joinKeys, nil)
	recs := make([]record.Record, 0, len(places))
	for _, i := range places {
		switch rec := got.Records[i]; {
		case got.Err(i) != nil:
			return nil, got.Err(i)
		case allowed == access.OwnRowsOnly && !v.Owns(g.Type, rec):
			return nil, v.Refusal(g.Type.Name)
		case rec == nil:
		default:
			recs = append(recs, rec)
		}
	}
	return recs, nil
}

// distinct finds where ids lead: each join key once, and for each id that leads somewhere the place of its join key.
func distinct(find read.JoinKeys, ids [][]keys.Value) (joinKeys read.JoinKeyList, places []int, err error) {
	seen := map[read.JoinKey]int{}
	for _, id := range ids {
		at, ok, err := find.Of(id...)
		if err != nil {
			return joinKeys, nil, err
		}
		if !ok {
			continue
		}
		place, known := seen[at]
		if !known {
			place = len(joinKeys.Keys)
			seen[at] = place
			joinKeys.Add(at)
		}
		places = append(places, place)
	}
	return joinKeys, places, nil
}
