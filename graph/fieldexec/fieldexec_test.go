package fieldexec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/fieldexec"
	"github.com/foldql/foldql/graph/graphqlerr"
)

// execution stands for the execution context of a generated package.
type execution string

// operation is an operation with the variable n, whose errors are in the context.
func operation() (context.Context, *graphql.OperationContext) {
	op := &graphql.OperationContext{
		RootResolverMiddleware: func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) },
		ResolverMiddleware:     func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) },
		RecoverFunc:            func(_ context.Context, err any) error { return fmt.Errorf("recovered: %v", err) },
		Variables:              map[string]any{"n": 7},
	}
	ctx := graphql.WithResponseContext(context.Background(), graphql.DefaultErrorPresenter, op.RecoverFunc)
	return graphql.WithOperationContext(ctx, op), op
}

func messages(ctx context.Context) (all []string) {
	for _, err := range graphql.GetErrors(ctx) {
		all = append(all, err.Message)
	}
	return all
}

func field(name string, labels ...string) graphql.CollectedField {
	f := graphql.CollectedField{Field: &ast.Field{Name: name, Alias: name}}
	for _, label := range labels {
		f.Deferrables = append(f.Deferrables, &graphql.Deferrable{Label: label})
	}
	return f
}

// takes is the definition of a field that takes an argument.
func takes(name string, typ *ast.Type) *ast.FieldDefinition {
	return &ast.FieldDefinition{Arguments: ast.ArgumentDefinitionList{{Name: name, Type: typ}}}
}

// outcomes of resolving a field, and what is to be counted and said of each.
var outcomes = map[string]struct {
	resolve  func() graphql.Marshaler
	invalids uint32
	errors   []string
}{
	"a value": {resolve: func() graphql.Marshaler { return graphql.MarshalInt(1) }},
	"null":    {resolve: func() graphql.Marshaler { return graphql.Null }},
	"invalid": {resolve: func() graphql.Marshaler { return graphql.RequiredNull }, invalids: 1},
	"a panic": {resolve: func() graphql.Marshaler { panic("oh") }, errors: []string{"recovered: oh"}},
}

// TestAFieldThatFailsIsCounted, and its panic is an error of the operation, wherever the field is.
func TestAFieldThatFailsIsCounted(t *testing.T) {
	for name, c := range outcomes {
		check := func(what string, ctx context.Context, fields *graphql.FieldSet) {
			t.Helper()
			if fields.Invalids != c.invalids {
				t.Errorf("%s: %s: %d are invalid, want %d", name, what, fields.Invalids, c.invalids)
			}
			if diff := cmp.Diff(c.errors, messages(ctx)); diff != "" {
				t.Errorf("%s: %s: errors (-want +got):\n%s", name, what, diff)
			}
		}
		ctx, op := operation()
		out := graphql.NewFieldSet([]graphql.CollectedField{field("a")})
		fieldexec.Root(ctx, op, execution("e"), out, field("a"),
			func(context.Context, execution, graphql.CollectedField) graphql.Marshaler { return c.resolve() },
			graphql.RequiredNull)(ctx)
		check("of Query", ctx, out)

		ctx, op = operation()
		out, deferred := graphql.NewFieldSet([]graphql.CollectedField{field("a")}), graphql.NewFieldSet(nil)
		fieldexec.Object(op, out, deferred, nil, 0, field("a"), graphql.RequiredNull,
			func(context.Context) graphql.Marshaler { return c.resolve() })
		out.Dispatch(ctx)
		check("of an object", ctx, out)

		ctx, op = operation()
		views := map[string]*graphql.FieldSetView{}
		fieldexec.Object(op, out, deferred, views, 0, field("a", "later", "too"), graphql.RequiredNull,
			func(context.Context) graphql.Marshaler { return c.resolve() })
		if out.Values[0] != graphql.Null || len(views) != 2 {
			t.Errorf("%s: a deferred field is %v now, in %d views; want null in 2", name, out.Values[0], len(views))
		}
		deferred.Dispatch(ctx)
		check("deferred", ctx, deferred)
	}
}

