package code

import (
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/templates"

	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema"
)

// resolversFile writes the resolvers of generated fields.
type resolversFile struct{ *File }

// Connections writes the Go types of connections, and of their edges. They are aliases, so that all connections of one
// model are one type.
func Connections(m *schema.Model, module string) *File {
	f := &resolversFile{&File{pkg: "generated"}}
	for _, r := range m.ReadModels {
		for _, q := range r.Queries() {
			if q.Connection == "" {
				continue
			}
			f.line("// %s is a page of %s.", schema.GoName(q.Connection), q.Name)
			f.line("type %s = %s.Connection[*%s.%s]\n", schema.GoName(q.Connection), f.lib("graph"), f.use(module+"/model"),
				schema.GoName(r.Name))
		}
		if r.HasEdges() {
			f.edge(r.Name, "*"+f.use(module+"/model")+"."+schema.GoName(r.Name))
		}
	}
	for _, c := range m.Collections {
		name := schema.GoName(c.Connection())
		f.line("// %s is a page of %s.", name, c.Query().Name)
		f.line("type %s = %s.Connection[%s.%s]\n", name, f.lib("graph"), f.use(module+"/model"), schema.GoName(c.Union()))
		if c.Cursors {
			f.edge(c.Union(), f.use(module+"/model")+"."+schema.GoName(c.Union()))
		}
	}
	return f.File
}

// edge writes the Go type of the edges of connections of such items, which have a Go type.
func (f *resolversFile) edge(items, goType string) {
	name := schema.GoName(schema.EdgeType(items))
	f.line("// %s is an edge of a connection of %s.\ntype %s = graph.Edge[%s]\n", name, items, name, goType)
}

// nodeResolvers writes the resolvers of rows by their global identifiers.
func (f *resolversFile) nodeResolvers(m *schema.Model) {
	nodes := m.Nodes()
	if len(nodes) == 0 {
		return
	}
	f.line("// nodeReaders read the rows of all types that have a global identifier.")
	f.line("var nodeReaders = map[string]graph.ItemReader[model.%s]{", schema.NodeType)
	for _, r := range nodes {
		name := schema.GoName(r.Name)
		f.line("%q: graph.NewItemReader(model.%sCodec, func(r *model.%s) model.%s { return r }),", r.Name, name, name,
			schema.NodeType)
	}
	f.line("}\n")
	f.line("// Node answers %s.", schema.NodeQuery)
	f.line("func (r *queries) Node(ctx context.Context, id string) (model.%s, error) {", schema.NodeType)
	f.line("return graph.FetchNode(ctx, r.rt, nodeReaders, id)\n}\n")
	f.line("// Nodes answers %s.", schema.NodesQuery)
	f.line("func (r *queries) Nodes(ctx context.Context, ids []string) ([]model.%s, error) {", schema.NodeType)
	f.line("return graph.FetchNodes(ctx, r.rt, nodeReaders, ids)\n}\n")
}

// Resolvers writes the resolvers of queries, virtual fields and guarded fields. own says that the project has resolvers
// of its own, which New then takes.
func Resolvers(m *schema.Model, module string, own bool) *File {
	f := &resolversFile{&File{pkg: "generated"}}
	f.use("context")
	f.use("maps")
	f.use("github.com/99designs/gqlgen/graphql")
	f.lib("graph")
	f.use(module + "/model")
	f.made(own)
	f.root(m, own)
	for _, r := range m.ReadModels {
		for _, q := range r.Queries() {
			f.queryResolver(q, served.Arguments(r, q), answerOf(r, q))
		}
	}
	for _, c := range m.Collections {
		q := c.Query()
		f.queryResolver(q, served.CollectionArguments(c), "*"+schema.GoName(q.Connection))
	}
	f.nodeResolvers(m)
	for _, r := range m.ReadModels {
		f.typeResolvers(m, r)
	}
	for _, o := range m.Objects {
		f.partResolvers(m, o)
	}
	return f.File
}

