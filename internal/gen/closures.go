package gen

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/gen/outfile"
)

// gqlgen writes closures for every field and argument, and the compiler makes a function of each. It resolves all
// fields of an object in one function, by closures in variables: wherever one is called, the compiler looks through the
// whole function for what else is assigned to its variable, so the time that it takes for Query grows with the square
// of the number of queries. Therefore what is the same in all of them becomes a few functions that they share: an
// executor has two thirds of the lines then.

// shared is what gqlgen writes again and again, and the function that is called in its place.
type shared struct {
	written  *regexp.Regexp
	call     string // with what the groups of written match
	function string
}

// differing are the words that stand for what differs in what gqlgen writes.
var differing = []string{"FUNCTION", `[\pL\pN_]+`, "VALUE", `graphql\.\w+`, "STRING", `"\w+"`, "BOOL", `true|false`,
	"EXPRESSION", `[^\n]+`, "\t\t\tSTATEMENTS\n", `(?:\t\t\t[^\n]+\n)+`}

// pattern matches what gqlgen writes, with a group for each word of differing. ANY is what differs and does not matter.
func pattern(text string) *regexp.Regexp { return regexp.MustCompile(expression(text, "(")) }

func expression(text, group string) string {
	replaced := []string{"ANY", `[^\n]+?`}
	for i := 0; i < len(differing); i += 2 {
		replaced = append(replaced, differing[i], group+differing[i+1]+")")
	}
	return strings.NewReplacer(replaced...).Replace(regexp.QuoteMeta(text))
}

// sharedFunctions are what the executor shares, but for arguments.
var sharedFunctions = []shared{
	rootField, objectField, resolveField, resolveByStatements, withArguments, objectContext,
}

var rootField = shared{
	written: pattern(`			field := field

			innerFunc := func(ctx context.Context, fs *graphql.FieldSet) (res graphql.Marshaler) {
				defer func() {
					if r := recover(); r != nil {
						ec.Error(ctx, ec.Recover(ctx, r))
					}
				}()
				res = FUNCTION(ctx, ec, field)
				if res == VALUE {
					atomic.AddUint32(&fs.Invalids, 1)
				}
				return res
			}

			rrm := func(ctx context.Context) graphql.Marshaler {
				return ec.OperationContext.RootResolverMiddleware(ctx,
					func(ctx context.Context) graphql.Marshaler { return innerFunc(ctx, out) })
			}

			out.Concurrently(i, func(ctx context.Context) graphql.Marshaler { return rrm(innerCtx) })
`),
	call: "\t\t\tout.Concurrently(i, rootField(innerCtx, ec, out, field, $1, $2))\n",
	function: `
// rootField is how a field of Query is resolved: by resolve, which has failed where it returns that it is invalid.
func rootField(ctx context.Context, ec *executionContext, out *graphql.FieldSet, field graphql.CollectedField,
	resolve func(context.Context, *executionContext, graphql.CollectedField) graphql.Marshaler, invalid graphql.Marshaler,
) func(context.Context) graphql.Marshaler {
	inner := func(ctx context.Context) (res graphql.Marshaler) {
		defer func() {
			if r := recover(); r != nil {
				ec.Error(ctx, ec.Recover(ctx, r))
			}
		}()
		res = resolve(ctx, ec, field)
		if res == invalid {
			atomic.AddUint32(&out.Invalids, 1)
		}
		return res
	}
	return func(context.Context) graphql.Marshaler {
		return ec.OperationContext.RootResolverMiddleware(ctx, inner)
	}
}
`,
}

