package keys

import (
	"math"
	"strings"
	"testing"
	"time"
)

func half(sep string, kinds ...Kind) Layout {
	l := Layout{Sep: sep}
	for i, k := range kinds {
		l.Segments = append(l.Segments, Segment{Field: string(rune('a' + i)), Kind: k})
	}
	return l
}

func instant(s string) Value {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return DateTime(t)
}

func TestKeysAreTheTextThatIsDocumented(t *testing.T) {
	two := func(sep string, v Value) (Layout, []Value) {
		return half(sep, v.Kind(), KindString), []Value{v, String("x")}
	}
	one := func(v Value) (Layout, []Value) { return half("/", v.Kind()), []Value{v} }
	golden := []struct {
		want string
		key  func() (Layout, []Value)
	}{
		{"order-123", func() (Layout, []Value) { return one(String("order-123")) }},
		{"50%/a", func() (Layout, []Value) { return one(String("50%/a")) }},
		{"prod/x", func() (Layout, []Value) { return two("/", String("prod")) }},
		{"50%25%2Fa/x", func() (Layout, []Value) { return two("/", String("50%/a")) }},
		{"Größe/x", func() (Layout, []Value) { return two("/", String("Größe")) }},
		{"a%3A::x", func() (Layout, []Value) { return two("::", String("a:")) }},
		{"true", func() (Layout, []Value) { return one(Boolean(true)) }},
		{"false/x", func() (Layout, []Value) { return two("/", Boolean(false)) }},
		{"2024-01-15", func() (Layout, []Value) { return one(DateOf("2024-01-15")) }},
		{"2024%2D01%2D15-x", func() (Layout, []Value) { return two("-", DateOf("2024-01-15")) }},

		{"0000000000000000", func() (Layout, []Value) { return one(Int(0)) }},
		{"0000000000000042", func() (Layout, []Value) { return one(Int(42)) }},
		{"0000000000000042/x", func() (Layout, []Value) { return two("/", Int(42)) }},
		{"9999999999999999", func() (Layout, []Value) { return one(Int(9999999999999999)) }},
		{":01710000000000000000", func() (Layout, []Value) { return one(Int(1e16)) }},
		{":0199223372036854775807:x", func() (Layout, []Value) { return two(":", Int(math.MaxInt64)) }},
		{"-9999999999999957~", func() (Layout, []Value) { return one(Int(-42)) }},
		{"%2D9999999999999957~-x", func() (Layout, []Value) { return two("-", Int(-42)) }},
		{"-9999999999999957~~x", func() (Layout, []Value) { return two("~", Int(-42)) }},
		{"-!9800776627963145224191~", func() (Layout, []Value) { return one(Int(math.MinInt64)) }},

		{"0000000000000042", func() (Layout, []Value) { return one(Float(42)) }},
		{"0000000000000000", func() (Layout, []Value) { return one(Float(math.Copysign(0, -1))) }},
		{"0000000000000000.1", func() (Layout, []Value) { return one(Float(0.1)) }},
		{"-9999999999999957.4~", func() (Layout, []Value) { return one(Float(-42.5)) }},
		{":0221000000000000000000000", func() (Layout, []Value) { return one(Float(1e21)) }},
		{"0000000000000042!/x", func() (Layout, []Value) { return two("/", Float(42)) }},
		{"0000000000000042#x", func() (Layout, []Value) { return two("#", Float(42)) }},

		{"0000000000000000", func() (Layout, []Value) { return one(DecimalOf("")) }},
		{"0000000000000042.5", func() (Layout, []Value) { return one(DecimalOf("42.5")) }},
		{"0000000000000042.5!/x", func() (Layout, []Value) { return two("/", DecimalOf("42.5")) }},
		{"0000000000000042.5#x", func() (Layout, []Value) { return two("#", DecimalOf("42.5")) }},
		{"0000000000000042%2E5!.x", func() (Layout, []Value) { return two(".", DecimalOf("42.5")) }},
		{"-9999999999999957.4~/x", func() (Layout, []Value) { return two("/", DecimalOf("-42.50")) }},

		{"2024-01-15T10:30:00.000Z", func() (Layout, []Value) { return one(instant("2024-01-15T10:30:00Z")) }},
		{"2024-01-15T10:30:00.123Z", func() (Layout, []Value) { return one(instant("2024-01-15T12:30:00.123+02:00")) }},
		{"2024-01-15T10:30:00.123Z4567", func() (Layout, []Value) { return one(instant("2024-01-15T10:30:00.1234567Z")) }},
		{"2024-01-15T10:30:00.000Z000001/x", func() (Layout, []Value) {
			return two("/", instant("2024-01-15T10:30:00.000000001Z"))
		}},
		{"2024-01-15T10:30:00.123Z!|x", func() (Layout, []Value) { return two("|", instant("2024-01-15T10:30:00.123Z")) }},
		{"0000-01-01T00:00:00.000Z", func() (Layout, []Value) { return one(instant("0000-01-01T00:00:00Z")) }},
	}
	for _, g := range golden {
		l, vals := g.key()
		got, err := l.Compose(vals...)
		if err != nil || got != g.want {
			t.Errorf("Compose = %q, %v, want %q", got, err, g.want)
		}
		if got, err := l.Append([]byte("head "), vals...); err != nil || string(got) != "head "+g.want {
			t.Errorf("Append = %q, %v, want head %q", got, err, g.want)
		}
	}
}