// made writes what makes the schema.
func (f *resolversFile) made(own bool) {
	f.line("// SDL is the schema that is served.")
	f.line("func SDL() string { return sources[0].Input }\n")
	f.line("// New makes the schema that answers from the runtime, which is one of Catalog.%s", map[bool]string{
		true: " own are the project's resolvers.",
	}[own])
	parameter, value := "", ""
	if own {
		parameter, value = ", own Own", ", own"
	}
	f.line("func New(rt *graph.Runtime%s) graphql.ExecutableSchema {", parameter)
	f.line("schema := *parsedSchema")
	f.line("schema.Directives = maps.Clone(schema.Directives)")
	f.line("delete(schema.Directives, \"defer\") // answers come in one piece")
	f.line("return NewExecutableSchema(Config{Schema: &schema, Resolvers: &root{rt%s}})\n}\n", value)
}

// root writes the root of the resolvers.
func (f *resolversFile) root(m *schema.Model, own bool) {
	if own {
		// Unexported names keep the embedded interfaces clear of methods that are called like them.
		f.line("type (\nown = Own\nownQuery = OwnQuery\n)\n")
		f.line("// root finds the resolvers of each type.\ntype root struct {\nrt *graph.Runtime\nown\n}\n")
		f.line("func (r *root) Query() QueryResolver { return &queries{r.rt, r.own.Query()} }\n")
		f.line("// queries resolves the fields of Query.\ntype queries struct {\nrt *graph.Runtime\nownQuery\n}\n")
	} else {
		f.line("// root finds the resolvers of each type.\ntype root struct{ rt *graph.Runtime }\n")
		f.line("func (r *root) Query() QueryResolver { return (*queries)(r) }\n")
		f.line("// queries resolves the fields of Query.\ntype queries struct{ rt *graph.Runtime }\n")
	}
	for _, r := range m.ReadModels {
		if hasResolvers(r) {
			f.line("func (r *root) %s() %sResolver { return %s{r.rt} }\n",
				templates.UcFirst(r.Name), templates.UcFirst(r.Name), resolverOf(r))
		}
	}
	for _, o := range m.Objects {
		if len(o.Guarded()) > 0 {
			f.line("func (r *root) %s() %sResolver { return %s{r.rt} }\n",
				templates.UcFirst(o.Name), templates.UcFirst(o.Name), partResolverOf(o))
		}
	}
}

func hasResolvers(r *schema.ReadModel) bool {
	guarded := slices.ContainsFunc(r.Fields, func(f *schema.Field) bool { return f.Auth != nil })
	return guarded || len(r.Joins) > 0 || r.NodeKey != nil
}

// resolverOf is the Go type that resolves the fields of a model's rows.
func resolverOf(r *schema.ReadModel) string { return "rowsOf" + schema.GoName(r.Name) }

// queryResolver writes the resolver of a query, which asks the reader.
func (f *resolversFile) queryResolver(q schema.Query, args []served.Argument, answer string) {
	name := schema.GoName(q.Name)
	f.line("// %s answers %s.", name, q.Name)
	f.line("func (r *queries) %s(ctx context.Context%s) (%s, error) {", name, f.signature(args), answer)
	call := "ctx"
	var optional []string
	for _, a := range args {
		if a.Required() {
			call += ", " + a.Param
		} else {
			optional = append(optional, a.GoField()+": "+a.Param)
		}
	}
	if len(optional) > 0 {
		call += ", " + name + "Args{" + strings.Join(optional, ", ") + "}"
	}
	f.line("return Reader{r.rt}.%s(%s)\n}\n", name, call)
}

// signature writes the parameters of a resolver.
func (f *resolversFile) signature(args []served.Argument) string {
	var b strings.Builder
	for _, a := range args {
		fmt.Fprintf(&b, ", %s %s", a.Param, f.argumentType(a))
	}
	return b.String()
}