var objectField = shared{
	written: pattern(`			field := field

			innerFunc := func(ctx context.Context, fs *graphql.FieldSet) (res graphql.Marshaler) {
				defer func() {
					if r := recover(); r != nil {
						ec.Error(ctx, ec.Recover(ctx, r))
					}
				}()
				res = FUNCTION(ctx, ec, field, obj)
				if res == VALUE {
					atomic.AddUint32(&fs.Invalids, 1)
				}
				return res
			}

			if field.IsDeferred() {
				deferredFieldSet.AddField(field)
				fieldIndex := len(deferredFieldSet.Values) - 1
				deferredFieldSet.Concurrently(fieldIndex, func(ctx context.Context) graphql.Marshaler {
					return innerFunc(ctx, deferredFieldSet)
				})

				for _, deferrable := range field.Deferrables {
					view, ok := deferLabelToView[deferrable.Label]
					if !ok {
						view = deferredFieldSet.NewView()
						deferLabelToView[deferrable.Label] = view
					}
					view.AddIndices(fieldIndex)
				}

				// don't run the out.Concurrently() call below
				out.Values[i] = graphql.Null
				continue
			}

			out.Concurrently(i, func(ctx context.Context) graphql.Marshaler { return innerFunc(ctx, out) })
`),
	call: `			objectField(ec, out, deferredFieldSet, deferLabelToView, i, field, $2,
				func(ctx context.Context) graphql.Marshaler { return $1(ctx, ec, field, obj) })
`,
	function: `
// objectField resolves a field of an object, now or, where it is deferred, later: by resolve, which has failed where it
// returns that it is invalid.
func objectField(ec *executionContext, out, deferred *graphql.FieldSet, views map[string]*graphql.FieldSetView, i int,
	field graphql.CollectedField, invalid graphql.Marshaler, resolve func(context.Context) graphql.Marshaler) {
	into := func(fields *graphql.FieldSet) func(context.Context) graphql.Marshaler {
		return func(ctx context.Context) (res graphql.Marshaler) {
			defer func() {
				if r := recover(); r != nil {
					ec.Error(ctx, ec.Recover(ctx, r))
				}
			}()
			res = resolve(ctx)
			if res == invalid {
				atomic.AddUint32(&fields.Invalids, 1)
			}
			return res
		}
	}
	if !field.IsDeferred() {
		out.Concurrently(i, into(out))
		return
	}
	deferred.AddField(field)
	at := len(deferred.Values) - 1
	deferred.Concurrently(at, into(deferred))
	for _, d := range field.Deferrables {
		if views[d.Label] == nil {
			views[d.Label] = deferred.NewView()
		}
		views[d.Label].AddIndices(at)
	}
	out.Values[i] = graphql.Null
}
`,
}

var resolveField = shared{
	written: pattern(`	return graphql.ResolveField(
		ctx,
		ec.OperationContext,
		field,
		func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
			return FUNCTION(ctx, ec, field)
		},
		func(ctx context.Context) (any, error) {
			return EXPRESSION, nil
		},
		nil,
		func(ctx context.Context, selections ast.SelectionSet, v ANY) graphql.Marshaler {
			return FUNCTION(ctx, ec, selections, v)
		},
		BOOL,
		BOOL,
	)
`),
	call: "\treturn resolveField(ctx, ec, field, $1, func(context.Context) (any, error) { return $2, nil }, $3, " +
		"$4, $5)\n",
	function: `
// resolveField writes a field, which has the value. The last two say whether a panic is an error of the field,
// and whether that must not be null.
func resolveField[T any](ctx context.Context, ec *executionContext, field graphql.CollectedField,
	of func(context.Context, *executionContext, graphql.CollectedField) (*graphql.FieldContext, error),
	value func(context.Context) (any, error),
	marshal func(context.Context, *executionContext, ast.SelectionSet, T) graphql.Marshaler, recovers, required bool,
) graphql.Marshaler {
	return graphql.ResolveField(ctx, ec.OperationContext, field,
		func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
			return of(ctx, ec, field)
		},
		value, nil,
		func(ctx context.Context, selections ast.SelectionSet, v T) graphql.Marshaler {
			return marshal(ctx, ec, selections, v)
		}, recovers, required)
}
`,
}

// resolveByStatements is resolveField where a resolver has the value.
var resolveByStatements = shared{
	written: pattern(`	return graphql.ResolveField(
		ctx,
		ec.OperationContext,
		field,
		func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
			return FUNCTION(ctx, ec, field)
		},
		func(ctx context.Context) (any, error) {
			STATEMENTS
		},
		nil,
		func(ctx context.Context, selections ast.SelectionSet, v ANY) graphql.Marshaler {
			return FUNCTION(ctx, ec, selections, v)
		},
		BOOL,
		BOOL,
	)
`),
	call: `	return resolveField(ctx, ec, field, $1,
		func(ctx context.Context) (any, error) {
$2		}, $3, $4, $5)
`,
	function: resolveField.function,
}

