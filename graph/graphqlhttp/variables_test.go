package graphqlhttp

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// evens is a schema of which a scalar is even.
type evens struct{}

func (evens) CheckScalar(scalar string, v any) error {
	if n, _ := v.(json.Number).Int64(); scalar == "Even" && n%2 != 0 {
		return errors.New("odd")
	}
	return nil
}

func TestVariablesAreReadWhereverTheyHoldAScalarOrAnEnum(t *testing.T) {
	in := &inputs{scalars: evens{}, schema: gqlparser.MustLoadSchema(&ast.Source{Input: `
		scalar Even
		enum Size { small large }
		input Box { even: Even! evens: [Even!] size: Size = small inner: [Box!] count: Int }
		type Query { a(even: Even, evens: [[Even]], size: Size, box: Box, boxes: [Box!]): Int }`})}
	const all = `query($even: Even, $evens: [[Even]], $size: Size, $box: Box, $boxes: [Box!]) { a(even: $even, evens: ` +
		`$evens, size: $size, box: $box, boxes: $boxes) }`
	doc, err := parser.ParseQuery(&ast.Source{Input: all})
	if err != nil {
		t.Fatal(err)
	}
	for variables, want := range map[string]string{
		`{}`: ``,
		`{"even":null,"evens":[[2,null],null],"size":"large","boxes":[{"inner":[{"evens":[2]}]}]}`: ``,
		`{"even":3}`:                       `variable $even: odd`,
		`{"evens":3}`:                      `variable $evens: odd`,
		`{"evens":[[2],[4,5]]}`:            `variable $evens[1][1]: odd`,
		`{"size":"LARGE"}`:                 `variable $size: "LARGE" is not a value of type Size`,
		`{"size":1}`:                       `variable $size: "1" is not a value of type Size`,
		`{"box":{"even":1}}`:               `variable $box.even: odd`,
		`{"box":{"size":"huge"}}`:          `variable $box.size: "huge" is not a value of type Size`,
		`{"boxes":{"evens":[2,1]}}`:        `variable $boxes.evens[1]: odd`,
		`{"boxes":[{"inner":{"even":1}}]}`: `variable $boxes[0].inner.even: odd`,
		`{"box":"none","boxes":[1]}`:       ``, // the executor says so
	} {
		vars, err := readObject([]byte(variables), 100)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if wrong := in.read(doc.Operations[0], vars); wrong != nil {
			got = wrong.Message
		}
		if got != want {
			t.Errorf("%s: %q, want %q", variables, got, want)
		}
	}

	vars, err := readObject([]byte(`{"box":{"count":2.0,"inner":[{"count":3e0}]}}`), 100)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := in.read(doc.Operations[0], vars); wrong != nil {
		t.Fatal(wrong)
	}
	want := map[string]any{"box": map[string]any{"count": json.Number("2"),
		"inner": []any{map[string]any{"count": json.Number("3")}}}}
	if diff := cmp.Diff(want, vars); diff != "" {
		t.Errorf("whole numbers in inputs (-want +got):\n%s", diff)
	}
}
