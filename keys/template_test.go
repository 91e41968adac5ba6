package keys

import (
	"strings"
	"testing"
	"time"
)

func allStrings(string) Kind { return KindString }

func scalarKinds(field string) Kind {
	return map[string]Kind{"id": KindString, "n": KindInt, "x": KindFloat, "d": KindDecimal, "at": KindDateTime,
		"on": KindDate,
		"ok": KindBoolean}[field]
}

// templateLayout reads a template and composes by it.
func templateLayout(text string, casing Casing, kind func(string) Kind) (Layout, error) {
	parsed, err := ParseTemplate(text)
	if err != nil {
		return Layout{}, err
	}
	return parsed.Layout(casing, kind)
}

func template(t *testing.T, text string, kind func(string) Kind) Layout {
	t.Helper()
	l, err := templateLayout(text, CasingNone, kind)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTheKeysOfTheSecondGuide(t *testing.T) {
	s := String
	for _, test := range []struct {
		template, want string
		vals           []Value
	}{
		{"user#{id}", "user#123", []Value{s("123")}},
		{"profile#{email}", "profile#alice@example.com", []Value{s("alice@example.com")}},
		{"post#{createdAt}#{id}", "post#2024-01-15#abc", []Value{s("2024-01-15"), s("abc")}},
		{"user", "user", nil},
		{"profile", "profile", nil},
		{"static", "static", nil},
		{"post#id", "post#id", nil},
		{"{id}", "abc", []Value{s("abc")}},
		{"user#email", "user#email", nil},
		{"user#username", "user#username", nil},
		{"post#feed", "post#feed", nil},
		{"{createdAt}#{id}", "2024-01-15#abc", []Value{s("2024-01-15"), s("abc")}},
		{"org#{orgId}", "org#o1", []Value{s("o1")}},
		{"order#{id}", "order#7", []Value{s("7")}},
		{"team#{teamId}#member#{userId}", "team#t1#member#u7", []Value{s("t1"), s("u7")}},
		{"post#status#{status}", "post#status#published", []Value{s("published")}},
	} {
		wantKey(t, test.want, template(t, test.template, allStrings), test.vals)
	}
	number := template(t, "{n}", scalarKinds)
	wantKey(t, "123", number, []Value{Int(123)})
	at := time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
	wantKey(t, "2024-01-15T10:30:00.000Z", template(t, "{at}", scalarKinds), []Value{DateTime(at)})
	wantKey(t, "2024-02-01T08:00:00.000Z", template(t, "{at}", scalarKinds), []Value{instant("2024-02-01T08:00:00Z")})

	for _, test := range []struct {
		template, want string
		given          []Value
	}{
		{"post#{createdAt}#{id}", "post#", nil},
		{"team#{teamId}#member#{userId}", "team#", nil},
		{"team#{teamId}#member#{userId}", "team#t1#member#", []Value{s("t1")}}, // closed, where the guide's is open
	} {
		got, err := template(t, test.template, allStrings).Select(test.given, Condition{})
		if err != nil || len(got) != 1 || got[0] != (Range{Op: RangePrefix, Lo: test.want}) {
			t.Errorf("Select = %v, %v, want the prefix %q", got, err, test.want)
		}
	}
}

func TestTemplatesAreReadIntoLayouts(t *testing.T) {
	for _, test := range []struct {
		template, want string
		vals           []Value
	}{
		{"Team#{id}#All#Members", "Team#X#All#Members", []Value{String("X")}},
		{"{id}#members", "X%23Y#members", []Value{String("X#Y")}},
		{"{id}", "X#Y%", []Value{String("X#Y%")}},
		{"a#{n}", "a#-42", []Value{Int(-42)}},
		{"a#{x}#{id}", "a#0.5#i", []Value{Float(0.5), String("i")}},
		{"a#{d}", "a#1" + strings.Repeat("0", 30), []Value{DecimalOf(Decimal("1" + strings.Repeat("0", 30)))}},
		{"a#{n:16}", "a#0000000000000042", []Value{Int(42)}},
		{"a#{n:4}", "a#0042", []Value{Int(42)}},
		{"a#{n:4}", "a#:00542000", []Value{Int(42000)}},
		{"a#{n:4}", "a#-9957~", []Value{Int(-42)}},
		{"a#{on}#{ok}", "a#2024-01-15#true", []Value{DateOf("2024-01-15"), Boolean(true)}},
	} {
		wantKey(t, test.want, template(t, test.template, scalarKinds), test.vals)
	}
	upper, err := templateLayout("Team#{id}#of", CasingUpper, scalarKinds)
	if err != nil {
		t.Fatal(err)
	}
	wantKey(t, "TEAM#AB#OF", upper, []Value{String("aB")})
}

func TestWrongTemplatesAreErrorsThatNameTheMistake(t *testing.T) {
	for text, want := range map[string]string{
		"":         "has an empty part",
		"a##b":     "has an empty part",
		"a#":       "has an empty part",
		"a-{id}":   "\"a-{id}\", which is neither",
		"a#id}":    "\"id}\", which is neither",
		"{id}-{n}": "\"{id}-{n}\", which is neither",
		"{id":      "\"{id\", which is neither",
		"{{id}}":   "\"{{id}}\", which is neither",
		"{}":       "\"{}\", which is neither",
		"a#50%":    "\"50%\", which holds %",
		"größe":    "\"größe\", which holds %",
		"}#a##b":   "\"}\", which is neither a literal nor one {field}, and has an empty part",
		"{nobody}": "no field \"nobody\"",
		"{id:16}":  "field id is no number",
		"{n:0}":    "0 is no number of digits",
		"{n:}":     "\"{n:}\", which is neither",
		"{n:many}": "\"{n:many}\", which is neither",
		"{n:100}":  "100 is no number of digits",
	} {
		if l, err := templateLayout(text, CasingLower, scalarKinds); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("template %q: %v, %v, want an error with %q", text, l, err, want)
		}
	}
}

func FuzzNoTemplatePanics(f *testing.F) {
	for _, s := range []string{"team#{id}#member#{n:16}", "{id}", "{n:4}#a", "{", "}", "#", "a#{at}#b#{ok}#c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := templateLayout(s, CasingNone, scalarKinds)
		if err != nil {
			return
		}
		vals := make([]Value, len(l.Segments))
		for i, segment := range l.Segments {
			vals[i] = map[Kind]Value{KindString: String("s"), KindInt: Int(1), KindFloat: Float(1), KindDecimal: DecimalOf("1"),
				KindDate: DateOf("2024-01-15"), KindDateTime: instant("2024-01-15T10:30:00Z"),
				KindBoolean: Boolean(true)}[segment.Kind]
		}
		key, err := l.Compose(vals...)
		if err != nil || strings.Count(key, "#") != strings.Count(s, "#") {
			t.Fatalf("template %q composes %q, %v", s, key, err)
		}
	})
}
