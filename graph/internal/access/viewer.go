package access

import (
	"context"
	"errors"
	"slices"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/querydb/record"
)

// Viewer is who asks, as the rules see it. If it is Unrestricted, no rule holds.
type Viewer struct {
	auth.Caller
	Verified     bool
	Unrestricted bool
}

// Everybody is the viewer for whom no rule holds.
var Everybody = Viewer{Unrestricted: true}

// NewViewer returns who asks, by the context.
func NewViewer(ctx context.Context) Viewer {
	c, known := auth.FromContext(ctx)
	return Viewer{Caller: c, Verified: known}
}

// Scope is what page tokens are bound to besides their query: a token serves the caller that it was given to.
func (v Viewer) Scope() string {
	if !v.Verified {
		return ""
	}
	return "caller " + v.Subject
}

func (v Viewer) inAny(groups []string) bool {
	return slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(v.Groups, g) })
}

// Refusal is the error for a viewer whom a rule does not admit.
func (v Viewer) Refusal(what string) error {
	if !v.Verified {
		return graphqlerr.New(graphqlerr.Unauthenticated, "%s is not public; send a token", what)
	}
	return graphqlerr.New(graphqlerr.Forbidden, "you are not allowed to read %s", what)
}

// Level is what a rule says of a viewer.
type Level uint8

const (
	Refused     Level = iota // admitted to nothing
	OwnRowsOnly              // admitted to rows that name the viewer as their owner
	Admitted                 // admitted to everything that the rule is of
)

// LevelOf returns what the rule says of the viewer; nil is no rule, which admits everybody.
func (v Viewer) LevelOf(r *catalog.Rule) Level {
	switch {
	case v.Unrestricted || r == nil:
		return Admitted
	case !v.Verified:
		return Refused
	case len(r.Groups) == 0 && !r.Owner, v.inAny(r.Groups):
		return Admitted
	case r.Owner:
		return OwnRowsOnly
	}
	return Refused
}

// Owns reports whether the stored row names the viewer as its owner.
func (v Viewer) Owns(t *catalog.Type, rec record.Record) bool {
	if rec == nil || t.Owner < 0 || v.Subject == "" {
		return false
	}
	owner, ok := record.String(rec.JSON(t.Owner))
	return ok && owner == v.Subject
}

// Owning is whose a row is, as far as it says so.
type Owning uint8

// What a row says of the viewer.
const (
	NotOwn Owning = iota
	Own
	OwnerUnknown // the row is of a former schema, which does not say it
)

// ErrOwnerUnknown is the error of a rule that admits the owner of a row of which it is not known whose it is: neither
// an admission nor a refusal.
var ErrOwnerUnknown = errors.New("the owner of the row is not known")

// Owning returns whose the stored row is.
func (v Viewer) Owning(t *catalog.Type, rec record.Record) Owning {
	switch {
	case v.Owns(t, rec):
		return Own
	case rec != nil && t.Owner >= 0 && record.IsUnknown(rec.JSON(t.Owner)):
		return OwnerUnknown
	}
	return NotOwn
}

// FieldRule returns the rule of a field. A join without one has the rule of the field that holds its ids: who may not
// see an id may not see what it leads to.
func FieldRule(t *catalog.Type, f *catalog.Field) *catalog.Rule {
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

// CheckField says whether the viewer may read a field of a row of the type; owns says whether the row is theirs.
func (v Viewer) CheckField(t *catalog.Type, f *catalog.Field, owns func() Owning) error {
	return v.check(FieldRule(t, f), t.Name, f.Name, owns)
}

// CheckPart says whether the viewer may read a field of an object that a row holds; owns says whether the row is
// theirs.
func (v Viewer) CheckPart(o *catalog.Object, field string, owns func() Owning) error {
	return v.check(o.Fields[field].Rule, o.Name, field, owns)
}

func (v Viewer) check(r *catalog.Rule, typ, field string, owns func() Owning) error {
	switch v.LevelOf(r) {
	case Admitted:
		return nil
	case OwnRowsOnly:
		switch owns() {
		case Own:
			return nil
		case OwnerUnknown:
			return ErrOwnerUnknown
		}
	}
	return v.Refusal(typ + "." + field)
}
