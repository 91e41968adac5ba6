package fieldexec

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// The functions here are called in many places, each for one field: inlined they would be compiled as often.

// Begin begins an object of one type: the fields that are asked for, and where they are written; a deferred one in a
// set of its own, with a view for each of its labels.
func Begin(op *graphql.OperationContext, selections ast.SelectionSet, types []string) (
	fields []graphql.CollectedField, out, deferred *graphql.FieldSet, views map[string]*graphql.FieldSetView) {
	fields = graphql.CollectFields(op, selections, types)
	return fields, graphql.NewFieldSet(fields), graphql.NewFieldSet(nil), map[string]*graphql.FieldSetView{}
}

// Value writes the field at an index of an object, which has the value, by marshal. The object fails where the field
// does, and required says that null is a failure.
//
//go:noinline
func Value[C, T any](ctx context.Context, op *graphql.OperationContext, c C, fields []graphql.CollectedField,
	out *graphql.FieldSet, i int, of func(context.Context, C, graphql.CollectedField) (*graphql.FieldContext, error),
	value any, marshal func(context.Context, C, ast.SelectionSet, T) graphql.Marshaler, required bool) {
	failed := graphql.RequiredNull
	if required {
		failed = graphql.Null
	}
	out.Values[i] = Resolve(ctx, op, c, fields[i], of, func(context.Context) (any, error) { return value, nil }, marshal,
		true, required)
	if out.Values[i] == failed {
		atomic.AddUint32(&out.Invalids, 1)
	}
}

// Unknown is what a type says of a field that it does not have.
func Unknown(field graphql.CollectedField) string {
	return "unknown field " + strconv.Quote(field.Name)
}

// TypeName writes the name of an object type.
//
//go:noinline
func TypeName(name string) graphql.Marshaler { return graphql.MarshalString(name) }

// Operation is what an execution context does with the deferred fields of an object.
type Operation interface {
	ProcessDeferredGroup(fields graphql.DeferredGroup)
}

// Finish resolves the fields of an object that are left, and hands the deferred ones to the operation, which it counts
// them for. The views are those of the deferred fields, by their labels. The object is null where a field has failed.
func Finish(ctx context.Context, op Operation, count *int32, out, deferred *graphql.FieldSet,
	views map[string]*graphql.FieldSetView) graphql.Marshaler {
	out.Dispatch(ctx)
	if out.Invalids > 0 {
		return graphql.Null
	}
	atomic.AddInt32(count, int32(min(len(views), math.MaxInt32)))
	op.ProcessDeferredGroup(graphql.DeferredGroup{Defers: views, Path: graphql.GetPath(ctx), FieldSet: deferred,
		Context: ctx})
	return out
}

// List writes each element of a list by marshal. It is null where required says that no element may be, and one is.
//
//go:noinline
func List[C, T any](ctx context.Context, c C, selections ast.SelectionSet, list []T, required bool,
	marshal func(context.Context, C, ast.SelectionSet, T) graphql.Marshaler) graphql.Marshaler {
	all := graphql.MarshalSliceConcurrently(ctx, len(list), 0, false, func(ctx context.Context, i int) graphql.Marshaler {
		graphql.GetFieldContext(ctx).Result = &list[i]
		return marshal(ctx, c, selections, list[i])
	})
	for i := range all {
		if required && all[i] == graphql.Null {
			return graphql.Null
		}
	}
	return all
}

// Missing is what is written in the place of null where the schema does not allow it: an error, unless there is one.
//
//go:noinline
func Missing(ctx context.Context) graphql.Marshaler {
	if !graphql.HasFieldError(ctx, graphql.GetFieldContext(ctx)) {
		graphql.AddErrorf(ctx, "the requested element is null which the schema does not allow")
	}
	return graphql.Null
}

// ScalarContext returns the context of a field of a scalar type, which has no fields.
//
//go:noinline
func ScalarContext(field graphql.CollectedField, object, scalar string, isMethod, isResolver bool) (
	*graphql.FieldContext, error) {
	return graphql.NewScalarFieldContext(object, field, isMethod, isResolver,
		fmt.Errorf("field of type %s does not have child fields", scalar))
}
