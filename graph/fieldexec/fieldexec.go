// Package fieldexec executes fields for the executors that gqlgen generates. For each field and argument gqlgen writes
// closures, and the compiler makes a function of each; foldql's generator replaces them by calls of the functions here,
// so that an executor has half of its lines and compiles in half the time. Generated code alone calls them.
//
// C is the execution context of the generated package, which these functions only pass on; the operation that it is of
// is given beside it.
package fieldexec

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/internal/argument"
	"github.com/foldql/foldql/graph/scalar"
)

// Root returns how a field of Query is resolved: by resolve, which has failed where it returns invalid.
func Root[C any](ctx context.Context, op *graphql.OperationContext, c C, out *graphql.FieldSet,
	field graphql.CollectedField, resolve func(context.Context, C, graphql.CollectedField) graphql.Marshaler,
	invalid graphql.Marshaler) func(context.Context) graphql.Marshaler {
	inner := guarded(op, out, invalid, func(ctx context.Context) graphql.Marshaler { return resolve(ctx, c, field) })
	return func(context.Context) graphql.Marshaler { return op.RootResolverMiddleware(ctx, inner) }
}

// guarded calls resolve, notes among the fields that it has failed, and makes a panic an error of the operation.
func guarded(op *graphql.OperationContext, fields *graphql.FieldSet, invalid graphql.Marshaler,
	resolve func(context.Context) graphql.Marshaler) func(context.Context) graphql.Marshaler {
	return func(ctx context.Context) (res graphql.Marshaler) {
		defer func() {
			if r := recover(); r != nil {
				op.Error(ctx, op.Recover(ctx, r))
			}
		}()
		res = resolve(ctx)
		if res == invalid {
			atomic.AddUint32(&fields.Invalids, 1)
		}
		return res
	}
}

// Object resolves the field at an index of an object, now or, where it is deferred, later: by resolve, which has failed
// where it returns invalid. The views are those of the deferred fields, by their labels.
func Object(op *graphql.OperationContext, out, deferred *graphql.FieldSet, views map[string]*graphql.FieldSetView,
	i int, field graphql.CollectedField, invalid graphql.Marshaler, resolve func(context.Context) graphql.Marshaler) {
	if !field.IsDeferred() {
		out.Concurrently(i, guarded(op, out, invalid, resolve))
		return
	}
	deferred.AddField(field)
	at := len(deferred.Values) - 1
	deferred.Concurrently(at, guarded(op, deferred, invalid, resolve))
	for _, d := range field.Deferrables {
		if views[d.Label] == nil {
			views[d.Label] = deferred.NewView()
		}
		views[d.Label].AddIndices(at)
	}
	out.Values[i] = graphql.Null
}

// Resolve writes a field that has the value, by marshal. The last two say whether a panic is an error of the field, and
// whether that must not be null.
//
//go:noinline
func Resolve[C, T any](ctx context.Context, op *graphql.OperationContext, c C, field graphql.CollectedField,
	of func(context.Context, C, graphql.CollectedField) (*graphql.FieldContext, error),
	value func(context.Context) (any, error),
	marshal func(context.Context, C, ast.SelectionSet, T) graphql.Marshaler, recovers, required bool,
) graphql.Marshaler {
	return graphql.ResolveField(ctx, op, field,
		func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
			return of(ctx, c, field)
		},
		value, nil,
		func(ctx context.Context, selections ast.SelectionSet, v any) graphql.Marshaler { // not of T: see unexpected
			if ofOtherKind(ctx, field) {
				return graphql.Null
			}
			if typed, is := v.(T); is {
				return marshal(ctx, c, selections, typed)
			}
			var want T
			return unexpected(ctx, v, want)
		}, recovers, required)
}

// unexpected is what is written in the place of a value that has not the type of its field: itself, where that can be.
// gqlgen does the same, in a function that the compiler makes for each type of a field.
func unexpected(ctx context.Context, v, want any) graphql.Marshaler {
	if written, is := v.(graphql.Marshaler); is {
		return written
	}
	graphql.AddErrorf(ctx, "unexpected type %T from middleware/directive chain, should be %T", v, want)
	return graphql.Null
}

