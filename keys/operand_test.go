package keys

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func operand(name, text string) Operands {
	switch name {
	case "eq":
		return Operands{Eq: &text}
	case "prefix":
		return Operands{Prefix: &text}
	case "from":
		return Operands{From: &text}
	}
	return Operands{To: &text}
}

func TestOperandsSelectWhatTheyMean(t *testing.T) {
	text, number := half("/", KindString), half("/", KindInt)
	float, at := half("/", KindFloat), half("/", KindDateTime)
	joined, dates, counted := half("/", KindString, KindDateTime), half("/", KindDate), half("|", KindInt, KindString)
	tests := []struct {
		layout    Layout
		arg, text string
		want      Range
	}{
		{text, "eq", "~current", Range{Op: RangeEqual, Lo: "~current"}},
		{text, "prefix", "v1", Range{Op: RangePrefix, Lo: "v1"}},
		{text, "prefix", "", Range{}},
		{text, "from", "", Range{Op: RangeAtLeast}},
		{text, "to", "z", Range{Op: RangeAtMost, Lo: "z"}},
		{text, "eq", "2024-01", Range{Op: RangeEqual, Lo: "2024-01"}},
		{dates, "to", "2024-06-30", Range{Op: RangeAtMost, Lo: "2024-06-30"}},
		{dates, "to", "2024-06", Range{Op: RangeAtMost, Lo: "2024-06-30"}},
		{dates, "eq", "2024-02", Range{Op: RangeBetween, Lo: "2024-02-01", Hi: "2024-02-29"}},
		{dates, "prefix", "2024-1", Range{Op: RangePrefix, Lo: "2024-1"}},
		{joined, "prefix", "a/2024-06", Range{Op: RangeBetween, Lo: "a/2024-06-01T00:00:00.000Z",
			Hi: "a/2024-06-30T23:59:59.999Z999999"}},
		{joined, "prefix", "a/", Range{Op: RangePrefix, Lo: "a/"}},
		{joined, "prefix", "a", Range{Op: RangePrefix, Lo: "a"}},
		{joined, "from", "a%2Fb/2024", Range{Op: RangeAtLeast, Lo: "a%2Fb/2024-01-01T00:00:00.000Z"}},
		{joined, "to", "a%2fb/2024", Range{Op: RangeAtMost, Lo: "a%2Fb/2024-12-31T23:59:59.999Z999999"}},
		{joined, "to", "a", Range{Op: RangeAtMost, Lo: "a/\U0010FFFF"}},
		{joined, "eq", "a/2024-06-30T12:00:00+02:00", Range{Op: RangeEqual, Lo: "a/2024-06-30T10:00:00.000Z"}},
		{counted, "eq", "1|cmd", Range{Op: RangeEqual, Lo: "0000000000000001|cmd"}},
		{counted, "eq", "0000000000000001|cmd", Range{Op: RangeEqual, Lo: "0000000000000001|cmd"}},
		{counted, "eq", "-9999999999999957~|cmd", Range{Op: RangeEqual, Lo: "-9999999999999957~|cmd"}},
		{counted, "eq", "-42|cmd", Range{Op: RangeEqual, Lo: "-9999999999999957~|cmd"}},
		{counted, "prefix", "1", Range{Op: RangePrefix, Lo: "0000000000000001|"}},
		{counted, "prefix", "1|c", Range{Op: RangePrefix, Lo: "0000000000000001|c"}},
		{counted, "from", "1", Range{Op: RangeAtLeast, Lo: "0000000000000001"}},
		{counted, "from", "1|", Range{Op: RangeAtLeast, Lo: "0000000000000001|"}},
		{counted, "to", "1", Range{Op: RangeAtMost, Lo: "0000000000000001|\U0010FFFF"}},

		{number, "eq", "42", Range{Op: RangeEqual, Lo: "0000000000000042"}},
		{number, "eq", "0042", Range{Op: RangeEqual, Lo: "0000000000000042"}},
		{number, "from", "-42", Range{Op: RangeAtLeast, Lo: "-9999999999999957~"}},
		{number, "to", "1.5", Range{Op: RangeAtMost, Lo: "0000000000000001.5"}},
		{number, "prefix", "1", Range{Op: RangeEqual, Lo: "0000000000000001"}},
		{float, "eq", "1e2", Range{Op: RangeEqual, Lo: "0000000000000100"}},
		{float, "eq", "0.1000000000000000055511151231257827", Range{Op: RangeEqual, Lo: "0000000000000000.1"}},
		{float, "eq", "-0", Range{Op: RangeEqual, Lo: "0000000000000000"}},

		{at, "eq", "2024-06-30T12:00:00+02:00", Range{Op: RangeEqual, Lo: "2024-06-30T10:00:00.000Z"}},
		{at, "eq", "2024-06-30t10:00:00.1234567z", Range{Op: RangeEqual, Lo: "2024-06-30T10:00:00.123Z4567"}},
		{at, "from", "2024-06-30T10:00:00-00:30", Range{Op: RangeAtLeast, Lo: "2024-06-30T10:30:00.000Z"}},
		{at, "to", "2024", Range{Op: RangeAtMost, Lo: "2024-12-31T23:59:59.999Z999999"}},
		{at, "to", "2024-02", Range{Op: RangeAtMost, Lo: "2024-02-29T23:59:59.999Z999999"}},
		{at, "to", "2024-06-30", Range{Op: RangeAtMost, Lo: "2024-06-30T23:59:59.999Z999999"}},
		{at, "to", "2024-06-30Z", Range{Op: RangeAtMost, Lo: "2024-06-30T23:59:59.999Z999999"}},
		{at, "to", "2024-06-30+02:00", Range{Op: RangeAtMost, Lo: "2024-06-30T21:59:59.999Z999999"}},
		{at, "to", "2024-06-30T10", Range{Op: RangeAtMost, Lo: "2024-06-30T10:59:59.999Z999999"}},
		{at, "to", "2024-06-30T10:15", Range{Op: RangeAtMost, Lo: "2024-06-30T10:15:59.999Z999999"}},
		{at, "to", "2024-06-30T10:15+05:30", Range{Op: RangeAtMost, Lo: "2024-06-30T04:45:59.999Z999999"}},
		{at, "to", "2024-06-30T10:15:07", Range{Op: RangeAtMost, Lo: "2024-06-30T10:15:07.999Z999999"}},
		{at, "to", "2024-06-30T10:15:07.1", Range{Op: RangeAtMost, Lo: "2024-06-30T10:15:07.199Z999999"}},
		{at, "from", "2024-06", Range{Op: RangeAtLeast, Lo: "2024-06-01T00:00:00.000Z"}},
		{at, "to", "9999", Range{Op: RangeAtMost, Lo: "9999-12-31T23:59:59.999Z999999"}},
		{at, "eq", "2024-06-30", Range{Op: RangeBetween, Lo: "2024-06-30T00:00:00.000Z",
			Hi: "2024-06-30T23:59:59.999Z999999"}},
		{at, "eq", "2024-06-30T10:15:07.123456789", Range{Op: RangeEqual, Lo: "2024-06-30T10:15:07.123Z456789"}},
		{at, "prefix", "2024-06-30", Range{Op: RangeBetween, Lo: "2024-06-30T00:00:00.000Z",
			Hi: "2024-06-30T23:59:59.999Z999999"}},
		{at, "prefix", "2024-06-30T12:00:00+02:00", Range{Op: RangePrefix, Lo: "2024-06-30T10:00:00.000Z"}},
		{at, "prefix", "2024-0", Range{Op: RangePrefix, Lo: "2024-0"}},
	}
	for _, test := range tests {
		got, err := test.layout.ParseOperands(operand(test.arg, test.text))
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %q: %v\n%s", test.arg, test.text, err, diff)
		}
	}
}

