package parse

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// TestGoodEventsAreGraphQL: with our directives, and the enums that they share with the read models, events that Load
// accepts are a valid schema. (Of read models Load makes sure itself.)
func TestGoodEventsAreGraphQL(t *testing.T) {
	for _, dir := range folders(t, "testdata/good") {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			model, _ := load(t, dir)
			files := append(sources(t, dir, "events*.graphqls"),
				&ast.Source{Name: "directives.graphqls", Input: sdl.EventDirectives()},
				&ast.Source{Name: "shared.graphqls", Input: sharedEnums(t, dir, model)},
				&ast.Source{Name: "query.graphqls", Input: "type Query { none: Int }"},
			)
			if _, err := gqlparser.LoadSchema(files...); err != nil {
				t.Error(err)
			}
		})
	}
}

// sharedEnums declares the enums that events take from the schema of the read models.
func sharedEnums(t *testing.T, dir string, m *schema.Model) string {
	t.Helper()
	own := text(t, dir, "events*.graphqls")
	var b strings.Builder
	for _, e := range m.EventEnums {
		if !strings.Contains(own, "enum "+e.Name+" ") {
			b.WriteString("enum " + e.Name + " { " + strings.Join(e.Values, " ") + " }\n")
		}
	}
	return b.String()
}

// TestDiagnosticsAreInOrderOfFilesAndLines whatever finds them first.
func TestDiagnosticsAreInOrderOfFilesAndLines(t *testing.T) {
	_, found := Load(
		[]*ast.Source{
			{Name: "z.graphqls", Input: "type A @readModel(events: [\"E\"]) {\n  a: X\n  b: [ID] @id\n}"},
			{Name: "a.graphqls", Input: "type A { a: Int }"},
		},
		[]*ast.Source{{Name: "m.graphqls", Input: "type E { a: X }"}},
	)
	var files []string
	for _, d := range found {
		files = append(files, d.Pos.String())
	}
	want := []string{"z.graphqls:2:6", "z.graphqls:3:3", "z.graphqls:3:7", "a.graphqls:1:6", "m.graphqls:1:13"}
	if !slices.Equal(files, want) {
		t.Errorf("found at %v, want %v\n%v", files, want, found)
	}
}

// FuzzLoad: no text makes Load panic, and it gives a Model or an error, never both or neither.
func FuzzLoad(f *testing.F) {
	for _, kind := range []string{"good", "bad"} {
		dirs, err := filepath.Glob("testdata/" + kind + "/*")
		if err != nil {
			f.Fatal(err)
		}
		for _, dir := range dirs {
			f.Add(text(f, dir, "schema*.graphqls"), text(f, dir, "events*.graphqls"))
		}
	}
	f.Fuzz(func(t *testing.T, readModels, events string) {
		model, found := Load(
			[]*ast.Source{{Name: "schema.graphqls", Input: readModels}},
			[]*ast.Source{{Name: "events.graphqls", Input: events}},
		)
		if failed := found.Err() != nil; failed == (model != nil) {
			t.Fatalf("model %v, diagnostics:\n%v", model, found)
		}
		for _, d := range found {
			if d.Pos.Line < 1 || d.Pos.Column < 1 || d.Message == "" || d.Fix == "" {
				t.Fatalf("incomplete: %+v", d)
			}
		}
	})
}

func text(tb testing.TB, dir, pattern string) string {
	tb.Helper()
	var b strings.Builder
	for _, src := range sources(tb, dir, pattern) {
		b.WriteString(src.Input)
	}
	return b.String()
}
