package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/templates"

	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/internal/schema"
)

// connections writes the Go types of connections. They are aliases, so that all connections of one model are one type.
func connections(m *schema.Model, module string) *goFile {
	f := &goFile{pkg: "generated"}
	for _, r := range m.ReadModels {
		for _, q := range r.Queries() {
			if q.Connection == "" {
				continue
			}
			f.line("// %s is a page of %s.", schema.GoName(q.Connection), q.Name)
			f.line("type %s = %s.Connection[*%s.%s]\n", schema.GoName(q.Connection), f.lib("graph"), f.use(module+"/model"), schema.GoName(r.Name))
		}
	}
	for _, c := range m.Collections {
		name := schema.GoName(c.Connection())
		f.line("// %s is a page of %s.", name, c.Query().Name)
		f.line("type %s = %s.Connection[%s.%s]\n", name, f.lib("graph"), f.use(module+"/model"), schema.GoName(c.Union()))
	}
	return f
}

// resolvers writes the resolvers of queries, virtual fields and guarded fields. own says that the project has resolvers
// of its own, which New then takes.
func resolvers(m *schema.Model, module string, own bool) *goFile {
	f := &goFile{pkg: "generated"}
	f.use("context")
	f.use("maps")
	f.use("github.com/99designs/gqlgen/graphql")
	f.lib("graph")
	f.use(module + "/model")
	f.made(own)
	f.root(m, own)
	for _, r := range m.ReadModels {
		for _, q := range r.Queries() {
			f.queryResolver(r, q)
		}
	}
	for _, c := range m.Collections {
		f.collectionResolver(c)
	}
	for _, r := range m.ReadModels {
		f.typeResolvers(r)
	}
	if strings.Contains(f.body.String(), "optional(") {
		f.line("// optional makes a key value of an argument that may be left out.")
		f.line("func optional[T any](v *T, value func(T) keys.Value) keys.Value {")
		f.line("if v == nil {\nreturn keys.Value{}\n}\nreturn value(*v)\n}")
	}
	return f
}

// made writes what makes the schema.
func (f *goFile) made(own bool) {
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
	f.line("return NewExecutableSchema(Config{Schema: &schema, Resolvers: root{rt%s}})\n}\n", value)
}

// root writes the root of the resolvers.
func (f *goFile) root(m *schema.Model, own bool) {
	if own {
		// Unexported names keep the embedded interfaces clear of methods that are called like them.
		f.line("type (\nown = Own\nownQuery = OwnQuery\n)\n")
		f.line("// root finds the resolvers of each type.\ntype root struct {\nrt *graph.Runtime\nown\n}\n")
		f.line("func (r root) Query() QueryResolver { return queries{r.rt, r.own.Query()} }\n")
		f.line("// queries resolves the fields of Query.\ntype queries struct {\nrt *graph.Runtime\nownQuery\n}\n")
	} else {
		f.line("// root finds the resolvers of each type.\ntype root struct{ rt *graph.Runtime }\n")
		f.line("func (r root) Query() QueryResolver { return queries(r) }\n")
		f.line("// queries resolves the fields of Query.\ntype queries struct{ rt *graph.Runtime }\n")
	}
	for _, r := range m.ReadModels {
		if hasResolvers(r) {
			f.line("func (r root) %s() %sResolver { return %s{r.rt} }\n",
				templates.UcFirst(r.Name), templates.UcFirst(r.Name), resolverOf(r))
		}
	}
}

func hasResolvers(r *schema.ReadModel) bool {
	return len(r.Joins) > 0 || slices.ContainsFunc(r.Fields, func(f *schema.Field) bool { return f.Auth != nil })
}

// resolverOf is the Go type that resolves the fields of a model's rows.
func resolverOf(r *schema.ReadModel) string { return "rowsOf" + schema.GoName(r.Name) }

// reserved are the names that parameters of resolvers must leave free in their bodies.
var reserved = []string{"r", "ctx", "graph", "catalog", "keys", "model", "optional", "string", "int64", "int", "bool", "float64", "time", "queries", "nil"}