func TestFewerValuesAreClosedByTheSeparator(t *testing.T) {
	l := half("/", KindString, KindFloat, KindString)
	for n, want := range []string{"", "electronics/", "electronics/0000000000000042!/",
		"electronics/0000000000000042!/x"} {
		got, err := l.Compose([]Value{String("electronics"), Float(42), String("x")}[:n]...)
		if err != nil || got != want {
			t.Errorf("%d values: %q, %v, want %q", n, got, err, want)
		}
	}
	if got, err := half("/", KindString).Compose(); got != "" || err != nil {
		t.Errorf("no value of a bare half: %q, %v", got, err)
	}
}

func TestWhatHasNoKeyIsAnErrorThatNamesTheField(t *testing.T) {
	tests := []struct {
		layout Layout
		vals   []Value
		want   string
	}{
		{half("/", KindString), []Value{{}}, "field a has no value"},
		{half("/", KindString, KindString), []Value{String("x"), {}}, "field b has no value"},
		{half("/", KindInt), []Value{String("1")}, "field a is of kind integer, not string"},
		{half("/", KindString), []Value{String("x"), String("y")}, "2 values for a half of 1 fields"},
		{Layout{}, []Value{String("x")}, "1 values for a half of 0 fields"},
		{half("/", KindFloat), []Value{Float(math.NaN())}, "field a: NaN"},
		{half("/", KindString, KindFloat), []Value{String("x"), Float(math.Inf(-1))}, "field b: -Inf"},
		{half("/", KindDecimal), []Value{DecimalOf("many")}, "field a: keys: \"many\" is not a decimal number"},
		{half("/", KindDate), []Value{DateOf("2024-02-30")}, "field a: \"2024-02-30\" is not a calendar date"},
		{half("/", KindDate), []Value{DateOf("")}, "field a: \"\" is not a calendar date"},
		{half("/", KindDateTime), []Value{DateTime(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))},
			"field a: the date-time is outside"},
		{half("", KindString, KindString), []Value{String("x"), String("y")}, "the separator is empty"},
		{half("%", KindString, KindString), []Value{String("x"), String("y")}, "the separator \"%\" begins with"},
	}
	for _, test := range tests {
		if got, err := test.layout.Compose(test.vals...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Compose(%v) = %q, %v, want an error with %q", test.vals, got, err, test.want)
		}
	}
}

