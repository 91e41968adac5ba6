package scan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog/internal/scan"
)

// skip reads the whole text as one value.
func skip(text []byte) ([]byte, error) {
	var s scan.Scanner
	s.Reset(text)
	value, err := s.Skip()
	if err != nil {
		return nil, err
	}
	return value, s.End()
}

func TestTextsAreAcceptedOrRefusedForAReason(t *testing.T) {
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf("%q:%d", fmt.Sprint("n", i), i)
	}
	cases := []struct{ text, want string }{
		{` {"a":[1,-0.5e+3,true,false,null,"x\n\u00e9\ud83d\udeb2"],"b":{}} `, ""},
		{`{` + strings.Join(many, ",") + `}`, ""},
		{strings.Repeat("[", 100) + strings.Repeat("]", 100), ""},
		{``, "want a value, got the end of the text at byte 0"},
		{`{"a":1,"a":2}`, `the name "a" is given twice at byte 7`},
		{`{"a":1,"\u0061":2}`, `the name "a" is given twice at byte 7`},
		{`{"a":{"a":1},"b":{"a":1}}`, ""},
		{`{` + strings.Join(many, ",") + `,"n50":1}`, `the name "n50" is given twice at byte 881`},
		{strings.Repeat("[", 101) + strings.Repeat("]", 101), "nested too deeply at byte 100"},
		{"\"\xff\"", "invalid UTF-8 in the string at byte 1"},
		{"\"\\n\xff\"", "invalid UTF-8 in the string at byte 1"},
		{`"\ud800"`, "half a surrogate pair at byte 1"},
		{`"\udeb2\ud83d"`, "half a surrogate pair at byte 1"},
		{`"\ud83d\u0041"`, "half a surrogate pair at byte 1"},
		{`"\x41"`, "an escape that JSON does not have at byte 1"},
		{`"\u00g0"`, "an escape that JSON does not have at byte 1"},
		{"\"a\tb\"", "an unescaped control character in the string at byte 2"},
		{`"abc`, "the string has no end at byte 1"},
		{`01`, "want the end of the text, got '1' at byte 1"},
		{`1.`, "want a digit, got the end of the text at byte 2"},
		{`-`, "want a digit, got the end of the text at byte 1"},
		{`1e+`, "want a digit, got the end of the text at byte 3"},
		{`[1,]`, "want a value after ',', got ']' at byte 3"},
		{`{"a":1,}`, "want a value after ',', got '}' at byte 7"},
		{`[1 2]`, "want ',' or ']', got '2' at byte 3"},
		{`{"a" 1}`, "want ':', got '1' at byte 5"},
		{`{a:1}`, "want a string, got 'a' at byte 1"},
		{`nul`, "want null, got 'n' at byte 0"},
		{`tru`, "want true or false, got 't' at byte 0"},
		{`{} {}`, "want the end of the text, got '{' at byte 3"},
	}
	for _, c := range cases {
		_, err := skip([]byte(c.text))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%.60s\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestTextIsWhatEncodingJSONReads(t *testing.T) {
	for _, text := range []string{
		`""`, `"plain"`, `"é"`, `"\"\\\/\b\f\n\r\t"`, `"\u0000\u00e9\u20AC\ud83d\udeb2 end"`, `"long ` +
			strings.Repeat("ab\\n", 500) + `"`,
	} {
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		var s scan.Scanner
		s.Reset([]byte(text))
		got, err := s.Text()
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, error %v; want %q", text, got, err, want)
		}
	}
}

// stricter are the reasons for which texts are refused that encoding/json accepts.
var stricter = []string{"given twice", "nested too deeply", "invalid UTF-8", "half a surrogate pair"}

// FuzzSkip accepts what encoding/json accepts, but for the reasons that make this scanner stricter.
func FuzzSkip(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+3,true,false,null,"x\n\u00e9"],"b":{}}`, `"\ud83d\udeb2"`, `[1,]`, `{"a":1,"a":2}`, `"` + "\xff",
		`-0`, `1e5`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := skip(text)
		valid := json.Valid(text)
		if err == nil {
			if !valid {
				t.Fatalf("accepts %q, which is not JSON", text)
			}
			if !bytes.Equal(value, bytes.Trim(text, " \t\r\n")) {
				t.Fatalf("of %q it reads %q", text, value)
			}
			return
		}
		var bad *scan.Error
		if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(text) {
			t.Fatalf("%q: error %v", text, err)
		}
		if valid && !containsAny(bad.Reason, stricter) {
			t.Fatalf("refuses %q, which is JSON: %v", text, err)
		}
	})
}

func containsAny(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// FuzzText reads what encoding/json reads.
func FuzzText(f *testing.F) {
	f.Add(`"\u00e9\ud83d\udeb2\n"`)
	f.Add(`"plain"`)
	f.Fuzz(func(t *testing.T, text string) {
		var s scan.Scanner
		s.Reset([]byte(text))
		got, err := s.Text()
		if err != nil || s.End() != nil {
			return
		}
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("accepts %q: %v", text, err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", text, diff)
		}
	})
}
