package graph

import (
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/internal/queryarg"
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
		c.unsupported = true
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
	pk, sk []argument
	beside []besideArgument
	entity bool // the query is one of an entity: operands are values of their own types
}

// besideArgument is an argument beside those that make keys, and how a request takes it.
type besideArgument struct {
	argument
	take take
}

// take puts the value that an argument has in an operation into the request.
type take func(a *argument, vars map[string]any, r *request) error

func (c *compiler) queryArguments(f *ast.Field, q *Query) queryArguments {
	list := func(args, parts []Arg) []argument {
		out := make([]argument, 0, len(args)+len(parts))
		for _, a := range slices.Concat(args, parts) {
			out = append(out, c.argument(f, a.Name))
		}
		return out
	}
	args := queryArguments{
		pk: list(q.PK, q.PKParts), sk: list(q.SK, q.SKParts),
		entity: q.Collection == nil && isEntity(c.catalog.Types[q.Type]),
	}
	for _, a := range queryarg.All {
		if takesGroup(q, a.Group) {
			takes := takesOf[a.Name]
			if typed := typedTakesOf[a.Name]; args.entity && typed != nil {
				takes = typed
			}
			args.beside = append(args.beside, besideArgument{c.argument(f, a.Name), takes})
		}
	}
	return args
}

// takesGroup reports whether the query takes arguments of the group.
func takesGroup(q *Query, g queryarg.Group) bool {
	switch g {
	case queryarg.Row:
		return q.Kind == One
	case queryarg.Collection:
		return q.Collection != nil
	case queryarg.Operand:
		return q.Kind == Many && q.Operands
	}
	return q.Kind == Many
}

// takesOf says what each argument does to a request.
var takesOf = map[string]take{
	queryarg.Consistent: takeConsistent,
	queryarg.Only:       takeOnly,
	queryarg.Eq:         textOperand(func(p *PageArgs) **string { return &p.Eq }),
	queryarg.Prefix:     textOperand(func(p *PageArgs) **string { return &p.Prefix }),
	queryarg.From:       textOperand(func(p *PageArgs) **string { return &p.From }),
	queryarg.To:         textOperand(func(p *PageArgs) **string { return &p.To }),
	queryarg.Reverse:    takePage(UnmarshalBoolean, func(p *PageArgs) **bool { return &p.Reverse }),
	queryarg.Limit:      takePage(UnmarshalInt, func(p *PageArgs) **int { return &p.Limit }),
	queryarg.NextToken:  takePage(UnmarshalString, func(p *PageArgs) **string { return &p.NextToken }),
}

// typedTakesOf says it of operands on a part of the sort key of an entity.
var typedTakesOf = map[string]take{
	queryarg.Eq:     typedOperand(func(c *keys.Condition) *keys.Value { return &c.Eq }),
	queryarg.Prefix: textOperand(func(p *PageArgs) **string { return &p.Where.Prefix }),
	queryarg.From:   typedOperand(func(c *keys.Condition) *keys.Value { return &c.From }),
	queryarg.To:     typedOperand(func(c *keys.Condition) *keys.Value { return &c.To }),
}

func takePage[T any](unmarshal func(any) (T, error), field func(*PageArgs) **T) take {
	return func(a *argument, vars map[string]any, r *request) (err error) {
		*field(&r.page), err = optional(a, vars, unmarshal)
		return err
	}
}

func textOperand(field func(*PageArgs) **string) take { return takePage(UnmarshalString, field) }

func typedOperand(field func(*keys.Condition) *keys.Value) take {
	return func(a *argument, vars map[string]any, r *request) (err error) {
		*field(&r.page.Where), err = a.key(vars, false)
		return err
	}
}

func takeConsistent(a *argument, vars map[string]any, r *request) error {
	strict, err := optional(a, vars, UnmarshalBoolean)
	r.consistent = strict != nil && *strict
	return err
}

// takeOnly reads the types of members that are asked for; nil means that the argument is not given. What is no list stands
// for a list of it.
func takeOnly(a *argument, vars map[string]any, r *request) error {
	raw, _, err := a.raw(vars)
	if err != nil || raw == nil {
		return err
	}
	list := graphql.CoerceList(raw) // a variable may hold a slice of the type of its one element
	r.only = make([]string, len(list))
	for i, elem := range list {
		if r.only[i], err = a.readEnum(elem); err != nil {
			return &argumentError{a.name, &i, err}
		}
	}
	return nil
}

// read fills the request with the values that the arguments have in this operation.
func (a *queryArguments) read(q *Query, vars map[string]any, r *request) (err error) {
	r.setKey(len(a.pk), len(a.sk))
	for i := range a.pk {
		if r.pk[i], err = a.pk[i].key(vars, len(q.PKParts) == 0 && !q.PK[i].Optional); err != nil {
			return err
		}
	}
	for i := range a.sk {
		if r.sk[i], err = a.sk[i].key(vars, a.entity && q.Kind == One); err != nil {
			return err
		}
	}
	for i := range a.beside {
		if err = a.beside[i].take(&a.beside[i].argument, vars, r); err != nil {
			return err
		}
	}
	return nil
}