// TestTheExecutionContextIsPassedOn to all that the generated package has given.
func TestTheExecutionContextIsPassedOn(t *testing.T) {
	ctx, op := operation()
	passed := 0
	is := func(c execution) {
		if c != "e" {
			t.Errorf("the execution context is %q", c)
		}
		passed++
	}
	got := fieldexec.Resolve(ctx, op, execution("e"), field("a"),
		func(_ context.Context, c execution, f graphql.CollectedField) (*graphql.FieldContext, error) {
			is(c)
			return fieldexec.ObjectContext(c, f, "Query", true, false,
				func(_ context.Context, c execution, _ graphql.CollectedField) (*graphql.FieldContext, error) {
					is(c)
					return nil, nil
				}), nil
		},
		func(ctx context.Context) (any, error) {
			fc := graphql.GetFieldContext(ctx)
			if fc.Object != "Query" || !fc.IsMethod || fc.IsResolver {
				t.Errorf("the context of the field is %+v", fc)
			}
			_, err := fc.Child(ctx, field("b"))
			return 5, err
		},
		func(_ context.Context, c execution, _ ast.SelectionSet, v int) graphql.Marshaler {
			is(c)
			return graphql.MarshalInt(v)
		}, true, true)
	var text strings.Builder
	if got.MarshalGQL(&text); passed != 3 || text.String() != "5" {
		t.Errorf("passed on %d times, resolved as %s", passed, &text)
	}
}

// TestArgumentsComeFromTheOperation, an error in one of them is reported, and a panic too.
func TestArgumentsComeFromTheOperation(t *testing.T) {
	asked := field("a")
	asked.Arguments = ast.ArgumentList{{Name: "n", Value: &ast.Value{Raw: "n", Kind: ast.Variable}}}
	asked.Definition = takes("n", ast.NamedType("Int", nil))
	for name, c := range map[string]struct {
		unmarshal func(any) (int, error)
		want      map[string]any
		error     string
	}{
		"read":  {func(v any) (int, error) { return v.(int), nil }, map[string]any{"n": 7}, ""},
		"wrong": {func(any) (int, error) { return 0, errors.New("no number") }, nil, "no number"},
		"panic": {func(any) (int, error) { panic("oh") }, nil, "recovered: oh"},
	} {
		ctx, op := operation()
		fc, err := fieldexec.WithArguments(ctx, op, execution("e"), &graphql.FieldContext{Field: asked},
			func(ctx context.Context, e execution, raw map[string]any) (map[string]any, error) {
				args := map[string]any{}
				err := fieldexec.Argument(ctx, e, raw, args, "n",
					func(_ context.Context, _ execution, v any) (int, error) { return c.unmarshal(v) })
				if err != nil {
					return nil, err
				}
				return args, nil
			})
		if (err == nil) != (c.error == "") {
			t.Errorf("%s: %v, want %q", name, err, c.error)
		}
		if diff := cmp.Diff(c.want, fc.Args); diff != "" {
			t.Errorf("%s: arguments (-want +got):\n%s", name, diff)
		}
		if all := messages(ctx); c.error != "" && (len(all) != 1 || all[0] != c.error) {
			t.Errorf("%s: errors %q, want %q", name, all, c.error)
		}
	}
}

// TestAnErrorOfAnArgumentIsAtThePathOfItsField, where clients look for it, and names the place in the argument.
func TestAnErrorOfAnArgumentIsAtThePathOfItsField(t *testing.T) {
	asked := field("ones")
	asked.Arguments = ast.ArgumentList{{Name: "ids", Value: &ast.Value{Raw: "n", Kind: ast.Variable}}}
	asked.Definition = takes("ids", ast.NamedType("ID", nil))
	for name, c := range map[string]struct {
		places []*graphql.PathContext
		want   string
	}{
		"itself":     {nil, "argument ids: no number"},
		"an element": {[]*graphql.PathContext{graphql.NewPathWithIndex(1)}, "argument ids[1]: no number"},
		"a field of one": {[]*graphql.PathContext{graphql.NewPathWithIndex(1), graphql.NewPathWithField("at")},
			"argument ids[1].at: no number"},
	} {
		ctx, op := operation()
		ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Field: field("page")})
		_, err := fieldexec.WithArguments(ctx, op, execution("e"), &graphql.FieldContext{Field: asked},
			func(ctx context.Context, e execution, raw map[string]any) (map[string]any, error) {
				return nil, fieldexec.Argument(ctx, e, raw, nil, "ids",
					func(ctx context.Context, _ execution, v any) (int, error) {
						for _, place := range c.places {
							ctx = graphql.WithPathContext(ctx, place)
						}
						return 0, graphql.ErrorOnPath(ctx, graphqlerr.New(graphqlerr.BadUserInput, "no number"))
					})
			})
		if got := graphqlerr.CodeOf(err); got != graphqlerr.BadUserInput {
			t.Errorf("%s: the code is %q", name, got)
		}
		all := graphql.GetErrors(ctx)
		if len(all) != 1 || all[0].Message != c.want || all[0].Path.String() != "page.ones" {
			t.Errorf("%s: errors %v, want %q at page.ones", name, all, c.want)
		}
	}
}

