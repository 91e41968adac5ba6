package filter_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/filter"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// boxes is a type with a field of every kind that there are conditions on.
func boxes() *catalog.Type {
	t := &catalog.Type{Name: "Box", Model: &querydb.Model{Name: "Box", Fields: []driver.Field{
		{Name: "label", Scalar: "String"}, {Name: "state", Scalar: "String", Enum: "State"},
		{Name: "open", Scalar: "Boolean"}, {Name: "size", Scalar: "Float"},
		{Name: "price", Scalar: "Decimal"}, {Name: "day", Scalar: "Date"},
		{Name: "at", Scalar: "DateTime"}, {Name: "tags", Scalar: "String", List: true},
	}}, Fields: map[string]*catalog.Field{}}
	for i, f := range t.Model.Fields {
		t.Fields[f.Name] = &catalog.Field{Name: f.Name, Ordinal: i, Filterable: true}
	}
	return t
}

// TestNeAsksForAValueAndNotOfEqDoesNot: the latter holds for rows without one, as ne does in Amplify.
func TestNeAsksForAValueAndNotOfEqDoesNot(t *testing.T) {
	of := boxes()
	eq := func(name string) catalog.Filter { return catalog.Filter{"label": map[string]any{name: "a"}} }
	for label, want := range map[string]struct{ ne, notEq bool }{
		"": {false, true}, "a": {false, false}, "b": {true, true},
	} {
		var b record.Builder
		b.Begin(len(of.Model.Fields))
		if label != "" {
			b.String(label)
		} else {
			b.Null()
		}
		for range of.Model.Fields[1:] {
			b.Null()
		}
		rec, _, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		holds := func(given catalog.Filter) bool {
			t.Helper()
			read, err := filter.Parse(of, given)
			if err != nil {
				t.Fatal(err)
			}
			is, err := read.Judge().Holds(rec)
			if err != nil {
				t.Fatal(err)
			}
			return is
		}
		if ne, notEq := holds(eq("ne")), holds(catalog.Filter{"not": eq("eq")}); ne != want.ne || notEq != want.notEq {
			t.Errorf("label %q: ne is %v and not of eq %v, want %v", label, ne, notEq, want)
		}
	}
}

// TestFiltersOfOneMeaningAreBoundAlike, however they are written, so that a token goes on with either.
func TestFiltersOfOneMeaningAreBoundAlike(t *testing.T) {
	bound := func(text string) string {
		t.Helper()
		var given catalog.Filter
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			t.Fatal(err)
		}
		read, err := filter.Parse(boxes(), given)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return string(read.Append(nil))
	}
	for _, alike := range [][2]string{
		{`{"label":{"in":["a","b"]}}`, `{"label":{"in":["b","a","b"]}}`},
		{`{"label":{"eq":"a"}}`, `{"and":[{"label":{"eq":"a"}}]}`},
		{`{"or":[{"label":{"eq":"a"}},{"open":{"eq":true}}]}`, `{"or":[{"open":{"eq":true}},{"label":{"eq":"a"}}]}`},
		{`{"and":[{"label":{"eq":"a"}},{"label":{"eq":"a"}}]}`, `{"or":[{"label":{"eq":"a"}}]}`},
	} {
		if bound(alike[0]) != bound(alike[1]) {
			t.Errorf("%s and %s are bound otherwise", alike[0], alike[1])
		}
	}
	for _, other := range [][2]string{
		{`{"label":{"between":["a","b"]}}`, `{"label":{"between":["b","a"]}}`},
		{`{"label":{"between":["a","b"]}}`, `{"label":{"in":["a","b"]}}`},
		{`{"or":[{"label":{"eq":"a"}},{"open":{"eq":true}}]}`, `{"and":[{"label":{"eq":"a"}},{"open":{"eq":true}}]}`},
	} {
		if bound(other[0]) == bound(other[1]) {
			t.Errorf("%s and %s are bound alike", other[0], other[1])
		}
	}
}

