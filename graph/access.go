package graph

import (
	"context"
	"slices"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// viewer is who asks, as the rules see it. Where all is true no rule holds.
type viewer struct {
	auth.Caller
	known bool
	all   bool
}

func (rt *Runtime) viewer(ctx context.Context) viewer {
	if rt.cfg.AuthOff || !rt.catalog.Secured {
		return viewer{all: true}
	}
	c, known := auth.FromContext(ctx)
	return viewer{Caller: c, known: known}
}

// scope is what page tokens are bound to besides their query: a token serves the caller that it was given to.
func (v viewer) scope() string {
	if !v.known {
		return ""
	}
	return "caller " + v.Subject
}

func (v viewer) inAny(groups []string) bool {
	return slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(v.Groups, g) })
}

// refusal is the error for a viewer whom a rule does not admit.
func (v viewer) refusal(what string) error {
	if !v.known {
		return graphqlerr.New(graphqlerr.Unauthenticated, "%s is not public; send a token", what)
	}
	return graphqlerr.New(graphqlerr.Forbidden, "you may not read %s", what)
}

// access is what a rule says of a viewer.
type access uint8

const (
	refused   access = iota
	ownerOnly        // admitted to rows that name the viewer as their owner
	admitted
)

func (v viewer) access(r *Rule) access {
	switch {
	case v.all || r == nil:
		return admitted
	case !v.known:
		return refused
	case len(r.Groups) == 0 && !r.Owner, v.inAny(r.Groups):
		return admitted
	case r.Owner:
		return ownerOnly
	}
	return refused
}

// owns reports whether the stored row names the viewer as its owner.
func (v viewer) owns(t *Type, rec record.Record) bool {
	if rec == nil || t.Owner < 0 || v.Subject == "" {
		return false
	}
	owner, ok := record.String(rec.JSON(t.Owner))
	return ok && owner == v.Subject
}

// guard returns the rule of a field. A join without one has the rule of the field that holds its ids: who may not see
// an id may not see what it leads to.
func (t *Type) guard(f *Field) *Rule {
	if f.Rule != nil || f.Join == nil {
		return f.Rule
	}
	for _, stored := range t.Fields {
		if stored.Join == nil && stored.Ordinal == f.Ordinal {
			return stored.Rule
		}
	}
	return nil
}

// mayReadField says whether the viewer may read a field of a row of the type; owns tells whether the row is theirs.
func (v viewer) mayReadField(t *Type, f *Field, owns func() bool) error {
	switch v.access(t.guard(f)) {
	case admitted:
		return nil
	case ownerOnly:
		if owns() {
			return nil
		}
	}
	return v.refusal(t.Name + "." + f.Name)
}

// passIndexRule says whether the viewer may ask for this partition of an index: as a member of the group, or as the
// owner of the key asked for. owner is true where they are the latter; it is found out for members only where it matters.
func (rt *Runtime) passIndexRule(ctx context.Context, v viewer, q *Query, pk []keys.Value, partition string, matters bool) (owner bool, err error) {
	if v.all || q.Rule == nil {
		return false, nil
	}
	return rt.passRule(ctx, v, q, partition, matters, func() (keys.Key, error) { return rt.catalog.Types[q.Rule.AuthTable].key(pk[0]) })
}

// passJoinRule says whether the viewer may follow a join to the rows under a key: the rule of an index holds for joins
// through it as for its query, and who is admitted to own rows only must own what is found there.
func (rt *Runtime) passJoinRule(ctx context.Context, v viewer, g target, at spot) (err error) {
	if v.all {
		return nil
	}
	ownOnly, owner := v.access(g.typ.Rule) == ownerOnly && !g.single(), false
	if q := rt.guarded[g]; q != nil {
		if owner, err = rt.passRule(ctx, v, q, at.PK, ownOnly, func() (keys.Key, error) { return at.auth, nil }); err != nil {
			return err
		}
	}
	if ownOnly && !owner && !v.ownSpot(g, at) {
		return v.refusal(g.typ.Name)
	}
	return nil
}

// passRule holds the rule of a query against the viewer; authKey is the key of the row that names the owner.
func (rt *Runtime) passRule(ctx context.Context, v viewer, q *Query, partition string, matters bool, authKey func() (keys.Key, error)) (owner bool, err error) {
	member := slices.Contains(v.Groups, q.Rule.Group)
	switch {
	case !v.known:
		return false, v.refusal(q.Name)
	case member && !matters:
		return false, nil
	case q.Rule.GroupOnly:
		owner = false
	default:
		if owner, err = rt.ownsKey(ctx, v, q, partition, authKey); err != nil {
			return false, err
		}
	}
	if !owner && !member {
		return false, v.refusal(q.Name)
	}
	return owner, nil
}

func (rt *Runtime) ownsKey(ctx context.Context, v viewer, q *Query, partition string, authKey func() (keys.Key, error)) (bool, error) {
	if v.Subject == "" {
		return false, nil
	}
	if q.Rule.AuthTable == "" {
		own, err := rt.partitionHalf(q).Layout.Compose(keys.String(v.Subject))
		return err == nil && partition == own, nil
	}
	id, err := authKey()
	if err != nil {
		return false, rt.internalError(ctx, err, q.Rule.AuthTable)
	}
	t := rt.catalog.Types[q.Rule.AuthTable]
	at := target{typ: t, via: driver.Primary}
	rec, err := rt.first(ownerOnly.reading(ctx), at, spot{Key: id}, []int{t.Owner}, true, nil)
	if err == nil {
		rec, err = v.kept(ctx, t, ownerOnly, rec)
	}
	if err != nil {
		return false, rt.userKeyError(ctx, err, q.Rule.AuthTable)
	}
	return rec != nil, nil
}
