package scan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog/internal/scan"
)

func outline(text string, pieces int, paths ...[]string) string {
	o := scan.NewOutline(paths)
	for len(text) > 0 {
		n := min(pieces, len(text))
		o.Add([]byte(text[:n]))
		text = text[n:]
	}
	return string(o.Text())
}

func TestAnOutlineHasWhatStandsAtItsPaths(t *testing.T) {
	long := `"` + strings.Repeat("x", 1<<20) + `"`
	for text, want := range map[string]string{
		`{"a":"1","b":{"c":2}}`:                             `{"a":"1","b":{"c":2}}`,
		` { "z" : [ 1 , { "a" : 2 } ] , "a" : null } `:      `{"a":null}`,
		`{"z":{"a":"}","b":["]"]},"\u0061":"\"\\","c":1}`:   `{"\u0061":"\"\\"}`,
		`{"a":` + long + `,` + long + `:1,"b":{"c":false}}`: `{"b":{"c":false}}`,
		`{"b":{"z":{"c":1},"c":[2]},"a":[3]}`:               `{"b":{}}`,
		`{"a":{"a":1},"b":2}`:                               `{}`,
		`{"a":1,"a":2}`:                                     `{"a":1,"a":2}`,
		`{"a":"1","z":}]`:                                   `{"a":"1"}`,
		`{"a":"1","z":]`:                                    `{"a":"1"`,
		`{"a":"1"}{"a":"2"}`:                                `{"a":"1"}`,
		`{"z":` + strings.Repeat("[", 200) + `,"a":"1"`:     `{`,
		`["a","1"]`:            ``,
		`"a"`:                  ``,
		`1`:                    ``,
		`}`:                    ``,
		`{"a":"1","b":{"c":"2`: `{"a":"1","b":{`,
		`{` + strings.Repeat(`"a":"`+long[1:1000]+`",`, 2000):   "",
		`{"` + strings.Repeat("x", 1<<20) + `":"1","a":"2"}`:    `{"a":"2"}`,
		`{"a":1` + strings.Repeat("0", 1<<20) + `,"b":{"c":1}}`: `{"b":{"c":1}}`,
	} {
		for _, pieces := range []int{1, 7, 1 << 30} {
			got := outline(text, pieces, []string{"a"}, []string{"b", "c"})
			if want == "" && len(text) > 100 {
				if len(got) > 300_000 {
					t.Errorf("%.40s: the outline has %d bytes", text, len(got))
				}
			} else if got != want {
				t.Errorf("%.60s, in pieces of %d: got %.100s, want %s", text, pieces, got, want)
			}
		}
	}
}

// TestAnOutlineAgreesWithTheWhole about every object, in pieces of any length.
func TestAnOutlineAgreesWithTheWhole(t *testing.T) {
	scalar := rapid.SampledFrom([]any{"x", `"{,`, `\`, 1.5, true, nil, "é\n"})
	name := rapid.SampledFrom([]string{"a", "b", "c", `"`})
	value := rapid.Deferred(func() *rapid.Generator[any] { return scalar.AsAny() })
	for range 3 {
		inner := value
		value = rapid.OneOf(scalar, rapid.MapOfN(name, inner, 0, 4).AsAny(), rapid.SliceOfN(inner, 0, 3).AsAny())
	}
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.MapOfN(name, value, 0, 4).Draw(t, "object")
		paths := rapid.SliceOfN(rapid.SliceOfN(name, 1, 3), 1, 3).Draw(t, "paths")
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		outlined := outline(string(text), rapid.IntRange(1, 20).Draw(t, "pieces"), paths...)
		if err := json.Unmarshal([]byte(outlined), &got); err != nil {
			t.Fatalf("%s of %s: %v", outlined, text, err)
		}
		if diff := cmp.Diff(kept(whole, paths), got); diff != "" {
			t.Fatalf("%s of %s (-want +got):\n%s", outlined, text, diff)
		}
	})
}

// kept is what an outline has of an object.
func kept(object map[string]any, paths [][]string) map[string]any {
	all := map[string]any{}
	for name, value := range object {
		var below [][]string
		itself := false
		for _, path := range paths {
			if path[0] == name {
				itself = itself || len(path) == 1
				if len(path) > 1 {
					below = append(below, path[1:])
				}
			}
		}
		switch value := value.(type) {
		case []any:
		case map[string]any:
			if len(below) > 0 {
				all[name] = kept(value, below)
			}
		default:
			if itself {
				all[name] = value
			}
		}
	}
	return all
}
