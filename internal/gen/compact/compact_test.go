package compact

import (
	"os"
	"strings"
	"testing"
)

// TestFieldsShareFunctions, in what was generated for the shop: gqlgen writes them in the way that is known here.
func TestFieldsShareFunctions(t *testing.T) {
	text, err := os.ReadFile("../../shop/graph/generated/exec.go")
	if err != nil {
		t.Fatal(err)
	}
	for call, closures := range map[string]string{
		"fieldexec.Root(":          "rrm := ",
		"fieldexec.Object(":        "innerFunc := ",
		"fieldexec.Resolve(":       "return graphql.ResolveField(\n",
		"fieldexec.Value(":         "func _Order_total(",
		"fieldexec.Begin(":         "graphql.CollectFields(",
		"fieldexec.Unknown(":       "\"unknown field ",
		"fieldexec.Arg[":           "= fc.Args[",
		"fieldexec.TypeName(":      "graphql.MarshalString(\"",
		"fieldexec.Finish(":        "out.Dispatch(ctx)",
		"fieldexec.List(":          "ret := graphql.MarshalSliceConcurrently(",
		"fieldexec.Missing(":       "if v == nil {\n\t\tif !graphql.HasFieldError(",
		"fieldexec.ScalarContext(": "graphql.NewScalarFieldContext(",
		"fieldexec.WithArguments(": "fc.Args, err = field_",
		"fieldexec.ObjectContext(": "fc = &graphql.FieldContext{",
		"fieldexec.Argument(":      "arg0, err := graphql.ProcessArgField(",
	} {
		switch n := strings.Count(string(text), call); {
		case n < 2:
			t.Errorf("%s is called nowhere: see package compact, what does gqlgen write instead?", call)
		case strings.Count(string(text), closures) > n/10:
			t.Errorf("%q is still written beside calls of %s: see package compact, what does gqlgen write instead?",
				closures, call)
		}
	}
}

// TestDescriptionsOfTheSchemaStayAsTheyAre, also where they have what gqlgen writes, and what follows the schema.
func TestDescriptionsOfTheSchemaStayAsTheyAre(t *testing.T) {
	written := `	fc = &graphql.FieldContext{
		Object:     "A",
		Field:      field,
		IsMethod:   true,
		IsResolver: false,
		Child: func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
			return childFields_A(ctx, ec, field)
		},
	}
`
	head := "import (\n" + importOfGqlgen
	schema := "var sources = `" + written + afterSchema + written + "`\n"
	got := string(Executor([]byte(head + ")\n" + schema + afterSchema + "x\n" + written)))
	code, kept := strings.CutPrefix(got, head+importOfCalls+")\n"+schema)
	call := "\tfc = fieldexec.ObjectContext(ec, field, \"A\", true, false, childFields_A)\n"
	if !kept || !strings.HasPrefix(code, afterSchema+"x\n"+call) {
		t.Errorf("written is\n%s", got)
	}
}

// TestAMethodSeesTheContextOfItsField, and its panic is one of the field: it stays in a function of its own.
func TestAMethodSeesTheContextOfItsField(t *testing.T) {
	field := func(name, value string) string {
		return `func ` + name + `(ctx context.Context, ec *executionContext, field graphql.CollectedField, obj *stats.A) ` +
			`(ret graphql.Marshaler) {
	return graphql.ResolveField(
		ctx,
		ec.OperationContext,
		field,
		func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
			return fieldContext` + name + `(ctx, ec, field)
		},
		func(ctx context.Context) (any, error) {
			return ` + value + `, nil
		},
		nil,
		func(ctx context.Context, selections ast.SelectionSet, v int) graphql.Marshaler {
			return marshalNInt2int(ctx, ec, selections, v)
		},
		true,
		true,
	)
}
`
	}
	object := func(name string) string {
		return "\t\t\tout.Values[i] = " + name + "(ctx, ec, field, obj)\n\t\t\tif out.Values[i] == graphql.Null {\n" +
			"\t\t\t\tout.Invalids++\n\t\t\t}\n"
	}
	for value, keeps := range map[string]bool{
		"obj.Best": false, "obj.Best(ctx)": true, "obj.Best()": true, "obj.Inner.Best": true,
	} {
		code := string(Executor([]byte("import (\n" + importOfGqlgen + ")\n" + afterSchema + "x\n" +
			field("_A_best", value) + "x {\n" + object("_A_best") + "}\n")))
		call := strings.Contains(code, object("_A_best"))
		function := strings.Contains(code, "func _A_best(") &&
			strings.Contains(code, "func(ctx context.Context) (any, error) { return "+value+", nil }")
		if call != keeps || function != keeps {
			t.Errorf("%s has a function of its own: %t, called: %t; want %t\n%s", value, function, call, keeps, code)
		}
	}
}
