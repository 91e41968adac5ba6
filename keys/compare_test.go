package keys_test

import (
	"cmp"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
)

// TestValuesCompareAsWhatTheyAre: numbers as numbers, not as texts, and a date-time as the instant that it is.
func TestValuesCompareAsWhatTheyAre(t *testing.T) {
	noon := time.Date(2024, 6, 30, 12, 0, 0, 0, time.UTC)
	ascending := [][]keys.Value{
		{{}, keys.String(""), keys.String("B"), keys.String("a"), keys.String("aa"), keys.String("é")},
		{keys.Boolean(false), keys.Boolean(true)},
		{keys.Int(-10), keys.Int(-9), keys.Int(0), keys.Int(9), keys.Int(10)},
		{keys.Float(-1e300), keys.Float(-1), keys.Float(0), keys.Float(2), keys.Float(10)},
		{keys.DecimalOf("-10"), keys.DecimalOf("-9.5"), keys.DecimalOf("-9.05"), keys.DecimalOf("0"), keys.DecimalOf("0.05"),
			keys.DecimalOf("0.5"), keys.DecimalOf("9.5"), keys.DecimalOf("10")},
		{keys.DateOf("2024-02-29"), keys.DateOf("2024-10-01")},
		{keys.DateTime(noon), keys.DateTime(noon.Add(time.Nanosecond)), keys.DateTime(noon.Add(time.Hour))},
	}
	for _, values := range ascending {
		for i, a := range values {
			for j, b := range values {
				if got, want := a.Compare(b), cmp.Compare(i, j); got != want {
					t.Errorf("%v and %v: %d, want %d", a, b, got, want)
				}
			}
		}
	}
	elsewhere := keys.DateTime(noon.In(time.FixedZone("", 2*60*60)))
	if keys.DecimalOf("").Compare(keys.DecimalOf("0")) != 0 {
		t.Error("the empty decimal differs from zero")
	}
	if keys.DateTime(noon).Compare(elsewhere) != 0 || keys.Float(0).Compare(keys.Float(math.Copysign(0, -1))) != 0 {
		t.Error("one instant, or zero, differs from itself")
	}
}

func TestValuesOfOneKeyAreOneValue(t *testing.T) {
	at := time.Now()
	for _, same := range [][2]keys.Value{
		{keys.DateTime(at), keys.DateTime(at.Round(0).UTC())},
		{keys.DateTime(at), keys.DateTime(at.In(time.FixedZone("", 7200)))},
		{keys.DecimalOf(""), keys.DecimalOf("0")},
		{keys.DecimalOf("1.50"), keys.DecimalOf("1.5")},
	} {
		if same[0] != same[1] {
			t.Errorf("%v is another value than %v", same[0], same[1])
		}
	}
}

// TestDecimalsCompareAsRationals do.
func TestDecimalsCompareAsRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`-?[0-9]{1,4}(\.[0-9]{1,3})?`)
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		ra, _ := new(big.Rat).SetString(a)
		rb, _ := new(big.Rat).SetString(b)
		if got := keys.DecimalOf(keys.Decimal(a)).Compare(keys.DecimalOf(keys.Decimal(b))); got != ra.Cmp(rb) {
			t.Errorf("%s and %s: %d", a, b, got)
		}
	})
}
