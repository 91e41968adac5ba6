package filter

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/scalar"
	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// MaxParts is how many conditions, combiners of them and values a filter may have: each is looked at for every row.
const MaxParts = 200

// parser reads the filters of rows of a type.
type parser struct {
	of     *catalog.Type
	fields map[string]*field // that it has met
	parts  int
}

// Parse reads a filter of rows of a type, as a client gave it. What is wrong with it is BAD_USER_INPUT, or
// LIMIT_EXCEEDED where it has too many parts, with the place in the filter.
func Parse(of *catalog.Type, given catalog.Filter) (*Filter, error) {
	p := &parser{of: of, fields: map[string]*field{}}
	root, err := p.filter(queryarg.FilterArg, given)
	if err != nil {
		return nil, err
	}
	f := &Filter{root: root}
	for i, name := range slices.Sorted(maps.Keys(p.fields)) {
		field := p.fields[name]
		field.index = i
		slices.SortFunc(field.sought, keys.Value.Compare)
		field.sought = slices.CompactFunc(field.sought, func(v, w keys.Value) bool { return v.Compare(w) == 0 })
		f.fields = append(f.fields, field)
	}
	return f, nil
}

func wrong(place, format string, args ...any) error {
	return graphqlerr.New(graphqlerr.BadUserInput, "%s: %w", place, fmt.Errorf(format, args...))
}

// count counts one more part, at a place.
func (p *parser) count(place string) error {
	if p.parts++; p.parts > MaxParts {
		return graphqlerr.New(graphqlerr.LimitExceeded, "%s: a filter has at most %d conditions and values; ask for fewer",
			place, MaxParts)
	}
	return nil
}

// object takes what stands at a place for an object. Null stands for nothing: it is refused rather than taken for a
// condition that is not there, because then a filter would hold for rows that nobody asked for.
func object(place string, v any) (map[string]any, error) {
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case catalog.Filter:
		return v, nil
	case nil:
		return nil, wrong(place, "null is no condition; leave it out")
	}
	return nil, wrong(place, "it must be an object")
}

// filter reads a filter at a place: all that it says is to be true.
func (p *parser) filter(place string, v any) (condition, error) {
	given, err := object(place, v)
	if err != nil {
		return nil, err
	}
	var parts all
	for _, name := range slices.Sorted(maps.Keys(given)) {
		part, err := p.part(place+"."+name, name, given[name])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// part reads what a filter has under one name.
func (p *parser) part(place, name string, v any) (condition, error) {
	if err := p.count(place); err != nil {
		return nil, err
	}
	switch name {
	case queryarg.FilterAnd, queryarg.FilterOr:
		parts, err := p.list(place, v)
		if name == queryarg.FilterOr {
			return one(parts), err
		}
		return all(parts), err
	case queryarg.FilterNot:
		part, err := p.filter(place, v)
		return not{part}, err
	}
	of := p.of.Fields[name]
	if of == nil || !of.Filterable {
		return nil, wrong(place, "%s has no field of this name to filter by", p.of.Name)
	}
	if p.fields[name] == nil {
		stored := &p.of.Model.Fields[of.Ordinal]
		p.fields[name] = &field{Field: of, scalar: stored.Scalar, list: stored.List}
	}
	return p.conditions(place, p.fields[name], v)
}

// list reads a list of filters at a place. What is no list stands for a list of it.
func (p *parser) list(place string, v any) (parts []condition, err error) {
	if v == nil {
		return nil, wrong(place, "null is no list; leave it out")
	}
	list := graphql.CoerceList(v)
	if filters, ok := v.([]catalog.Filter); ok {
		list = make([]any, len(filters))
		for i, f := range filters {
			list[i] = f
		}
	}
	for i, elem := range list {
		at := fmt.Sprintf("%s[%d]", place, i)
		if err := p.count(at); err != nil {
			return nil, err
		}
		part, err := p.filter(at, elem)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// conditions reads those on a field, which are all to be met.
func (p *parser) conditions(place string, field *field, v any) (condition, error) {
	given, err := object(place, v)
	if err != nil {
		return nil, err
	}
	var parts all
	for _, name := range slices.Sorted(maps.Keys(given)) {
		part, err := p.condition(place+"."+name, field, name, given[name])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// condition reads one condition on a field.
func (p *parser) condition(place string, field *field, name string, v any) (condition, error) {
	stored := &p.of.Model.Fields[field.Ordinal]
	of := slices.IndexFunc(queryarg.Conditions, func(c queryarg.Condition) bool { return c.Name == name })
	if of < 0 || queryarg.Conditions[of].On&queryarg.FieldsLike(stored.Scalar, stored.Enum != "", stored.List) == 0 {
		return nil, wrong(place, "there is no such condition on %s.%s", p.of.Name, field.Name)
	}
	c := &onField{field: field, name: name}
	operands, typ := []any{v}, stored.Scalar
	if name == queryarg.FilterExists {
		typ = "Boolean"
	}
	if queryarg.Conditions[of].List && v != nil {
		operands = graphql.CoerceList(v)
	}
	if name == queryarg.FilterBetween && len(operands) != 2 {
		return nil, wrong(place, "two values are needed, the least and the greatest, and there are %d", len(operands))
	}
	for _, operand := range operands {
		if err := p.count(place); err != nil {
			return nil, err
		}
		if operand == nil {
			return nil, wrong(place, "null is no value; leave the condition out, or ask for exists: false")
		}
		value, err := scalar.KeyValue(typ, written(operand))
		if err != nil {
			return nil, wrong(place, "%s", graphqlerr.MessageOf(err))
		}
		if stored.Enum != "" && typ != "Boolean" && !p.isOf(stored.Enum, value.AsString()) {
			return nil, wrong(place, "%q is not a value of %s", value.AsString(), stored.Enum)
		}
		c.values = append(c.values, value)
	}
	switch {
	case name == queryarg.FilterIn:
		slices.SortFunc(c.values, keys.Value.Compare)
	case name == queryarg.FilterContains && field.list:
		field.sought = append(field.sought, c.values...)
	}
	return c, nil
}

// isOf reports whether an enum has a value.
func (p *parser) isOf(enum, value string) bool {
	return slices.ContainsFunc(p.of.Model.Enums, func(e querydb.Enum) bool {
		return e.Name == enum && slices.Contains(e.Values, value)
	})
}

// written is a value of Go as a client writes it.
func written(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case keys.Decimal:
		return string(v)
	case keys.Date:
		return string(v)
	}
	return v
}
