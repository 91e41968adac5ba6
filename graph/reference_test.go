package graph

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/argument"
	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/foldql/foldql/graph/scalar"
	"github.com/foldql/foldql/internal/tests/differential"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/record"
)

// reference executes the shop's operations field by field over the functions that generated resolvers call, as slowly
// and plainly as the specification says it.
type reference struct {
	*foreign
	b *bench
}

func (r *reference) Exec(context.Context) graphql.ResponseHandler {
	return func(ctx context.Context) *graphql.Response {
		op := graphql.GetOperationContext(ctx)
		data, _ := r.object(ctx, op.Operation.SelectionSet, "Query", nil)
		text, err := json.Marshal(data)
		if err != nil {
			panic(err)
		}
		return &graphql.Response{Data: text}
	}
}

// object answers the selections of an object; ok is false where a null in it has to bubble.
func (r *reference) object(ctx context.Context, set ast.SelectionSet, typ string, of any) (out map[string]any,
	ok bool) {
	out, ok = map[string]any{}, true
	for _, f := range graphql.CollectFields(graphql.GetOperationContext(ctx), set, []string{typ}) {
		if f.Name == "__typename" {
			out[f.Alias] = typ
			continue
		}
		ctx := graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: typ, Field: f})
		v, err := r.resolve(ctx, typ, f, of)
		if err != nil {
			graphql.AddError(ctx, err)
			v = nil
		}
		v = r.complete(ctx, f.Selections, f.Definition.Type, v)
		if v == nil && f.Definition.Type.NonNull {
			ok = false
		}
		out[f.Alias] = v
	}
	if !ok {
		return nil, false
	}
	return out, true
}

func (r *reference) complete(ctx context.Context, set ast.SelectionSet, t *ast.Type, v any) any {
	switch v := v.(type) {
	case *row:
		if v == nil {
			return nil
		}
		if out, ok := r.object(ctx, set, t.Name(), v); ok {
			return out
		}
		return nil
	case *Connection[*row]:
		if out, ok := r.object(ctx, set, t.Name(), v); v != nil && ok {
			return out
		}
		return nil
	case []*row:
		list, broken := []any{}, false
		for i, elem := range v {
			ctx := graphql.WithFieldContext(ctx, &graphql.FieldContext{Index: &i})
			done := r.complete(ctx, set, t.Elem, elem)
			broken = broken || done == nil && t.Elem.NonNull
			list = append(list, done)
		}
		if broken {
			return nil
		}
		return list
	}
	return v
}

func (r *reference) resolve(ctx context.Context, typ string, f graphql.CollectedField, of any) (any, error) {
	switch of := of.(type) {
	case nil:
		return r.query(ctx, f)
	case *Connection[*row]:
		if f.Name == "items" {
			return of.Items, nil
		}
		if of.NextToken == nil {
			return nil, nil
		}
		return *of.NextToken, nil
	case *row:
		return r.field(ctx, typ, f, of)
	}
	panic("no such object")
}

func (r *reference) field(ctx context.Context, typ string, f graphql.CollectedField, of *row) (any, error) {
	t, name := r.b.catalog.Types[typ], f.Name
	c := r.b.codec(typ)
	var args map[string]any
	q := r.b.catalog.Queries[nestedQuery(t.Fields[name])]
	if q != nil {
		var err error
		if args, err = r.arguments(ctx, q, f); err != nil {
			return nil, err
		}
	}
	if err := CheckFieldAccess(ctx, r.b.rt, typ, name, c, of); err != nil {
		return nil, err
	}
	field := t.Fields[name]
	stored, _ := (*of)[t.Model.Fields[field.Ordinal].Name].(json.RawMessage)
	if field.Join == nil {
		if stored == nil {
			return nil, nil
		}
		return stored, nil
	}
	target := r.b.codec(field.Join.Target)
	if field.Join.Many {
		var ids []string
		_ = json.Unmarshal(stored, &ids)
		var vals []keys.Value
		for _, id := range ids {
			vals = append(vals, keys.String(id))
		}
		return JoinMany(ctx, r.b.rt, typ, name, target, vals)
	}
	ids := r.leading(t, field, of)
	if q != nil {
		page, err := pageArguments(args)
		if err != nil {
			return nil, err
		}
		got, err := JoinPage(ctx, r.b.rt, typ, name, target,
			&QueryRequest{SK: values(args, nil, q.SKParts), Page: page}, ids...)
		if got == nil {
			return nil, err
		}
		return got, err
	}
	got, err := JoinOne(ctx, r.b.rt, typ, name, target, ids...)
	if got == nil {
		return nil, err
	}
	return got, err
}

