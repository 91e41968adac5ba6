package graph_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWrongInputsAreMistakesOfTheRequest: nothing is executed, whatever the executor would be.
func TestWrongInputsAreMistakesOfTheRequest(t *testing.T) {
	const (
		line    = `query($v: ID!) { Sales_Customer(id: $v) { name } }`
		history = `query($v: DateTime) { Sales_OrderHistory(id: "o", timestamp: $v) { orderId } }`
		page    = `query($v: Int) { Sales_ProductByBrand(brand: "b", limit: $v) { nextToken } }`
		back    = `query($v: Boolean) { Sales_ProductByBrand(brand: "b", reverse: $v) { nextToken } }`
		brand   = `query($v: String!) { Sales_ProductByBrand(brand: $v) { nextToken } }`
	)
	a := newAPI(t)
	tests := []struct{ query, variable, message string }{
		{line, `true`, "variable $v: true is not a value of type ID"},
		{line, `5.5`, "variable $v: 5.5 is not a value of type ID"},
		{line, `5`, ""},
		{history, `"2024-13-01T00:00:00Z"`, `variable $v: "2024-13-01T00:00:00Z" is not a value of type DateTime`},
		{history, `1`, "variable $v: 1 is not a value of type DateTime"},
		{history, `"2024-12-01T00:00:00Z"`, ""},
		{page, `"3"`, `variable $v: "3" is not a value of type Int`},
		{page, `3000000000`, "variable $v: 3000000000 is not a value of type Int"},
		{page, `2.5`, "variable $v: 2.5 is not a value of type Int"},
		{page, `3.0`, ""},
		{page, `null`, ""},
		{back, `1`, "variable $v: 1 is not a value of type Boolean"},
		{back, `"true"`, `variable $v: "true" is not a value of type Boolean`},
		{brand, `1`, "variable $v: 1 is not a value of type String"},
		{`{ Sales_OrderHistory(id: "o", timestamp: "2024-13-01T00:00:00Z") { orderId } }`, `0`,
			`"2024-13-01T00:00:00Z" is not a value of type DateTime`},
		{`{ Sales_OrderHistory(id: "o", timestamp: 7) { orderId } }`, `0`, "7 is not a value of type DateTime"},
		{`query($d: DateTime = "soon") { Sales_OrderHistory(id: "o", timestamp: $d) { orderId } }`, `0`,
			`"soon" is not a value of type DateTime`},
		{`{ Sales_ProductByBrand(brand: "b") { items @include(if: {}) { name } } }`, `0`,
			"an object is not a value of type Boolean"},
		{`{ Sales_ProductByBrand(brand: "b") { items { ... @skip(if: {}) { name } } } }`, `0`,
			"an object is not a value of type Boolean"},
	}
	for way, h := range a.handlers {
		for _, tt := range tests {
			body, err := json.Marshal(map[string]any{"query": tt.query,
				"variables": map[string]any{"v": json.RawMessage(tt.variable)}})
			if err != nil {
				t.Fatal(err)
			}
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(string(body)))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/graphql-response+json")
			res := httptest.NewRecorder()
			h.ServeHTTP(res, req)
			var answer struct {
				Data   json.RawMessage
				Errors []struct{ Message string }
			}
			if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.message == "" && (res.Code != http.StatusOK || len(answer.Errors) > 0):
				t.Errorf("%s: %s with %s: status %d, %s; wanted an answer", way, tt.query, tt.variable, res.Code, res.Body)
			case tt.message != "" && (res.Code != http.StatusBadRequest || answer.Data != nil || len(answer.Errors) != 1 ||
				answer.Errors[0].Message != tt.message):
				t.Errorf("%s: %s with %s: status %d, %s; wanted 400 and %q", way, tt.query, tt.variable, res.Code,
					res.Body, tt.message)
			}
		}
	}
}

// TestANullListFailsItsFieldAlike, whichever executor answers: alone where it is asked, and not where it is skipped.
func TestANullListFailsItsFieldAlike(t *testing.T) {
	a := newAPI(t)
	const query = `query($ids: [ID!] = ["o1"], $s: Boolean!) { o: Sales_OrderByIds(ids: $ids) @skip(if: $s) { orderId } ` +
		`Sales_Customer(id: "c1") { name } }`
	const message = "argument ids: null was given, and a value is needed"
	for way, h := range a.handlers {
		for variables, want := range map[string]string{
			`{"ids":null,"s":true}`: `{"data":{"Sales_Customer":null}}`,
			`{"ids":null,"s":false}`: `{"errors":[{"message":"` + message + `","path":["o"],"locations":[{"line":1,` +
				`"column":45}],"extensions":{"code":"BAD_USER_INPUT"}}],"data":null}`,
		} {
			body, err := json.Marshal(map[string]any{"query": query, "variables": json.RawMessage(variables)})
			if err != nil {
				t.Fatal(err)
			}
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(string(body)))
			req.Header.Set("Content-Type", "application/json")
			res := httptest.NewRecorder()
			h.ServeHTTP(res, req)
			if got := res.Body.String(); got != want {
				t.Errorf("%s with %s: %s, want %s", way, variables, got, want)
			}
		}
	}
}