// named gives each argument its parameter of the resolver.
func named(args []argument) []argument {
	var taken []string
	for i := range args {
		name := strings.TrimLeft(templates.ToGoPrivate(args[i].name), "_")
		for slices.Contains(reserved, name) || slices.Contains(taken, name) {
			name += "Arg"
		}
		args[i].param = name
		taken = append(taken, name)
	}
	return args
}

func (f *goFile) queryResolver(r *schema.ReadModel, q schema.Query) {
	args, name := arguments(r, q), schema.GoName(r.Name)
	answer := "model." + name
	if q.Connection != "" {
		answer = schema.GoName(q.Connection)
	}
	f.line("// %s answers %s.", schema.GoName(q.Name), q.Name)
	f.line("func (r queries) %s(ctx context.Context%s) (*%s, error) {", schema.GoName(q.Name), f.signature(args), answer)
	pk, sk := keyArguments(r, q)
	if q.Connection == "" {
		f.line("return graph.FetchOne(ctx, r.rt, %q, model.%sCodec, %s, %s, %s)\n}\n",
			q.Name, name, f.keyValues(pk), f.keyValues(sk), paramOf(args, queryarg.Consistent))
		return
	}
	page := ""
	if r.Entity != nil {
		page = f.entityPageArgs(sk, args[len(q.Required)+len(q.Trailing)+len(q.Optional):])
	} else {
		page = f.pageArgs(args[len(pk)+len(sk):], sk...)
	}
	f.line("return graph.FetchPage(ctx, r.rt, %q, model.%sCodec, %s, %s)\n}\n", q.Name, name, f.keyValues(pk), page)
}

// collectionResolver writes the resolver of a collection, and how its items are read.
func (f *goFile) collectionResolver(c *schema.Collection) {
	q, args, items := c.Query(), collectionArguments(c), "itemsOf"+schema.GoName(c.APIName())
	item := "model." + schema.GoName(c.Union())
	f.line("// %s reads items of %s, by their types.", items, c.APIName())
	f.line("var %s = []graph.ItemReader[%s]{", items, item)
	for _, name := range memberNames(c) {
		goName := schema.GoName(name)
		f.line("graph.ItemsOf(model.%sCodec, func(r *model.%s) %s { return r }),", goName, goName, item)
	}
	f.line("}\n")
	f.line("// %s answers %s.", schema.GoName(q.Name), q.Name)
	f.line("func (r queries) %s(ctx context.Context%s) (*%s, error) {", schema.GoName(q.Name), f.signature(args), schema.GoName(q.Connection))
	f.line("return graph.FetchCollection(ctx, r.rt, %q, %s, %s, graph.Names(%s), %s)\n}\n",
		q.Name, items, f.keyValues(args[:len(c.PK)]), paramOf(args, queryarg.Only), f.pageArgs(args[len(c.PK):]))
}

// signature writes the parameters of a resolver.
func (f *goFile) signature(args []argument) string {
	var b strings.Builder
	for _, a := range args {
		base, nonNull := strings.CutSuffix(a.typ, "!")
		goType := scalars[base].goType
		switch {
		case a.goType != "":
			goType, nonNull = a.goType, true
		case a.field != nil:
			f.needs(a.field)
			goType = scalarOf(a.field, "model.").goType
		}
		if !nonNull {
			goType = "*" + goType
		}
		fmt.Fprintf(&b, ", %s %s", a.param, goType)
	}
	return b.String()
}

// keyValues is the literal of the values of arguments.
func (f *goFile) keyValues(args []argument) string {
	if len(args) == 0 {
		return "nil"
	}
	values := make([]string, len(args))
	for i, a := range args {
		values[i] = f.keyValue(a)
	}
	return "[]keys.Value{" + strings.Join(values, ", ") + "}"
}

// keyValue is the expression of the value of an argument, which is absent where the argument is not given.
func (f *goFile) keyValue(a argument) string {
	f.lib("keys")
	goType, value := "string", "keys.String(%s)"
	if a.field != nil {
		s := scalarOf(a.field, "model.")
		goType, value = s.goType, s.value
	}
	if strings.HasSuffix(a.typ, "!") {
		return fmt.Sprintf(value, a.param)
	}
	return fmt.Sprintf("optional(%s, %s)", a.param, function(goType, value))
}