var withArguments = shared{
	written: pattern(`	defer func() {
		if r := recover(); r != nil {
			err = ec.Recover(ctx, r)
			ec.Error(ctx, err)
		}
	}()
	ctx = graphql.WithFieldContext(ctx, fc)
	if fc.Args, err = FUNCTION(ctx, ec, field.ArgumentMap(ec.Variables)); err != nil {
		ec.Error(ctx, err)
		return fc, err
	}
	return fc, nil
`),
	call: "\treturn withArguments(ctx, ec, fc, $1)\n",
	function: `
// withArguments has the context of a field have its arguments.
func withArguments(ctx context.Context, ec *executionContext, of *graphql.FieldContext,
	arguments func(context.Context, *executionContext, map[string]any) (map[string]any, error),
) (fc *graphql.FieldContext, err error) {
	fc = of
	defer func() {
		if r := recover(); r != nil {
			err = ec.Recover(ctx, r)
			ec.Error(ctx, err)
		}
	}()
	ctx = graphql.WithFieldContext(ctx, fc)
	if fc.Args, err = arguments(ctx, ec, fc.Field.ArgumentMap(ec.Variables)); err != nil {
		ec.Error(ctx, err)
	}
	return fc, err
}
`,
}

var objectContext = shared{
	written: pattern(`	fc = &graphql.FieldContext{
		Object:     STRING,
		Field:      field,
		IsMethod:   BOOL,
		IsResolver: BOOL,
		Child: func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
			return FUNCTION(ctx, ec, field)
		},
	}
`),
	call: "\tfc = objectContext(ec, field, $1, $2, $3, $4)\n",
	function: `
// objectContext says what a field with an object is of.
func objectContext(ec *executionContext, field graphql.CollectedField, object string, isMethod, isResolver bool,
	child func(context.Context, *executionContext, graphql.CollectedField) (*graphql.FieldContext, error),
) *graphql.FieldContext {
	return &graphql.FieldContext{
		Object: object, Field: field, IsMethod: isMethod, IsResolver: isResolver,
		Child: func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
			return child(ctx, ec, field)
		},
	}
}
`,
}

// argument is how gqlgen reads an argument of a field.
const argument = `	ANY, err := graphql.ProcessArgField(ctx, rawArgs, STRING,
		func(ctx context.Context, v any) (ANY, error) {
			return FUNCTION(ctx, ec, v)
		})
	if err != nil {
		return nil, err
	}
	args[ANY] = ANY
`

// fieldArguments is how it reads all of them: they share a declaration of an error, which is left out together with
// what uses it.
var fieldArguments = regexp.MustCompile(`\tvar err error\n(\targs := map\[string\]any\{\}\n(?:` +
	expression(argument, "(?:") + `)+\treturn args, nil\n)`)

var fieldArgument = shared{
	written: pattern(argument),
	call: `	if err := fieldArgument(ctx, ec, rawArgs, args, $1, $2); err != nil {
		return nil, err
	}
`,
	function: `
// fieldArgument reads an argument of a field.
func fieldArgument[T any](ctx context.Context, ec *executionContext, rawArgs, args map[string]any, name string,
	unmarshal func(context.Context, *executionContext, any) (T, error)) error {
	value, err := graphql.ProcessArgField(ctx, rawArgs, name,
		func(ctx context.Context, v any) (T, error) { return unmarshal(ctx, ec, v) })
	if err != nil {
		return err
	}
	args[name] = value
	return nil
}
`,
}

// shareClosures has the executor that gqlgen has written call functions in place of closures. What another gqlgen
// writes in another way stays as it is, and is right.
func shareClosures() error {
	text, err := os.ReadFile(execFile)
	if err != nil {
		return fmt.Errorf("read the executable schema: %w", err)
	}
	return outfile.WriteIfChanged(execFile, withShared(text))
}

// afterSchema is what follows the text of the schema in an executor: of the descriptions that this has nothing is
// replaced.
const afterSchema = "\nvar parsedSchema = "

// withShared is the text of an executor, with functions in place of closures.
func withShared(text []byte) []byte {
	at := bytes.LastIndex(text, []byte(afterSchema))
	if at < 0 {
		return text
	}
	code := text[at:]
	var functions strings.Builder
	for _, s := range sharedFunctions {
		if s.written.Match(code) {
			code = s.written.ReplaceAll(code, []byte(s.call))
			if !strings.Contains(functions.String(), s.function) {
				functions.WriteString(s.function)
			}
		}
	}
	if fieldArguments.Match(code) {
		code = fieldArguments.ReplaceAllFunc(code, func(all []byte) []byte {
			return fieldArgument.written.ReplaceAll(fieldArguments.ReplaceAll(all, []byte("$1")), []byte(fieldArgument.call))
		})
		functions.WriteString(fieldArgument.function)
	}
	return slices.Concat(text[:at], code, []byte(functions.String()))
}
