package diff

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/internal/schema"
)

// compareAccess compares who may read types and fields that there are in both schemas. The API does not show it.
func compareAccess(was, now *schema.Model) (all []Change) {
	fields := func(of string, was, now []*schema.Field) {
		for _, f := range was {
			for _, to := range now {
				if f.Name == to.Name {
					all = append(all, guardChange(of+"."+f.Name, f.Auth, to.Auth)...)
				}
			}
		}
	}
	for _, r := range was.ReadModels {
		to := modelNamed(now, r.Name)
		if to == nil {
			continue
		}
		all = append(all, guardChange(r.Name, r.Auth, to.Auth)...)
		before, after := fieldName(r.Owner), fieldName(to.Owner)
		if before != after && usesOwner(was, r) && usesOwner(now, to) {
			all = append(all, Change{Breaking, r.Name, fmt.Sprintf("is owned by whom %s names, and not %s any more", after,
				before), "callers whom " + before + " names"})
		}
		fields(r.Name, r.Fields, to.Fields)
	}
	for _, o := range was.Objects {
		for _, to := range now.Objects {
			if o.Name == to.Name {
				fields(o.Name, o.Fields, to.Fields)
			}
		}
	}
	return all
}

// usesOwner reports whether a rule asks who owns the rows of a model: one of the model, of a field or a part of it, or
// of an index whose authTable it is.
func usesOwner(m *schema.Model, r *schema.ReadModel) bool {
	asks := func(a *schema.Auth) bool { return a != nil && a.Owner }
	field := func(f *schema.Field) bool { return asks(f.Auth) }
	join := func(j *schema.Join) bool { return asks(j.Auth) }
	part := func(o *schema.Object) bool {
		return slices.ContainsFunc(o.Fields, field) && slices.Contains(m.Holders(o), r)
	}
	index := func(x *schema.Index) bool { return x.AuthTable == r }
	return r.Owner != nil && (asks(r.Auth) || slices.ContainsFunc(r.Fields, field) ||
		slices.ContainsFunc(r.Joins, join) || slices.ContainsFunc(m.Objects, part) ||
		slices.ContainsFunc(m.ReadModels, func(o *schema.ReadModel) bool { return slices.ContainsFunc(o.Indexes, index) }))
}

func guardChange(at string, was, now *schema.Auth) []Change {
	what := fmt.Sprintf("may be read by whom %s admits, and before by whom %s did", guardText(now), guardText(was))
	switch {
	case !was.AtLeast(now):
		return []Change{{Breaking, at, what, "callers who are not admitted any more"}}
	case !now.AtLeast(was):
		return []Change{{Noticeable, at, what, "callers who are admitted now"}}
	}
	return nil
}

func guardText(a *schema.Auth) string {
	if a == nil {
		return "no @auth"
	}
	return a.String()
}

func fieldName(f *schema.Field) string {
	if f == nil {
		return ""
	}
	return f.Name
}

func modelNamed(m *schema.Model, name string) *schema.ReadModel {
	for _, r := range m.ReadModels {
		if r.Name == name {
			return r
		}
	}
	return nil
}