// WithArguments reads the arguments of a field into its context. An error is reported to the operation, too.
func WithArguments[C any](ctx context.Context, op *graphql.OperationContext, c C, of *graphql.FieldContext,
	arguments func(context.Context, C, map[string]any) (map[string]any, error)) (fc *graphql.FieldContext, err error) {
	fc = of
	defer func() {
		if r := recover(); r != nil {
			err = op.Recover(ctx, r)
			op.Error(ctx, err)
		}
	}()
	ctx = graphql.WithFieldContext(ctx, fc)
	raw := fc.Field.ArgumentMap(op.Variables)
	if err = nullList(fc.Field.Field, raw, op.Variables); err == nil {
		fc.Args, err = arguments(ctx, c, raw)
	}
	if err != nil {
		err = atField(fc, err)
		op.Error(ctx, err)
	}
	return fc, err
}

// nullList returns an error where what must be a list is null, an argument or a place in one: the value of a variable
// with a default may be, and gqlgen takes it for no elements.
func nullList(field *ast.Field, raw, variables map[string]any) error {
	for _, def := range field.Definition.Arguments {
		if isRequiredList(def.Type) && isNull(def.Name, raw) {
			return argument.Wrong(ast.Path{ast.PathName(def.Name)}, scalar.TypeError(def.Type.Name(), nil))
		}
	}
	for _, arg := range field.Arguments {
		if place, typ := nullListIn(arg.Value, variables); typ != nil {
			return argument.Wrong(append(ast.Path{ast.PathName(arg.Name)}, place...), scalar.TypeError(typ.Name(), nil))
		}
	}
	return nil
}

// nullListIn finds a variable in a literal that is null where a list must be: its place there, and the type of the
// list, nil for none.
func nullListIn(literal *ast.Value, variables map[string]any) (place ast.Path, typ *ast.Type) {
	for i, child := range literal.Children {
		v := child.Value
		typ = v.ExpectedType
		if v.Kind != ast.Variable || !isRequiredList(typ) || !isNull(v.Raw, variables) {
			if place, typ = nullListIn(v, variables); typ == nil {
				continue
			}
		}
		if literal.Kind == ast.ListValue {
			return append(ast.Path{ast.PathIndex(i)}, place...), typ
		}
		return append(ast.Path{ast.PathName(child.Name)}, place...), typ
	}
	return nil, nil
}

func isRequiredList(t *ast.Type) bool { return t != nil && t.NonNull && t.Elem != nil }

func isNull(name string, values map[string]any) bool {
	v, given := values[name]
	return given && v == nil
}

// atField makes an error that gqlgen has given a place in an argument one of the field.
func atField(fc *graphql.FieldContext, err error) error {
	var gql *gqlerror.Error
	field := fc.Path()
	if !errors.As(err, &gql) || len(gql.Path) <= len(field) {
		return err
	}
	return argument.Wrong(gql.Path[len(field):], err)
}

// Arg is an argument of a field, which has been read.
//
//go:noinline
func Arg[T any](of *graphql.FieldContext, name string) T { return of.Args[name].(T) }

// Argument reads an argument of a field out of the raw ones, if it is there, by unmarshal.
//
//go:noinline
func Argument[C, T any](ctx context.Context, c C, raw, args map[string]any, name string,
	unmarshal func(context.Context, C, any) (T, error)) error {
	value, err := graphql.ProcessArgField(ctx, raw, name,
		func(ctx context.Context, v any) (T, error) { return unmarshal(ctx, c, v) })
	if err != nil {
		return err
	}
	args[name] = value
	return nil
}

// ObjectContext returns the context of a field of an object type, whose fields have those of child.
//
//go:noinline
func ObjectContext[C any](c C, field graphql.CollectedField, object string, isMethod, isResolver bool,
	child func(context.Context, C, graphql.CollectedField) (*graphql.FieldContext, error)) *graphql.FieldContext {
	return &graphql.FieldContext{
		Object: object, Field: field, IsMethod: isMethod, IsResolver: isResolver,
		Child: func(ctx context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
			return child(ctx, c, field)
		},
	}
}
