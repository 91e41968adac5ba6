package graphqlhttp

import (
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
)

// numbersHaveAValue is a validation rule: a number in a document has a value of its type. The executor reads an integer
// of any type as one of 64 bits and a fraction as a float, and has no answer where that fails, so here
//
//   - a number for a scalar of the schema's own that has a fraction, or any number of more digits, becomes the string of
//     its digits, and the scalar reads all of them; an integer for an ID likewise;
//   - an integer for a Float becomes one;
//   - an integer for an Int that has more than 32 bits is a mistake of the document. (The rule ValuesOfCorrectType reports
//     the numbers that have no value at all.)
func numbersHaveAValue(observers *core.Events, addError core.AddErrFunc) {
	observers.OnValue(func(_ *core.Walker, v *ast.Value) {
		if v.Definition == nil || v.Definition.Kind != ast.Scalar || v.Kind != ast.IntValue && v.Kind != ast.FloatValue {
			return
		}
		n, err := strconv.ParseInt(v.Raw, 10, 64)
		switch v.Definition.Name {
		case "Int":
			if err == nil && int64(int32(n)) != n {
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
			if err != nil {
				v.Kind = ast.StringValue
			}
		}
	})
}
