package graph

import (
	"context"
	"slices"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/querydb/record"
)

// viewer is who asks, as the rules see it. Where all is true no rule holds.
type viewer struct {
	auth.Caller
	known bool
	all   bool
}

// everybody is the viewer for whom no rule holds.
var everybody = viewer{all: true}

// newViewer returns who asks, by the context.
func newViewer(ctx context.Context) viewer {
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

// fieldRule returns the rule of a field. A join without one has the rule of the field that holds its ids: who may not see
// an id may not see what it leads to.
func fieldRule(t *Type, f *Field) *Rule {
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
	switch v.access(fieldRule(t, f)) {
	case admitted:
		return nil
	case ownerOnly:
		if owns() {
			return nil
		}
	}
	return v.refusal(t.Name + "." + f.Name)
}
