package schema

import "slices"

// FilterType is the input type of the filters of a model's rows.
func FilterType(model string) string { return model + "Filter" }

// FilterFields are the fields of the model that its list queries filter by.
func FilterFields(m *ReadModel) (fields []*Field) {
	for _, f := range m.Fields {
		if f.Filterable {
			fields = append(fields, f)
		}
	}
	return fields
}

// HasFilter reports whether there is a query that filters the rows of the model.
func HasFilter(m *ReadModel) bool { return m.hasPages() && len(FilterFields(m)) > 0 }

// ConditionType is the input type of the conditions on a field.
func (f *Field) ConditionType() string {
	name := f.Scalar
	if f.Enum != "" {
		name = f.Enum
	}
	if f.List {
		name += "List"
	}
	return name + "Condition"
}

// Conditions are the fields, each with the filters of some rows, whose types of conditions an API has: one of each
// type, in the order of the schema.
func (m *Model) Conditions() (fields []*Field) {
	for _, r := range m.ReadModels {
		if !HasFilter(r) {
			continue
		}
		for _, f := range FilterFields(r) {
			same := func(other *Field) bool { return other.ConditionType() == f.ConditionType() }
			if !slices.ContainsFunc(fields, same) {
				fields = append(fields, f)
			}
		}
	}
	return fields
}

// FilterTypes are the input types that an API has for filters.
func (m *Model) FilterTypes() (names []string) {
	for _, r := range m.ReadModels {
		if HasFilter(r) {
			names = append(names, FilterType(r.Name))
		}
	}
	for _, f := range m.Conditions() {
		names = append(names, f.ConditionType())
	}
	return names
}
