package graphqlhttp

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// scalars is a schema that knows what is a value of a scalar: then wrong ones are mistakes of the request, before
// anything is executed. ScalarCheck returns nil for a scalar that may be anything, and else a function that gets the
// JSON value, or the value of a literal, and returns what is wrong with it.
type scalars interface {
	ScalarCheck(scalar string) func(v any) error
}

// inputs reads the values of variables. The library that coerces them afterwards is lenient: it takes texts for
// numbers, names of enum values in any case and every number for an ID, which only the fields that they are for would
// refuse, and any number of fields in an input with @oneOf, which nothing would.
type inputs struct {
	schema  *ast.Schema
	scalars scalars // nil where the schema is not one
}

func inputsOf(es graphql.ExecutableSchema) *inputs {
	in := &inputs{schema: es.Schema()}
	in.scalars, _ = es.(scalars)
	return in
}

// read makes the values of the operation's variables what their types say, or returns an error that names one that is
// not. What is null, or missing, or too much, is left to coerce.
func (in *inputs) read(op *ast.OperationDefinition, variables map[string]any) *gqlerror.Error {
	for _, def := range op.VariableDefinitions {
		v, given := variables[def.Variable]
		if !given {
			continue
		}
		v, wrong := in.value(def.Type, v)
		if wrong != nil {
			return wrongVariable(op, def.Variable, wrong.at, wrong.reason)
		}
		variables[def.Variable] = v
	}
	return nil
}

// wrongVariable is the error of a variable, or of what is inside of it at a place, where the operation defines it.
func wrongVariable(op *ast.OperationDefinition, variable, at, reason string) *gqlerror.Error {
	err := coded(graphqlerr.BadUserInput, "variable $%s%s: %s", variable, at, reason)
	if def := op.VariableDefinitions.ForName(variable); def != nil && def.Position != nil {
		err.Locations = []gqlerror.Location{{Line: def.Position.Line, Column: def.Position.Column}}
	}
	return err
}

// coerce makes the values of variables, which were read, what gqlgen makes of them: with defaults, and with numbers in
// place of their texts. Variables that the operation does not declare may be among them.
func (in *inputs) coerce(op *ast.OperationDefinition, variables map[string]any) (map[string]any, gqlerror.List) {
	if in.allTexts(op, variables) {
		return variables, nil
	}
	values, err := validator.VariableValues(in.schema, op, variables)
	if err != nil {
		return nil, blameVariables(op, gqlerror.List{gqlerror.WrapIfUnwrapped(err)})
	}
	return values, nil
}

// allTexts reports whether each variable of the operation has a text as its value, and is of a type whose values are
// texts: then there is nothing to make of them.
func (in *inputs) allTexts(op *ast.OperationDefinition, variables map[string]any) bool {
	for _, v := range op.VariableDefinitions {
		if _, text := variables[v.Variable].(string); !text || v.Type.Elem != nil {
			return false
		}
		switch v.Type.NamedType {
		case "Int", "Float", "Boolean":
			return false
		}
		if def := in.schema.Types[v.Type.NamedType]; def == nil || def.Kind == ast.InputObject {
			return false
		}
	}
	return true
}

// wrongInput is what is wrong with an input, and where in it.
type wrongInput struct{ at, reason string }

func (w *wrongInput) in(at string) *wrongInput { return &wrongInput{at + w.at, w.reason} }

func (in *inputs) value(t *ast.Type, v any) (any, *wrongInput) {
	if v == nil {
		return nil, nil
	}
	if t.Elem != nil {
		return in.list(t.Elem, v)
	}
	def := in.schema.Types[t.NamedType]
	switch {
	case def == nil:
	case def.Kind == ast.Scalar:
		return in.scalar(def.Name, v)
	case def.Kind == ast.Enum:
		if name, ok := v.(string); !ok || def.EnumValues.ForName(name) == nil {
			return nil, &wrongInput{reason: fmt.Sprintf("%.60q is not a value of type %s", fmt.Sprint(v), def.Name)}
		}
	case def.Kind == ast.InputObject:
		return in.object(def, v)
	}
	return v, nil
}

