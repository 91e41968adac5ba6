package plan

import (
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/argument"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/graph/scalar"
	"github.com/foldql/foldql/internal/queryarg"
	"github.com/foldql/foldql/keys"
)

// Argument is one argument of a field in an operation: a constant, a variable, a literal that holds variables, or not
// there.
type Argument struct {
	name     string
	Variable string     // the variable that gives the value
	open     *ast.Value // else the literal whose value each operation gives for itself, because there are variables in it
	constant any        // else the value
	given    bool       // constant was written, or is the schema's default
	Named    string     // name of the type
	Enum     *ast.Definition
}

// argument finds out what gives the named argument of the field its value.
func (c *Compiler) argument(f *ast.Field, name string) Argument {
	a := Argument{name: name}
	def := f.Definition.Arguments.ForName(name)
	if def == nil {
		return a
	}
	a.Named = def.Type.Name()
	a.Enum = enum(c.Schema, a.Named)
	if def.DefaultValue != nil {
		a.constant, a.given = c.constant(def.DefaultValue), true
	}
	switch arg := f.Arguments.ForName(name); {
	case arg == nil:
	case arg.Value.Kind == ast.Variable:
		a.Variable = arg.Value.Raw
	case holdsVariable(arg.Value):
		a.open = arg.Value
	default:
		a.constant, a.given = c.constant(arg.Value), true
	}
	return a
}

// enum is the enum of the name, nil where the type is none.
func enum(schema *ast.Schema, name string) *ast.Definition {
	if schema == nil || schema.Types[name] == nil || schema.Types[name].Kind != ast.Enum {
		return nil
	}
	return schema.Types[name]
}

// holdsVariable reports whether there is a variable in a literal, however deep.
func holdsVariable(v *ast.Value) bool {
	return v.Kind == ast.Variable || slices.ContainsFunc(v.Children, func(c *ast.ChildValue) bool {
		return holdsVariable(c.Value)
	})
}

// constant returns the value of a literal without variables.
func (c *Compiler) constant(v *ast.Value) any {
	value, err := v.Value(nil)
	if err != nil {
		c.unsupported = true
	}
	return value
}

// raw returns the value as the client gave it; ok is false where it gave none.
func (a *Argument) raw(vars map[string]any) (v any, ok bool, err error) {
	switch {
	case a.Variable != "":
		if v, ok = vars[a.Variable]; ok {
			return v, true, nil
		}
	case a.open != nil:
		if v, err = a.open.Value(vars); err != nil {
			err = a.wrong(graphqlerr.New(graphqlerr.BadUserInput, "%w", err))
		}
		return v, true, err
	}
	return a.constant, a.given, nil
}

// optional reads an argument that may be null or left out.
func optional[T any](a *Argument, vars map[string]any, read func(any) (T, error)) (*T, error) {
	raw, ok, err := a.raw(vars)
	if err != nil || !ok || raw == nil {
		return nil, err
	}
	v, err := read(raw)
	if err != nil {
		return nil, a.wrong(err)
	}
	return &v, nil
}

// Key reads an argument that becomes part of a key. It is absent where it is null or left out, if it may be.
func (a *Argument) Key(vars map[string]any, mandatory bool) (keys.Value, error) {
	raw, ok, err := a.raw(vars)
	if err != nil || raw == nil && (!mandatory || !ok) {
		return keys.Value{}, err
	}
	v, err := a.Value(raw)
	if err != nil {
		return keys.Value{}, a.wrong(err)
	}
	return v, nil
}

// list reads a list that must not be null. A variable for it may be null where it has a default. What is no list stands
// for a list of it.
func (a *Argument) list(vars map[string]any) ([]any, error) {
	raw, _, err := a.raw(vars)
	if err == nil && raw == nil {
		err = a.wrong(scalar.TypeError(a.Named, nil))
	}
	return graphql.CoerceList(raw), err // a variable may hold a slice of the type of its one element
}

// keyList reads a list of values of which each is a key.
func (a *Argument) keyList(vars map[string]any) ([]keys.Value, error) {
	list, err := a.list(vars)
	if err != nil {
		return nil, err
	}
	all := make([]keys.Value, len(list))
	for i, elem := range list {
		if all[i], err = a.Value(elem); err != nil {
			return nil, a.wrong(err, ast.PathIndex(i))
		}
	}
	return all, nil
}

// objectList reads a list of keys, each an object with a value for each of the fields: the values of one key after
// those of the other.
func (a *Argument) objectList(vars map[string]any, fields []Argument) ([]keys.Value, error) {
	list, err := a.list(vars)
	if err != nil {
		return nil, err
	}
	all := make([]keys.Value, 0, len(list)*len(fields))
	for i, elem := range list {
		key, ok := elem.(map[string]any)
		if !ok {
			return nil, a.wrong(scalar.TypeError(a.Named, elem), ast.PathIndex(i))
		}
		for j := range fields {
			v, err := fields[j].Value(key[fields[j].name])
			if err != nil {
				return nil, a.wrong(err, ast.PathIndex(i), ast.PathName(fields[j].name))
			}
			all = append(all, v)
		}
	}
	return all, nil
}

