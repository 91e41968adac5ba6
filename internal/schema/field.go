package schema

import (
	"slices"
	"strings"

	"github.com/foldql/foldql/keys"
)

// IsNumber reports whether the values of a scalar type are numbers.
func IsNumber(scalar string) bool {
	return slices.Contains([]string{"Int", "Int64", "Float", "Decimal"}, scalar)
}

var kinds = map[string]keys.Kind{
	"ID": keys.KindString, "String": keys.KindString, "Boolean": keys.KindBoolean, "Int": keys.KindInt,
	"Int64": keys.KindInt,
	"Float": keys.KindFloat, "Decimal": keys.KindDecimal, "Date": keys.KindDate, "DateTime": keys.KindDateTime,
}

// Kind is the kind of a value as keys see it: what has the same kind makes the same key text.
func (f *Field) Kind() keys.Kind { return kinds[f.Scalar] }

// GoName is the name of the Go field. Where it is the generator that makes a list of identifiers, it writes UmpireIDs.
func (f *Field) GoName() string {
	if f.Item && f.List && f.Object == nil {
		return GoName(strings.TrimSuffix(f.Name, "s")) + "s"
	}
	return GoName(f.Name)
}

// Known reports whether the field has a type; one whose type was reported as wrong has none.
func (f *Field) Known() bool { return f.Scalar != "" || f.Object != nil }

// TypeText writes the type of a field as the schema has it, without "!".
func TypeText(f *Field) string {
	name := f.Scalar
	switch {
	case f.Enum != "":
		name = f.Enum
	case f.Object != nil:
		name = f.Object.Name
	}
	if f.List {
		return "[" + name + "]"
	}
	return name
}

// SameKind reports whether the values of two fields, or of their elements, make the same key text. Where one of them
// is of no known type, that is reported already.
func SameKind(a, b *Field) bool {
	return !a.Known() || !b.Known() || a.Kind() == b.Kind()
}
