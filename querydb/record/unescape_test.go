package record

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestEscapesAreReadAsEncodingJSONReadsThem, and what it refuses is refused.
func TestEscapesAreReadAsEncodingJSONReadsThem(t *testing.T) {
	parts := rapid.SampledFrom([]string{`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\'`, `\x`, `\`, `"`, `\u`, `\u00`,
		`\u0000`, `\u00E9`, `\u00e9`, `\uFFFD`, `\ud83d`, `\uDE00`, `\ud83d\ude00`, `\U00e9`, `\u00g0`, "\n", "\x7f", "\xff",
		"\xe6\xbc", "é", "漢", "😀", "u0041", "plain", ""})
	rapid.Check(t, func(t *rapid.T) {
		checkEscapes(t, `"`+strings.Join(rapid.SliceOf(parts).Draw(t, "parts"), "")+`"`)
	})
	for _, text := range []string{`"\u"`, `"\u004"`, `"\ud83d\ude0"`, `"\ud83d\n"`, `"\ud83d\ud83d\ude00"`, `"\ude00\ud83d"`,
		`"\"`, `"\\"`, `"\\\"`, `"\n\"`, `\"`, `"`, `"\n" "`, " \"\\n\"", "\"\\n\xff\"", "\"\xe6\\n\xbc\xa2\""} {
		checkEscapes(t, text)
	}
}

// TestWhatATextCannotHoldIsFoundWhereverItStands: most of a text is looked at eight bytes at a time.
func TestWhatATextCannotHoldIsFoundWhereverItStands(t *testing.T) {
	for c := range 256 {
		for _, around := range []string{"a", " ", "#", "!", "\x7f", "é"} {
			for at := range 20 {
				checkEscapes(t, `"`+strings.Repeat(around, at)+string([]byte{byte(c)})+strings.Repeat(around, 19-at)+`"`)
			}
		}
	}
}

// TestATextWithEscapesIsReadIntoMemoryOfItsOwnLength, as filters read one for each row that they look at.
func TestATextWithEscapesIsReadIntoMemoryOfItsOwnLength(t *testing.T) {
	text := []byte(`"` + strings.Repeat(`a \"quoted\" text `, 60) + `"`)
	if n := testing.AllocsPerRun(10, func() { String(text) }); n > 1 {
		t.Errorf("%v pieces of memory are made for one text", n)
	}
}

func FuzzEscapesAreReadAsEncodingJSONReadsThem(f *testing.F) {
	f.Add(`"\ud83d\ude00 \"é\" \n"`)
	f.Add(`"\ud83d\"`)
	f.Fuzz(func(t *testing.T, text string) {
		checkEscapes(t, text)
		checkEscapes(t, `"`+text+`"`)
	})
}

func checkEscapes(t interface{ Fatalf(string, ...any) }, text string) {
	var want string
	is := utf8.ValidString(text) && json.Unmarshal([]byte(text), &want) == nil
	is = is && text[0] == '"' && text[len(text)-1] == '"' // else it may have spaces around, or be null
	if got, ok := String([]byte(text)); ok != is || is && got != want {
		t.Fatalf("%q is read as %q, %v, want %q, %v", text, got, ok, want, is)
	}
}

func BenchmarkStringWithEscapes(b *testing.B) {
	text := []byte(`"` + strings.Repeat(`a \"quoted\" text `, 60) + `"`)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, ok := String(text); !ok {
			b.Fatal("the text is not read")
		}
	}
}
