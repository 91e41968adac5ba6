package keys

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// TestOperandsAnswerAsAFilterByValueWould, or they are an error: none silently matches nothing because it is not
// written as keys write it.
func TestOperandsAnswerAsAFilterByValueWould(t *testing.T) { rapid.Check(t, filtered) }
func FuzzOperandsAnswerAsAFilterByValueWould(f *testing.F) { f.Fuzz(rapid.MakeFuzz(filtered)) }

func filtered(t *rapid.T) {
	var kinds []Kind
	for range rapid.IntRange(1, 3).Draw(t, "fields") {
		kinds = append(kinds, rapid.SampledFrom([]Kind{KindString, KindBoolean, KindInt, KindFloat, KindDecimal, KindDate,
			KindDateTime}).Draw(t, "kind"))
	}
	l := half(rapid.SampledFrom([]string{"/", "|", "#", "::", "~", "-", "."}).Draw(t, "separator"), kinds...)
	row := valuesOf(t, l)
	asked := neighbours(t, l, row)
	if rapid.Bool().Draw(t, "the same") {
		copy(asked, row)
	}
	n := rapid.IntRange(1, len(kinds)).Draw(t, "asked")
	given := rapid.IntRange(0, n-1).Draw(t, "given")
	arg := rapid.SampledFrom([]string{"eq", "prefix", "from", "to"}).Draw(t, "argument")
	var parts []string
	for i := given; i < n; i++ {
		parts = append(parts, l.written(t, asked[i], i == n-1 && i > 0 || len(kinds) == 1))
	}
	text := strings.Join(parts, l.Sep)
	r, err := l.ParseOperands(operand(arg, text), asked[:given]...)
	if err != nil {
		if l.mustRead(arg, n) {
			t.Fatalf("%s: %q of %v after %d: %v", arg, text, kinds, given, err)
		}
		return
	}
	if strings.Contains("from to", arg) && l.blurred(row, asked) {
		return
	}
	key := compose(t, l, row)
	if got, want := r.Contains(key), l.filter(arg, row, asked[:n], parts[len(parts)-1], given); got != want {
		t.Fatalf("%s: %q after %v selects %q: %v, want %v (%+v)", arg, text, asked[:given], key, got, want, r)
	}
}

// TestTheTextOfAKeyIsReadAsTheValuesItIsComposedOf, so that a field that holds it leads where those lead.
func TestTheTextOfAKeyIsReadAsTheValuesItIsComposedOf(t *testing.T) { rapid.Check(t, readBack) }

func readBack(t *rapid.T) {
	var of []Kind
	for range rapid.IntRange(2, 4).Draw(t, "fields") {
		of = append(of, rapid.SampledFrom(kinds).Draw(t, "kind"))
	}
	l := half(rapid.SampledFrom(separators).Draw(t, "separator"), of...)
	vals := valuesOf(t, l)
	key := compose(t, l, vals)
	read, err := (&Composer{Layout: l}).ParseKeyValues("id", key)
	if err != nil {
		t.Fatalf("%q of %v: %v", key, of, err)
	}
	if got := compose(t, l, read); got != key {
		t.Fatalf("%q of %v is read as %v, whose key is %q", key, of, read, got)
	}
}

// mustRead reports whether an operand of n values is one: eq has all of them.
func (l Layout) mustRead(arg string, n int) bool { return arg != "eq" || n == len(l.Segments) }

// written is a value as somebody may write it, escaped; in part, where it is a date or a date-time and may be.
func (l Layout) written(t *rapid.T, v Value, part bool) string {
	var text string
	switch v.kind {
	case KindString:
		text = v.text
	case KindBoolean:
		text = fmt.Sprint(v.num == 1)
	case KindDate:
		text = v.text
		if part {
			text = text[:rapid.SampledFrom([]int{4, 7, 10}).Draw(t, "length")]
		}
	case KindDateTime:
		text = v.at.Format(time.RFC3339Nano)
		if part {
			text = v.at.Format(rapid.SampledFrom(append(forms, time.RFC3339Nano)).Draw(t, "form"))
		}
	default:
		key, err := v.appendText(nil, 0, CasingNone)
		if err != nil {
			t.Fatal(err)
		}
		text = string(key)
		if rapid.Bool().Draw(t, "as people write it") || strings.Contains(text, l.Sep) { // a mark is told from no separator
			text = plain(v)
		}
	}
	if l.isBare() {
		return text
	}
	return string(encoding.Escape([]byte(text), 0, l.Sep[0], false))
}

// plain is a number as people write it.
func plain(v Value) string {
	switch v.kind {
	case KindInt:
		return fmt.Sprint(v.num)
	case KindFloat:
		return strings.Replace(fmt.Sprint(v.flt), "e+", "e", 1)
	}
	return Decimal(v.text).String()
}

// filter reports whether the row meets the condition, by its values. final is the text of the last value asked for.
func (l Layout) filter(arg string, row, asked []Value, final string, given int) bool {
	n := len(asked) - 1
	for i := range given {
		if l.compareAt(i, row[i], asked[i]) != 0 {
			return false
		}
	}
	o := 0
	for i := range n {
		o = cmp.Or(o, l.compareAt(i, row[i], asked[i]))
	}
	last := l.compareAt(n, row[n], asked[n])
	if k := asked[n].kind; k == KindDate || k == KindDateTime {
		text, err := operandText{layout: l, arg: arg}.unescape(final)
		if err != nil {
			return false
		}
		if arg == "prefix" && strings.HasSuffix(text, "Z") { // an instant begins those that are written with more digits
			key, err := row[n].appendText(nil, 0, CasingNone)
			begin, _ := asked[n].appendText(nil, 0, CasingNone)
			return err == nil && o == 0 && strings.HasPrefix(string(key), string(begin))
		}
		last = comparePeriod(row[n], text)
	}
	if arg == "prefix" && asked[n].kind == KindString {
		return o == 0 && strings.HasPrefix(row[n].text, asked[n].text)
	}
	switch o = cmp.Or(o, last); arg {
	case "from":
		return o >= 0
	case "to":
		return o <= 0
	}
	return o == 0
}

// comparePeriod compares a date or a date-time with the year, the month, the day or the shorter time that text says,
// and is 0 where it is within that.
func comparePeriod(v Value, text string) int {
	if v.kind == KindDate {
		return strings.Compare(v.text[:len(text)], text)
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return v.at.Compare(at)
	}
	form := forms[slices.IndexFunc(forms, func(form string) bool { return len(form) == len(text) })]
	return strings.Compare(v.at.Format(form), text)
}

// compareAt compares two values of a field, strings as keys write them.
func (l Layout) compareAt(i int, a, b Value) int {
	if a.kind != KindString || l.isBare() {
		return compare(a, b, CasingNone)
	}
	text := func(v Value) string { return string(encoding.Escape([]byte(v.text), 0, l.Sep[0], false)) }
	return strings.Compare(text(a), text(b))
}

// blurred reports whether strings that others follow are so alike that the separator after them decides which comes
// first: rows are in the order of keys, and a range of them cannot be in that of the strings.
func (l Layout) blurred(a, b []Value) bool {
	for i := range l.Segments[:len(l.Segments)-1] {
		if x, y := a[i].text, b[i].text; x != y && (strings.HasPrefix(x, y) || strings.HasPrefix(y, x)) {
			return true
		}
	}
	return false
}
