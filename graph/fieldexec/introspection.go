package fieldexec

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/introspection"
)

// kindsWith are the kinds of types that have a field of __Type, by its name, where others have null. gqlgen gives these
// an empty list or false, which says something else: a list of no fields, where a type has none by its kind.
var kindsWith = map[string][]string{
	"fields":        {"OBJECT", "INTERFACE"},
	"interfaces":    {"OBJECT", "INTERFACE"},
	"possibleTypes": {"INTERFACE", "UNION"},
	"enumValues":    {"ENUM"},
	"inputFields":   {"INPUT_OBJECT"},
	"isOneOf":       {"INPUT_OBJECT"},
}

// ofOtherKind reports whether the field, whose context is given, is one of __Type that types of this kind do not have.
func ofOtherKind(ctx context.Context, field graphql.CollectedField) bool {
	if field.ObjectDefinition == nil || field.ObjectDefinition.Name != "__Type" {
		return false
	}
	kinds := kindsWith[field.Name]
	if kinds == nil {
		return false
	}
	typ, ok := graphql.GetFieldContext(ctx).Parent.Result.(*introspection.Type)
	return ok && !slices.Contains(kinds, typ.Kind())
}
