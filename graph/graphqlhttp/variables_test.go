package graphqlhttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// evens is a schema of which a scalar is even.
type evens struct{}

func (evens) ScalarCheck(scalar string) func(any) error {
	if scalar != "Even" {
		return nil
	}
	return func(v any) error {
		if n, _ := v.(json.Number).Int64(); n%2 != 0 {
			return errors.New("odd")
		}
		return nil
	}
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
		`{"box":"none"}`:                   `variable $box: must be a Box, not a string`,
		`{"box":[{}]}`:                     `variable $box: must be a Box, not a list`,
		`{"box":true}`:                     `variable $box: must be a Box, not a boolean`,
		`{"boxes":[{},1.5]}`:               `variable $boxes[1]: must be a Box, not a number`,
		`{"boxes":{"inner":20}}`:           `variable $boxes.inner: must be a Box, not a number`,
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

func TestErrorsOfVariablesNameThePlaceOfTheirDefinition(t *testing.T) {
	h := New(testSchema, Config{})
	for variables, want := range map[string]string{
		`{}`:                   `"variable $n: must be defined","locations":[{"line":2,"column":2}]`,
		`{"n":null}`:           `"variable $n: cannot be null","locations":[{"line":2,"column":2}]`,
		`{"n":"x","k":2.5}`:    `"variable $k: 2.5 is not a value of type Int","locations":[{"line":2,"column":15}]`,
		`{"n":"x","k":"many"}`: `"variable $k: cannot use string as Int","locations":[{"line":2,"column":15}]`,
	} {
		got := query(t, h, "query(\n $n: String!, $k: Int) { hello(name: $n, times: $k) }", variables)
		if !strings.Contains(got.body, want) {
			t.Errorf("%s: %s, want %s", variables, got.body, want)
		}
	}
}

// TestAnInputWithOneOfHasExactlyOneField, be it the value of a variable or a literal with variables in it.
func TestAnInputWithOneOfHasExactlyOneField(t *testing.T) {
	in := &inputs{schema: gqlparser.MustLoadSchema(&ast.Source{Input: `
		input By @oneOf { id: ID email: String other: By }
		input Where { by: By bys: [By!] }
		type Query { find(by: By, where: Where): Int }`})}
	docs := newDocuments(in, Config{}.withDefaults())
	const one = "type By takes exactly one field, which must not be null"
	const by, where = `query($b: By!) { find(by: $b) }`, `query($w: Where) { find(where: $w) }`
	const literal, nullable = `query($id: ID!) { find(by: {id: $id}) }`, `query($id: ID) { find(by: {id: $id}) }`
	const inFragment = `query($id: ID) { ...F } fragment F on Query { find(where: {bys: [{other: {id: $id}}]}) }`
	for _, c := range []struct{ document, variables, want string }{
		{by, `{"b":{"id":"1"}}`, ``},
		{by, `{"b":{"other":{"email":"x"}}}`, ``},
		{by, `{"b":{"id":"1","email":"x"}}`, `variable $b: ` + one},
		{by, `{"b":{"id":"1","email":null}}`, `variable $b: ` + one},
		{by, `{"b":{}}`, `variable $b: ` + one},
		{by, `{"b":{"id":null}}`, `variable $b: ` + one},
		{by, `{"b":{"other":{}}}`, `variable $b.other: ` + one},
		{where, `{"w":{"by":null,"bys":[{"id":"1"},{"email":"x"}]}}`, ``},
		{where, `{"w":{"bys":[{"id":"1"},{}]}}`, `variable $w.bys[1]: ` + one},
		{where, `{"w":{"bys":{}}}`, `variable $w.bys: ` + one},
		{literal, `{"id":"1"}`, ``},
		{literal, `{"id":null}`, `variable $id: cannot be null`},
		{literal, `{}`, `variable $id: must be defined`},
		{nullable, `{}`, `must be non-nullable to be used for OneOf Input Object "By"`},
		{inFragment, `{}`, `must be non-nullable to be used for OneOf Input Object "By"`},
		{`query($b: By) { find(where: {bys: [{other: $b}]}) }`, `{}`, `must be non-nullable`},
		{`query($b: By!) { find(by: {other: $b}) }`, `{"b":{}}`, `variable $b: ` + one},
		{`{ find(by: {id: "1", email: "x"}) }`, `{}`, `must specify exactly one key`},
		{`{ find(where: {bys: [{}]}) }`, `{}`, `must specify exactly one key`},
		{`{ find(by: {other: {email: null}}) }`, `{}`, `must be non-null`},
		{`query($b: By = {id: "1", email: "x"}) { find(by: $b) }`, `{}`, `must specify exactly one key`},
	} {
		got := wrongWith(t, in, docs, c.document, c.variables)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s with %s: %q, want %q", c.document, c.variables, got, c.want)
		}
	}
}

