package schema

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
)

// document is one kind of schema, all its files together and every "extend" merged into what it extends.
type document struct {
	vocabulary
	types []*ast.Definition // in order of declaration
	named map[string]*ast.Definition
	roots ast.SchemaDefinitionList
	own   ast.DirectiveDefinitionList // definitions of directives
	files []string                    // in the order given
	found Diagnostics                 // what is wrong with it by itself

	dropped map[*ast.Directive][]string // arguments that are given, and wrong
}

func (doc *document) add(d Diagnostic) { doc.found = append(doc.found, d) }

// maxTokens keeps a text that is no schema from taking all memory.
const maxTokens = 1_000_000

// parseDocument reads the files of one kind of schema; ok is false where one does not parse.
func parseDocument(sources []*ast.Source, v vocabulary) (doc *document, ok bool) {
	doc = &document{vocabulary: v, named: map[string]*ast.Definition{}, dropped: map[*ast.Directive][]string{}}
	all := &ast.SchemaDocument{}
	ok = true
	for _, src := range sources {
		doc.files = append(doc.files, src.Name)
		one, err := parser.ParseSchemaWithLimit(src, maxTokens)
		if err != nil {
			ok = false
			doc.add(syntax.broken(syntaxPos(src, err), "", "", gqlerror.WrapIfUnwrapped(err).Message))
			continue
		}
		all.Merge(one)
	}
	doc.roots = slices.Concat(all.Schema, all.SchemaExtension)
	doc.own = all.Directives
	doc.declare(all.Definitions)
	doc.extend(all.Extensions)
	return doc, ok
}

func syntaxPos(src *ast.Source, err error) Pos {
	pos := Pos{File: src.Name, Line: 1, Column: 1}
	if where := gqlerror.WrapIfUnwrapped(err).Locations; len(where) > 0 {
		pos.Line, pos.Column = where[0].Line, where[0].Column
	}
	return pos
}

func (doc *document) declare(definitions ast.DefinitionList) {
	for _, def := range definitions {
		if first := doc.named[def.Name]; first != nil {
			doc.add(typeTwice.broken(at(def.Position), def.Name, "", at(first.Position).String()))
			continue
		}
		doc.named[def.Name] = def
		doc.types = append(doc.types, def)
	}
}

func (doc *document) extend(extensions ast.DefinitionList) {
	for _, ext := range extensions {
		def := doc.named[ext.Name]
		switch {
		case def == nil && ext.Name == "Query" && ext.Kind == ast.Object:
			doc.named[ext.Name] = ext
			doc.types = append(doc.types, ext)
		case def == nil:
			doc.add(extendsNothing.broken(at(ext.Position), ext.Name, ""))
		case def.Kind != ext.Kind:
			doc.add(extendsOther.broken(at(ext.Position), ext.Name, "", kindName(def.Kind), kindName(ext.Kind)))
		default:
			def.Directives = append(def.Directives, ext.Directives...)
			def.Interfaces = append(def.Interfaces, ext.Interfaces...)
			def.Fields = append(def.Fields, ext.Fields...)
			def.Types = append(def.Types, ext.Types...)
			def.EnumValues = append(def.EnumValues, ext.EnumValues...)
		}
	}
}

// kindName names a kind of type in a sentence.
func kindName(k ast.DefinitionKind) string {
	switch k {
	case ast.Scalar:
		return "a scalar"
	case ast.Object:
		return "an object type"
	case ast.Interface:
		return "an interface"
	case ast.Union:
		return "a union"
	case ast.Enum:
		return "an enum"
	}
	return "an input type"
}

func isRoot(typ string) bool { return typ == "Query" || typ == "Mutation" || typ == "Subscription" }
