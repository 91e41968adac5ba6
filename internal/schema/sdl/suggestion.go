package sdl

import (
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/vektah/gqlparser/v2/ast"
)

// foreignScalars are scalars of other schemas, in small letters, and those that hold the same here.
var foreignScalars = map[string]string{
	"bigint": "Int64", "long": "Int64", "int8": "Int64", "integer64": "Int64", "safeint": "Int64", "unsignedint": "Int64",
	"uint": "Int64", "uint32": "Int64", "uint64": "Int64",
	"integer": "Int", "int32": "Int", "int16": "Int", "short": "Int", "byte": "Int", "positiveint": "Int",
	"timestamp": "DateTime", "timestamptz": "DateTime", "instant": "DateTime", "awsdatetime": "DateTime",
	"datetimeiso": "DateTime", "isodatetime": "DateTime", "localdatetime": "DateTime", "offsetdatetime": "DateTime",
	"zoneddatetime": "DateTime", "datetimetz": "DateTime", "time": "DateTime", "awstimestamp": "DateTime",
	"localdate": "Date", "awsdate": "Date", "isodate": "Date", "day": "Date",
	"uuid": "ID", "guid": "ID", "ulid": "ID", "objectid": "ID",
	"bool": "Boolean", "str": "String", "text": "String", "varchar": "String", "url": "String", "uri": "String",
	"email": "String", "emailaddress": "String", "char": "String", "awsemail": "String", "awsurl": "String",
	"double": "Float", "number": "Float", "real": "Float", "float64": "Float", "float32": "Float",
	"bigdecimal": "Decimal", "numeric": "Decimal", "money": "Decimal", "currency": "Decimal",
}

// Suggest proposes the known name that is most like one that is not known: "; did you mean A?".
func Suggest(name string, known []string) string { return didYouMean(nearest(name, known)) }

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

// nearest is the known name that is most like one that is not known, "" where more than one letter of three would be
// another.
func nearest(name string, known []string) (best string) {
	least := max(1, len(name)/3) + 1
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(k)); d < least && d < len(name) {
			best, least = k, d
		}
	}
	return best
}

// meantDirective is the directive, with its @, that may stand at a place of the kind and is most like one that is not
// known; "" for none.
func (v Vocabulary) meantDirective(name string, location ast.DirectiveLocation) string {
	var known []string
	for _, d := range slices.Sorted(maps.Keys(v.Directives)) {
		if slices.Contains(v.Directives[d].Locations, location) {
			known = append(known, "@"+d)
		}
	}
	return nearest("@"+name, known)
}

// SuggestType proposes types of a field: the scalar that another system calls so, or what is called nearly so.
func SuggestType(name string, declared ...*Document) string {
	if scalar := foreignScalars[strings.ToLower(name)]; scalar != "" {
		return "; did you mean " + scalar + "?"
	}
	known := slices.Clone(ScalarNames)
	for _, doc := range declared {
		for _, def := range doc.Types {
			if def.Name != name && !IsRoot(def.Name) && !slices.Contains(known, def.Name) {
				known = append(known, def.Name)
			}
		}
	}
	return Suggest(name, known)
}
