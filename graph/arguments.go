package graph

import (
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
)

// argument is one argument of a field in an operation: a constant, a variable, a literal that holds variables, or not
// there.
type argument struct {
	name     string
	variable string     // the variable that gives the value
	open     *ast.Value // else the literal whose value each operation gives anew, because there are variables in it
	constant any        // else the value
	given    bool       // constant was written, or is the schema's default
	named    string     // name of the type
	enum     *ast.Definition
}

// argument finds out what gives the named argument of the field its value.
func (c *compiler) argument(f *ast.Field, name string) argument {
	a := argument{name: name}
	def := f.Definition.Arguments.ForName(name)
	if def == nil {
		return a
	}
	a.named = def.Type.Name()
	if t := c.schema.Types[a.named]; t != nil && t.Kind == ast.Enum {
		a.enum = t
	}
	if def.DefaultValue != nil {
		a.constant, a.given = c.constant(def.DefaultValue), true
	}
	switch arg := f.Arguments.ForName(name); {
	case arg == nil:
	case arg.Value.Kind == ast.Variable:
		a.variable = arg.Value.Raw
	case holdsVariable(arg.Value):
		a.open = arg.Value
	default:
		a.constant, a.given = c.constant(arg.Value), true
	}
	return a
}

// holdsVariable reports whether there is a variable in a literal, however deep.
func holdsVariable(v *ast.Value) bool {
	return v.Kind == ast.Variable || slices.ContainsFunc(v.Children, func(c *ast.ChildValue) bool { return holdsVariable(c.Value) })
}

// constant returns the value of a literal without variables.
func (c *compiler) constant(v *ast.Value) any {
	value, err := v.Value(nil)
	if err != nil {
		c.foreign = true
	}
	return value
}

// raw returns the value as the client gave it; ok is false where it gave none.
func (a *argument) raw(vars map[string]any) (v any, ok bool, err error) {
	switch {
	case a.variable != "":
		if v, ok = vars[a.variable]; ok {
			return v, true, nil
		}
	case a.open != nil:
		if v, err = a.open.Value(vars); err != nil {
			err = &argumentError{name: a.name, err: graphqlerr.New(graphqlerr.BadUserInput, "%w", err)}
		}
		return v, true, err
	}
	return a.constant, a.given, nil
}

// optional reads an argument that may be null or left out.
func optional[T any](a *argument, vars map[string]any, read func(any) (T, error)) (*T, error) {
	raw, ok, err := a.raw(vars)
	if err != nil || !ok || raw == nil {
		return nil, err
	}
	v, err := read(raw)
	if err != nil {
		return nil, &argumentError{name: a.name, err: err}
	}
	return &v, nil
}

// key reads an argument that becomes part of a key. It is absent where it is null or left out, if it may be.
func (a *argument) key(vars map[string]any, mandatory bool) (keys.Value, error) {
	raw, ok, err := a.raw(vars)
	if err != nil || raw == nil && (!mandatory || !ok) {
		return keys.Value{}, err
	}
	v, err := a.value(raw)
	if err != nil {
		return keys.Value{}, &argumentError{name: a.name, err: err}
	}
	return v, nil
}

func (a *argument) value(raw any) (keys.Value, error) {
	if a.enum != nil {
		return valueOf(raw, a.readEnum, keys.String)
	}
	switch a.named {
	case "ID":
		return valueOf(raw, UnmarshalID, keys.String)
	case "String":
		return valueOf(raw, UnmarshalString, keys.String)
	case "Boolean":
		return valueOf(raw, UnmarshalBoolean, keys.Boolean)
	case "Int":
		return valueOf(raw, UnmarshalInt, func(n int) keys.Value { return keys.Int(int64(n)) })
	case "Int64":
		return valueOf(raw, UnmarshalInt64, keys.Int)
	case "Float":
		return valueOf(raw, UnmarshalFloat, keys.Float)
	case "Decimal":
		return valueOf(raw, UnmarshalDecimal, keys.DecimalOf)
	case "Date":
		return valueOf(raw, UnmarshalDate, keys.DateOf)
	case "DateTime":
		return valueOf(raw, UnmarshalDateTime, keys.DateTime)
	}
	return keys.Value{}, notA(a.named, raw)
}

func valueOf[T any](raw any, read func(any) (T, error), value func(T) keys.Value) (keys.Value, error) {
	v, err := read(raw)
	if err != nil {
		return keys.Value{}, err
	}
	return value(v), nil
}

func (a *argument) readEnum(raw any) (string, error) {
	if s, ok := raw.(string); ok && a.enum.EnumValues.ForName(s) != nil {
		return s, nil
	}
	return "", notA(a.named, raw)
}