// TestALiteralIsRefusedWhereAVariableIs, wherever it stands: both before anything is executed.
func TestALiteralIsRefusedWhereAVariableIs(t *testing.T) {
	in := &inputs{scalars: checked{}, schema: gqlparser.MustLoadSchema(&ast.Source{Input: `
		scalar Int64 scalar Decimal scalar Date scalar DateTime
		type Query { a(id: ID, int64: Int64, decimal: Decimal, date: Date, dateTime: DateTime, dates: [Date]): Int }`})}
	docs := newDocuments(in, Config{}.withDefaults())
	for _, c := range []struct {
		argument, typ, text string
		wrong               bool
	}{
		{"id", "ID", `-99999999999999999999`, false},
		{"id", "ID", `1e30`, true},
		{"int64", "Int64", `9223372036854775807`, false},
		{"int64", "Int64", `"7"`, false},
		{"int64", "Int64", `9223372036854775808`, true},
		{"int64", "Int64", `1e3`, true},
		{"int64", "Int64", `1.0`, true},
		{"decimal", "Decimal", `12345678901234567890.5`, false},
		{"decimal", "Decimal", `99999999999999999999`, false},
		{"decimal", "Decimal", `1e3`, false},
		{"decimal", "Decimal", `true`, true},
		{"decimal", "Decimal", `[1]`, true},
		{"decimal", "Decimal", `[]`, true},
		{"date", "Date", `"2024-01-15"`, false},
		{"date", "Date", `["2024-01-15"]`, true},
		{"date", "Date", `20240115`, true},
		{"dateTime", "DateTime", `99999999999999999999`, true},
		{"dateTime", "DateTime", `1.5`, true},
		{"dates", "[Date]", `"2024-01-15"`, false},
		{"dates", "[Date]", `["2024-01-15", null]`, false},
		{"dates", "[Date]", `[["2024-01-15"]]`, true},
	} {
		variable := fmt.Sprintf(`query($v: %s) { a(%s: $v) }`, c.typ, c.argument)
		if got := wrongWith(t, in, docs, variable, `{"v":`+c.text+`}`); (got != "") != c.wrong {
			t.Errorf("%s is a variable's value of type %s: %q, wrong is %t", c.text, c.typ, got, c.wrong)
		}
		for place, document := range map[string]string{
			"field": fmt.Sprintf(`{ a(%s: %s) }`, c.argument, c.text),
			"fragment that others spread": fmt.Sprintf(`{ ...F ...G } fragment F on Query { b: a(%s: %s) } fragment G on `+
				`Query { ...F }`, c.argument, c.text),
			"default": fmt.Sprintf(`query($v: %s = %s) { a(%s: $v) }`, c.typ, c.text, c.argument),
		} {
			if got := wrongWith(t, in, docs, document, `{}`); (got != "") != c.wrong {
				t.Errorf("%s is a literal of type %s in a %s: %q, wrong is %t", c.text, c.typ, place, got, c.wrong)
			}
		}
	}
	if got := wrongWith(t, in, docs, `{ a(decimal: {n: 99999999999999999999}) }`, `{}`); got == "" {
		t.Error("an object is a Decimal")
	}
}

// TestAnObjectIsNoValueOfAScalarOrAnEnum wherever a document gives it, but of a scalar of the project's own, which may
// be anything, and of an input.
func TestAnObjectIsNoValueOfAScalarOrAnEnum(t *testing.T) {
	in := &inputs{scalars: checked{}, schema: gqlparser.MustLoadSchema(&ast.Source{Input: `
		scalar Date scalar JSON
		enum Size { small large }
		directive @tag(of: Size, on: [Date!]) on FIELD
		input Box { size: Size date: Date count: Int weights: [Float!] inner: [Box!] any: JSON }
		type Query { a(id: ID, name: String, flag: Boolean, count: [[Int]], size: Size, sizes: [Size!], dates: [Date!],
			box: Box, boxes: [Box!], any: JSON, all: [JSON]): Query }`})}
	docs := newDocuments(in, Config{}.withDefaults())
	for typ, selections := range map[string][]string{
		"Boolean": {`@skip(if: {})`, `(flag: {})`},
		"ID":      {`(id: {})`},
		"String":  {`(name: {})`},
		"Int":     {`(count: {})`, `(count: [[1, {}]])`, `(box: {count: {}})`},
		"Float":   {`(box: {weights: {}})`, `(boxes: [{inner: {weights: [1, {}]}}])`},
		"Size":    {`(size: {})`, `(sizes: {})`, `(sizes: [small, {}])`, `(box: {size: {}})`, `@tag(of: {})`},
		"Date":    {`(dates: {})`, `(dates: [{}])`, `(box: {date: {}})`, `@tag(on: [{}])`},
		"": {`(any: {})`, `(any: {a: [{}]})`, `(all: [{}, {b: 1}])`, `(box: {}, boxes: [{}])`,
			`(boxes: {any: {a: {}}})`},
	} {
		var documents []string
		for _, s := range selections {
			documents = append(documents, `{ a`+s+` { __typename } }`,
				`{ ...F ...G } fragment F on Query { b: a { ...G } } fragment G on Query { a`+s+` { __typename } }`)
		}
		if typ == "Boolean" {
			documents = append(documents, `{ ... on Query @include(if: {}) { __typename } }`,
				`{ ...F @skip(if: {}) } fragment F on Query { __typename }`,
				`{ __schema @include(if: {}) { types { name @skip(if: true) } } }`,
				`query($v: Boolean! = {}) { __typename @skip(if: $v) }`)
		}
		want := "an object is not a value of type " + typ
		if typ == "" {
			want = ""
		}
		for _, document := range documents {
			if got := wrongWith(t, in, docs, document, `{}`); got != want {
				t.Errorf("%s: %q, want %q", document, got, want)
			}
		}
	}
}

// wrongWith is what is wrong with the first operation of a document or with its variables, "" for nothing.
func wrongWith(t *testing.T, in *inputs, docs *documents, document, variables string) string {
	t.Helper()
	vars, err := readObject([]byte(variables), 100)
	if err != nil {
		t.Fatal(err)
	}
	doc, errs := docs.read(document)
	if errs == nil {
		if wrong := in.read(doc.Operations[0], vars); wrong != nil {
			return wrong.Message
		}
		_, errs = in.coerce(doc.Operations[0], vars)
	}
	if errs != nil {
		return errs[0].Message
	}
	return ""
}
