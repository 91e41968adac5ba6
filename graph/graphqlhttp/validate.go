package graphqlhttp

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/foldql/foldql/graph/graphqlerr"
)

// maxErrors is how many mistakes of one document are reported. Validation ends with the next one.
const maxErrors = 20

// enough ends a walk over a document: there is no other way out of the walker.
type enough struct{}

// validate returns what is wrong with the document, by the rules. It is the library's loop over them, but ends when
// enough is known, so that what a hostile document costs does not grow with its mistakes.
func validate(schema *ast.Schema, doc *ast.QueryDocument, by []core.Rule) (errs gqlerror.List) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(enough); !ok {
				panic(r)
			}
			errs = append(errs, coded(graphqlerr.ValidationFailed, "and more mistakes: validation ends after %d", maxErrors))
		}
	}()
	observers := &core.Events{}
	for _, rule := range by {
		code := graphqlerr.ValidationFailed
		if rule.Name == rules.MaxIntrospectionDepth.Name {
			code = graphqlerr.LimitExceeded
		}
		rule.RuleFunc(observers, func(options ...core.ErrorOption) {
			if len(errs) == maxErrors {
				panic(enough{})
			}
			err := &gqlerror.Error{Rule: rule.Name}
			for _, o := range options {
				o(err)
			}
			errs = append(errs, mistake(err, code))
		})
	}
	var variables []*ast.Value
	observers.OnValue(func(_ *core.Walker, v *ast.Value) {
		if v.Kind == ast.Variable {
			variables = append(variables, v)
		}
	})
	core.Walk(schema, doc, observers)
	// The library has left the definition of the last operation that uses it in each. In a fragment that several use, a
	// variable that is not given would get the default of another operation than the one that is asked for; the values of
	// an operation's variables hold its own defaults.
	for _, v := range variables {
		v.VariableDefinition = nil
	}
	return errs
}

// fieldsOnCorrectType is the library's rule of that name. Of a field that a page lacks and its rows have, it says where
// the field belongs.
func fieldsOnCorrectType(observers *core.Events, addError core.AddErrFunc) {
	hint := ""
	observers.OnField(func(w *core.Walker, field *ast.Field) {
		hint = ""
		if field.Definition == nil && rowsHave(w.Schema, field.ObjectDefinition, field.Name) {
			hint = " Ask for it inside of items."
		}
	})
	rules.FieldsOnCorrectTypeRule.RuleFunc(observers, func(options ...core.ErrorOption) {
		addError(append(options, func(err *gqlerror.Error) { err.Message += hint })...)
	})
}

// rowsHave reports whether a type is that of pages whose rows have the field.
func rowsHave(schema *ast.Schema, pages *ast.Definition, field string) bool {
	if pages == nil || pages.Fields.ForName("items") == nil {
		return false
	}
	rows := schema.Types[pages.Fields.ForName("items").Type.Name()]
	return rows != nil && rows.Fields.ForName(field) != nil
}

// numbersHaveAValue is a validation rule: a number in a document has a value of its type. The executor reads an integer
// of any type as one of 64 bits and a fraction as a float, and has no answer where that fails, so here
//
//   - a number that has no such value becomes the string of its digits where its scalar may read all of them: any but
//     the built-in ones, and an ID an integer. So does a fraction for a scalar that has a check, such as Decimal, which
//     reads strings and would lose digits to a float; a scalar of a project's own gets the float;
//   - an integer for a Float becomes one;
//   - an integer for an Int that has more than 32 bits is a mistake of the document. (The rule ValuesOfCorrectType
//     reports the numbers that have no value at all.)
func (in *inputs) numbersHaveAValue(observers *core.Events, addError core.AddErrFunc) {
	observers.OnValue(func(_ *core.Walker, v *ast.Value) {
		if v.Kind != ast.IntValue && v.Kind != ast.FloatValue || v.Definition != nil && v.Definition.Kind != ast.Scalar {
			return
		}
		scalar := "" // inside of a value of a scalar of a project's own
		if v.Definition != nil {
			scalar = v.Definition.Name
		}
		number, err := v.Value(nil)
		switch scalar {
		case "Int":
			if n, whole := number.(int64); whole && err == nil && int64(int32(n)) != n {
				addError(core.Message("Int cannot represent %s: it has more than 32 bits", v.Raw), core.At(v.Position))
			}
		case "Float":
			v.Kind = ast.FloatValue
		case "String", "Boolean":
		case "ID":
			if err != nil && v.Kind == ast.IntValue {
				v.Kind = ast.StringValue
			}
		default:
			if err != nil || v.Kind == ast.FloatValue && in.check(scalar) != nil {
				v.Kind = ast.StringValue
			}
		}
	})
}