func TestSeparatorsThatEscapesAreWrittenWithAreRefused(t *testing.T) {
	for _, sep := range []string{"", "%", "%/", "a", "Z", "0", "9x", "é", "→"} {
		if CheckSep(sep) == nil {
			t.Errorf("separator %q is taken", sep)
		}
	}
	for _, sep := range []string{"/", "#", ":", "::", "-", "~", "_", " ", "|", "/a", "@", "[", "`", "{"} {
		if err := CheckSep(sep); err != nil {
			t.Error(err)
		}
	}
}

// composed are layouts of every form, with values.
func composed(t testing.TB) map[string]struct {
	layout Layout
	vals   []Value
} {
	long := Segment{Field: "text", Kind: KindString}
	team, err := templateLayout("team#{id}#member#{n:16}", CasingNone, scalarKinds)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]struct {
		layout Layout
		vals   []Value
	}{
		"read model": {half("/", KindString, KindDateTime), []Value{String("order-123"),
			instant("2024-01-15T10:30:00.123Z")}},
		"every kind": {half("/", KindString, KindInt, KindDecimal, KindDateTime, KindDate, KindBoolean),
			[]Value{String("a/b"), Int(-42), DecimalOf("12.5"), instant("2024-01-15T10:30:00.1234Z"), DateOf("2024-01-15"),
				Boolean(true)}},
		"entity": {key("Task", "contributions", "assignments").SK(texted("projectId", "taskId")...),
			[]Value{String("Proj-Alpha"), String("T-001")}},
		"template":  {team, []Value{String("t#1"), Int(7)}},
		"no ASCII":  {key("Task").SK(long), []Value{String("ΟΔΟΣ Größe İ 東京")}},
		"very long": {key("Task").SK(long), []Value{String(strings.Repeat("ab#", 300))}},
		"long numbers": {half("#", KindFloat, KindFloat, KindDecimal),
			[]Value{Float(math.MaxFloat64), Float(-math.SmallestNonzeroFloat64),
				DecimalOf(Decimal("1." + strings.Repeat("5", 400)))}},
	}
}

func TestComposeAllocatesTheKeyAlone(t *testing.T) {
	var err error
	for name, c := range composed(t) {
		if n := testing.AllocsPerRun(100, func() { _, err = c.layout.Compose(c.vals...) }); n > 1 || err != nil {
			t.Errorf("%s: Compose makes %v allocations, want 1 (%v)", name, n, err)
		}
		if n := testing.AllocsPerRun(100, func() { _, err = c.layout.ComposeTruncated(c.vals[:1]...) }); n > 1 || err != nil {
			t.Errorf("%s: Truncate makes %v allocations, want 1 (%v)", name, n, err)
		}
	}
	bare, one := half("/", KindString), String("a/b")
	if n := testing.AllocsPerRun(100, func() { _, err = bare.Compose(one) }); n > 0 || err != nil {
		t.Errorf("Compose of a bare string makes %v allocations, want none (%v)", n, err)
	}
}

func TestAnOutcomeAllocatesTheKeyAlone(t *testing.T) {
	h := device(PolicySparse, "alertState", "timestamp")
	parts := []PatchedComposite{{Change: FieldGiven, Value: String("active")}, {Change: FieldCleared}}
	var err error
	if n := testing.AllocsPerRun(100, func() { _, err = h.UpdateForPatch(parts) }); n > 1 || err != nil {
		t.Errorf("Patch makes %v allocations, want 1 (%v)", n, err)
	}
	vals := []Value{String("active"), String("2026-04-30T10:00:00Z")}
	if n := testing.AllocsPerRun(100, func() { _, err = h.Layout.UpdateForPut(vals) }); n > 1 || err != nil {
		t.Errorf("Put makes %v allocations, want 1 (%v)", n, err)
	}
}

func BenchmarkCompose(b *testing.B) {
	for _, name := range []string{"read model", "entity", "template", "every kind", "no ASCII", "very long"} {
		c := composed(b)[name]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.layout.Compose(c.vals...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
