package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/plugin/modelgen"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/code"
	"github.com/foldql/foldql/internal/gen/compact"
	"github.com/foldql/foldql/internal/gen/outfile"
	"github.com/foldql/foldql/internal/schema"
)

// runGqlgen writes the executable schema. The Go types that it binds must be there already. The one that was there is
// aside meanwhile, so that nothing of it disturbs, and not lost: an end in between leaves it for the next generation.
func (p *project) runGqlgen(o *output) (err error) {
	defer func() { err = errors.Join(err, settle()) }()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("gqlgen panicked: %v", r)
		}
	}()
	if err := outfile.Move(execFile, formerExec); err != nil {
		return fmt.Errorf("put the executable schema aside: %w", err)
	}
	cfg := p.config
	configure(cfg, p.module, o)
	plugins := []api.Option{api.NoPlugins()}
	if o.own { // before modelgen, so as to see which types the project has Go types for
		plugins = append(plugins, api.AddPlugin(ownResolvers{o}))
	}
	plugins = append(plugins, api.AddPlugin(opaqueFilters{o.model}), api.AddPlugin(modelgen.New()),
		api.AddPlugin(bindings{o.model}))
	if err := api.Generate(cfg, plugins...); err != nil {
		return fmt.Errorf("generate the executable schema: %w", diagnose(err))
	}
	return adopt(execFile, compact.Executor) // calls functions in place of closures
}

// formerExec is the former executable schema while there is none, or none is finished. It tells which signatures the
// resolvers of the project had, and so it goes when they have got their new ones.
const formerExec = "graph/generated/.exec.go.former"

// settle ends what a generation has begun with the executable schema, and has not come to the end of. A new one gets
// the mode of the former.
func settle() error {
	errs := []error{remove(draftOf(execFile)), remove(draftOf(ownFile))}
	if _, err := os.Lstat(execFile); errors.Is(err, fs.ErrNotExist) {
		if err := outfile.Move(formerExec, execFile); err != nil {
			errs = append(errs, fmt.Errorf("bring back the executable schema: %w", err))
		}
		return errors.Join(errs...)
	}
	if err := outfile.Inherit(execFile, formerExec); err != nil {
		return errors.Join(append(errs, fmt.Errorf("keep the mode of the executable schema: %w", err))...)
	}
	return errors.Join(append(errs, remove(formerExec))...)
}

// draftOf is where gqlgen writes a file, as it would leave half of it where it is killed. It is in the same folder,
// because gqlgen tells by that what packages are called; the go command takes no file of such a name.
func draftOf(file string) string { return path.Join(path.Dir(file), "."+path.Base(file)) }

// adopt makes a file of its draft.
func adopt(file string, change func(text []byte) []byte) error {
	text, err := os.ReadFile(draftOf(file))
	if err != nil {
		return fmt.Errorf("read what gqlgen has written: %w", err)
	}
	if err := outfile.WriteIfChanged(file, change(text)); err != nil {
		return err
	}
	return remove(draftOf(file))
}

// configure makes the fixed settings: where files go, code that is quick to build, and which Go types are which.
func configure(cfg *config.Config, module string, o *output) {
	cfg.Sources = []*ast.Source{{Name: "schema.graphqls", Input: o.sdl}}
	cfg.Exec = config.ExecConfig{Filename: filepath.FromSlash(draftOf(execFile)), Package: "generated",
		Layout: config.ExecLayoutSingleFile}
	cfg.Model = config.PackageConfig{Filename: filepath.FromSlash(typesFile), Package: "model"}
	cfg.Resolver = config.ResolverConfig{
		Layout: config.LayoutFollowSchema, DirName: stubsDir, Package: "graph", Type: "Resolver",
		FilenameTemplate: "{name}.resolvers.go", OmitTemplateComment: true, OmitResolverEmbedding: true,
	}
	cfg.OmitComplexity, cfg.OmitGetters, cfg.OmitRootModels = true, true, true
	cfg.UseFunctionSyntaxForExecutionContext = true
	cfg.SkipModTidy, cfg.SkipValidation = true, true
	if cfg.Models == nil {
		cfg.Models = config.TypeMap{}
	}
	bind(cfg.Models, module, o.model)
}

