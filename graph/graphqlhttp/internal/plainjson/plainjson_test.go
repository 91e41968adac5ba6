package plainjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/graphqlhttp/internal/plainjson"
)

func ExampleObject() {
	object, rest, ok := plainjson.Object([]byte(`{"id":"order-1","first":20}}`), 10)
	variables := plainjson.Members(object)
	fmt.Println(variables["id"], variables["first"], string(rest), ok)
	_, _, ok = plainjson.Object([]byte(`{"ids":["order-1"]}`), 10)
	fmt.Println(ok)
	// Output:
	// order-1 20 } true
	// false
}

// TestWhatIsNotPlainIsLeftToOthers, and what is plain is not.
func TestWhatIsNotPlainIsLeftToOthers(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `{"a":"b"}`: true, `{"a":-12,"b":0,"c":true,"d":false,"e":null}`: true, `{"ä":"ö"}`: true,
		`{"a":"b"`: false, `{"a":01}`: false, `{"a":-}`: false, `{"a":1.5}`: false, `{"a":1e3}`: false, `{ }`: false,
		`{"a": 1}`: false, `{"a":"\n"}`: false, "{\"a\":\"\n\"}": false, "{\"a\":\"\xff\"}": false, `{"a":[]}`: false,
		`{"a":{}}`: false, `{"a":nul}`: false, `{"a":1,}`: false, `{a:1}`: false, `[]`: false, ``: false, `{"a"`: false,
		`{"a":`: false, `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`: false,
	} {
		if _, _, ok := plainjson.Object([]byte(text), 5); ok != want {
			t.Errorf("%s: %t", text, ok)
		}
	}
}

// FuzzObject: what is read is what the standard library reads.
func FuzzObject(f *testing.F) {
	for _, text := range []string{`{"a":"b","a":1}}`, `{"a":-12,"b":true,"c":null} `, "{\"a\":\"\xc3\x28\"}", `{"":""}x`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		read, rest, ok := plainjson.Object(text, 1000)
		if !ok {
			return
		}
		if string(read)+string(rest) != string(text) {
			t.Fatalf("%q is cut into %q and %q", text, read, rest)
		}
		got := plainjson.Members(read)
		dec := json.NewDecoder(bytes.NewReader(read))
		dec.UseNumber()
		var want map[string]any
		if err := dec.Decode(&want); err != nil || !utf8.Valid(read) || !bytes.HasSuffix(read, []byte("}")) {
			t.Fatalf("%q is read, error %v", read, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s", read, diff)
		}
	})
}