// list reads a list. One value stands for a list of it.
func (in *inputs) list(elem *ast.Type, v any) (any, *wrongInput) {
	list, ok := v.([]any)
	if !ok {
		return in.value(elem, v)
	}
	for i := range list {
		read, wrong := in.value(elem, list[i])
		if wrong != nil {
			return nil, wrong.in("[" + strconv.Itoa(i) + "]")
		}
		list[i] = read
	}
	return list, nil
}

func (in *inputs) object(def *ast.Definition, v any) (any, *wrongInput) {
	object, ok := v.(map[string]any)
	if !ok {
		return nil, &wrongInput{reason: fmt.Sprintf("must be a %s, not a %s", def.Name, kindOf(v))}
	}
	if def.Directives.ForName("oneOf") != nil && !hasOneValue(object) {
		return nil, &wrongInput{reason: fmt.Sprintf("type %s takes exactly one field, which must not be null", def.Name)}
	}
	for _, f := range def.Fields {
		field, given := object[f.Name]
		if !given {
			continue
		}
		read, wrong := in.value(f.Type, field)
		if wrong != nil {
			return nil, wrong.in("." + f.Name)
		}
		object[f.Name] = read
	}
	return object, nil
}

// kindOf is what JSON calls a value that is no object.
func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "list"
	}
	return "number" // whose text has a type of its own, which the library takes for a string
}

// hasOneValue reports whether an object has exactly one field, and that is not null.
func hasOneValue(object map[string]any) bool {
	for _, v := range object {
		return len(object) == 1 && v != nil
	}
	return false
}

func (in *inputs) scalar(name string, v any) (any, *wrongInput) {
	if n, ok := v.(json.Number); ok && name == "Int" {
		if v, ok = whole(n); !ok {
			return nil, &wrongInput{reason: fmt.Sprintf("%.60s is not a value of type Int", n)}
		}
	}
	if check := in.check(name); check != nil {
		if err := check(v); err != nil {
			return nil, &wrongInput{reason: graphqlerr.MessageOf(err)}
		}
	}
	return v, nil
}

// check returns the function that says what is wrong with a value of the scalar, nil where nothing is known of it.
func (in *inputs) check(scalar string) func(v any) error {
	if in.scalars == nil {
		return nil
	}
	return in.scalars.ScalarCheck(scalar)
}

// whole makes an integer of a number that is written with a fraction or an exponent and is whole all the same: 2.0 is 2
// to clients whose numbers are all floats.
func whole(n json.Number) (v any, ok bool) {
	if _, err := n.Int64(); err == nil {
		return n, true
	}
	f, err := n.Float64()
	if err != nil || f != float64(int32(f)) {
		return nil, false
	}
	return json.Number(strconv.FormatInt(int64(f), 10)), true
}

// literalsHaveAValue is a validation rule: what a document gives for a scalar that has a check is a value of it, and no
// object stands for a scalar of GraphQL's own or an enum, wherever: the rule ValuesOfCorrectType finds the fields of
// such an object wrong, and so nothing where there are none.
func (in *inputs) literalsHaveAValue(observers *core.Events, addError core.AddErrFunc) {
	observers.OnValue(func(_ *core.Walker, v *ast.Value) {
		def := v.Definition
		switch {
		case def == nil:
			return
		case def.Kind == ast.Enum, def.Kind == ast.Scalar && def.BuiltIn:
			if v.Kind == ast.ObjectValue {
				addError(core.Message("an object is not a value of type %s", def.Name), core.At(v.Position))
			}
			return
		case def.Kind != ast.Scalar:
			return
		}
		check := in.check(def.Name)
		if check == nil || v.Kind == ast.Variable || v.Kind == ast.NullValue {
			return
		}
		if v.Kind == ast.ListValue && v.ExpectedType.Elem != nil {
			return // what is in the list comes by itself
		}
		if err := check(literal(v)); err != nil {
			addError(core.Message("%s", graphqlerr.MessageOf(err)), core.At(v.Position))
		}
	})
}

// literal is the value of a literal in the form that a variable of the same text has.
func literal(v *ast.Value) any {
	if v.Kind == ast.IntValue || v.Kind == ast.FloatValue {
		return json.Number(v.Raw)
	}
	value, _ := v.Value(nil) // NumbersHaveAValue has given one to the numbers inside
	return value
}
