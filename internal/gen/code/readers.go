package code

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/internal/schema"
)

// readersFile writes the typed readers for resolvers of the project.
type readersFile struct{ *File }

// Readers writes what asks the generated queries from Go: a method for each, with the arguments that a query needs as
// parameters and the others in a struct. Generated resolvers call it, and those of the project's own may.
func Readers(m *schema.Model, module string) *File {
	f := &readersFile{&File{pkg: "generated"}}
	f.use("context")
	f.lib("graph")
	f.use(module + "/model")
	f.line("// Reader asks the queries of the API from resolvers of the project's own: each method is one query, and " +
		"answers the caller")
	f.line("// of the context with what they may read.")
	f.line("type Reader struct{ rt *graph.Runtime }\n")
	f.line("// NewReader makes a reader over the runtime, which is one of Catalog.")
	f.line("func NewReader(rt *graph.Runtime) Reader { return Reader{rt} }\n")
	for _, r := range m.ReadModels {
		for _, q := range r.Queries() {
			f.queryReader(r, q)
		}
	}
	for _, c := range m.Collections {
		f.collectionReader(c)
	}
	if strings.Contains(f.body.String(), "optional(") {
		f.line("// optional makes a key value of an argument that may be left out.")
		f.line("func optional[T any](v *T, value func(T) keys.Value) keys.Value {")
		f.line("if v == nil {\nreturn keys.Value{}\n}\nreturn value(*v)\n}")
	}
	return f.File
}

// answerOf is the Go type of the answer of a query.
func answerOf(r *schema.ReadModel, q schema.Query) string {
	switch {
	case q.Many():
		return "[]*model." + schema.GoName(r.Name)
	case q.Connection != "":
		return "*" + schema.GoName(q.Connection)
	}
	return "*model." + schema.GoName(r.Name)
}

func (f *readersFile) queryReader(r *schema.ReadModel, q schema.Query) {
	args := f.readerMethod(q, served.Arguments(r, q), answerOf(r, q))
	codec := "model." + schema.GoName(r.Name) + "Codec"
	if q.Many() {
		f.manyReader(r, q, args, codec)
		return
	}
	pk, sk := keyArguments(r, q, args)
	fields := append([]string{fmt.Sprintf("Name: %q", q.Name)}, f.keyFields(pk, sk)...)
	if q.Connection == "" {
		if slices.Contains(q.Args, queryarg.Consistent) {
			fields = append(fields, "Consistent: "+paramOf(args, queryarg.Consistent))
		}
		f.line("return graph.FetchOne(ctx, r.rt, %s, &graph.QueryRequest{%s})\n}\n", codec, strings.Join(fields, ", "))
		return
	}
	f.line("return graph.FetchPage(ctx, r.rt, %s, &graph.QueryRequest{%s, Page: %s})\n}\n", codec,
		strings.Join(fields, ", "), f.besideKeys(r, q, args))
}

// manyReader ends the reader of the rows of a list of ids or keys.
func (f *readersFile) manyReader(r *schema.ReadModel, q schema.Query, args []served.Argument, codec string) {
	f.lib("keys")
	given := args[0].Param
	if q.Keys != nil {
		values := make([]string, len(q.Keys))
		for i, field := range q.Keys {
			values[i] = valueOf(field, "key."+field.GoName())
		}
		f.line("values := make([]keys.Value, 0, %d*len(%s))\nfor _, key := range %s {\nvalues = append(values, %s)\n}",
			len(values), given, given, strings.Join(values, ", "))
	} else {
		value := "keys.String(id)"
		if args[0].Field != nil {
			value = valueOf(args[0].Field, "id")
		}
		f.line("values := make([]keys.Value, len(%s))\nfor i, id := range %s {\nvalues[i] = %s\n}", given, given, value)
	}
	f.line("return graph.FetchMany(ctx, r.rt, %s, &graph.QueryRequest{Name: %q, IDs: values, Consistent: %s})\n}\n", codec,
		q.Name, paramOf(args, queryarg.Consistent))
}

// besideKeys is the literal of those arguments of a query of pages that are no parts of keys.
func (f *readersFile) besideKeys(r *schema.ReadModel, q schema.Query, args []served.Argument) string {
	if r.Entity != nil {
		return f.entityPageArgs(args[q.KeyArgs():])
	}
	pk, sk := keyArguments(r, q, args)
	return f.pageArgs(args[len(pk)+len(sk):])
}

// collectionReader writes the reader of a collection, and how its items are read.
func (f *readersFile) collectionReader(c *schema.Collection) {
	q, items := c.Query(), "itemsOf"+schema.GoName(c.APIName())
	item := "model." + schema.GoName(c.Union())
	f.line("// %s reads items of %s, by their types.", items, c.APIName())
	f.line("var %s = []graph.ItemReader[%s]{", items, item)
	for _, name := range served.MemberNames(c) {
		goName := schema.GoName(name)
		f.line("graph.NewItemReader(model.%sCodec, func(r *model.%s) %s { return r }),", goName, goName, item)
	}
	f.line("}\n")
	args := f.readerMethod(q, served.CollectionArguments(c), "*"+schema.GoName(q.Connection))
	fields := append([]string{fmt.Sprintf("Name: %q", q.Name)}, f.keyFields(args[:len(c.PK)], nil)...)
	f.line("return graph.FetchCollection(ctx, r.rt, %s, &graph.QueryRequest{%s, MemberTypes: graph.EnumStrings(%s), "+
		"Page: %s})\n}\n",
		items, strings.Join(fields, ", "), paramOf(args, queryarg.Only), f.pageArgs(args[len(c.PK):]))
}