// bind names the Go types of scalars, read models, enums and connections.
func bind(types config.TypeMap, module string, m *schema.Model) {
	set := func(name, goType string) {
		types[name] = config.TypeMapEntry{Model: config.StringList{goType}, Fields: map[string]config.TypeMapField{}}
	}
	for name := range code.Scalars {
		set(name, code.Library+"/graph/scalar."+name)
	}
	set("Float", code.Library+"/graph/scalar.FloatContext") // writing it can fail
	for _, e := range m.Enums {
		set(e.Name, module+"/model."+schema.GoName(e.Name))
	}
	for _, o := range m.Objects {
		set(o.Name, module+"/model."+schema.GoName(o.Name))
		for name := range resolvedParts(o) {
			types[o.Name].Fields[name] = config.TypeMapField{Resolver: true}
		}
	}
	for _, r := range m.ReadModels {
		set(r.Name, module+"/model."+schema.GoName(r.Name))
		for name := range resolved(m, r) {
			types[r.Name].Fields[name] = config.TypeMapField{Resolver: true}
		}
		for _, q := range r.Queries() {
			if q.Connection != "" {
				set(q.Connection, module+"/graph/generated."+schema.GoName(q.Connection))
			}
			if q.Keys != nil {
				set(schema.KeyType(r.Name), module+"/model."+schema.GoName(r.Name)+"Key")
			}
		}
	}
	bindRelay(set, module, m)
	for _, name := range m.FilterTypes() {
		set(name, code.Library+"/graph/catalog.Filter")
	}
	for _, c := range m.Collections {
		set(c.Connection(), module+"/graph/generated."+schema.GoName(c.Connection()))
		set(c.Union(), module+"/model."+schema.GoName(c.Union()))
		set(c.MemberEnum(), module+"/model."+schema.GoName(c.MemberEnum()))
	}
}

// bindRelay names the Go types of what clients of Relay need.
func bindRelay(set func(name, goType string), module string, m *schema.Model) {
	if m.Relay == nil {
		return
	}
	set(schema.PageInfoType, code.Library+"/graph.PageInfo")
	if len(m.Nodes()) > 0 {
		set(schema.NodeType, module+"/model."+schema.NodeType)
	}
	for _, items := range m.EdgeItems() {
		set(schema.EdgeType(items), module+"/graph/generated."+schema.GoName(schema.EdgeType(items)))
	}
}

// resolved are the fields of a model that have resolvers.
func resolved(m *schema.Model, r *schema.ReadModel) map[string]bool {
	names := map[string]bool{}
	if r.NodeKey != nil {
		names[m.Relay.ID] = true
	}
	for _, f := range r.Fields {
		if f.Auth != nil {
			names[f.Name] = true
		}
	}
	for _, j := range r.Joins {
		names[j.Name] = true
	}
	return names
}

// resolvedParts are the fields of an object that have resolvers.
func resolvedParts(o *schema.Object) map[string]bool {
	names := map[string]bool{}
	for _, f := range o.Guarded() {
		names[f.Name] = true
	}
	return names
}

// bindings is a plugin of gqlgen that makes sure that it bound every field as configured: it makes a resolver, with no
// word, of a field for which it finds nothing.
type bindings struct{ model *schema.Model }

// Name names the plugin to gqlgen.
func (bindings) Name() string { return "foldql" }

// GenerateCode writes nothing.
func (b bindings) GenerateCode(data *codegen.Data) error {
	var errs []error
	for _, r := range b.model.ReadModels {
		errs = append(errs, bound(data, r.Name, resolved(b.model, r)))
	}
	for _, o := range b.model.Objects {
		errs = append(errs, bound(data, o.Name, resolvedParts(o)))
	}
	return errors.Join(errs...)
}

// bound reports fields of a type that gqlgen bound otherwise than wanted: to a resolver, or to none.
func bound(data *codegen.Data, typ string, resolvers map[string]bool) error {
	i := slices.IndexFunc(data.Objects, func(o *codegen.Object) bool { return o.Name == typ })
	if i < 0 {
		return fmt.Errorf("gqlgen left out the type %s", typ)
	}
	var errs []error
	for _, f := range data.Objects[i].Fields {
		if f.IsResolver != resolvers[f.Name] {
			errs = append(errs, fmt.Errorf("gqlgen did not bind field %s of type %s, which is a bug of foldql", f.Name, typ))
		}
	}
	return errors.Join(errs...)
}