// TestAFilterHas200PartsAtMost as docs/annotations.md counts them.
func TestAFilterHas200PartsAtMost(t *testing.T) {
	in := func(n int) catalog.Filter {
		return catalog.Filter{"label": map[string]any{"in": slices.Repeat([]any{"a"}, n)}}
	}
	both := func(a, b int) catalog.Filter { return catalog.Filter{"and": []any{in(a), in(b)}} }
	for name, c := range map[string]struct{ most, more catalog.Filter }{
		"values of in":        {in(199), in(200)},
		"filters of a list":   {both(98, 97), both(98, 98)}, // and, two filters, two fields
		"what not stands for": {catalog.Filter{"not": in(198)}, catalog.Filter{"not": in(199)}},
	} {
		if _, err := filter.Parse(boxes(), c.most); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := filter.Parse(boxes(), c.more); graphqlerr.CodeOf(err) != graphqlerr.LimitExceeded {
			t.Errorf("%s: one more: %v, want LIMIT_EXCEEDED", name, err)
		}
	}
}

// TestAWrongOperandIsNamedByItsPlaceAlone: none of the text is of the library that makes errors.
func TestAWrongOperandIsNamedByItsPlaceAlone(t *testing.T) {
	for want, given := range map[string]catalog.Filter{
		"filter.size.le: an object is not a value of type Float": {"size": map[string]any{"le": map[string]any{}}},
		`filter.day.in: "x" is not a value of type Date`:         {"day": map[string]any{"in": []any{"2024-01-15", "x"}}},
	} {
		_, err := filter.Parse(boxes(), given)
		var gql *gqlerror.Error
		if !errors.As(err, &gql) || gql.Message != want || graphqlerr.CodeOf(err) != graphqlerr.BadUserInput {
			t.Errorf("%v: %v, want %s", given, err, want)
		}
	}
}

// FuzzAFilterIsReadOrRefused: whatever a client sends is a filter that judges any row and is bound to tokens as it is,
// or it is a mistake of the client.
func FuzzAFilterIsReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"label": {"eq": "a", "beginsWith": "", "contains": "é"}}`, `{"and": [{"or": []}], "not": {"open": {"ne": true}}}`,
		`{"size": {"between": [1, 2.5], "in": []}}`, `{"price": {"lt": "-9.50"}}`,
		`{"tags": {"contains": "x", "exists": false}}`,
		`{"state": {"in": ["A", null]}}`, `{"at": {"ge": "2024-01-01T00:00:00Z"}, "day": {"le": "2024-02-29"}}`, `{"x": 1}`,
		`{"not": {"not": {"not": {}}}}`, `{"label": 5}`, `{"label": {"like": ""}}`, `{"or": {"open": {"eq": 1}}}`,
	} {
		f.Add([]byte(seed), `"a"`)
	}
	of := boxes()
	f.Fuzz(func(t *testing.T, text []byte, field string) {
		var given catalog.Filter
		from := json.NewDecoder(bytes.NewReader(text))
		from.UseNumber()
		if from.Decode(&given) != nil {
			return
		}
		read, err := filter.Parse(of, given)
		if err != nil {
			if code := graphqlerr.CodeOf(err); code != graphqlerr.BadUserInput && code != graphqlerr.LimitExceeded {
				t.Fatalf("%s: %v has the code %q", text, err, code)
			}
			return
		}
		var b record.Builder
		b.Begin(len(of.Model.Fields))
		for range of.Model.Fields {
			b.String(field) // of another type than most of the fields
		}
		rec, _, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		holds, err := read.Judge().Holds(rec)
		if err != nil {
			t.Fatal(err)
		}
		again, err := filter.Parse(of, given)
		if err != nil || !bytes.Equal(read.Append(nil), again.Append(nil)) {
			t.Fatalf("%s is bound otherwise when it is read again: %v", text, err)
		}
		opposite, err := filter.Parse(of, catalog.Filter{"not": given})
		if err != nil {
			if graphqlerr.CodeOf(err) == graphqlerr.LimitExceeded {
				return
			}
			t.Fatal(err)
		}
		if not, _ := opposite.Judge().Holds(rec); not == holds {
			t.Fatalf("%s and not of it are both %v of a row", text, holds)
		}
		if bytes.Equal(read.Append(nil), opposite.Append(nil)) {
			t.Fatalf("%s and not of it are bound alike", text)
		}
	})
}
