package graph_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/graphqlhttp"
)

// TestBothExecutorsRefuseTheSameAnswers: those with more bytes, or more objects, than they may have.
func TestBothExecutorsRefuseTheSameAnswers(t *testing.T) {
	a := newAPI(t)
	stockShop(a)
	const kib = 1 << 10
	tests := []struct {
		name, query string
		limit       int
		ok          bool
	}{
		{"60 orders with 300 products", "{ items { products { price } } }", 360 * 256, true},
		{"which are too many", "{ items { products { price } } }", 359 * 256, false},
		{"60 orders of few bytes", "{ items { orderId } }", 16 * kib, true},
		{"of more bytes than there may be", "{ items { " + many("customerGroup") + " } }", 31 * kib, false},
		{"as they are where there is room", "{ items { " + many("customerGroup") + " } }", 32 * kib, true},
		{"items asked for twice", "{ a: items { " + many("customerGroup") + " } items { " + many("customerGroup") + " } }",
			62 * kib, false},
		{"joined rows of more bytes", "{ items { products { " + many("productId") + " } } }", 120 * kib, false},
	}
	for way, cfg := range ways {
		for _, tt := range tests {
			t.Run(way+"/"+tt.name, func(t *testing.T) {
				cfg := cfg
				cfg.MaxAnswerBytes = tt.limit
				body, err := json.Marshal(map[string]string{"query": `{ page: Sales_OrderByCustomerGroup(customerGroup: ` +
					`"retail", limit: 60) ` + tt.query + ` }`})
				if err != nil {
					t.Fatal(err)
				}
				req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(string(body)))
				req.Header.Set("Content-Type", "application/json")
				res := httptest.NewRecorder()
				graphqlhttp.New(schema(a.db, cfg), graphqlhttp.Config{}).ServeHTTP(res, req)
				var answer struct {
					Data   any
					Errors []struct{ Extensions struct{ Code string } }
				}
				if err := json.Unmarshal(res.Body.Bytes(), &answer); err != nil {
					t.Fatal(err)
				}
				refused := answer.Data == nil && len(answer.Errors) == 1 && answer.Errors[0].Extensions.Code == "LIMIT_EXCEEDED"
				if refused == tt.ok || !refused && len(answer.Errors) > 0 {
					t.Errorf("an answer of %d bytes: %.300s", res.Body.Len(), res.Body)
				}
			})
		}
	}
}

// many selects a field under 40 names.
func many(field string) (all string) {
	for i := range 40 {
		all += string(rune('a'+i%26)) + strings.Repeat("x", i/26) + ": " + field + " "
	}
	return all
}

// TestRowsCountAlthoughLittleIsAskedOfThem: a tiny answer made of many large rows takes as much memory as these.
func TestRowsCountAlthoughLittleIsAskedOfThem(t *testing.T) {
	a := newAPI(t)
	stockShop(a)
	for way, cfg := range ways {
		for name, tt := range map[string]struct {
			query string
			limit int64
			ok    bool
		}{
			"few": {"{ a: Sales_OrderByCustomerGroup(customerGroup: \"retail\", limit: 10) { items { " +
				"orderId } } }", 20 << 10, true},
			"one large page": {"{ a: Sales_OrderByCustomerGroup(customerGroup: \"retail\", limit: 60) { items { " +
				"orderId } } }", 20 << 10, false},
			"several pages":    {manyPages, 20 << 10, false},
			"with enough room": {manyPages, 1 << 20, true},
		} {
			t.Run(way+"/"+name, func(t *testing.T) {
				body, err := json.Marshal(map[string]string{"query": tt.query})
				if err != nil {
					t.Fatal(err)
				}
				req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(string(body)))
				req.Header.Set("Content-Type", "application/json")
				res := httptest.NewRecorder()
				graphqlhttp.New(schema(a.db, cfg), graphqlhttp.Config{MaxReadBytes: tt.limit}).ServeHTTP(res, req)
				exceeded := strings.Contains(res.Body.String(), `"LIMIT_EXCEEDED"`)
				if exceeded == tt.ok || tt.ok && strings.Contains(res.Body.String(), `"errors"`) {
					t.Errorf("%.300s", res.Body)
				}
			})
		}
	}
}

const manyPages = `{
	a: Sales_OrderByCustomerGroup(customerGroup: "retail", limit: 20) { items { orderId } }
	b: Sales_OrderByCustomerGroup(customerGroup: "retail", limit: 20) { items { orderId } }
	c: Sales_OrderByCustomerGroup(customerGroup: "retail", limit: 20) { items { orderId } }
	d: Sales_OrderByCustomerGroup(customerGroup: "retail", limit: 20) { items { orderId } }
}`