func TestOperandsThatSelectNothingAreNoError(t *testing.T) {
	for _, l := range []Layout{half("/", KindString), half("/", KindDateTime), half("/", KindInt)} {
		from, to := "2025", "2024"
		r, err := l.ParseOperands(Operands{From: &from, To: &to})
		if err != nil {
			t.Fatal(err)
		}
		if lo, hi, bounded := r.Bounds(); !bounded || lo < hi {
			t.Errorf("from 2025 to 2024 has the bounds %q to %q", lo, hi)
		}
	}
}

func TestWrongOperandsAreErrorsThatNameThem(t *testing.T) {
	s := "x"
	text, number, at := half("/", KindString), half("/", KindInt), half("/", KindDateTime)
	float, truth, dates, counted := half("/", KindFloat), half("/", KindBoolean), half("/", KindDate), half("|",
		KindInt, KindString)
	tests := []struct {
		layout   Layout
		operands Operands
		want     []string
	}{
		{text, Operands{Eq: &s, Prefix: &s}, []string{"eq", "prefix"}},
		{text, Operands{Eq: &s, From: &s}, []string{"eq", "from"}},
		{text, Operands{Prefix: &s, From: &s, To: &s}, []string{"prefix", "from", "to"}},
		{text, Operands{Eq: &s, Prefix: &s, To: &s}, []string{"eq", "prefix", "to"}},
		{Layout{}, Operands{To: &s}, []string{"to"}},
		{number, operand("eq", "many"), []string{"eq"}},
		{number, operand("to", "1e1000"), []string{"to"}},
		{float, operand("to", "1e400"), []string{"to"}},
		{float, operand("eq", "0x10"), []string{"eq"}},
		{truth, operand("eq", "True"), []string{"eq"}},
		{truth, operand("prefix", "t"), []string{"prefix"}},
		{dates, operand("eq", "2024-1-5"), []string{"eq"}},
		{dates, operand("to", "2024-01-05T00:00:00Z"), []string{"to"}},
		{dates, operand("prefix", "2024-01-05T"), []string{"prefix"}},
		{at, operand("prefix", "01/02/2024"), []string{"prefix"}},
		{counted, operand("eq", "1"), []string{"eq"}},
		{counted, operand("eq", "one|cmd"), []string{"eq"}},
		{counted, operand("from", "1.5|cmd"), []string{"from"}},
		{counted, operand("eq", "1|cmd|x"), []string{"eq"}},
		{counted, operand("eq", "1|50%"), []string{"eq"}},
		{counted, operand("prefix", "1|50%2"), []string{"prefix"}},
		{half("/", KindDate, KindString), operand("eq", "2024-01/x"), []string{"eq"}},
		{at, operand("from", "yesterday"), []string{"from"}},
		{at, operand("eq", "2024-02-30"), []string{"eq"}},
		{at, operand("to", "2024-13-45T00:00:00Z"), []string{"to"}},
		{at, operand("from", "0000-01-01T00:00:00+01:00"), []string{"from"}},
		{at, operand("to", "9999-12-31-01:00"), []string{"to"}},
	}
	for _, test := range tests {
		_, err := test.layout.ParseOperands(test.operands)
		var wrong *OperandError
		if !errors.As(err, &wrong) {
			t.Errorf("operands %v: error %v, want an OperandError", test.want, err)
			continue
		}
		if diff := cmp.Diff(test.want, wrong.Args); diff != "" {
			t.Errorf("%v:\n%s", err, diff)
		}
		for _, arg := range test.want {
			if !strings.Contains(wrong.Error(), arg) {
				t.Errorf("%q does not name %s", wrong.Error(), arg)
			}
		}
	}
}

