package readmodel

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/parse/draft"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/keys"
)

// guardChecker checks that nobody finds out by an index what they may not read.
type guardChecker struct{ *draft.Model }

// guards reports whether whoever may use the index may read the field: by the guard of the type, or by the group of the
// index. The owner of a key is nobody whom the field's guard knows, unless the key is the row's owner.
func (d *guardChecker) guards(x *schema.Index, f *schema.Field) bool {
	switch {
	case d.Auth.AtLeast(f.Auth):
		return true
	case x.Group == "":
		return false
	case f.Auth.AnyCaller():
		return true
	}
	return (&schema.Auth{Groups: []string{x.Group}}).AtLeast(f.Auth) && x.AuthTable == nil
}

// checkGuarded refuses an index that holds a field for others than those who may read the field: in a half of its key
// they could find the value by asking for it, by its order and by ranges. What the group of an index is to keep is
// kept from the owner of the key as well.
func (d *guardChecker) checkGuarded(x *schema.Index) {
	halves := schema.Composites(x.PK, x.SK)
	var missing, beside []*schema.Field
	var others []string
	for _, f := range d.Fields {
		if f.Auth == nil {
			continue
		}
		// Through the index of an aggregate, whole objects are read, of which each guarded field is asked for.
		own := d.Aggregate == nil && (x.Projection == "ALL" || slices.Contains(x.Include, f))
		by := d.projectedBeside(x, f)
		inKey := slices.Contains(halves, f)
		switch {
		case !inKey && !own && by == nil:
		case d.guards(x, f) && inKey && !d.Auth.AtLeast(f.Auth) && !f.Auth.AnyCaller() && !d.keyIsOwner(x, f):
			x.GroupOnly = true
		case d.guards(x, f):
		case inKey:
			d.Report(rule.AuthIndexed, x.Pos, f, f.Auth.String(), x.As)
		case own:
			missing = append(missing, f)
		default:
			beside, others = append(beside, f), append(others, by...)
		}
	}
	if missing != nil {
		d.Report(rule.AuthProjected, x.Pos, nil, x.As, strings.Join(schema.FieldNames(missing), ", "), x.Projection,
			d.projectionWithout(x, missing))
	}
	if beside != nil {
		slices.Sort(others)
		d.Report(rule.AuthProjectedBeside, x.Pos, nil, x.As, strings.Join(schema.FieldNames(beside), ", "), x.Name,
			strings.Join(slices.Compact(others), ", "))
	}
}

// projectedBeside names the indexes of other entities in the same index of the table that have it hold the field: it
// holds what any of them asks for.
func (d *guardChecker) projectedBeside(x *schema.Index, f *schema.Field) (others []string) {
	if d.Entity == nil || d.Aggregate != nil {
		return nil
	}
	p := d.Entity.Table.IndexNamed(x.Name)
	if p == nil {
		return nil
	}
	for _, u := range p.Uses {
		if u.Model != d.ReadModel && u.Projects(f.Name) {
			others = append(others, u.Index.As+" of "+u.Model.Name)
		}
	}
	return others
}

// keyIsOwner reports whether the owner of a key of the index is the owner of its rows, whom the field's guard admits.
func (d *guardChecker) keyIsOwner(x *schema.Index, f *schema.Field) bool {
	return f.Auth.Owner && len(x.PK.Fields) == 1 && x.PK.Fields[0] == d.Owner
}

// projectionWithout writes the projection of an index that leaves fields out.
func (d *guardChecker) projectionWithout(x *schema.Index, out []*schema.Field) string {
	keys := schema.Composites(d.PK, d.SK, x.PK, x.SK)
	var include []string
	for _, f := range d.Fields {
		held := x.Projection == "ALL" || slices.Contains(x.Include, f)
		if held && !slices.Contains(keys, f) && !slices.Contains(out, f) {
			include = append(include, f.Name)
		}
	}
	if include == nil {
		return "projection: KEYS_ONLY"
	}
	return "projection: INCLUDE, include: " + schema.QuotedList(include)
}

// checkOwnerReads refuses an index through which nobody may read: rows are for their owners alone, and neither the key
// of the index nor its rule says whose they are.
func (d *guardChecker) checkOwnerReads(x *schema.Index) {
	switch {
	case !d.ownersAlone() || x.Unique || d.ownerIn(x.PK):
	case x.Group == "":
		d.Report(rule.OwnerIndex, x.Pos, nil, x.As, d.Owner.Name)
	case x.GroupOnly:
		d.Report(rule.OwnerIndexGroup, x.Pos, nil, x.As, x.Group)
	}
}

// checkOwnerRange warns of a primary key of which owners can ask for whole keys alone.
func (d *guardChecker) checkOwnerRange() {
	if d.SeriesOf == nil && d.ownersAlone() && len(schema.Composites(d.SK)) > 0 && !d.ownerIn(d.PK) {
		d.Report(rule.OwnerRange, d.Pos, nil, d.Owner.Name)
	}
}

// ownersAlone reports whether the rows are for their owners and for no group.
func (d *guardChecker) ownersAlone() bool {
	return d.Auth != nil && d.Auth.Owner && len(d.Auth.Groups) == 0 && d.Owner != nil
}

// ownerIn reports whether each key of a half says who the owner of its rows is.
func (d *guardChecker) ownerIn(h schema.Half) bool {
	return slices.Contains(h.Fields, d.Owner) && h.Layout.Casing == keys.CasingNone &&
		(h.Layout.Escape == keys.EscapePercent || len(h.Fields) == 1)
}
