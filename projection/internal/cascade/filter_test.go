package cascade

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

type role string // as generated enums are

type level int

// TestAFilterChoosesTheSameFromMemoryAndFromRecord: values of a project's own types too.
func TestAFilterChoosesTheSameFromMemoryAndFromRecord(t *testing.T) {
	at := time.Date(2024, 3, 1, 12, 0, 0, 5, time.FixedZone("", 3600))
	for _, c := range []struct {
		scalar string
		given  any
		want   keys.Value
	}{
		{"String", "x", keys.String("x")},
		{"ID", "", keys.String("")},
		{"String", role("CAPTAIN"), keys.String("CAPTAIN")},
		{"Boolean", true, keys.Boolean(true)},
		{"Boolean", false, keys.Boolean(false)},
		{"Int", 7, keys.Int(7)},
		{"Int", int32(-7), keys.Int(-7)},
		{"Int", uint8(7), keys.Int(7)},
		{"Int", level(7), keys.Int(7)},
		{"Int64", int64(math.MinInt64), keys.Int(math.MinInt64)},
		{"Int64", int64(maxExact + 1), keys.Int(maxExact + 1)},
		{"Int64", uint64(maxExact), keys.Int(maxExact)},
		{"Float", 1.5, keys.Float(1.5)},
		{"Float", 2, keys.Float(2)},
		{"Decimal", keys.Decimal("12.50"), keys.DecimalOf("12.5")},
		{"Decimal", 0.1, keys.DecimalOf("0.1")},
		{"Date", keys.Date("2024-02-29"), keys.DateOf("2024-02-29")},
		{"DateTime", at, keys.DateTime(at.UTC())},
		{"DateTime", "2024-03-01T12:00:00.000000005+01:00", keys.DateTime(at.UTC())},
	} {
		if got, ok := valueOf(c.scalar, plain(c.given)); !ok || got != c.want {
			t.Errorf("%s by %v: got %v, %v", c.scalar, c.given, got, ok)
		}
		text, err := json.Marshal(PlainFilter(map[string]any{"f": c.given}))
		if err != nil {
			t.Fatal(err)
		}
		var recorded map[string]any
		if err := json.Unmarshal(text, &recorded); err != nil {
			t.Fatal(err)
		}
		if got, ok := valueOf(c.scalar, plain(recorded["f"])); !ok || got != c.want {
			t.Errorf("%s by %s from a record: got %v, %v", c.scalar, text, got, ok)
		}
		if plain(recorded["f"]) != plain(c.given) {
			t.Errorf("%s is not the same filter as %v", text, c.given)
		}
	}
}

// TestAFilterOfAnotherTypeIsRefused: it would choose nothing, and nobody would know.
func TestAFilterOfAnotherTypeIsRefused(t *testing.T) {
	for _, c := range []struct {
		scalar string
		given  any
	}{
		{"String", 7}, {"Int", "7"}, {"Int", 7.5}, {"Int", true}, {"Boolean", "true"}, {"Boolean", 1}, {"Int64", "x"},
		{"Int64", uint64(math.MaxUint64)}, {"Float", math.NaN()}, {"Float", math.Inf(1)}, {"Float", "1.5"},
		{"Decimal", "1,5"}, {"Decimal", math.NaN()}, {"Date", "2024-02-30"}, {"Date", time.Time{}}, {"DateTime", "2024"},
		{"Int", math.MaxInt32 + 1}, {"Int", math.MinInt32 - 1},
		{"DateTime", 7}, {"String", nil}, {"String", []string{"x"}}, {"JSON", "x"},
	} {
		if got, ok := valueOf(c.scalar, plain(c.given)); ok {
			t.Errorf("%s by %v (%T): got %v", c.scalar, c.given, c.given, got)
		}
	}
}

// TestAFilterByATextThatTheEnumOfTheFieldDoesNotHaveIsRefused, and the values that it has are named. An enum that the
// model does not describe has any.
func TestAFilterByATextThatTheEnumOfTheFieldDoesNotHaveIsRefused(t *testing.T) {
	m := &querydb.Model{
		Name: "Player",
		Fields: []querydb.Field{
			{Name: "role", Scalar: "String", Enum: "Role"}, {Name: "foot", Scalar: "String", Enum: "Foot"},
		},
		Enums: []querydb.Enum{{Name: "Role", Values: []string{"CAPTAIN", "KEEPER"}}},
	}
	if err := CheckFilter(m, map[string]any{"role": role("KEEPER"), "foot": "LEFT"}); err != nil {
		t.Errorf("by values of the enums: %v", err)
	}
	const want = "rows of Player cannot be chosen by role = CAPTIAN: the values of Role are CAPTAIN, KEEPER"
	if err := CheckFilter(m, map[string]any{"role": role("CAPTIAN")}); err == nil || err.Error() != want {
		t.Errorf("by a misspelt value: %v, want %q", err, want)
	}
}

// TestAFilterChoosesARowAsAProjectorMakesIt as it chooses it when it is read: in whatever form its values are.
func TestAFilterChoosesARowAsAProjectorMakesIt(t *testing.T) {
	at := time.Date(2024, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		scalar string
		made   keys.Value
		given  any
	}{
		{"Decimal", keys.DecimalOf(""), 0},
		{"Decimal", keys.DecimalOf("12.50"), keys.Decimal("12.5")},
		{"DateTime", keys.DateTime(at), at.UTC()},
		{"Float", keys.Float(math.Copysign(0, -1)), 0},
	} {
		codec := querydb.Any(&querydb.Codec[keys.Value]{
			Model: &querydb.Model{Fields: []querydb.Field{{Name: "f", Scalar: c.scalar}}},
			Value: func(row *keys.Value, _ int) keys.Value { return *row },
		})
		if !Matches(codec, &c.made, map[string]any{"f": c.given}) {
			t.Errorf("%s %v is not chosen by %v", c.scalar, c.made, c.given)
		}
	}
}
