// Package sdl parses schema documents and checks them by themselves: what GraphQL asks of any schema, and how the
// directives of foldql are applied. What it keeps of a document is well-formed, so that readers of annotations need not
// look again.
package sdl

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/rule"
	"github.com/foldql/foldql/internal/unreadable"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
)

// Document is one kind of schema, all its files together and every "extend" merged into what it extends.
type Document struct {
	Vocabulary
	Types []*ast.Definition // in order of declaration
	Named map[string]*ast.Definition
	Roots ast.SchemaDefinitionList
	Own   ast.DirectiveDefinitionList // definitions of directives
	Files []string                    // in the order given
	Found schema.Diagnostics          // what is wrong with it by itself

	Dropped map[*ast.Directive][]string // arguments that are given, and wrong

	UnknownOn map[string]bool // types with a directive that is not known, which may say what they are
}

func (doc *Document) add(d schema.Diagnostic) { doc.Found = append(doc.Found, d) }

// maxTokens keeps a text that is no schema from taking all memory.
const maxTokens = 1_000_000

// Parse reads the files of one kind of schema; ok is false where one does not parse.
func Parse(sources []*ast.Source, v Vocabulary) (doc *Document, ok bool) {
	doc = &Document{Vocabulary: v, Named: map[string]*ast.Definition{}, Dropped: map[*ast.Directive][]string{},
		UnknownOn: map[string]bool{}}
	all := &ast.SchemaDocument{}
	ok = true
	for _, src := range sources {
		doc.Files = append(doc.Files, src.Name)
		if pos, there := byteOrderMark(src); there {
			ok = false
			doc.add(rule.ByteOrderMark.Broken(pos, "", ""))
			continue
		}
		one, err := parser.ParseSchemaWithLimit(src, maxTokens)
		if err != nil {
			ok, err = false, unreadable.Cause(src.Input, err)
			doc.add(rule.Syntax.Broken(syntaxPos(src, err), "", "", gqlerror.WrapIfUnwrapped(err).Message))
			continue
		}
		all.Merge(one)
	}
	doc.Roots = slices.Concat(all.Schema, all.SchemaExtension)
	doc.Own = all.Directives
	doc.declare(all.Definitions)
	doc.extend(all.Extensions, ok)
	return doc, ok
}

// byteOrderMark finds a byte order mark that does not begin the file: Go code, which has the text of the schema and its
// descriptions, may have none.
func byteOrderMark(src *ast.Source) (pos schema.Pos, there bool) {
	const mark = "\ufeff"
	before, _, there := strings.Cut(strings.TrimPrefix(src.Input, mark), mark)
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return schema.Pos{
		File: src.Name, Line: 1 + strings.Count(before, "\n"), Column: 1 + utf8.RuneCountInString(line),
	}, there
}

func syntaxPos(src *ast.Source, err error) schema.Pos {
	pos := schema.Pos{File: src.Name, Line: 1, Column: 1}
	if where := gqlerror.WrapIfUnwrapped(err).Locations; len(where) > 0 {
		pos.Line, pos.Column = where[0].Line, where[0].Column
	}
	return pos
}

func (doc *Document) declare(definitions ast.DefinitionList) {
	for _, def := range definitions {
		if first := doc.Named[def.Name]; first != nil {
			doc.add(rule.TypeTwice.Broken(Position(def.Position), def.Name, "", Position(first.Position).String()))
			continue
		}
		doc.Named[def.Name] = def
		doc.Types = append(doc.Types, def)
	}
}

// extend merges extensions into what they extend. Where a file does not parse, it may declare what the rest lacks.
func (doc *Document) extend(extensions ast.DefinitionList, whole bool) {
	for _, ext := range extensions {
		def := doc.Named[ext.Name]
		switch {
		case def == nil && ext.Name == "Query" && ext.Kind == ast.Object:
			doc.Named[ext.Name] = ext
			doc.Types = append(doc.Types, ext)
		case def == nil && whole:
			doc.add(rule.ExtendsNothing.Broken(Position(ext.Position), ext.Name, ""))
		case def == nil:
		case def.Kind != ext.Kind:
			doc.add(rule.ExtendsOther.Broken(Position(ext.Position), ext.Name, "", KindName(def.Kind), KindName(ext.Kind)))
		default:
			def.Directives = append(def.Directives, ext.Directives...)
			def.Interfaces = append(def.Interfaces, ext.Interfaces...)
			def.Fields = append(def.Fields, ext.Fields...)
			def.Types = append(def.Types, ext.Types...)
			def.EnumValues = append(def.EnumValues, ext.EnumValues...)
		}
	}
}

// AbstractsOf are the interfaces and unions that an object type belongs to.
func (doc *Document) AbstractsOf(def *ast.Definition) []string {
	names := slices.Clone(def.Interfaces)
	for _, union := range doc.Types {
		if union.Kind == ast.Union && slices.Contains(union.Types, def.Name) {
			names = append(names, union.Name)
		}
	}
	return names
}

// Unclear reports whether a type may be meant as a read model, though nothing makes it one: that is reported where it
// is declared, and what refers to it need not be.
func (doc *Document) Unclear(typ string) bool {
	def := doc.Named[typ]
	if def == nil || def.Kind != ast.Object || IsRoot(typ) || IsModel(def) || IsPart(def) {
		return false
	}
	return doc.UnknownOn[typ] || len(Annotations(def)) > 0
}

// KindName names a kind of type in a sentence.
func KindName(k ast.DefinitionKind) string {
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

// IsRoot reports whether a type is one of those whose fields are operations.
func IsRoot(typ string) bool { return typ == "Query" || typ == "Mutation" || typ == "Subscription" }
