package read

import (
	"context"
	"slices"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/access"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// passIndexRule says whether the viewer may ask for this partition of an index: as a member of the group, or as the
// owner of the key asked for. owner is true where they are the latter; it is found out for members only where it
// matters.
func (rd *Reader) passIndexRule(ctx context.Context, v access.Viewer, q *catalog.Query, pk []keys.Value,
	partition string, matters bool) (owner bool, err error) {
	if v.Unrestricted || q.Rule == nil {
		return false, nil
	}
	return rd.passRule(ctx, v, q, partition, matters, func() (keys.Key, error) {
		return rd.served.rowKey(ctx, rd.Catalog.Types[q.Rule.AuthTable], pk[0])
	})
}

// passJoinRule says whether the viewer may follow a join to the rows under a key: the rule of an index holds for joins
// through it as for its query, and who is admitted to own rows only must own what is found there.
func (rd *Reader) passJoinRule(ctx context.Context, v access.Viewer, g Target, at JoinKey) (err error) {
	if v.Unrestricted {
		return nil
	}
	ownOnly, owner := v.LevelOf(g.Type.Rule) == access.OwnRowsOnly && !g.single(), false
	if q := rd.guardOf(g); q != nil {
		if owner, err = rd.passRule(ctx, v, q, at.PK, ownOnly, func() (keys.Key, error) { return at.auth, nil }); err != nil {
			return err
		}
	}
	if !ownOnly || owner {
		return nil
	}
	k, err := rd.served.key(ctx, g.Type.Model, g.Index)
	if err == nil && !ownJoinKey(v, g, k, at) {
		err = v.Refusal(g.Type.Name)
	}
	return err
}

// guardOf is the query of the index that a target is, where it has a rule.
func (rd *Reader) guardOf(g Target) *catalog.Query {
	return rd.guarded[Target{Type: g.Type, Index: g.Index}]
}

// passRule holds the rule of a query against the viewer; authKey is the key of the row that names the owner.
func (rd *Reader) passRule(ctx context.Context, v access.Viewer, q *catalog.Query, partition string, matters bool,
	authKey func() (keys.Key, error)) (owner bool, err error) {
	member := slices.Contains(v.Groups, q.Rule.Group)
	switch {
	case !v.Verified:
		return false, v.Refusal(q.Name)
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
		return false, v.Refusal(q.Name)
	}
	return owner, nil
}

func (rd *Reader) ownsKey(ctx context.Context, v access.Viewer, q *catalog.Query, partition string,
	authKey func() (keys.Key, error)) (bool, error) {
	if v.Subject == "" {
		return false, nil
	}
	if q.Rule.AuthTable == "" {
		k, err := rd.served.queryKey(ctx, rd.Catalog, q)
		if err != nil {
			return false, rd.Errors().Read(ctx, err, q.Name)
		}
		own, err := k.PK.Compose(keys.String(v.Subject))
		return err == nil && partition == own, nil
	}
	id, err := authKey()
	t := rd.Catalog.Types[q.Rule.AuthTable]
	if err == nil {
		err = rd.served.knowsOwner(ctx, t, access.OwnRowsOnly)
	}
	if err != nil {
		return false, rd.Errors().Read(ctx, err, q.Rule.AuthTable)
	}
	at := Target{Type: t, Index: driver.Primary}
	rec, err := judging{rd, v, t}.row(ctx, func(ctx context.Context) (record.Record, error) {
		return rd.first(ctx, at, JoinKey{Key: id}, []int{t.Owner}, true, nil)
	})
	if hidesFrom(v, t, err) {
		rd.Errors().logHidden(ctx, err, q.Rule.AuthTable)
		return false, nil
	}
	if err != nil {
		return false, rd.Errors().userKey(ctx, err, q.Rule.AuthTable)
	}
	return rec != nil, nil
}
