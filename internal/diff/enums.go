package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// compareEnums finds fields of rows that stay as they are, and may have values that the enum of the field has no more:
// an enum is no part of the version of a model, since one that only gets values needs no other rows.
func compareEnums(was, now *schema.Model, models []Model) (all []Change) {
	for _, m := range models {
		before, after := modelNamed(was, m.Name), modelNamed(now, m.Name)
		if before != nil && after != nil && (m.Start == Nothing || m.Start == Indexes) {
			all = append(all, keptValues(was, now, m.Name, before.Fields, after.Fields)...)
		}
	}
	return all
}

// keptValues compares fields of rows of the model at a place, and of the objects in them.
func keptValues(was, now *schema.Model, at string, before, after []*schema.Field) (all []Change) {
	for _, f := range after {
		i := slices.IndexFunc(before, func(b *schema.Field) bool { return b.Name == f.Name })
		if i < 0 {
			continue
		}
		place := at + "." + f.Name
		if f.Object != nil && before[i].Object != nil {
			all = append(all, keptValues(was, now, place, before[i].Object.Fields, f.Object.Fields)...)
		}
		if lost := lostValues(was, now, before[i], f); lost != "" {
			what := fmt.Sprintf("may be %s in rows that stay as they are, which %s does not have; raise the version of the "+
				"model, and its rows are built anew", lost, f.Enum)
			all = append(all, Change{Breaking, place, what, "operations that read such rows"})
		}
	}
	return all
}

// lostValues says what a field may be in rows and is no value of its enum; "" where there is no such.
func lostValues(was, now *schema.Model, before, after *schema.Field) string {
	values := valuesOf(now, after.Enum)
	switch {
	case after.Enum == "" || before.Scalar != after.Scalar:
		return ""
	case before.Enum == "":
		return "any text"
	}
	lost := slices.DeleteFunc(slices.Clone(valuesOf(was, before.Enum)), func(v string) bool {
		return slices.Contains(values, v)
	})
	return strings.Join(lost, " or ")
}

func valuesOf(m *schema.Model, enum string) []string {
	for _, e := range m.Enums {
		if e.Name == enum {
			return e.Values
		}
	}
	return nil
}