// forms are the ways to write a date-time in part, coarsest first.
var forms = []string{"2006", "2006-01", "2006-01-02", "2006-01-02T15", "2006-01-02T15:04", "2006-01-02T15:04:05",
	"2006-01-02T15:04:05.0", "2006-01-02T15:04:05.000", "2006-01-02T15:04:05.000000", "2006-01-02T15:04:05.000000000"}

func TestAPartialDateTimeIsItsWholePeriod(t *testing.T) { rapid.Check(t, periods) }
func FuzzAPartialDateTimeIsItsWholePeriod(f *testing.F) { f.Fuzz(rapid.MakeFuzz(periods)) }

func periods(t *rapid.T) {
	l := half("/", KindDateTime)
	form := rapid.SampledFrom(forms).Draw(t, "form")
	a := instants().Draw(t, "a")
	b := near(t, DateTime(a)).at
	if rapid.Bool().Draw(t, "far") {
		b = instants().Draw(t, "b")
	}
	part, other := a.Format(form), b.Format(form) // truncates, and sorts as the periods do
	key := compose(t, l, []Value{DateTime(b)})
	for arg, want := range map[string]bool{
		"eq": part == other, "prefix": part == other, "from": other >= part, "to": other <= part,
	} {
		r, err := l.ParseOperands(operand(arg, part))
		if err != nil {
			t.Fatal(err)
		}
		if r.Contains(key) != want {
			t.Fatalf("%s: %q selects %q: %v, want %v", arg, part, key, !want, want)
		}
	}
}

