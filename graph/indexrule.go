package graph

import (
	"context"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// passIndexRule says whether the viewer may ask for this partition of an index: as a member of the group, or as the
// owner of the key asked for. owner is true where they are the latter; it is found out for members only where it matters.
func (rd *reader) passIndexRule(ctx context.Context, v viewer, q *Query, pk []keys.Value, partition string, matters bool) (owner bool, err error) {
	if v.all || q.Rule == nil {
		return false, nil
	}
	return rd.passRule(ctx, v, q, partition, matters, func() (keys.Key, error) { return rowKey(rd.catalog.Types[q.Rule.AuthTable], pk[0]) })
}

// passJoinRule says whether the viewer may follow a join to the rows under a key: the rule of an index holds for joins
// through it as for its query, and who is admitted to own rows only must own what is found there.
func (rd *reader) passJoinRule(ctx context.Context, v viewer, g target, at joinKey) (err error) {
	if v.all {
		return nil
	}
	ownOnly, owner := v.access(g.typ.Rule) == ownerOnly && !g.single(), false
	if q := rd.guarded[g]; q != nil {
		if owner, err = rd.passRule(ctx, v, q, at.PK, ownOnly, func() (keys.Key, error) { return at.auth, nil }); err != nil {
			return err
		}
	}
	if ownOnly && !owner && !ownJoinKey(v, g, at) {
		return v.refusal(g.typ.Name)
	}
	return nil
}

// passRule holds the rule of a query against the viewer; authKey is the key of the row that names the owner.
func (rd *reader) passRule(ctx context.Context, v viewer, q *Query, partition string, matters bool, authKey func() (keys.Key, error)) (owner bool, err error) {
	member := slices.Contains(v.Groups, q.Rule.Group)
	switch {
	case !v.known:
		return false, v.refusal(q.Name)
	case member && !matters:
		return false, nil
	case q.Rule.GroupOnly:
		owner = false
	default:
		if owner, err = rd.ownsKey(ctx, v, q, partition, authKey); err != nil {
			return false, err
		}
	}
	if !owner && !member {
		return false, v.refusal(q.Name)
	}
	return owner, nil
}

func (rd *reader) ownsKey(ctx context.Context, v viewer, q *Query, partition string, authKey func() (keys.Key, error)) (bool, error) {
	if v.Subject == "" {
		return false, nil
	}
	if q.Rule.AuthTable == "" {
		own, err := rd.partitionHalf(q).Layout.Compose(keys.String(v.Subject))
		return err == nil && partition == own, nil
	}
	id, err := authKey()
	if err != nil {
		return false, rd.errors().internal(ctx, err, q.Rule.AuthTable)
	}
	t := rd.catalog.Types[q.Rule.AuthTable]
	at := target{typ: t, via: driver.Primary}
	rec, err := rd.first(ownerOnly.reading(ctx), at, joinKey{Key: id}, []int{t.Owner}, true, nil)
	if err == nil {
		rec, err = v.kept(ctx, t, ownerOnly, rec)
	}
	if err != nil {
		return false, rd.errors().userKey(ctx, err, q.Rule.AuthTable)
	}
	return rec != nil, nil
}