// typeResolvers writes the resolvers of virtual and of guarded fields.
func (f *resolversFile) typeResolvers(m *schema.Model, r *schema.ReadModel) {
	if !hasResolvers(r) {
		return
	}
	f.line("// %s resolves fields of %s.\ntype %s struct{ rt *graph.Runtime }\n", resolverOf(r), r.Name, resolverOf(r))
	if r.NodeKey != nil {
		f.method(r, m.Relay.ID, "string")
		f.line("return graph.NodeID(ctx, r.rt, %q, model.%sCodec, obj)\n}\n", r.Name, schema.GoName(r.Name))
	}
	for _, field := range r.Fields {
		if field.Auth != nil {
			f.guarded(r, field)
		}
	}
	for _, j := range r.Joins {
		f.join(r, j)
	}
}

// method begins the resolver of a field of a row.
func (f *resolversFile) method(r *schema.ReadModel, field, answer string) {
	f.line("// %s answers %s of %s.", schema.GoName(field), field, r.Name)
	f.line("func (r %s) %s(ctx context.Context, obj *model.%s) (%s, error) {",
		resolverOf(r), schema.GoName(field), schema.GoName(r.Name), answer)
}

// guard writes the call that asks whether the field may be read.
func (f *resolversFile) guard(r *schema.ReadModel, field string) {
	f.line("if err := graph.CheckFieldAccess(ctx, r.rt, %q, %q, model.%sCodec, obj); err != nil {\nreturn nil, err\n}",
		r.Name, field, schema.GoName(r.Name))
}

func (f *resolversFile) guarded(r *schema.ReadModel, field *schema.Field) {
	f.method(r, field.Name, f.guardedType(field))
	f.guard(r, field.Name)
	f.answerField(field)
}

// guardedType is the type of the answer of a guarded field.
func (f *resolversFile) guardedType(field *schema.Field) string {
	f.needs(field)
	if field.Object != nil && field.List { // gqlgen takes objects by their addresses
		return "[]*model." + schema.GoName(field.Object.Name)
	}
	return goTypeOf(field, "model.")
}

// answerField ends the resolver of a guarded field.
func (f *resolversFile) answerField(field *schema.Field) {
	answer, name := f.guardedType(field), field.GoName()
	if field.Object == nil || !field.List || field.IsCopy() {
		f.line("return obj.%s, nil\n}\n", name)
		return
	}
	f.line("if obj.%s == nil {\nreturn nil, nil\n}", name)
	f.line("all := make(%s, len(obj.%s))\nfor i := range all {\nall[i] = &obj.%s[i]\n}\nreturn all, nil\n}\n", answer,
		name, name)
}

// pages writes the resolver of a field that answers with a page of the rows that a value leads to.
func (f *resolversFile) pages(r *schema.ReadModel, j *schema.Join) {
	q, _ := j.Pages()
	args, readers := served.Arguments(j.Target, q), readersFile{f.File}
	f.line("// %s answers %s of %s.", schema.GoName(j.Name), j.Name, r.Name)
	f.line("func (r %s) %s(ctx context.Context, obj *model.%s%s) (*%s, error) {", resolverOf(r), schema.GoName(j.Name),
		schema.GoName(r.Name), f.signature(served.PageArguments(j)), schema.GoName(q.Connection))
	if j.Auth != nil {
		f.guard(r, j.Name)
	}
	_, sk := keyArguments(j.Target, q, args)
	request := "Page: " + readers.besideKeys(j.Target, q, args)
	if len(sk) > 0 {
		values, partition := make([]string, len(sk)), served.PartitionArguments(j)
		for i, a := range sk {
			if values[i] = "{}"; !slices.Contains(partition, a.Name) { // which the row stands for here too
				values[i] = readers.keyValue(a)
			}
		}
		request = "SK: []keys.Value{" + strings.Join(values, ", ") + "}, " + request
	}
	f.line("return graph.JoinPage(ctx, r.rt, %q, %q, model.%sCodec, &graph.QueryRequest{%s}%s)\n}\n",
		r.Name, j.Name, schema.GoName(j.Target.Name), request, valuesOf(r, j))
}

