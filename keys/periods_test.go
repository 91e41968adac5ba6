package keys

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTextOfNumbersAndBooleansIsReadAsPeopleWriteIt(t *testing.T) {
	for _, test := range []struct {
		kind Kind
		text string
		want Value // absent where the text is no value
	}{
		{KindFloat, "10", Float(10)},
		{KindFloat, "-1.5e3", Float(-1500)},
		{KindFloat, "1_0", Value{}},
		{KindFloat, "0x1p4", Value{}},
		{KindFloat, "Inf", Value{}},
		{KindFloat, "NaN", Value{}},
		{KindFloat, "1e999", Value{}},
		{KindFloat, "+1", Value{}},
		{KindFloat, " 1", Value{}},
		{KindFloat, "null", Value{}},
		{KindFloat, "", Value{}},
		{KindFloat, "-9999999999999957.4~", Float(-42.5)},
		{KindDecimal, ":018100000000000000000", DecimalOf("100000000000000000")},
		{KindDecimal, "-!981899999999999999999~", DecimalOf("-100000000000000000")},
		{KindDecimal, ":0181", Value{}},
		{KindInt, "-10", Int(-10)},
		{KindInt, "0000000000000010", Int(10)},
		{KindInt, "1.0", Int(1)},
		{KindInt, "1.5", Value{}},
		{KindInt, "9223372036854775808", Value{}},
		{KindInt, "+10", Value{}},
		{KindInt, "-99~", Value{}},
		{KindBoolean, "true", Boolean(true)},
		{KindBoolean, "TRUE", Value{}},
	} {
		got, ok := parseValue(test.text, &Segment{Kind: test.kind})
		if ok != test.want.Present() || ok && got != test.want {
			t.Errorf("%v %q is read as %v, %t", test.kind, test.text, got, ok)
		}
	}
}

// TestAPartOfADateTimeIsItsPeriodInEveryFormOfKeys as on a half of its own: in those of entities and in templates,
// whether other fields follow or not.
func TestAPartOfADateTimeIsItsPeriodInEveryFormOfKeys(t *testing.T) {
	at, id := Segment{Field: "at", Kind: KindDateTime}, Segment{Field: "id", Kind: KindString}
	kind := func(field string) Kind { return map[string]Kind{"at": KindDateTime, "id": KindString}[field] }
	layouts := map[string]Layout{
		"entity": key("Task").SK(at), "entity, followed": key("Task").SK(at, id),
		"template": template(t, "{at}", kind), "template, followed": template(t, "post#{at}#{id}", kind),
		"plain": half("/", KindDateTime), "plain, followed": half("/", KindDateTime, KindString),
	}
	days := []time.Time{
		time.Date(2014, 1, 31, 23, 59, 59, 999999999, time.UTC), time.Date(2014, 2, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2014, 2, 16, 0, 0, 0, 0, time.UTC), time.Date(2014, 2, 16, 12, 30, 0, 500, time.UTC),
		time.Date(2014, 2, 16, 23, 59, 59, 999999999, time.UTC), time.Date(2014, 2, 28, 23, 59, 59, 999999999, time.UTC),
		time.Date(2014, 3, 1, 0, 0, 0, 0, time.UTC),
	}
	value := func(text string) Value {
		if text == "" {
			return Value{}
		}
		return String(text)
	}
	for _, test := range []struct {
		eq, from, to, prefix string
		want                 []int // of the days
	}{
		{from: "2014-02", to: "2014-02", want: []int{1, 2, 3, 4, 5}},
		{eq: "2014-02", want: []int{1, 2, 3, 4, 5}},
		{prefix: "2014-02", want: []int{1, 2, 3, 4, 5}},
		{to: "2014-02-16", want: []int{0, 1, 2, 3, 4}},
		{to: "2014-02-16T00:00:00Z", want: []int{0, 1, 2}},
		{to: "2014-02-16T12:30:00.0000005Z", want: []int{0, 1, 2, 3}},
		{from: "2014-02-16T12:30", to: "2014-02-16T12:30", want: []int{3}},
		{from: "2014-02-17T01:00:00+01:00", want: []int{5, 6}},
		{eq: "2014-02-16T01:00:00+01:00", want: []int{2}},
	} {
		for name, l := range layouts {
			c, err := l.ParseCondition(0, Condition{Eq: value(test.eq), From: value(test.from), To: value(test.to)})
			if err != nil {
				t.Fatal(err)
			}
			if test.prefix != "" {
				c.Prefix = &test.prefix
			}
			ranges, err := l.Select(nil, c)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for i, day := range days {
				vals := append([]Value{DateTime(day)}, String("x"))[:len(l.Segments)]
				sk, err := l.Compose(vals...)
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(ranges, func(r Range) bool { return r.Contains(sk) }) {
					got = append(got, i)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: eq %q, from %q, to %q, prefix %q: -want +got:\n%s", name, test.eq, test.from, test.to,
					test.prefix, diff)
			}
		}
	}
	for name, l := range layouts {
		wrong := "2014-2"
		_, err := l.ParseCondition(0, Condition{To: String("yesterday")})
		_, errPrefix := l.Select(nil, Condition{Prefix: ptr("yesterday")})
		_, errEq := l.ParseCondition(0, Condition{Eq: String(wrong)})
		_, errBoth := l.ParseCondition(0, Condition{Eq: String("2014"), From: String("2014")})
		for _, err := range []error{err, errPrefix, errEq, errBoth} {
			var operand *OperandError
			if !errors.As(err, &operand) {
				t.Errorf("%s: got %v, want an OperandError", name, err)
			}
		}
	}
}

func ptr(s string) *string { return &s }