// function is the function that makes a key value by a pattern such as "keys.Int(int64(%s))".
func function(goType, pattern string) string {
	if name, simple := strings.CutSuffix(pattern, "(%s)"); simple && !strings.Contains(name, "(") {
		return name
	}
	return fmt.Sprintf("func(v %s) keys.Value { return %s }", goType, fmt.Sprintf(pattern, "v"))
}

// paramOf is the parameter of an argument, nil where there is none.
func paramOf(args []argument, name string) string {
	for _, a := range args {
		if a.name == name {
			return a.param
		}
	}
	return "nil"
}

// pageArgs is the literal of the arguments of a page: parts of the sort key, and those that are no parts of keys.
func (f *goFile) pageArgs(args []argument, sk ...argument) string {
	var fields []string
	if len(sk) > 0 {
		fields = append(fields, "Sort: "+f.keyValues(sk))
	}
	for _, a := range args {
		if arg, ok := queryarg.Find(a.name); ok && (arg.Group == queryarg.Operand || arg.Group == queryarg.Page) {
			fields = append(fields, arg.GoName()+": "+a.param)
		}
	}
	f.lib("graph/catalog")
	return "catalog.PageArgs{" + strings.Join(fields, ", ") + "}"
}

// entityPageArgs is that literal for an entity: parts of the sort key, and operands, are values there.
func (f *goFile) entityPageArgs(sk, args []argument) string {
	var operands, fields []string
	for _, a := range args {
		switch arg, _ := queryarg.Find(a.name); {
		case arg.Group != queryarg.Operand:
			fields = append(fields, arg.GoName()+": "+a.param)
		case arg.Typed:
			operands = append(operands, arg.GoName()+": "+f.keyValue(a))
		default:
			operands = append(operands, arg.GoName()+": "+a.param)
		}
	}
	if len(operands) > 0 {
		fields = append([]string{"Where: keys.Condition{" + strings.Join(operands, ", ") + "}"}, fields...)
	}
	if len(sk) > 0 {
		fields = append([]string{"Sort: " + f.keyValues(sk)}, fields...)
	}
	f.lib("graph/catalog")
	return "catalog.PageArgs{" + strings.Join(fields, ", ") + "}"
}

// typeResolvers writes the resolvers of virtual and of guarded fields.
func (f *goFile) typeResolvers(r *schema.ReadModel) {
	if !hasResolvers(r) {
		return
	}
	f.line("// %s resolves fields of %s.\ntype %s struct{ rt *graph.Runtime }\n", resolverOf(r), r.Name, resolverOf(r))
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
func (f *goFile) method(r *schema.ReadModel, field, answer string) {
	f.line("// %s answers %s of %s.", schema.GoName(field), field, r.Name)
	f.line("func (r %s) %s(ctx context.Context, obj *model.%s) (%s, error) {",
		resolverOf(r), schema.GoName(field), schema.GoName(r.Name), answer)
}

// guard writes the call that asks whether the field may be read.
func (f *goFile) guard(r *schema.ReadModel, field string) {
	f.line("if err := graph.Guard(ctx, r.rt, %q, %q, model.%sCodec, obj); err != nil {\nreturn nil, err\n}", r.Name, field, schema.GoName(r.Name))
}

func (f *goFile) guarded(r *schema.ReadModel, field *schema.Field) {
	f.needs(field)
	f.method(r, field.Name, goTypeOf(field, "model."))
	f.guard(r, field.Name)
	f.line("return obj.%s, nil\n}\n", schema.GoName(field.Name))
}

func (f *goFile) join(r *schema.ReadModel, j *schema.Join) {
	target, source := schema.GoName(j.Target.Name), "obj."+schema.GoName(j.Source.Name)
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
		f.line("ids := make([]keys.Value, len(%s))\nfor i, id := range %s {\nids[i] = %s\n}", source, source, valueOf(j.Source, "id"))
		f.line("return graph.JoinMany(ctx, r.rt, %q, %q, model.%sCodec, ids)\n}\n", r.Name, j.Name, target)
		return
	}
	f.line("id := model.%sCodec.Value(obj, %d)", schema.GoName(r.Name), j.Source.Ordinal)
	f.line("return graph.JoinOne(ctx, r.rt, %q, %q, model.%sCodec, id)\n}\n", r.Name, j.Name, target)
}