// TestANullInPlaceOfARequiredListIsAnError: it is the value of a variable that has a default, and gqlgen would take it
// for no elements.
func TestANullInPlaceOfARequiredListIsAnError(t *testing.T) {
	asked := field("ones")
	asked.Arguments = ast.ArgumentList{{Name: "ids", Value: &ast.Value{Raw: "v", Kind: ast.Variable}}}
	required := ast.NonNullListType(ast.NamedType("ID", nil), nil)
	for name, c := range map[string]struct {
		typ       *ast.Type
		variables map[string]any
		want      []string
	}{
		"null":       {required, map[string]any{"v": nil}, []string{"argument ids: null was given, and a value is needed"}},
		"a list":     {required, map[string]any{"v": []any{}}, nil},
		"not given":  {required, nil, nil},
		"may be one": {ast.ListType(ast.NamedType("ID", nil), nil), map[string]any{"v": nil}, nil},
	} {
		asked.Definition = takes("ids", c.typ)
		ctx, op := operation()
		op.Variables = c.variables
		read := false
		_, err := fieldexec.WithArguments(ctx, op, execution("e"), &graphql.FieldContext{Field: asked},
			func(context.Context, execution, map[string]any) (map[string]any, error) {
				read = true
				return nil, nil
			})
		if diff := cmp.Diff(c.want, messages(ctx)); diff != "" || read != (c.want == nil) || read != (err == nil) {
			t.Errorf("%s: read %t, error %v (-want +got):\n%s", name, read, err, diff)
		}
	}
}

// TestANullInPlaceOfARequiredListInALiteralIsAnError, however deep it is.
func TestANullInPlaceOfARequiredListInALiteralIsAnError(t *testing.T) {
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `
		type Query { ones(in: In, ins: [In!]): Int }
		input In { ids: [ID!]!, lists: [[ID!]!], some: [ID!], in: In }`})
	const is = ": null was given, and a value is needed"
	for asked, c := range map[string]struct {
		v    any
		want []string
	}{
		`in: {ids: $v}`:                                   {nil, []string{"argument in.ids" + is}},
		`in: {ids: ["a"], in: {ids: $v}}`:                 {nil, []string{"argument in.in.ids" + is}},
		`ins: [{ids: []}, {ids: ["a"], lists: [[], $v]}]`: {nil, []string{"argument ins[1].lists[1]" + is}},
		`in: {ids: "a", some: $v}`:                        {nil, nil},
		`ins: {ids: $v}`:                                  {[]any{}, nil},
	} {
		doc, errs := gqlparser.LoadQueryWithRules(schema, `query($v: [ID!] = ["a"]) { ones(`+asked+`) }`, nil)
		if errs != nil {
			t.Fatal(errs)
		}
		ones, ok := doc.Operations[0].SelectionSet[0].(*ast.Field)
		if !ok {
			t.Fatal("no field")
		}
		ctx, op := operation()
		op.Variables = map[string]any{"v": c.v}
		_, err := fieldexec.WithArguments(ctx, op, execution("e"),
			&graphql.FieldContext{Field: graphql.CollectedField{Field: ones}},
			func(context.Context, execution, map[string]any) (map[string]any, error) { return nil, nil })
		if diff := cmp.Diff(c.want, messages(ctx)); diff != "" || (err == nil) != (c.want == nil) {
			t.Errorf("%s: error %v (-want +got):\n%s", asked, err, diff)
		}
	}
}

// failing are the outcomes of a field that has a value, and whether the object fails with it.
var failing = map[string]struct {
	written  graphql.Marshaler
	required bool
	fails    bool
}{
	"a value":                       {graphql.MarshalInt(1), true, false},
	"null where it may be":          {graphql.Null, false, false},
	"null where it may not be":      {graphql.Null, true, true},
	"a failure where null may be":   {graphql.RequiredNull, false, true},
	"a failure noted by what wrote": {graphql.RequiredNull, true, false}, // what must not be null fails as null
}

