package answercache

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/graph/internal/access"
)

var defined = ast.VariableDefinitionList{{Variable: "a"}, {Variable: "b"}}

// few draws one of few values, so that two of them are often the same.
func few[T any](t *rapid.T, name string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, name)
}

func drawValue(t *rapid.T, depth int) any {
	scalars := []any{nil, true, false, "", "a", "ab", "b", int64(0), int64(1), 1.0, json.Number("1"), "1"}
	switch kind := few(t, "kind", 0, 0, 1, 2); {
	case kind == 0 || depth == 0:
		return few(t, "scalar", scalars...)
	case kind == 1:
		list := make([]any, few(t, "length", 0, 1, 2))
		for i := range list {
			list[i] = drawValue(t, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for range few(t, "members", 0, 1, 2) {
		object[few(t, "member", "a", "b", "ab")] = drawValue(t, depth-1)
	}
	return object
}

// drawn is what is drawn of a question, with its epoch.
type drawn struct {
	question
	epoch uint64
}

func draw(t *rapid.T) (d drawn) {
	d.plan, d.epoch, d.defined = few[uint64](t, "plan", 1, 2), few[uint64](t, "epoch", 1, 2), defined
	if d.viewer.Unrestricted = few(t, "unrestricted", true, false); !d.viewer.Unrestricted {
		d.viewer = access.Viewer{Verified: few(t, "verified", true, false), Caller: auth.Caller{
			Subject: few(t, "subject", "", "a", "ab"),
			Groups:  few(t, "groups", nil, []string{"a"}, []string{"ab"}, []string{"a", "b"}, []string{"b"}),
		}}
	}
	if few(t, "text", true, false) {
		d.text = few(t, "its text", []byte(`{"a":"b"}`), []byte(`{"a":"c"}`), []byte("{}"))
		return d
	}
	d.variables = map[string]any{}
	for _, v := range defined {
		if few(t, "given", true, false) {
			d.variables[v.Variable] = drawValue(t, 2)
		}
	}
	return d
}

// TestKeysTellAnswersApart: two operations have one key where they are the same, and only there.
func TestKeysTellAnswersApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two := draw(t), draw(t)
		first, ok := one.appendKey(nil, one.epoch)
		second, too := two.appendKey(nil, two.epoch)
		if !ok || !too {
			t.Fatal("a value of a type that coercion makes has no key")
		}
		if reflect.DeepEqual(one, two) != bytes.Equal(first, second) {
			t.Fatalf("%+v has the key %q, and %+v %q", one, first, two, second)
		}
	})
}

// TestValuesOfOtherTypesHaveNoKey: what they consist of is not known.
func TestValuesOfOtherTypesHaveNoKey(t *testing.T) {
	for _, v := range []any{struct{}{}, []any{struct{}{}}, map[string]any{"a": []string{"b"}}} {
		a := question{defined: defined, variables: map[string]any{"a": v}}
		if key, ok := a.appendKey(nil, 1); ok {
			t.Errorf("%v has the key %q", v, key)
		}
	}
}
