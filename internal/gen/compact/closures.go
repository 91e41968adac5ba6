package compact

import (
	"regexp"
	"strings"
)

// repeated is what gqlgen writes again and again, and the call in its place.
type repeated struct {
	written *regexp.Regexp
	call    string // with what the groups of written match
}

// differing are the words that stand for what differs in what gqlgen writes.
var differing = []string{"FUNCTION", `[\pL\pN_]+`, "VALUE", `graphql\.\w+`, "STRING", `"\w+"`, "BOOL", `true|false`,
	"EXPRESSION", `[^\n]+`, "NAME", `\w+`, "\t\t\tSTATEMENTS\n", `(?:\t\t\t[^\n]+\n)+`}

// pattern matches what gqlgen writes, with a group for each word of differing. ANY is what differs and does not matter.
func pattern(text string) *regexp.Regexp { return regexp.MustCompile(expression(text, "(")) }

func expression(text, group string) string {
	replaced := []string{"ANY", `[^\n]+?`}
	for i := 0; i < len(differing); i += 2 {
		replaced = append(replaced, differing[i], group+differing[i+1]+")")
	}
	return strings.NewReplacer(replaced...).Replace(regexp.QuoteMeta(text))
}

// repeatedTexts are all of them, but for arguments.
var repeatedTexts = []repeated{
	rootField, objectField, resolveField, resolveByStatements, withArguments, objectContext, scalarContext, beginning,
	unknown, readArgument, typeName, objectDone, missing, listOfRequired, list,
}

var rootField = repeated{
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
	call: "\t\t\tout.Concurrently(i, fieldexec.Root(innerCtx, ec.OperationContext, ec, out, field, $1, $2))\n",
}

var objectField = repeated{
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
	call: `			fieldexec.Object(ec.OperationContext, out, deferredFieldSet, deferLabelToView, i, field, $2,
				func(ctx context.Context) graphql.Marshaler { return $1(ctx, ec, field, obj) })
`,
}

var resolveField = repeated{
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
	call: "\treturn fieldexec.Resolve(ctx, ec.OperationContext, ec, field, $1, " +
		"func(ctx context.Context) (any, error) { return $2, nil }, $3, $4, $5)\n",
}

// resolveByStatements is resolveField where a resolver has the value.
var resolveByStatements = repeated{
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
	call: `	return fieldexec.Resolve(ctx, ec.OperationContext, ec, field, $1,
		func(ctx context.Context) (any, error) {
$2		}, $3, $4, $5)
`,
}

var withArguments = repeated{
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
	call: "\treturn fieldexec.WithArguments(ctx, ec.OperationContext, ec, fc, $1)\n",
}

var objectContext = repeated{
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
	call: "\tfc = fieldexec.ObjectContext(ec, field, $1, $2, $3, $4)\n",
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

var fieldArgument = repeated{
	written: pattern(argument),
	call: `	if err := fieldexec.Argument(ctx, ec, rawArgs, args, $1, $2); err != nil {
		return nil, err
	}
`,
}

var scalarContext = repeated{
	written: pattern("\treturn graphql.NewScalarFieldContext(STRING, field, BOOL, BOOL, " +
		"errors.New(\"field of type NAME does not have child fields\"))\n"),
	call: "\treturn fieldexec.ScalarContext(field, $1, \"$4\", $2, $3)\n",
}

var beginning = repeated{
	written: pattern(`	fields := graphql.CollectFields(ec.OperationContext, sel, NAME)

	out := graphql.NewFieldSet(fields)
	deferredFieldSet := graphql.NewFieldSet(nil)
	deferLabelToView := make(map[string]*graphql.FieldSetView)
`),
	call: "\tfields, out, deferredFieldSet, deferLabelToView := fieldexec.Begin(ec.OperationContext, sel, $1)\n",
}

var unknown = repeated{
	written: pattern("\t\t\tpanic(\"unknown field \" + strconv.Quote(field.Name))\n"),
	call:    "\t\t\tpanic(fieldexec.Unknown(field))\n",
}

var readArgument = repeated{
	written: regexp.MustCompile(`\bfc\.Args\[("\w+")\]\.\(([^()\n]+)\)`),
	call:    "fieldexec.Arg[$2](fc, $1)",
}

var typeName = repeated{
	written: pattern("\t\t\tout.Values[i] = graphql.MarshalString(STRING)\n"),
	call:    "\t\t\tout.Values[i] = fieldexec.TypeName($1)\n",
}

var objectDone = repeated{
	written: pattern(`	out.Dispatch(ctx)
	if out.Invalids > 0 {
		return graphql.Null
	}

	atomic.AddInt32(&ec.Deferred, int32(min(len(deferLabelToView), math.MaxInt32)))

	ec.ProcessDeferredGroup(graphql.DeferredGroup{
		Defers:   deferLabelToView,
		Path:     graphql.GetPath(ctx),
		FieldSet: deferredFieldSet,
		Context:  ctx,
	})

	return out
`),
	call: "\treturn fieldexec.Finish(ctx, ec, &ec.Deferred, out, deferredFieldSet, deferLabelToView)\n",
}

var missing = repeated{
	written: pattern(`	if v == nil {
		if !graphql.HasFieldError(ctx, graphql.GetFieldContext(ctx)) {
			graphql.AddErrorf(ctx, "the requested element is null which the schema does not allow")
		}
		return graphql.Null
	}
`),
	call: "\tif v == nil {\n\t\treturn fieldexec.Missing(ctx)\n\t}\n",
}

// elements is how a list is written.
const elements = `	ret := graphql.MarshalSliceConcurrently(ctx, len(v), 0, false, func(ctx context.Context, i int) graphql.Marshaler {
		fc := graphql.GetFieldContext(ctx)
		fc.Result = &v[i]
		return FUNCTION(ctx, ec, sel, v[i])
	})

`

var listOfRequired = repeated{
	written: pattern(elements + `	for _, e := range ret {
		if e == graphql.Null {
			return graphql.Null
		}
	}

	return ret
`),
	call: "\treturn fieldexec.List(ctx, ec, sel, v, true, $1)\n",
}

var list = repeated{
	written: pattern(elements + "\treturn ret\n"),
	call:    "\treturn fieldexec.List(ctx, ec, sel, v, false, $1)\n",
}
