package graphqlhttp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzBody: a body is read as the standard library would, or refused.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{"query":"{ a }","operationName":null,"variables":{"a":[1,-2.5e3,"x",{"b":null},true]},"extensions":{}}`,
		`{"variables":{"a":"\ud83d\ude00\u0000\ud800"},"query":"x","other":[[{}]]}`, `[]`, `{"query":1}`,
		`{"a":1,"a":{"b":2}}`, `{"query":"{ a(b: \"c\") }\\","variables":{}}`, `{"query":"a","query":"b"}`,
		`{"query":"a","variables":{"b":1}`, `{"query":"a",}`, `{"query":"a","b"}`, `{"query":"a\ud800","c":1} `,
		`{"documentId":"sha256:00","operationName":"a"}`, `{"documentId":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		known := &queryTexts{limit: 1 << 20}
		var got, again params
		err := readParams(bytes.Clone(body), &got, 10_000, known)
		if text, _ := leadingQuery(body); text != nil && checkJSON(text) == nil {
			known.add(text) // as if another body had it
		}
		if wrong := readParams(bytes.Clone(body), &again, 10_000, known); (wrong == nil) != (err == nil) {
			t.Fatalf("%q is taken as %v, and with a query that is known as %v", body, err, wrong)
		}
		if err != nil {
			return
		}
		got.readVariables()
		again.readVariables()
		diff := cmp.Diff(got, again, cmpopts.IgnoreUnexported(params{}))
		if diff != "" || got.documentID != again.documentID {
			t.Fatalf("%q is read otherwise where its query is known:\n%s", body, diff)
		}
		var want struct {
			Query         string
			DocumentID    string
			OperationName string
			Variables     map[string]any
			Extensions    map[string]any
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			t.Fatalf("%q is taken: %v", body, err)
		}
		for name, field := range map[string]any{"query": &want.Query, "documentId": &want.DocumentID,
			"operationName": &want.OperationName, "variables": &want.Variables, "extensions": &want.Extensions} {
			if text, ok := fields[name]; ok {
				dec := json.NewDecoder(bytes.NewReader(text))
				dec.UseNumber()
				if err := dec.Decode(field); err != nil {
					t.Fatalf("%s of %q is taken: %v", name, body, err)
				}
			}
		}
		if got.documentID != want.DocumentID {
			t.Fatalf("%q is read as of the document %q, want %q", body, got.documentID, want.DocumentID)
		}
		if got.Query != want.Query || got.OperationName != want.OperationName {
			t.Fatalf("%q is read as %q, %q, want %q, %q", body, got.Query, got.OperationName, want.Query, want.OperationName)
		}
		if diff := cmp.Diff(want.Variables, got.Variables); diff != "" {
			t.Fatalf("variables of %q:\n%s", body, diff)
		}
		if diff := cmp.Diff(want.Extensions, got.Extensions); diff != "" {
			t.Fatalf("extensions of %q:\n%s", body, diff)
		}
	})
}

// FuzzRequest: whatever is asked, the answer is JSON, without a panic behind it.
func FuzzRequest(f *testing.F) {
	f.Add(`query($n: Int, $p: Decimal, $i: [ID!]) { hello(times: $n, price: $p) node { id next { id } } }`,
		`{"n":1,"p":2.5,"i":["a"]}`, "*/*")
	f.Add(`query($n: Int = 99999999999999999999) { hello(times: $n, name: "x", id: 1, weight: 1e3) }`, `{"n":{"a":[1]}}`,
		"application/graphql-response+json;q=0.5,application/json")
	f.Add(`{ hello(name: [{a: $b}]) @skip(if: true) ...F } fragment F on Query { ...F }`, `null`, ";;;")
	h := New(testSchema, Config{Introspection: true})
	f.Fuzz(func(t *testing.T, document, variables, accept string) {
		quoted, err := json.Marshal(document)
		if err != nil || !json.Valid([]byte(variables)) {
			return
		}
		r := post(`{"query":` + string(quoted) + `,"variables":` + variables + `}`)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !json.Valid(w.Body.Bytes()) || w.Code == http.StatusInternalServerError {
			t.Fatalf("status %d: %q", w.Code, w.Body)
		}
	})
}