// Value reads what a variable or a literal gives the argument; of a list, one element. The error says how the value is
// not of the argument's type.
func (a *Argument) Value(raw any) (keys.Value, error) {
	if a.Enum != nil {
		name, err := a.readEnum(raw)
		if err != nil {
			return keys.Value{}, err
		}
		return keys.String(name), nil
	}
	return scalar.KeyValue(a.Named, raw)
}

func (a *Argument) readEnum(raw any) (string, error) {
	if s, ok := raw.(string); ok && a.Enum.EnumValues.ForName(s) != nil {
		return s, nil
	}
	return "", scalar.TypeError(a.Named, raw)
}

// wrong returns the error of the argument, or of a place in its value.
func (a *Argument) wrong(err error, in ...ast.PathElement) error {
	return argument.Wrong(append(ast.Path{ast.PathName(a.name)}, in...), err)
}

// Arguments are the arguments of a field that asks a query.
type Arguments struct {
	pk, sk []Argument
	fields []Argument // of each of the keys that the one of pk is a list of
	beside []besideArgument
	entity bool // the query is one of an entity: operands are values of their own types
}

// besideArgument is an argument beside those that make keys, and how a request takes it.
type besideArgument struct {
	Argument
	take take
}

// take puts the value that an argument has in an operation into the request.
type take func(a *Argument, vars map[string]any, r *read.Request) error

func (c *Compiler) queryArguments(f *ast.Field, q *catalog.Query) Arguments {
	list := func(args, parts []catalog.KeyArg) []Argument {
		c.Members += len(args) + len(parts) // of which each takes about as much memory as a member
		out := make([]Argument, 0, len(args)+len(parts))
		for _, a := range slices.Concat(args, parts) {
			out = append(out, c.argument(f, a.Name))
		}
		return out
	}
	args := Arguments{
		pk: list(q.PK, q.PKParts), sk: list(q.SK, q.SKParts), fields: keyFields(c.Schema, f, q),
		entity: q.Type != "" && read.IsEntity(c.Catalog.Types[q.Type]),
	}
	c.Members += len(args.fields)
	for _, a := range queryarg.All {
		if takesGroup(q, a.Group) {
			takes := takesOf[a.Name]
			if typed := typedTakesOf[a.Name]; args.entity && typed != nil {
				takes = typed
			}
			c.Members++
			args.beside = append(args.beside, besideArgument{c.argument(f, a.Name), takes})
		}
	}
	return args
}

// keyFields are the fields of each key that a query takes a list of.
func keyFields(schema *ast.Schema, f *ast.Field, q *catalog.Query) []Argument {
	if len(q.KeyFields) == 0 {
		return nil
	}
	input := schema.Types[f.Definition.Arguments.ForName(q.PK[0].Name).Type.Name()]
	fields := make([]Argument, len(q.KeyFields))
	for i, k := range q.KeyFields {
		fields[i].name, fields[i].Named = k.Name, input.Fields.ForName(k.Name).Type.Name()
		fields[i].Enum = enum(schema, fields[i].Named)
	}
	return fields
}

// takesGroup reports whether the query takes arguments of the group.
func takesGroup(q *catalog.Query, g queryarg.Group) bool {
	switch g {
	case queryarg.Row:
		return q.Kind == catalog.QueryOne || q.Kind == catalog.QueryMany
	case queryarg.Collection:
		return q.Collection != nil
	case queryarg.Operand:
		return q.Kind == catalog.QueryPage && q.HasOperands
	case queryarg.Filter:
		return q.Filtered
	case queryarg.Cursor:
		return q.Edge != ""
	}
	return q.Kind == catalog.QueryPage
}

