package gen

import (
	"errors"
	"fmt"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/code"
	"github.com/foldql/foldql/internal/gen/outfile"
	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema"
)

// hasOwnResolvers reports whether the project adds fields to Query.
func hasOwnResolvers(s *ast.Schema, m *schema.Model) bool {
	generated := served.QueryNames(m)
	return slices.ContainsFunc(s.Query.Fields, func(f *ast.FieldDefinition) bool {
		return !strings.HasPrefix(f.Name, "__") && !generated[f.Name]
	})
}

// owner is what a project begins its own resolvers with; %s is its module.
const owner = `package graph

import (
	"github.com/foldql/foldql/graph"

	"%s/graph/generated"
)

// Resolver is what the resolvers of the project's own fields of Query share. This file is written once: change it.
type Resolver struct {
	runtime *graph.Runtime
	queries generated.Reader // asks the generated queries
}

// NewResolver makes the resolvers over the runtime that answers all other fields.
func NewResolver(rt *graph.Runtime) *Resolver {
	return &Resolver{runtime: rt, queries: generated.NewReader(rt)}
}
`

// begin writes what is the project's from then on, unless it is there.
func (o *output) begin(module string) error {
	if _, err := os.Stat(ownerFile); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return o.record(func() error {
		return outfile.WriteIfChanged(ownerFile, fmt.Appendf(nil, owner, module))
	}, ownerFile)
}

// ownResolvers is the plugin of gqlgen that writes stubs for the fields that a project resolves itself, and the
// interfaces that the stubs implement.
type ownResolvers struct{ *output }

// Name names the plugin to gqlgen.
func (ownResolvers) Name() string { return "resolvergen" }

// MutateConfig makes resolvers of fields that take arguments, which a field of a struct would not get. A project that
// has a Go type of its own for a type can give it a method instead.
func (ownResolvers) MutateConfig(cfg *config.Config) error {
	for _, def := range cfg.Schema.Types {
		if def.Kind != ast.Object || def == cfg.Schema.Query || cfg.Models.UserDefined(def.Name) {
			continue
		}
		for _, f := range def.Fields {
			if len(f.Arguments) == 0 {
				continue
			}
			entry := cfg.Models[def.Name]
			if entry.Fields == nil {
				entry.Fields = map[string]config.TypeMapField{}
			}
			field := entry.Fields[f.Name]
			field.Resolver = true
			entry.Fields[f.Name] = field
			cfg.Models[def.Name] = entry
		}
	}
	return nil
}

// checkArguments finds fields whose arguments would reach nobody.
func checkArguments(data *codegen.Data) error {
	var errs []error
	for _, obj := range data.Objects {
		for _, f := range obj.Fields {
			if len(f.Args) > 0 && !obj.BuiltIn && !f.IsResolver && !f.IsMethod() {
				errs = append(errs, fmt.Errorf("%s: field %s of type %s takes arguments, and its Go type has no method for it: "+
					"add one, or set resolver: true for the field in models", configFile, f.Name, obj.Name))
			}
		}
	}
	return errors.Join(errs...)
}

// GenerateCode writes package graph of the project and the interfaces.
func (o ownResolvers) GenerateCode(data *codegen.Data) error {
	if err := checkArguments(data); err != nil {
		return err
	}
	own := o.only(data)
	if err := o.writeStubs(own); err != nil {
		return err
	}
	err := render(own, templates.Options{PackageName: "generated", PackageDoc: code.Header,
		Filename: filepath.FromSlash(draftOf(ownFile)), Template: ownTemplate})
	if err != nil {
		return err
	}
	return adopt(ownFile, func(text []byte) []byte { return text })
}

const ownTemplate = `
{{ reserveImport "context" }}

// Own are the resolvers of the project's own fields; package graph has them.
type Own interface {
{{- range .Objects }}{{ if .HasResolvers }}
	{{ ucFirst .Name }}() {{ .ResolverInterface | ref }}
{{- end }}{{ end }}
{{- range .Inputs }}{{ if .HasResolvers }}
	{{ ucFirst .Name }}() {{ .ResolverInterface | ref }}
{{- end }}{{ end }}
}

// OwnQuery resolves the project's own fields of Query.
type OwnQuery interface {
{{- range .Objects }}{{ if .Root }}{{ range .Fields }}{{ if .IsResolver }}
	{{ .GoFieldName }}{{ .ShortResolverDeclaration }}
{{- end }}{{ end }}{{ end }}{{ end }}
}
`

// only is the data with no resolvers but those of the project.
func (o ownResolvers) only(data *codegen.Data) *codegen.Data {
	generated := served.QueryNames(o.model)
	copied := *data
	copied.Objects = make(codegen.Objects, len(data.Objects))
	for i, obj := range data.Objects {
		c := *obj
		c.Fields = make([]*codegen.Field, len(obj.Fields))
		for k, field := range obj.Fields {
			fc := *field
			fc.IsResolver = field.IsResolver && !o.isOurs(obj.Name) && !(obj.Root && generated[field.Name])
			c.Fields[k] = &fc
		}
		if obj.Root {
			name := types.NewTypeName(0, data.Config.Exec.Pkg(), "OwnQuery", nil)
			c.ResolverInterface = types.NewNamed(name, nil, nil)
		}
		copied.Objects[i] = &c
	}
	return &copied
}

// isOurs reports whether the resolvers of a type are generated: of a read model, or of a part of an aggregate.
func (o ownResolvers) isOurs(name string) bool {
	return slices.ContainsFunc(o.model.ReadModels, func(r *schema.ReadModel) bool { return r.Name == name }) ||
		slices.ContainsFunc(o.model.Objects, func(part *schema.Object) bool { return part.Name == name })
}