func TestACompleteDateTimeOfAnyOffsetIsItsInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := instants().Draw(t, "instant")
		offset := rapid.IntRange(-23*60-59, 23*60+59).Draw(t, "minutes")
		text := at.In(time.FixedZone("", offset*60)).Format(time.RFC3339Nano)
		if at.Year() == 0 || at.Year() == 9999 { // whose local year may have no four digits
			text = at.Format(time.RFC3339Nano)
		}
		l := half("/", KindDateTime)
		r, err := l.ParseOperands(operand("eq", text))
		if want := (Range{Op: RangeEqual, Lo: compose(t, l, []Value{DateTime(at)})}); err != nil || r != want {
			t.Fatalf("eq: %q is %v, %v, want %v", text, r, err, want)
		}
	})
}

func TestNumbersAreComparedWithTheNumberOfAnOperand(t *testing.T) { rapid.Check(t, numbersCompared) }
func FuzzNumbersAreComparedWithTheNumberOfAnOperand(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(numbersCompared))
}

func numbersCompared(t *rapid.T) {
	kind := rapid.SampledFrom([]Kind{KindInt, KindDecimal}).Draw(t, "kind")
	l := half("/", kind)
	v, bound := valueOf(t, kind), decimals().Draw(t, "bound")
	if rapid.Bool().Draw(t, "near") && kind == KindDecimal {
		bound = Decimal(near(t, v).text)
	}
	c := rational(v).Cmp(bound.Rat())
	key := compose(t, l, []Value{v})
	for arg, want := range map[string]bool{"eq": c == 0, "from": c >= 0, "to": c <= 0} {
		r, err := l.ParseOperands(operand(arg, bound.String()))
		if err != nil {
			t.Fatal(err)
		}
		if r.Contains(key) != want {
			t.Fatalf("%s: %q selects %q: %v, want %v", arg, bound, key, !want, want)
		}
	}
}

func FuzzNoOperandPanics(f *testing.F) {
	for _, s := range []string{"", "2024", "2024-06-30T10:15:07.123+05:30", "-1e-999", "9999-12-31T23:59:59.9-00:01",
		"\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, k := range kinds {
			for _, arg := range []string{"eq", "prefix", "from", "to"} {
				r, err := half("/", k).ParseOperands(operand(arg, s))
				var wrong *OperandError
				if err != nil && !errors.As(err, &wrong) {
					t.Fatalf("%s: %q: %v", arg, s, err)
				}
				r.Bounds()
			}
		}
	})
}

func BenchmarkParseOperands(b *testing.B) {
	joined, number := half("/", KindString, KindDateTime), half("/", KindInt)
	for _, bench := range []struct {
		name     string
		layout   Layout
		operands Operands
		given    []Value
	}{
		{"eq", joined, operand("eq", "a/2024-06-30T12:00:00Z"), nil},
		{"prefix", joined, operand("prefix", "a/2024-06"), nil},
		{"from", joined, operand("from", "2024"), []Value{String("a")}},
		{"a number", number, operand("eq", "42"), nil},
		{"nothing", joined, Operands{}, []Value{String("a")}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bench.layout.ParseOperands(bench.operands, bench.given...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
