package readmodel

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/parse/stored"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// referenceChecker holds identifiers and references against the rest of their models.
type referenceChecker struct{ *draft.Model }

// checkIdentifier holds @identifier against the primary key.
func (d *referenceChecker) checkIdentifier() {
	if d.Aggregate != nil {
		return // it has none, which is reported
	}
	for i, m := range d.Marked("identifier") {
		f, pos := m.Field, sdl.Position(m.Dir.Position)
		whole := slices.Equal(schema.Composites(d.PK, d.SK), []*schema.Field{f})
		switch {
		case i > 0:
			d.Report(rule.TwoIdentifiers, pos, f, d.Marked("identifier")[0].Field.Name)
		case d.Reference(f) != nil:
			d.Report(rule.IdentifierType, pos, f, "a reference")
		case f.Known() && stored.TextScalar(d.Sources[f]) == "":
			d.Report(rule.IdentifierType, pos, f, schema.TypeText(f))
		case !whole && (d.Entity == nil || d.PK.Exists()): // else it is reported that there is no key
			d.Report(rule.IdentifierKey, pos, f, d.PK.Describe(), d.SK.Describe())
		}
	}
}

// checkReferences holds what refers to other models against those models.
func (d *referenceChecker) checkReferences() {
	for _, p := range d.Places() {
		r, holder := p.Reference, d.holder(p)
		if !r.Copy.IsCopy() {
			continue // reported as wrong
		}
		pos := stored.ReferencePos(holder, r)
		if of, guard := d.unguarded(p); guard != nil {
			holder.Report(rule.RefGuard, pos, r.Copy, of, guard.String())
		}
		if why := d.costs(r); why != "" {
			holder.Report(rule.RefCosts, pos, r.Copy, r.Source.Name, why)
		}
	}
}

// costs says why a join would serve better than copies, "" where nothing in the schema tells: a copy is worth what it
// costs where its source seldom changes and is small.
func (d *referenceChecker) costs(r *schema.Reference) string {
	source := r.Source
	if r.Cascade.Always() && source.Series != nil {
		return "which is a time series: each state that is appended rewrites all rows that copy it"
	}
	if r.Cascade.Always() && source != d.ReadModel {
		for _, e := range source.Events {
			if slices.Contains(d.Events, e) {
				return "which " + e + " changes, as it does " + d.Name + ": each such event may rewrite all rows that copy one row"
			}
		}
	}
	draft := d.Project.DraftOf(source)
	for _, f := range source.Fields {
		if f.List && stored.IsCopied(draft, f) {
			return "whose " + f.Name + " is a list, which may be long: each row repeats all of it"
		}
	}
	return ""
}

// holder is the type that holds the copies at a place: the model itself, or a part of an aggregate.
func (d *referenceChecker) holder(p schema.Place) *draft.Model {
	if len(p.Way) == 0 {
		return d.Model
	}
	typ := p.Way[len(p.Way)-1].Object.Name
	return d.Project.Parts[d.Project.API.Named[typ]].Model
}

// unguarded finds a rule of the source that would not hold for its copies: whoever may read a copy has to be admitted
// by the rules of the source's type and of each field that is copied.
func (d *referenceChecker) unguarded(p schema.Place) (of string, guard *schema.Auth) {
	r := p.Reference
	if !d.guards(p, r.Source.Auth) {
		return "rows of " + r.Source.Name, r.Source.Auth
	}
	source := d.Project.DraftOf(r.Source)
	for _, f := range source.Fields {
		if stored.IsCopied(source, f) && !d.guards(p, f.Auth) {
			return f.Name + " of " + r.Source.Name, f.Auth
		}
	}
	return "", nil
}

// guards reports whether whoever may read the copy is admitted by a rule of the source. The owner of the row is another
// than that of the source, unless the identifier of the source is the owner of both: a row holds copies of rows alone
// that have the very identifier it gives.
func (d *referenceChecker) guards(p schema.Place, guard *schema.Auth) bool {
	if guard == nil {
		return true
	}
	r := p.Reference
	sameOwner := d.Owner == r.ID && r.Source.Owner != nil && r.Source.Owner == r.Source.Identifier
	rules := []*schema.Auth{d.Auth, r.Copy.Auth}
	for _, f := range p.Way {
		rules = append(rules, f.Auth)
	}
	for _, own := range rules {
		if own.AtLeast(guard) && (sameOwner || !own.Owner || guard.AnyCaller()) {
			return true
		}
	}
	return false
}