// readerMethod begins the method of a query, and returns its arguments as the body names them.
func (f *readersFile) readerMethod(q schema.Query, args []served.Argument, answer string) []served.Argument {
	name, params := schema.GoName(q.Name), ""
	optional := slices.ContainsFunc(args, func(a served.Argument) bool { return !a.Required() })
	if optional {
		f.line("// %sArgs are the arguments of %s that may be left out: nil.\ntype %sArgs struct {", name, q.Name, name)
	}
	inBody := slices.Clone(args)
	for i, a := range args {
		if a.Required() {
			params += fmt.Sprintf(", %s %s", a.Param, f.argumentType(a))
			continue
		}
		f.line("%s %s", a.GoField(), f.argumentType(a))
		inBody[i].Param = "args." + a.GoField()
	}
	if optional {
		f.line("}\n")
		params += ", args " + name + "Args"
	}
	f.line("// %s asks the query %s.", name, q.Name)
	f.line("func (r Reader) %s(ctx context.Context%s) (%s, error) {", name, params, answer)
	return inBody
}

// argumentType is the Go type of an argument.
func (f *File) argumentType(a served.Argument) string {
	base, nonNull := strings.CutSuffix(a.Type, "!")
	goType := Scalars[base].goType
	switch {
	case a.GoType != "":
		if strings.HasPrefix(a.GoType, "catalog.") {
			f.lib("graph/catalog")
		}
		return a.GoType
	case a.Field != nil:
		f.needs(a.Field)
		goType = scalarOf(a.Field, "model.").goType
		if strings.HasPrefix(a.Type, "[") {
			goType = "[]" + goType
		}
	}
	if !nonNull {
		goType = "*" + goType
	}
	return goType
}

// keyFields are the fields of a graph.QueryRequest that hold the values of keys.
func (f *readersFile) keyFields(pk, sk []served.Argument) (fields []string) {
	if len(pk) > 0 {
		fields = append(fields, "PK: "+f.keyValues(pk))
	}
	if len(sk) > 0 {
		fields = append(fields, "SK: "+f.keyValues(sk))
	}
	return fields
}

// keyValues is the literal of the values of arguments.
func (f *readersFile) keyValues(args []served.Argument) string {
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
func (f *readersFile) keyValue(a served.Argument) string {
	f.lib("keys")
	goType, value := "string", "keys.String(%s)"
	if a.Field != nil {
		s := scalarOf(a.Field, "model.")
		goType, value = s.goType, s.value
	}
	if strings.HasSuffix(a.Type, "!") {
		return fmt.Sprintf(value, a.Param)
	}
	return fmt.Sprintf("optional(%s, %s)", a.Param, function(goType, value))
}

// function is the function that makes a key value by a pattern such as "keys.Int(int64(%s))".
func function(goType, pattern string) string {
	if name, simple := strings.CutSuffix(pattern, "(%s)"); simple && !strings.Contains(name, "(") {
		return name
	}
	return fmt.Sprintf("func(v %s) keys.Value { return %s }", goType, fmt.Sprintf(pattern, "v"))
}

// paramOf is the parameter of an argument, nil where there is none.
func paramOf(args []served.Argument, name string) string {
	for _, a := range args {
		if a.Name == name {
			return a.Param
		}
	}
	return "nil"
}

// pageArgs is the literal of the arguments of a page that are no parts of keys.
func (f *readersFile) pageArgs(args []served.Argument) string {
	var fields []string
	for _, a := range args {
		if arg, ok := queryarg.Find(a.Name); ok && (arg.Group == queryarg.Operand ||
			arg.Group == queryarg.Filter || arg.Group == queryarg.Page || arg.Group == queryarg.Cursor) {
			fields = append(fields, arg.GoName()+": "+a.Param)
		}
	}
	f.lib("graph/catalog")
	return "catalog.PageArgs{" + strings.Join(fields, ", ") + "}"
}

// entityPageArgs is that literal for an entity, of which operands are values.
func (f *readersFile) entityPageArgs(args []served.Argument) string {
	var operands, fields []string
	for _, a := range args {
		switch arg, _ := queryarg.Find(a.Name); {
		case arg.Group != queryarg.Operand:
			fields = append(fields, arg.GoName()+": "+a.Param)
		case arg.Typed:
			operands = append(operands, arg.GoName()+": "+f.keyValue(a))
		default:
			operands = append(operands, arg.GoName()+": "+a.Param)
		}
	}
	if len(operands) > 0 {
		fields = append([]string{"Where: keys.Condition{" + strings.Join(operands, ", ") + "}"}, fields...)
	}
	f.lib("graph/catalog")
	return "catalog.PageArgs{" + strings.Join(fields, ", ") + "}"
}
