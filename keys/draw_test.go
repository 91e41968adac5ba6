package keys

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys/internal/encoding"
)

// kinds are all the scalar kinds that a segment may have.
var kinds = []Kind{KindString, KindBoolean, KindInt, KindFloat, KindDecimal, KindDate, KindDateTime}

// separators are all the first characters that a separator may have, and some longer ones.
var separators = func() []string {
	seps := []string{"::", "--", "#/", "/%", "~~", " and ", "|0"}
	for c := rune(1); c < 0x80; c++ {
		if CheckSep(string(c)) == nil {
			seps = append(seps, string(c))
		}
	}
	return seps
}()

// layouts draws a half of up to four segments with any separator, in any of the forms: bare or joined values, entity
// keys with a head and names, templates with literals anywhere, any casing.
func layouts() *rapid.Generator[Layout] {
	return rapid.Custom(func(t *rapid.T) Layout {
		l := Layout{Sep: rapid.SampledFrom(separators).Draw(t, "sep")}
		literals := []string{""}
		if rapid.Bool().Draw(t, "composed") {
			l.Casing = rapid.SampledFrom([]Casing{CasingNone, CasingLower, CasingUpper}).Draw(t, "casing")
			l.Head = rapid.SampledFrom([]string{"", "user", "$app" + l.Sep + "v1" + l.Sep + "task"}).Draw(t, "head")
			l.Tail = rapid.SampledFrom([]string{"", "end"}).Draw(t, "tail")
			literals = []string{"", "name_", "of" + l.Sep, "of" + l.Sep + "all" + l.Sep + "name_"}
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "segments") {
			l.Segments = append(l.Segments, Segment{
				Field: fmt.Sprintf("f%d", i), Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
				Before: rapid.SampledFrom(literals).Draw(t, "before"),
				Digits: rapid.SampledFrom([]int{0, 0, 1, 16, 20}).Draw(t, "digits"),
			})
		}
		return l
	})
}

// valuesOf draws one value per segment.
func valuesOf(t *rapid.T, l Layout) []Value {
	vals := make([]Value, len(l.Segments))
	for i, s := range l.Segments {
		vals[i] = valueOf(t, s.Kind)
	}
	return vals
}

// neighbours draws values that begin with some of vals and then go on differently, often only a little so.
func neighbours(t *rapid.T, l Layout, vals []Value) []Value {
	others := valuesOf(t, l)
	same := rapid.IntRange(0, len(vals)-1).Draw(t, "same")
	copy(others, vals[:same])
	if rapid.Bool().Draw(t, "close") {
		others[same] = near(t, vals[same])
	}
	return others
}

func valueOf(t *rapid.T, k Kind) Value {
	switch k {
	case KindString:
		return String(texts().Draw(t, "string"))
	case KindBoolean:
		return Boolean(rapid.Bool().Draw(t, "boolean"))
	case KindInt:
		return Int(rapid.Int64().Draw(t, "integer"))
	case KindFloat:
		return Float(rapid.Float64().Filter(finite).Draw(t, "float"))
	case KindDecimal:
		return DecimalOf(decimals().Draw(t, "decimal"))
	case KindDate:
		return DateOf(Date(instants().Draw(t, "date").Format(time.DateOnly)))
	}
	return DateTime(instants().Draw(t, "date-time"))
}

// near draws a value next to v, where there is such a thing.
func near(t *rapid.T, v Value) Value {
	switch v.kind {
	case KindInt:
		return Int(v.num + rapid.Int64Range(-1, 1).Draw(t, "step"))
	case KindFloat:
		if f := math.Nextafter(v.flt, rapid.SampledFrom([]float64{math.Inf(1), math.Inf(-1), 0}).Draw(t, "towards")); finite(
			f) {
			return Float(f)
		}
	case KindDecimal:
		longer := v.text + "." + rapid.StringMatching(`[0-9]{1,3}[1-9]`).Draw(t, "digits")
		if strings.Contains(v.text, ".") {
			longer = v.text + rapid.StringMatching(`[0-9]{0,3}[1-9]`).Draw(t, "digits")
		}
		if d, err := ParseDecimal(longer); err == nil {
			return DecimalOf(d)
		}
	case KindDateTime:
		if at := v.at.Add(time.Duration(rapid.Int64Range(-1e6, 1e6).Draw(t, "nanos"))); encoding.InYears(at) {
			return DateTime(at)
		}
	case KindString:
		if rapid.Bool().Draw(t, "case alone") {
			return String(strings.ToUpper(v.text))
		}
		return String(v.text + rapid.SampledFrom(separators).Draw(t, "end"))
	}
	return v
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// texts draws strings rich in what separates and escapes.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringMatching(`[-a%2F/:#.~!|5]{0,6}`),
		rapid.StringMatching(`[Aa ßσςΣİ#%_]{0,6}`))
}

func decimals() *rapid.Generator[Decimal] {
	return rapid.Custom(func(t *rapid.T) Decimal {
		text := rapid.OneOf(
			rapid.StringMatching(`-?[0-9]{1,3}(\.[0-9]{1,3})?`),
			rapid.StringMatching(`-?[0-9]{14,19}(\.[0-9]{1,3})?`),
			rapid.StringMatching(`-?[1-9](\.[0-9]{1,9})?e-?[0-9]{1,2}`),
			rapid.StringMatching(`-?[1-9]e9[0-8]{2}`),
		).Draw(t, "number")
		d, err := ParseDecimal(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

// instants draws times of the years 0000 to 9999, of every precision.
func instants() *rapid.Generator[time.Time] {
	first := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	return rapid.Custom(func(t *rapid.T) time.Time {
		seconds := rapid.OneOf(rapid.Int64Range(first, last), rapid.Int64Range(1.7e9, 1.7e9+2)).Draw(t, "seconds")
		unit := rapid.SampledFrom([]int64{1, 1e3, 1e5, 1e6, 1e9}).Draw(t, "unit")
		return time.Unix(seconds, rapid.Int64Range(0, 1e9-1).Draw(t, "nanos")/unit*unit).UTC()
	})
}

// compare compares two values of one kind as what they are, not as text; strings in the casing.
func compare(a, b Value, c Casing) int {
	switch a.kind {
	case KindInt, KindFloat, KindDecimal:
		return rational(a).Cmp(rational(b))
	case KindBoolean:
		return int(a.num - b.num)
	case KindDateTime:
		return a.at.Compare(b.at)
	}
	return strings.Compare(c.Apply(a.text), c.Apply(b.text))
}

func rational(v Value) *big.Rat {
	switch v.kind {
	case KindInt:
		return new(big.Rat).SetInt64(v.num)
	case KindFloat:
		return new(big.Rat).SetFloat64(v.flt)
	}
	return Decimal(v.text).Rat()
}
