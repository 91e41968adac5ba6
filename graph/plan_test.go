package graph

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/internal/plan"
	"github.com/google/go-cmp/cmp"
)

func wantJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestPlanAnswers(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	tests := []struct {
		name, query string
		vars        map[string]any
		want        string
	}{
		{"one row", `{ Customer(id: "c1") { customerId name note } }`, nil,
			`{"Customer":{"customerId":"c1","name":"Customer 1","note":null}}`},
		{"a row that is not there is null", `{ Customer(id: "nobody") { name } }`, nil, `{"Customer":null}`},
		{"aliases and __typename", `query { __typename a: Customer(id: "c1") { t: __typename x: name y: name } }`, nil,
			`{"__typename":"Query","a":{"t":"Customer","x":"Customer 1","y":"Customer 1"}}`},
		{"several roots", `{ a: Customer(id: "c1") { name } b: Customer(id: "c2") { name } c: Counter { orders } }`, nil,
			`{"a":{"name":"Customer 1"},"b":{"name":"Customer 2"},"c":{"orders":"20"}}`},
		{"a singleton", `{ Counter { orders } }`, nil, `{"Counter":{"orders":"20"}}`},
		{"variables", `query($id: ID!, $c: Boolean) { Customer(id: $id, consistent: $c) { name } }`,
			map[string]any{"id": "c3", "c": true},
			`{"Customer":{"name":"Customer 3"}}`},
		{"defaults of variables", `query($id: ID = "c4") { Customer(id: $id) { name } }`, nil,
			`{"Customer":{"name":"Customer 4"}}`},
		{"an ID may be a number", `query($id: ID!) { Customer(id: $id) { name } }`, map[string]any{"id": 5},
			`{"Customer":null}`},
		{"the last row of a sorted model", `{ Track(id: "o1") { changedAt status } }`, nil,
			`{"Track":{"changedAt":"2024-01-03T10:00:00.000Z","status":"SENT"}}`},
		{"a row by its whole key, of any offset", `{ Track(id: "o1", changedAt: "2024-01-02T12:00:00+02:00") { status } }`,
			nil,
			`{"Track":{"status":"PAID"}}`},
		{"a page", `{ TrackById(id: "o1", reverse: true, limit: 2) { items { status } } }`, nil,
			`{"TrackById":{"items":[{"status":"SENT"},{"status":"PAID"}]}}`},
		{"an empty page", `{ TrackById(id: "none") { __typename items { status } nextToken } }`, nil,
			`{"TrackById":{"__typename":"TrackByIdConnection","items":[],"nextToken":null}}`},
		{"operands", `{ a: TrackById(id: "o1", from: "2024-01-02") { items { status } } b: TrackById(id: "o1", to: "2024-01-02") { items { status } }
			c: TrackById(id: "o1", eq: "2024-01-02T10:00:00Z") { items { status } } d: TrackById(id: "o1", prefix: "2024-01-03") { items { status } } }`, nil,
			`{"a":{"items":[{"status":"PAID"},{"status":"SENT"}]},"b":{"items":[{"status":"OPEN"},{"status":"PAID"}]},"c":{"items":[{"status":"PAID"}]},"d":{"items":[{"status":"SENT"}]}}`},
		{"null operands are not given", `query($n: String, $l: Int) { TrackById(id: "o1", eq: $n, prefix: null, ` +
			`limit: $l) { ` +
			`items { status } } }`, map[string]any{"n": nil},
			`{"TrackById":{"items":[{"status":"OPEN"},{"status":"PAID"},{"status":"SENT"}]}}`},
		{"joins, deep, missing and repeated", `{ Order(id: "o0") { customer { name } referrer { name } products ` +
			`{ name price ` +
			`maker { name } } lastTrack { status } tags } }`, nil,
			`{"Order":{"customer":{"name":"Customer 0"},"referrer":{"name":"Customer 3"},"products":[
				{"name":"Product \"0\" ✓","price":0.5,"maker":{"name":"Customer 0"}},{"name":"Product \"1\" ✓","price":1.5,"maker":null},
				{"name":"Product \"0\" ✓","price":0.5,"maker":{"name":"Customer 0"}}],"lastTrack":{"status":"SENT"},"tags":null}}`},
		{"a join to a key of several fields is to that row",
			`{ OrderByStatus(status: OPEN, limit: 3) { items { orderId placedTrack { changedAt status } } } o19: Order(id: "o19") { placedTrack { status } } }`,
			nil, `{"OrderByStatus":{"items":[
				{"orderId":"o0","placedTrack":{"changedAt":"2024-01-01T10:00:00.000Z","status":"OPEN"}},
				{"orderId":"o3","placedTrack":{"changedAt":"2024-01-02T10:00:00.000Z","status":"PAID"}},
				{"orderId":"o6","placedTrack":null}]},"o19":{"placedTrack":null}}`},
		{"a join by several values is null where one of them is null",
			`{ a: Order(id: "o0") { referrerTrack { status } } b: Order(id: "o1") { referrerTrack { status } } }`, nil,
			`{"a":{"referrerTrack":null},"b":{"referrerTrack":null}}`},
		{"a join that leads nowhere is null", `{ Order(id: "o10") { customer { name } referrer { name } } }`, nil,
			`{"Order":{"customer":null,"referrer":null}}`},
		{"keys of several fields are given as one text",
			`{ a: Line(id: "s/1", _subId: "toys/a") { quantity } b: Line(id: "s/1") { quantity }
			c: Line(id: "s/1", _subId: "toys%2Fx/z") { quantity } d: LineById(id: "s/1", prefix: "toys/") { items { quantity } } e: Line(id: "s/2") { quantity } }`, nil,
			`{"a":{"quantity":2},"b":{"quantity":2},"c":{"quantity":3},"d":{"items":[{"quantity":2}]},"e":null}`},
		{"keys of several fields are given part by part",
			`{ a: Line(shop: "s", orderId: "1", category: "toys", productId: "a") { quantity }
			b: Line(shop: "s", orderId: "1") { quantity } c: Line(id: "s/1", category: "toys/x", productId: "z") { quantity }
			d: LineById(shop: "s", orderId: "1", category: "toys") { items { quantity } } e: LineById(id: "s/1", category: "toys", prefix: "a") { items { quantity } }
			f: LineById(id: "s/1", category: "toys", productId: "b") { items { quantity } } g: Line(shop: "s", orderId: "1", _subId: "books/b") { quantity } }`, nil,
			`{"a":{"quantity":2},"b":{"quantity":2},"c":{"quantity":3},"d":{"items":[{"quantity":2}]},"e":{"items":[{"quantity":2}]},"f":{"items":[]},"g":{"quantity":1}}`},
		{"an index completed from the table", `{ OrderByStatus(status: OPEN, limit: 2) { items { orderId sold ` +
			`tags customer ` +
			`{ name } } } }`, nil,
			`{"OrderByStatus":{"items":[{"orderId":"o0","sold":"0","tags":null,"customer":{"name":"Customer ` +
				`0"}},{"orderId":"o3","sold":"3","tags":["a","b"],"customer":{"name":"Customer 3"}}]}}`},
		{"fragments merge under one response key", `
			fragment N on Customer { name ...I }  fragment I on Customer { customerId }
			query { Order(id: "o0") { ...F customer { name } ... on Order { customer { customerId } } } }
			fragment F on Order { customer { ...N } orderId ... { status } }`, nil,
			`{"Order":{"customer":{"name":"Customer 0","customerId":"c0"},"orderId":"o0","status":"OPEN"}}`},
		{"fragments on interfaces", `{ Customer(id: "c1") { ... on Named { name } } }`, nil,
			`{"Customer":{"name":"Customer 1"}}`},
		{"roots merge too", `{ Customer(id: "c1") { name } Customer(id: "c1") { customerId } }`, nil,
			`{"Customer":{"name":"Customer 1","customerId":"c1"}}`},
		{"items twice", `{ TrackById(id: "o1", limit: 1) { a: items { status } b: items { orderId } } }`, nil,
			`{"TrackById":{"a":[{"status":"OPEN"}],"b":[{"orderId":"o1"}]}}`},
		{"skip and include", `query($y: Boolean!, $n: Boolean = false) { Customer(id: "c1") {
			a: name @include(if: $y) b: name @skip(if: $y) c: name @include(if: $n) d: name @skip(if: $n) @include(if: true)
			... @include(if: $n) { e: name } ...F @skip(if: $y) } }
			fragment F on Customer { f: name }`, map[string]any{"y": true},
			`{"Customer":{"a":"Customer 1","d":"Customer 1"}}`},
		{"a fragment skipped once is spread later", `query($y: Boolean!) { Customer(id: "c1") { ...F @skip(if: ` +
			`$y) ...F } } ` +
			`fragment F on Customer { name }`,
			map[string]any{"y": true}, `{"Customer":{"name":"Customer 1"}}`},
		{"everything skipped", `query($n: Boolean!) { Customer(id: "c1") @include(if: $n) { name } }`,
			map[string]any{"n": false}, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := b.do(t.Context(), tt.query, tt.vars)
			if diff := cmp.Diff(result{Data: wantJSON(t, tt.want)}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if b.foreign.asked != 0 {
		t.Errorf("gqlgen's executor was asked %d times", b.foreign.asked)
	}
}

func TestPlanOfEveryVariantOfConditions(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	const query = `query($a: Boolean!, $b: Boolean!) { Customer(id: "c1") { customerId name @include(if: $a) note ` +
		`@skip(if: $b) } }`
	for range 2 { // the second time from the cache
		for _, x := range []struct {
			a, b bool
			want string
		}{
			{false, false, `{"Customer":{"customerId":"c1","note":null}}`},
			{true, false, `{"Customer":{"customerId":"c1","name":"Customer 1","note":null}}`},
			{false, true, `{"Customer":{"customerId":"c1"}}`},
			{true, true, `{"Customer":{"customerId":"c1","name":"Customer 1"}}`},
		} {
			got := b.do(t.Context(), query, map[string]any{"a": x.a, "b": x.b})
			if diff := cmp.Diff(result{Data: wantJSON(t, x.want)}, got); diff != "" {
				t.Errorf("a %t, b %t: -want +got:\n%s", x.a, x.b, diff)
			}
		}
	}
}

func TestAConditionThatIsNullIsTheClientsMistake(t *testing.T) {
	for _, cfg := range []Config{{AuthOff: true}, {AuthOff: true, ResolversOnly: true}} {
		b := newBench(t, cfg)
		got := b.do(t.Context(), `query($s: Boolean = true) { Customer(id: "c1") { name @skip(if: $s) } }`,
			map[string]any{"s": nil})
		if diff := cmp.Diff(result{Errors: []string{"BAD_USER_INPUT "}}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// TestARequiredListThatIsNullIsAMistakeOfItsField: a default lets a nullable variable stand there, and null takes its
// place. To answer it with no rows would look like rows that are not there. A field that is skipped has no arguments.
func TestARequiredListThatIsNullIsAMistakeOfItsField(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	for query, want := range map[string]string{
		`query($v: [ID!] = ["o1"]) { OrderByIds(ids: $v) { orderId } }`:                                 "OrderByIds: argument ids",
		`query($v: [ID!] = ["o1"]) { ...F } fragment F on Query { a: OrderByIds(ids: $v) { orderId } }`: "a: argument ids",
		`query($v: [LineKey!] = []) { LineByKeys(keys: $v) { quantity } }`:                              "LineByKeys: argument keys",
	} {
		got := b.do(t.Context(), query, map[string]any{"v": nil})
		if diff := cmp.Diff(result{Errors: []string{"BAD_USER_INPUT " + want}}, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", query, diff)
		}
		if got := b.do(t.Context(), query, nil); len(got.Errors) > 0 {
			t.Errorf("%s with its default: %v", query, got.Errors)
		}
	}
	got := b.do(t.Context(), `query($v: [ID!] = ["o1"], $s: Boolean!) { OrderByIds(ids: $v) @skip(if: $s) { orderId } `+
		`Customer(id: "c1") { name } }`, map[string]any{"v": nil, "s": true})
	want := result{Data: map[string]any{"Customer": map[string]any{"name": "Customer 1"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("beside a field that is skipped: -want +got:\n%s", diff)
	}
}

func TestManyConditions(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	for n, planned := range map[int]bool{plan.MaxConditions: true, plan.MaxConditions + 1: false} {
		var head, body strings.Builder
		vars, want := map[string]any{}, map[string]any{}
		for i := range n {
			fmt.Fprintf(&head, "$v%d: Boolean! ", i)
			fmt.Fprintf(&body, "n%d: name @include(if: $v%d) ", i, i)
			vars[fmt.Sprint("v", i)] = i%3 == 0
			if i%3 == 0 {
				want[fmt.Sprint("n", i)] = "Customer 1"
			}
		}
		before := b.foreign.asked
		got := b.do(t.Context(), fmt.Sprintf(`query(%s) { Customer(id: "c1") { %s } }`, &head, &body), vars)
		if planned != (b.foreign.asked == before) {
			t.Errorf("%d conditions: planned %t, wanted %t", n, !planned, planned)
		}
		if diff := cmp.Diff(result{Data: map[string]any{"Customer": want}}, got); planned && diff != "" {
			t.Errorf("%d conditions: -want +got:\n%s", n, diff)
		}
	}
	const query = `query($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!, $e: Boolean!, $f: Boolean!, $g: Boolean!) { Customer(id: "c1") {
		a: name @include(if: $a) b: name @include(if: $b) c: name @include(if: $c) d: name @include(if: $d) e: name @include(if: $e) f: name @include(if: $f) g: name @include(if: $g) } }`
	for v := range 2 * plan.MaxVariants { // more than are kept
		vars, want := map[string]any{}, map[string]any{}
		for i, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			if vars[name] = v>>i&1 == 1; vars[name] == true {
				want[name] = "Customer 1"
			}
		}
		if diff := cmp.Diff(result{Data: map[string]any{"Customer": want}}, b.do(t.Context(), query, vars)); diff != "" {
			t.Errorf("variant %d: -want +got:\n%s", v, diff)
		}
	}
}

func TestPlanHandsOverWhatIsNotGenerated(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	for _, query := range []string{
		`{ hello }`,
		`{ hello Customer(id: "c1") { name } }`,
		`{ __schema { queryType { name } } }`,
		`{ __type(name: "Order") { name } Counter { orders } }`,
		`{ Customer(id: "c1") { customerId ... @defer { name } } }`,
	} {
		before := b.foreign.asked
		got := b.do(t.Context(), query, nil)
		if b.foreign.asked != before+1 {
			t.Errorf("%s was not handed over: %v", query, got)
		}
	}
	b.rt.cfg.ResolversOnly = true
	before := b.foreign.asked
	if got := b.do(t.Context(), `{ Counter { orders } }`, nil); b.foreign.asked != before+1 {
		t.Errorf("ResolversOnly was not heeded: %v", got)
	}
}

// TestPartsOfAKeyAreGivenInWholeOrInPlaceOfIt: what is given of it in part, or twice, is an error that says what is
// missing.
func TestPartsOfAKeyAreGivenInWholeOrInPlaceOfIt(t *testing.T) {
	b := newBench(t, Config{})
	b.stock(t)
	for _, query := range []string{
		`Line { quantity }`, `Line(shop: "s") { quantity }`, `Line(orderId: "1") { quantity }`,
		`Line(id: "s/1", shop: "s", orderId: "1") { quantity }`,
		`Line(id: "s") { quantity }`, `Line(id: "s/1", category: "toys") { quantity }`,
		`Line(id: "s/1", productId: "a") { quantity }`,
		`Line(id: "s/1", _subId: "toys/a", category: "toys", productId: "a") { quantity }`,
		`LineById { items { quantity } }`, `LineById(id: "s/1", productId: "a") { items { quantity } }`,
		`LineById(id: "s/1", category: "toys", productId: "a", eq: "x") { items { quantity } }`,
		`LineById(id: "s/1", category: "toys", eq: "a/b") { items { quantity } }`,
	} {
		if got := b.do(t.Context(), "{ a: "+query+" }", nil); len(got.Errors) != 1 || got.Errors[0] != "BAD_USER_INPUT a" {
			t.Errorf("%s is answered %v", query, got)
		}
	}
}