// takesOf says what each argument does to a request.
var takesOf = map[string]take{
	queryarg.Consistent: takeConsistent,
	queryarg.Only:       takeOnly,
	queryarg.Eq:         textOperand(func(p *catalog.PageArgs) **string { return &p.Eq }),
	queryarg.Prefix:     textOperand(func(p *catalog.PageArgs) **string { return &p.Prefix }),
	queryarg.From:       textOperand(func(p *catalog.PageArgs) **string { return &p.From }),
	queryarg.To:         textOperand(func(p *catalog.PageArgs) **string { return &p.To }),
	queryarg.FilterArg:  takeFilter,
	queryarg.Partial:    takePage(scalar.UnmarshalBoolean, func(p *catalog.PageArgs) **bool { return &p.Partial }),
	queryarg.Reverse:    takePage(scalar.UnmarshalBoolean, func(p *catalog.PageArgs) **bool { return &p.Reverse }),
	queryarg.Limit:      takePage(scalar.UnmarshalInt, func(p *catalog.PageArgs) **int { return &p.Limit }),
	queryarg.NextToken:  takePage(scalar.UnmarshalString, func(p *catalog.PageArgs) **string { return &p.NextToken }),
	queryarg.First:      takePage(scalar.UnmarshalInt, func(p *catalog.PageArgs) **int { return &p.First }),
	queryarg.After:      takePage(scalar.UnmarshalString, func(p *catalog.PageArgs) **string { return &p.After }),
	queryarg.Last:       takePage(scalar.UnmarshalInt, func(p *catalog.PageArgs) **int { return &p.Last }),
	queryarg.Before:     takePage(scalar.UnmarshalString, func(p *catalog.PageArgs) **string { return &p.Before }),
}

// typedTakesOf says it of operands on a part of the sort key of an entity.
var typedTakesOf = map[string]take{
	queryarg.Eq:     typedOperand(func(c *keys.Condition) *keys.Value { return &c.Eq }),
	queryarg.Prefix: textOperand(func(p *catalog.PageArgs) **string { return &p.Where.Prefix }),
	queryarg.From:   typedOperand(func(c *keys.Condition) *keys.Value { return &c.From }),
	queryarg.To:     typedOperand(func(c *keys.Condition) *keys.Value { return &c.To }),
}

func takePage[T any](unmarshal func(any) (T, error), field func(*catalog.PageArgs) **T) take {
	return func(a *Argument, vars map[string]any, r *read.Request) (err error) {
		*field(&r.Page), err = optional(a, vars, unmarshal)
		return err
	}
}

func textOperand(field func(*catalog.PageArgs) **string) take {
	return takePage(scalar.UnmarshalString, field)
}

func typedOperand(field func(*keys.Condition) *keys.Value) take {
	return func(a *Argument, vars map[string]any, r *read.Request) (err error) {
		*field(&r.Page.Where), err = a.Key(vars, false)
		return err
	}
}

func takeConsistent(a *Argument, vars map[string]any, r *read.Request) error {
	strict, err := optional(a, vars, scalar.UnmarshalBoolean)
	r.Consistent = strict != nil && *strict
	return err
}

// takeOnly reads the types of members that are asked for; nil means that the argument is not given. What is no list
// stands for a list of it.
func takeOnly(a *Argument, vars map[string]any, r *read.Request) error {
	raw, _, err := a.raw(vars)
	if err != nil || raw == nil {
		return err
	}
	list := graphql.CoerceList(raw) // a variable may hold a slice of the type of its one element
	r.MemberTypes = make([]string, len(list))
	for i, elem := range list {
		if r.MemberTypes[i], err = a.readEnum(elem); err != nil {
			return a.wrong(err, ast.PathIndex(i))
		}
	}
	return nil
}

// takeFilter takes a filter, which whoever reads the page makes sense of.
func takeFilter(a *Argument, vars map[string]any, r *read.Request) error {
	raw, _, err := a.raw(vars)
	if err != nil || raw == nil {
		return err
	}
	if err := r.Page.Filter.UnmarshalGQL(raw); err != nil {
		return a.wrong(graphqlerr.New(graphqlerr.BadUserInput, "%w", err))
	}
	return nil
}

// Read fills the request with the values that the arguments have in this operation.
func (a *Arguments) Read(q *catalog.Query, vars map[string]any, r *read.Request) (err error) {
	switch q.Kind {
	case catalog.QueryNode:
		id, err := a.pk[0].Key(vars, true)
		r.IDs = []keys.Value{id}
		return err
	case catalog.QueryMany, catalog.QueryNodes:
		if len(a.fields) > 0 {
			r.IDs, err = a.pk[0].objectList(vars, a.fields)
		} else {
			r.IDs, err = a.pk[0].keyList(vars)
		}
		if err != nil {
			return err
		}
		return a.readBeside(vars, r)
	}
	r.SetKey(len(a.pk), len(a.sk))
	for i := range a.pk {
		if r.PK[i], err = a.pk[i].Key(vars, len(q.PKParts) == 0 && !q.PK[i].Optional); err != nil {
			return err
		}
	}
	for i := range a.sk {
		if r.SK[i], err = a.sk[i].Key(vars, a.entity && q.Kind == catalog.QueryOne); err != nil {
			return err
		}
	}
	return a.readBeside(vars, r)
}

// readBeside fills the request with the values of the arguments that make no keys.
func (a *Arguments) readBeside(vars map[string]any, r *read.Request) (err error) {
	for i := range a.beside {
		if err = a.beside[i].take(&a.beside[i].Argument, vars, r); err != nil {
			return err
		}
	}
	return nil
}
