// Package served makes the schema that a project serves: its own types, and the queries, connections and fields that
// follow from its read models, all of them described.
package served

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/sdl"
)

// Schema makes the schema that is served, and its text: what the project declares and what its read models add, without
// the directives that only steer the generator. gqlgen sees nothing else, so introspection shows what the text says.
func Schema(m *schema.Model, sources []*ast.Source) (*ast.Schema, string, error) {
	s, err := gqlparser.LoadSchema(slices.Concat(
		[]*ast.Source{{Name: "foldql/directives.graphqls", Input: sdl.Directives()}},
		sources,
		[]*ast.Source{{Name: "foldql/queries.graphqls", Input: additions(m)}},
	)...)
	if err != nil {
		return nil, "", fmt.Errorf("the schema with its generated queries is not valid: %w", err)
	}
	showReferences(s, m)
	strip(s)
	fillDescriptions(s, m)
	printed := text(s)
	if s, err = gqlparser.LoadSchema(&ast.Source{Name: "schema.graphqls", Input: printed}); err != nil {
		return nil, "", fmt.Errorf("the schema to serve is not valid, which is a bug of foldql: %w", err)
	}
	return s, printed, nil
}

// QueryNames are the names of the generated queries.
func QueryNames(m *schema.Model) map[string]bool {
	names := map[string]bool{}
	for _, r := range m.ReadModels {
		for _, q := range r.Queries() {
			names[q.Name] = true
		}
	}
	for _, c := range m.Collections {
		names[c.Query().Name] = true
	}
	if len(m.Nodes()) > 0 {
		names[schema.NodeQuery], names[schema.NodesQuery] = true, true
	}
	return names
}

// strip takes away the directives that only steer the generator, their types, and scalars that nothing has.
func strip(s *ast.Schema) {
	build := sdl.BuildDirectives()
	for _, name := range build {
		delete(s.Directives, name)
	}
	for _, name := range sdl.BuildTypes() {
		delete(s.Types, name)
	}
	keep := func(list ast.DirectiveList) ast.DirectiveList {
		return slices.DeleteFunc(list, func(d *ast.Directive) bool { return slices.Contains(build, d.Name) })
	}
	s.SchemaDirectives = keep(s.SchemaDirectives)
	used := map[string]bool{}
	for _, def := range s.Types {
		def.Directives = keep(def.Directives)
		for _, f := range def.Fields {
			f.Directives = keep(f.Directives)
			used[f.Type.Name()] = true
			for _, a := range f.Arguments {
				used[a.Type.Name()] = true
			}
		}
	}
	for _, name := range sdl.ScalarNames {
		if !used[name] && !s.Types[name].BuiltIn {
			delete(s.Types, name)
		}
	}
}

// fillDescriptions describes what the project left without words.
func fillDescriptions(s *ast.Schema, m *schema.Model) {
	fill := func(name, text string) {
		if def := s.Types[name]; def != nil && strings.TrimSpace(def.Description) == "" {
			def.Description = text
		}
	}
	if strings.TrimSpace(s.Description) == "" {
		s.Description = schemaDescription(m)
	}
	fill("Query", "What can be asked.")
	for _, r := range m.ReadModels {
		fill(r.Name, "A row of the read model "+r.Name+".")
		fillEnums(r.Name, r.Fields, fill)
	}
	for _, o := range m.Objects {
		fill(o.Name, "An object inside of rows.")
		fillEnums(o.Name, o.Fields, fill)
	}
}

func fillEnums(typ string, fields []*schema.Field, fill func(name, text string)) {
	for _, f := range fields {
		if f.Enum != "" {
			fill(f.Enum, "What "+f.Name+" of "+typ+" can be.")
		}
	}
}

// text writes the schema, its own description first, types by name, a blank line between them.
func text(s *ast.Schema) string {
	var b bytes.Buffer
	b.WriteString(schemaText(s))
	formatter.NewFormatter(&b, formatter.WithIndent("  ")).FormatSchema(s)
	var out strings.Builder
	described := false // within a description at the left margin
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, `"""`) {
			described = !described
		}
		if !described && out.Len() > 0 && startsDefinition(line, out.String()) {
			out.WriteByte('\n')
		}
		if described && strings.HasPrefix(line, `"""`) && out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(line)
	}
	return out.String()
}

// startsDefinition reports whether a line begins a definition that has no description.
func startsDefinition(line, before string) bool {
	return line[0] >= 'a' && line[0] <= 'z' && !strings.HasSuffix(before, "\"\"\"\n")
}