// argumentError is an error of one argument; its path ends with the argument's name, or with the place in it of an
// element of a list.
type argumentError struct {
	name    string
	element *int
	err     error
}

func (e *argumentError) Error() string { return e.err.Error() }
func (e *argumentError) Unwrap() error { return e.err }

// queryArguments are the arguments of a root field.
type queryArguments struct {
	pk, sk                                                    []argument
	eq, prefix, from, to, reverse, limit, token, strict, only argument
	typed                                                     bool // eq, from and to are values of their own types
}

func (c *compiler) queryArguments(f *ast.Field, q *Query) queryArguments {
	list := func(args, parts []Arg) []argument {
		out := make([]argument, 0, len(args)+len(parts))
		for _, a := range slices.Concat(args, parts) {
			out = append(out, c.argument(f, a.Name))
		}
		return out
	}
	return queryArguments{
		pk: list(q.PK, q.PKParts), sk: list(q.SK, q.SKParts),
		eq: c.argument(f, "eq"), prefix: c.argument(f, "prefix"), from: c.argument(f, "from"), to: c.argument(f, "to"),
		reverse: c.argument(f, "reverse"), limit: c.argument(f, "limit"), token: c.argument(f, "nextToken"),
		strict: c.argument(f, "consistent"), only: c.argument(f, "only"),
		typed: q.Collection == nil && c.catalog.Types[q.Type].isEntity(),
	}
}

// read fills the request with the values that the arguments have in this operation.
func (a *queryArguments) read(q *Query, vars map[string]any, r *request) (err error) {
	vals := r.room[:]
	if n := len(a.pk) + len(a.sk); n > len(vals) {
		vals = make([]keys.Value, n)
	}
	r.pk, r.sk = vals[:len(a.pk)], vals[len(a.pk):len(a.pk)+len(a.sk)]
	for i := range a.pk {
		if r.pk[i], err = a.pk[i].key(vars, len(q.PKParts) == 0 && !q.PK[i].Optional); err != nil {
			return err
		}
	}
	for i := range a.sk {
		if r.sk[i], err = a.sk[i].key(vars, a.typed && q.Kind == One); err != nil {
			return err
		}
	}
	if q.Kind == One {
		strict, err := optional(&a.strict, vars, UnmarshalBoolean)
		r.consistent = strict != nil && *strict
		return err
	}
	if q.Collection != nil {
		if r.only, err = a.readOnly(vars); err != nil {
			return err
		}
	}
	return a.readPage(q, vars, &r.page)
}

// readOnly reads the types of members that are asked for; nil means that the argument is not given. What is no list stands
// for a list of it.
func (a *queryArguments) readOnly(vars map[string]any) ([]string, error) {
	raw, _, err := a.only.raw(vars)
	if err != nil || raw == nil {
		return nil, err
	}
	list := graphql.CoerceList(raw) // a variable may hold a slice of the type of its one element
	names := make([]string, len(list))
	for i, elem := range list {
		if names[i], err = a.only.readEnum(elem); err != nil {
			at := i
			return nil, &argumentError{a.only.name, &at, err}
		}
	}
	return names, nil
}

func (a *queryArguments) readPage(q *Query, vars map[string]any, p *PageArgs) (err error) {
	switch {
	case q.Operands && a.typed:
		err = a.readWhere(vars, &p.Where)
	case q.Operands:
		err = a.readOperands(vars, p)
	}
	if err != nil {
		return err
	}
	if p.Reverse, err = optional(&a.reverse, vars, UnmarshalBoolean); err != nil {
		return err
	}
	if p.Limit, err = optional(&a.limit, vars, UnmarshalInt); err != nil {
		return err
	}
	p.NextToken, err = optional(&a.token, vars, UnmarshalString)
	return err
}

// readOperands reads conditions on the text of the sort key.
func (a *queryArguments) readOperands(vars map[string]any, p *PageArgs) (err error) {
	for _, text := range [...]struct {
		arg *argument
		to  **string
	}{{&a.eq, &p.Eq}, {&a.prefix, &p.Prefix}, {&a.from, &p.From}, {&a.to, &p.To}} {
		if *text.to, err = optional(text.arg, vars, UnmarshalString); err != nil {
			return err
		}
	}
	return nil
}

// readWhere reads conditions on a part of the sort key of an entity.
func (a *queryArguments) readWhere(vars map[string]any, c *keys.Condition) (err error) {
	if c.Eq, err = a.eq.key(vars, false); err != nil {
		return err
	}
	if c.Prefix, err = optional(&a.prefix, vars, UnmarshalString); err != nil {
		return err
	}
	if c.From, err = a.from.key(vars, false); err != nil {
		return err
	}
	c.To, err = a.to.key(vars, false)
	return err
}
