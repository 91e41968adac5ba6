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
// of the number of queries. Therefore calls of package fieldexec take the place of what is the same in all of them: an
// executor has two thirds of the lines then.

// repeated is what gqlgen writes again and again, and the call in its place.
type repeated struct {
	written *regexp.Regexp
	call    string // with what the groups of written match
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

// repeatedTexts are all of them, but for arguments.
var repeatedTexts = []repeated{
	rootField, objectField, resolveField, resolveByStatements, withArguments, objectContext,
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
		"func(context.Context) (any, error) { return $2, nil }, $3, $4, $5)\n",
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

// replaceClosures has the executor that gqlgen has written call functions in place of closures. What another gqlgen
// writes in another way stays as it is, and is right.
func replaceClosures() error {
	text, err := os.ReadFile(execFile)
	if err != nil {
		return fmt.Errorf("read the executable schema: %w", err)
	}
	return outfile.WriteIfChanged(execFile, withCalls(text))
}

// afterSchema is what follows the text of the schema in an executor: of the descriptions that this has nothing is
// replaced.
const afterSchema = "\nvar parsedSchema = "

// withCalls is the text of an executor, with calls in place of closures.
func withCalls(text []byte) []byte {
	at := bytes.LastIndex(text, []byte(afterSchema))
	if at < 0 {
		return text
	}
	code := text[at:]
	for _, r := range repeatedTexts {
		code = r.written.ReplaceAll(code, []byte(r.call))
	}
	code = fieldArguments.ReplaceAllFunc(code, func(all []byte) []byte {
		return fieldArgument.written.ReplaceAll(fieldArguments.ReplaceAll(all, []byte("$1")), []byte(fieldArgument.call))
	})
	head, imported := withImport(text[:at])
	if !imported {
		return text
	}
	return slices.Concat(head, code)
}

// Imports of an executor, as lines.
const (
	importOfGqlgen = "\t\"github.com/99designs/gqlgen/graphql\"\n"
	importOfCalls  = "\t\"github.com/foldql/foldql/graph/fieldexec\"\n"
)

// withImport is the beginning of an executor that imports the functions, where gqlgen has put its own imports.
func withImport(head []byte) (with []byte, imported bool) {
	at := bytes.Index(head, []byte(importOfGqlgen))
	if at < 0 {
		return head, false
	}
	for line := range bytes.Lines(head[at:]) { // in the order of the paths
		if path := bytes.TrimLeft(line, "\tabcdefghijklmnopqrstuvwxyz_ "); string(path) >= importOfCalls[1:] ||
			len(path) < 2 {
			break
		}
		at += len(line)
	}
	return slices.Concat(head[:at], []byte(importOfCalls), head[at:]), true
}
