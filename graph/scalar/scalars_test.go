package scalar

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/record"
)

func erase[T any](read func(any) (T, error)) func(any) (any, error) {
	return func(v any) (any, error) { return read(v) }
}

func TestScalarsAreReadStrictly(t *testing.T) {
	tests := []struct {
		scalar string
		read   func(any) (any, error)
		good   map[any]any
		bad    []any
	}{
		{"ID", erase(UnmarshalID), map[any]any{"a": "a", "": "", int64(7): "7", json.Number("-8"): "-8", float64(9): "9",
			json.Number("-99999999999999999999"): "-99999999999999999999"},
			[]any{nil, true, 1.5, json.Number("1.5"), json.Number("1e30"), json.Number("-")}},
		{"String", erase(UnmarshalString), map[any]any{"a": "a"}, []any{nil, 1, json.Number("1"), true}},
		{"Boolean", erase(UnmarshalBoolean), map[any]any{true: true}, []any{nil, "true", 1}},
		{"Int", erase(UnmarshalInt), map[any]any{int64(math.MaxInt32): math.MaxInt32,
			json.Number("-2147483648"): math.MinInt32, 3: 3, 4.0: 4},
			[]any{nil, "1", int64(math.MaxInt32 + 1), json.Number("2147483648"), json.Number("1.0"), 1.5, true}},
		{"Int64", erase(UnmarshalInt64), map[any]any{"9223372036854775807": int64(math.MaxInt64),
			json.Number("-1"): int64(-1), int64(2): int64(2)},
			[]any{nil, "9223372036854775808", "", "1.5", json.Number("1e3"), 1e300, true}},
		{"Float", erase(UnmarshalFloat), map[any]any{1.5: 1.5, int64(2): 2.0, json.Number("2.5e3"): 2500.0},
			[]any{nil, "1.5", math.NaN(), math.Inf(1), json.Number("1e999"), true}},
		{"Decimal", erase(UnmarshalDecimal), map[any]any{"12.50": keys.Decimal("12.5"), int64(3): keys.Decimal("3"),
			0.25: keys.Decimal("0.25"), json.Number("1.10"): keys.Decimal("1.1")},
			[]any{nil, "", "1,5", "NaN", true, math.Inf(-1)}},
		{"Date", erase(UnmarshalDate), map[any]any{"2024-02-29": keys.Date("2024-02-29")}, []any{nil, "2023-02-29",
			"2024-2-1", "", 20240229}},
		{"DateTime", erase(UnmarshalDateTime), map[any]any{"2024-01-15T12:00:00.5+02:00": time.Date(2024, 1, 15, 10, 0, 0,
			500_000_000, time.UTC)},
			[]any{nil, "2024-01-15", "2024-01-15T12:00:00", "", 1705312800}},
	}
	for _, tt := range tests {
		t.Run(tt.scalar, func(t *testing.T) {
			for in, want := range tt.good {
				if got, err := tt.read(in); err != nil || !cmp.Equal(want, got) {
					t.Errorf("%#v is read as %#v, %v; wanted %#v", in, got, err, want)
				}
			}
			for _, in := range append(tt.bad, []any{"a"}, map[string]any{}) {
				got, err := tt.read(in)
				if graphqlerr.CodeOf(err) != graphqlerr.BadUserInput {
					t.Errorf("%#v is read as %#v, %v; wanted BAD_USER_INPUT", in, got, err)
				} else if in != nil && !strings.Contains(err.Error(), tt.scalar) {
					t.Errorf("%#v: %q does not name the type", in, err)
				}
			}
		})
	}
}

func TestScalarsAreWrittenAsTheyAreStored(t *testing.T) {
	write := func(m graphql.Marshaler) string {
		var s strings.Builder
		m.MarshalGQL(&s)
		return s.String()
	}
	for got, want := range map[string]string{
		write(MarshalID(`a"b`)):                           `"a\"b"`,
		write(MarshalInt(-5)):                             `-5`,
		write(MarshalInt64(math.MinInt64)):                `"-9223372036854775808"`,
		write(MarshalDecimal("")):                         `"0"`,
		write(MarshalDate("2024-01-15")):                  `"2024-01-15"`,
		write(MarshalDateTime(time.UnixMilli(1).UTC())):   `"1970-01-01T00:00:00.001Z"`,
		write(MarshalDateTime(time.Unix(0, 1_000).UTC())): `"1970-01-01T00:00:00.000001Z"`,
		write(MarshalBoolean(true)):                       `true`,
		write(MarshalString("✓")):                         `"✓"`,
	} {
		if got != want {
			t.Errorf("written %s, wanted %s", got, want)
		}
	}
	var s strings.Builder
	if err := MarshalFloatContext(1e21).MarshalGQLContext(t.Context(), &s); err != nil || s.String() != "1e+21" {
		t.Errorf("written %s, %v", &s, err)
	}
	if err := MarshalFloatContext(math.Inf(1)).MarshalGQLContext(t.Context(), &s); err == nil {
		t.Error("infinity is written")
	}
}

// TestFloatsAreWrittenAlikeByBothExecutors: a plan answers with the stored text.
func TestFloatsAreWrittenAlikeByBothExecutors(t *testing.T) {
	floats := []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.99e-7, 1e-7, -1e-7, 1.25e-9, 1e-10, 1e-99, 1e-100,
		5e-324, 1e20, 1e21, 1e22, -1e300, math.MaxFloat64}
	rng := rand.New(rand.NewPCG(5, 5))
	for range 1000 {
		if f := math.Float64frombits(rng.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			floats = append(floats, f)
		}
	}
	for _, f := range floats {
		var b record.Builder
		b.Begin(1)
		b.Float(f)
		rec, _, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		var s strings.Builder
		if err := MarshalFloatContext(f).MarshalGQLContext(t.Context(), &s); err != nil || s.String() != string(rec.JSON(0)) {
			t.Errorf("written %s by a resolver (%v), %s by a plan", &s, err, rec.JSON(0))
		}
	}
}