// leading are the values of a row that lead to others by a virtual field.
func (r *reference) leading(t *catalog.Type, f *catalog.Field, of *row) (vals []keys.Value) {
	by := f.Join.By
	if by == nil {
		by = []int{f.Ordinal}
	}
	for _, ordinal := range by {
		part := &t.Model.Fields[ordinal]
		var v keys.Value
		if text, is := (*of)[part.Name].(json.RawMessage); is {
			v, _ = record.KeyValue(part.Scalar, text)
		}
		vals = append(vals, v)
	}
	return vals
}

func nestedQuery(f *catalog.Field) string {
	if f.Join == nil {
		return ""
	}
	return f.Join.Pages
}

// arguments are those of a field, of which those of the keys of the query are values.
func (r *reference) arguments(ctx context.Context, q *catalog.Query, f graphql.CollectedField) (map[string]any, error) {
	args := f.ArgumentMap(graphql.GetOperationContext(ctx).Variables)
	var failed error
	for _, def := range f.Definition.Arguments { // in the order in which gqlgen reads them
		raw, given := args[def.Name]
		if !given || failed != nil || raw == nil && !def.Type.NonNull {
			delete(args, def.Name)
			continue
		}
		a := plan.Argument{Named: def.Type.Name()}
		switch t := r.schema.Types[a.Named]; t.Kind {
		case ast.Enum:
			a.Enum = t
		case ast.InputObject:
			if len(q.KeyFields) > 0 {
				args[def.Name], failed = r.keysOf(t, def.Name, raw)
			} // else whoever reads the page makes sense of it
			continue
		}
		if def.Type.Elem != nil {
			args[def.Name], failed = listOf(&a, def.Name, raw)
			continue
		}
		v, err := a.Value(raw)
		if err != nil {
			failed = argument.Wrong(ast.Path{ast.PathName(def.Name)}, err)
		}
		if !slices.ContainsFunc(slices.Concat(q.PK, q.PKParts, q.SK, q.SKParts), func(k catalog.KeyArg) bool {
			return k.Name == def.Name
		}) {
			continue
		}
		args[def.Name] = v
	}
	return args, failed
}