func (f *resolversFile) join(r *schema.ReadModel, j *schema.Join) {
	if j.Paged {
		f.pages(r, j)
		return
	}
	target, source := schema.GoName(j.Target.Name), "obj."+j.Source.GoName()
	answer := "*model." + target
	if j.Many {
		answer = "[]" + answer
	}
	f.method(r, j.Name, answer)
	if j.Auth != nil {
		f.guard(r, j.Name)
	}
	if j.Many {
		f.lib("keys")
		f.line("ids := make([]keys.Value, len(%s))\nfor i, id := range %s {\nids[i] = %s\n}", source, source,
			valueOf(j.Source, "id"))
		f.line("return graph.JoinMany(ctx, r.rt, %q, %q, model.%sCodec, ids)\n}\n", r.Name, j.Name, target)
		return
	}
	f.line("return graph.JoinOne(ctx, r.rt, %q, %q, model.%sCodec%s)\n}\n", r.Name, j.Name, target, valuesOf(r, j))
}

// valuesOf writes the values of a row that lead to another one, as arguments.
func valuesOf(r *schema.ReadModel, j *schema.Join) (arguments string) {
	for _, field := range j.By {
		arguments += fmt.Sprintf(", model.%sCodec.Value(obj, %d)", schema.GoName(r.Name), field.Ordinal)
	}
	return arguments
}

// partResolverOf is the Go type that resolves the fields of parts of aggregates.
func partResolverOf(o *schema.Object) string { return "partsOf" + schema.GoName(o.Name) }

// partResolvers writes the resolvers of guarded fields of a part of aggregates.
func (f *resolversFile) partResolvers(m *schema.Model, o *schema.Object) {
	if len(o.Guarded()) == 0 {
		return
	}
	typ, resolver := schema.GoName(o.Name), partResolverOf(o)
	f.line("// %s resolves fields of %s.\ntype %s struct{ rt *graph.Runtime }\n", resolver, o.Name, resolver)
	for _, field := range o.Guarded() {
		rows := ""
		if field.Auth.Owner {
			for _, r := range m.Holders(o) {
				owner := -1
				if r.Owner != nil {
					owner = r.Owner.Ordinal
				}
				rows += fmt.Sprintf(", graph.RowOf(model.%sCodec, %d)", schema.GoName(r.Name), owner)
			}
		}
		f.line("// %s answers %s of %s.", field.GoName(), field.Name, o.Name)
		f.line("func (r %s) %s(ctx context.Context, obj *model.%s) (%s, error) {", resolver, schema.GoName(field.Name), typ,
			f.guardedType(field))
		f.line("if err := graph.CheckPartAccess(ctx, r.rt, %s, %q%s); err != nil {\nreturn nil, err\n}", objectVar(o),
			field.Name, rows)
		f.answerField(field)
	}
}

// Entry writes what a server calls for its schema, by one name whether the project has resolvers of its own or not.
func Entry(module string, own bool) *File {
	f := &File{pkg: "graph", doc: "Package graph makes the schema that the project serves, and resolves the fields of " +
		"Query that are its own.\n"}
	f.use("github.com/99designs/gqlgen/graphql")
	f.lib("graph")
	f.use(module + "/graph/generated")
	f.line("// Schema makes the schema that answers from the runtime, which is one of generated.Catalog.")
	if own {
		f.line("func Schema(rt *graph.Runtime) graphql.ExecutableSchema { return generated.New(rt, NewResolver(rt)) }")
	} else {
		f.line("func Schema(rt *graph.Runtime) graphql.ExecutableSchema { return generated.New(rt) }")
	}
	return f
}