// TestAnObjectFailsWithItsFields, and is then null; else what is deferred is handed on, and counted.
func TestAnObjectFailsWithItsFields(t *testing.T) {
	for name, c := range failing {
		ctx, op := operation()
		asked := ast.SelectionSet{field("a").Field}
		fields, out, deferred, views := fieldexec.Begin(op, asked, []string{"T"})
		if len(fields) != 1 || fields[0].Name != "a" {
			t.Fatalf("%s: the fields are %v, want a", name, fields)
		}
		fieldexec.Value(ctx, op, execution("e"), fields, out, 0,
			func(_ context.Context, _ execution, f graphql.CollectedField) (*graphql.FieldContext, error) {
				return fieldexec.ScalarContext(f, "T", "Int", false, false)
			}, 7, func(ctx context.Context, _ execution, _ ast.SelectionSet, v int) graphql.Marshaler {
				fc := graphql.GetFieldContext(ctx)
				if _, err := fc.Child(ctx, field("b")); v != 7 || fc.Object != "T" || err == nil {
					t.Errorf("%s: a field of %s is %d, its context says of fields %v", name, fc.Object, v, err)
				}
				return c.written
			}, c.required)
		if failed := out.Invalids == 1; failed != c.fails {
			t.Errorf("%s: it has failed: %t, want %t", name, failed, c.fails)
		}
		views["later"] = deferred.NewView()
		var count int32
		var given handedOn
		got := fieldexec.Finish(ctx, &given, &count, out, deferred, views)
		if null := got == graphql.Null; null != c.fails || len(given) != int(count) || (count == 1) == c.fails {
			t.Errorf("%s: the object is null: %t, %d are handed on and %d counted", name, null, len(given), count)
		}
	}
}

// handedOn are the groups of deferred fields that an operation got.
type handedOn []graphql.DeferredGroup

func (h *handedOn) ProcessDeferredGroup(g graphql.DeferredGroup) { *h = append(*h, g) }

// TestAListFailsWithElementsThatMustNotBeNull, and tells each element where it is.
func TestAListFailsWithElementsThatMustNotBeNull(t *testing.T) {
	for _, required := range []bool{true, false} {
		for _, list := range [][]int{nil, {1}, {1, 0, 2}} {
			ctx, _ := operation()
			ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{})
			got := fieldexec.List(ctx, execution("e"), nil, list, required,
				func(ctx context.Context, c execution, _ ast.SelectionSet, v int) graphql.Marshaler {
					if at := graphql.GetFieldContext(ctx); c != "e" || at.Index == nil || list[*at.Index] != v {
						t.Errorf("%v: the element %d is in %q at %v", list, v, c, at.Index)
					}
					if v == 0 {
						return graphql.Null
					}
					return graphql.MarshalInt(v)
				})
			if null := got == graphql.Null; null != (required && len(list) == 3) {
				t.Errorf("%v, required %t: the list is null: %t", list, required, null)
			}
		}
	}
}

// TestAValueOfAnotherTypeIsAnError, unless it is written already: a middleware may put anything in the place of one.
func TestAValueOfAnotherTypeIsAnError(t *testing.T) {
	for _, c := range []struct {
		value  any
		text   string
		errors []string
	}{
		{5, "5", nil},
		{graphql.MarshalString("written"), `"written"`, nil},
		{"five", "null", []string{"unexpected type string from middleware/directive chain, should be int"}},
	} {
		ctx, op := operation()
		got := fieldexec.Resolve(ctx, op, execution("e"), field("a"),
			func(_ context.Context, _ execution, f graphql.CollectedField) (*graphql.FieldContext, error) {
				return fieldexec.ScalarContext(f, "T", "Int", false, false)
			},
			func(context.Context) (any, error) { return c.value, nil },
			func(_ context.Context, _ execution, _ ast.SelectionSet, v int) graphql.Marshaler {
				return graphql.MarshalInt(v)
			}, true, true)
		var text strings.Builder
		if got.MarshalGQL(&text); text.String() != c.text {
			t.Errorf("%v is written as %s, want %s", c.value, &text, c.text)
		}
		if diff := cmp.Diff(c.errors, messages(ctx)); diff != "" {
			t.Errorf("%v: errors (-want +got):\n%s", c.value, diff)
		}
	}
}