// listOf reads a list of values of which each is a key.
func listOf(a *plan.Argument, name string, raw any) (all []keys.Value, failed error) {
	for i, elem := range graphql.CoerceList(raw) {
		v, err := a.Value(elem)
		if err != nil {
			return nil, argument.Wrong(ast.Path{ast.PathName(name), ast.PathIndex(i)}, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// keysOf reads a list of keys of several fields: the values of one after those of the other.
func (r *reference) keysOf(key *ast.Definition, name string, raw any) (all []keys.Value, failed error) {
	for i, elem := range graphql.CoerceList(raw) {
		for _, def := range key.Fields {
			a := plan.Argument{Named: def.Type.Name()}
			v, err := a.Value(elem.(map[string]any)[def.Name])
			if err != nil {
				return nil, argument.Wrong(ast.Path{ast.PathName(name), ast.PathIndex(i), ast.PathName(def.Name)}, err)
			}
			all = append(all, v)
		}
	}
	return all, nil
}

// values are those of the arguments that keys are made of.
func values(args map[string]any, of, parts []catalog.KeyArg) (vals []keys.Value) {
	for _, a := range slices.Concat(of, parts) {
		v, _ := args[a.Name].(keys.Value)
		vals = append(vals, v)
	}
	return vals
}

func pageArguments(args map[string]any) (catalog.PageArgs, error) {
	page := catalog.PageArgs{
		Eq: given[string](args, "eq"), Prefix: given[string](args, "prefix"), From: given[string](args, "from"),
		To:      given[string](args, "to"),
		Reverse: given[bool](args, "reverse"), NextToken: given[string](args, "nextToken"),
		Partial: given[bool](args, "partial"),
	}
	if filter, ok := args["filter"].(map[string]any); ok {
		page.Filter = filter
	}
	if n, ok := args["limit"]; ok {
		limit, err := scalar.UnmarshalInt(n)
		if err != nil {
			return page, err
		}
		page.Limit = &limit
	}
	return page, nil
}

func (r *reference) query(ctx context.Context, f graphql.CollectedField) (any, error) {
	q := r.b.catalog.Queries[f.Name]
	args, err := r.arguments(ctx, q, f)
	if err != nil {
		return nil, err
	}
	if q.Kind == catalog.QueryOne {
		got, err := FetchOne(ctx, r.b.rt, r.b.codec(q.Type), &QueryRequest{
			Name: q.Name, PK: values(args, q.PK, q.PKParts), SK: values(args, q.SK, q.SKParts),
			Consistent: given[bool](args, "consistent"),
		})
		if got == nil {
			return nil, err
		}
		return got, err
	}
	if q.Kind == catalog.QueryMany {
		ids, _ := args[q.PK[0].Name].([]keys.Value)
		return FetchMany(ctx, r.b.rt, r.b.codec(q.Type), &QueryRequest{
			Name: q.Name, IDs: ids, Consistent: given[bool](args, "consistent"),
		})
	}
	page, err := pageArguments(args)
	if err != nil {
		return nil, err
	}
	got, err := FetchPage(ctx, r.b.rt, r.b.codec(q.Type), &QueryRequest{
		Name: q.Name, PK: values(args, q.PK, q.PKParts), SK: values(args, nil, q.SKParts), Page: page,
	})
	if got == nil {
		return nil, err
	}
	return got, err
}

func given[T any](args map[string]any, name string) *T {
	if v, ok := args[name].(T); ok {
		return &v
	}
	return nil
}

func TestPlanAnswersLikeTheReference(t *testing.T) {
	seed := rand.Uint64()
	if text := os.Getenv("DIFFERENTIAL_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("DIFFERENTIAL_SEED=%q is not a number", text)
		}
	}
	t.Logf("DIFFERENTIAL_SEED=%d repeats this", seed)
	b := newBench(t, Config{MaxJoinFanout: 8})
	b.stock(t)
	resolvers := *b
	slow := *b.rt
	slow.cfg.ResolversOnly = true
	resolvers.exec = executor.New(WithCompiledPlans(&reference{b.foreign, b}, &slow))

	callers := []context.Context{t.Context(), as(t.Context(), "ann"), as(t.Context(), "bob"), as(t.Context(), "root",
		"Admin"), as(t.Context(), "eve", "Staff")}
	g := &differential.Documents{
		Schema: b.foreign.schema, Queries: slices.Sorted(maps.Keys(b.catalog.Queries)),
		Rand:  rand.New(rand.NewPCG(seed, seed)),
		Texts: []string{"o0", "o1", "o4", "c1", "acc1", "acc2", "ann", "bob", "i1", "i3", "s/1", "toys/a", "none"},
		Times: []string{"2024-01-02T10:00:00Z", "2024-01-03T12:00:00.000+02:00", "2024-01-01"},
	}
	met, operations := map[string]int{}, 4000
	if Raced {
		operations = 400
	}
	for range operations {
		query, variables := g.Next()
		vars := variables()
		ctx := callers[g.Rand.IntN(len(callers))]
		fast, slow := b.do(ctx, query, vars), resolvers.do(ctx, query, vars)
		slices.Sort(fast.Errors)
		slices.Sort(slow.Errors)
		if diff := cmp.Diff(slow, fast); diff != "" {
			t.Fatalf("%s\n%v\n-reference +plan:\n%s", query, vars, diff)
		}
		for _, err := range fast.Errors {
			met[err[:strings.IndexByte(err, ' ')]]++
		}
		if fast.Errors == nil {
			met["ok"]++
		}
	}
	t.Log(met)
	for _, code := range []string{"ok", "BAD_USER_INPUT", "INVALID_TOKEN", "UNAUTHENTICATED", "FORBIDDEN",
		"LIMIT_EXCEEDED"} {
		if met[code] < 20 && !Raced {
			t.Errorf("%d operations met %s, wanted at least 20", met[code], code)
		}
	}
	if met["REJECTED"] > 0 || b.foreign.asked > 0 {
		t.Errorf("%d operations were not valid, %d not planned", met["REJECTED"], b.foreign.asked)
	}
}
