package sdl

import (
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/vektah/gqlparser/v2/ast"
)

// Check reports what GraphQL itself forbids, and takes it out of the document, so that all that is read later is
// well-formed: names, repeats, and every use of a directive.
func Check(doc *Document) schema.Diagnostics {
	l := &soundChecker{doc: doc}
	for _, def := range doc.Types {
		l.checkName(def.Position, def.Name, "", def.Name)
		l.checkText(def.Position, def.Name, "", "the description", def.Description)
		def.Directives = l.soundDirectives(site{typ: def.Name, location: locationOf(def.Kind)}, def.Directives)
		l.soundFields(def)
		l.soundEnum(def)
	}
	for _, s := range doc.Roots {
		l.checkText(s.Position, "", "", "the description of the schema", s.Description)
		s.Directives = l.soundDirectives(site{location: ast.LocationSchema}, s.Directives)
	}
	return l.found
}

// soundChecker checks a document by the rules of GraphQL.
type soundChecker struct {
	doc   *Document
	found schema.Diagnostics
}

func (l *soundChecker) add(d schema.Diagnostic) { l.found = append(l.found, d) }

func (l *soundChecker) soundFields(def *ast.Definition) {
	location := ast.LocationFieldDefinition
	switch def.Kind {
	case ast.Object, ast.Interface:
	case ast.InputObject:
		location = ast.LocationInputFieldDefinition
	default:
		return
	}
	if len(def.Fields) == 0 && !l.doc.emptyAllowed(def) {
		l.add(rule.NoFields.Broken(Position(def.Position), def.Name, ""))
	}
	first := map[string]*ast.FieldDefinition{}
	var kept ast.FieldList
	for _, f := range def.Fields {
		if before := first[f.Name]; before != nil {
			l.add(rule.FieldTwice.Broken(Position(f.Position), def.Name, f.Name, Position(before.Position).String()))
			continue
		}
		first[f.Name] = f
		kept = append(kept, f)
		l.checkName(f.Position, def.Name, f.Name, f.Name)
		l.checkText(f.Position, def.Name, f.Name, "the description", f.Description)
		f.Directives = l.soundDirectives(site{def.Name, f.Name, location}, f.Directives)
		for _, a := range f.Arguments {
			l.checkName(a.Position, def.Name, f.Name, a.Name)
			l.checkText(a.Position, def.Name, f.Name, "the description of "+a.Name, a.Description)
			a.Directives = l.soundDirectives(site{def.Name, f.Name, ast.LocationArgumentDefinition}, a.Directives)
		}
	}
	def.Fields = kept
}

// emptyAllowed reports whether a type needs no fields: what retired events held need not be remembered.
func (doc *Document) emptyAllowed(def *ast.Definition) bool {
	return doc.Vocabulary.Directives["removed"] != nil && def.Directives.ForName("retired") != nil
}

func (l *soundChecker) soundEnum(def *ast.Definition) {
	if def.Kind != ast.Enum {
		return
	}
	if len(def.EnumValues) == 0 {
		l.add(rule.EnumEmpty.Broken(Position(def.Position), def.Name, ""))
	}
	var kept ast.EnumValueList
	for _, v := range def.EnumValues {
		if kept.ForName(v.Name) != nil {
			l.add(rule.EnumValueTwice.Broken(Position(v.Position), def.Name, "", v.Name))
			continue
		}
		kept = append(kept, v)
		l.checkName(v.Position, def.Name, "", v.Name)
		l.checkText(v.Position, def.Name, "", "the description of "+v.Name, v.Description)
		if v.Name == "true" || v.Name == "false" || v.Name == "null" {
			l.add(rule.EnumValueName.Broken(Position(v.Position), def.Name, "", v.Name))
		}
		v.Directives = l.soundDirectives(site{def.Name, "", ast.LocationEnumValue}, v.Directives)
	}
	def.EnumValues = kept
}

func (l *soundChecker) checkName(pos *ast.Position, typ, field, name string) {
	if strings.HasPrefix(name, "__") {
		l.add(rule.ReservedName.Broken(Position(pos), typ, field, name))
	}
}

func locationOf(k ast.DefinitionKind) ast.DirectiveLocation {
	switch k {
	case ast.Scalar:
		return ast.LocationScalar
	case ast.Object:
		return ast.LocationObject
	case ast.Interface:
		return ast.LocationInterface
	case ast.Union:
		return ast.LocationUnion
	case ast.Enum:
		return ast.LocationEnum
	}
	return ast.LocationInputObject
}

// locationName names a place for directives in a sentence.
func locationName(at ast.DirectiveLocation) string {
	switch at {
	case ast.LocationFieldDefinition:
		return "a field"
	case ast.LocationInputFieldDefinition:
		return "a field of an input type"
	case ast.LocationArgumentDefinition:
		return "an argument"
	case ast.LocationEnumValue:
		return "an enum value"
	case ast.LocationObject:
		return "an object type"
	case ast.LocationInterface:
		return "an interface"
	case ast.LocationUnion:
		return "a union"
	case ast.LocationEnum:
		return "an enum"
	case ast.LocationScalar:
		return "a scalar"
	case ast.LocationInputObject:
		return "an input type"
	case ast.LocationSchema:
		return "the schema"
	}
	return strings.ToLower(string(at))
}
