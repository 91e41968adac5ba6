package conventions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestExportedNamesAreDocumented: each exported function, method, type and value has a comment, or stands in a group
// that has one.
func TestExportedNamesAreDocumented(t *testing.T) {
	files := handWritten(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			for _, id := range undocumented(d, strings.Contains(name, "/projection/")) {
				t.Errorf("%s: %s has no doc comment", set.Position(id.Pos()), id.Name)
			}
		}
	}
}

// selfEvident are the methods that Go gives one meaning.
var selfEvident = []string{"Error", "Unwrap", "Is", "String"}

// undocumented are the exported names of a declaration that no comment is about. In the folder projection of a project
// the methods are those of projectors, and named after the events that they fold.
func undocumented(d ast.Decl, ofProject bool) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		plain := d.Recv != nil && (ofProject || slices.Contains(selfEvident, d.Name.Name) ||
			!ast.IsExported(receiver(d.Recv.List[0].Type)))
		if d.Doc.Text() == "" && !plain {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if d.Doc.Text()+s.Doc.Text()+s.Comment.Text() == "" {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				if d.Doc.Text()+s.Doc.Text()+s.Comment.Text() == "" {
					names = append(names, s.Names...)
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(id *ast.Ident) bool { return !id.IsExported() })
}
