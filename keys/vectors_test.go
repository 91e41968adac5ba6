package keys

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The vectors are what the system of the key design guides composes. These are the differences from it that are meant,
// each with its reason; a vector that differs for none of them fails, and so does one that should differ and does not.
const (
	escapedValue  = "a separator or % inside a value is escaped, so that distinct values never share a key"
	orderedNumber = "negative, fractional and long numbers are encoded so that text order is number order"
	oneInteger    = "all integers are padded to 16 digits: there is no second, wider kind of integer"
	noKeyText     = "NaN, infinities and years outside 0000 to 9999 have no place in an order and are refused"
	noScalar      = "lists and objects cannot be part of a key: the schema is refused"
	mixedHalf     = "a half that mixes the row's own key with other composites is left alone by a patch that " +
		"mentions none"
	keyHasValues   = "a composite of the row's own key always has a value: one without is no part of it"
	closedPrefix   = "the prefix of a collection is closed, so that it selects no collection whose name only goes on"
	lastCharacter  = "the upper end of a subtree is U+10FFFF, not U+FFFF, above which characters of four bytes sort"
	clampedBound   = "a bound on one side is clamped to the entity's own keys"
	inclusiveBound = "bounds are inclusive: there is no gt and no lt"
	nextComposite  = "a condition is always on the next composite: it cannot name one that is given or further on"
)

// typed is a typed value of the vectors.
type typed struct {
	T string
	V any
}

func (v typed) text() string { return fmt.Sprint(v.V) }

// difference returns why the key text of the value is meant to differ where it is part of a longer half, "" where it
// is not.
func (v typed) difference() string {
	text := v.text()
	switch v.T {
	case "string":
		if strings.ContainsAny(text, "#%") {
			return escapedValue
		}
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
			return noKeyText
		case n < 0 || n != math.Trunc(n) || n >= 1e16:
			return orderedNumber
		}
	case "bigint":
		return oneInteger
	case "date", "datetime-utc", "datetime-zoned":
		if text[0] == '-' || text[0] == '+' {
			return noKeyText
		}
	case "array", "object":
		return noScalar
	}
	return ""
}

// theirs returns the text that the vectors have for a value that is to differ.
func (v typed) theirs() string {
	width := map[string]int{"number": 16, "bigint": 38}[v.T]
	return strings.Repeat("0", max(0, width-len(v.text()))) + v.text()
}

// value returns the value, absent where it has none.
func (v typed) value(t *testing.T) Value {
	t.Helper()
	text := v.text()
	switch v.T {
	case "string":
		return String(text)
	case "boolean":
		return Boolean(v.V.(bool))
	case "number":
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return Float(n)
	case "bigint":
		return DecimalOf(Decimal(text))
	case "date", "datetime-utc", "datetime-zoned":
		if v.difference() == noKeyText {
			year, err := strconv.Atoi(text[:7])
			if err != nil {
				t.Fatal(err)
			}
			return DateTime(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
		}
		if len(text) == len(time.DateOnly) {
			text += "T00:00:00Z"
		}
		return instant(text)
	case "null", "undefined", "", "array", "object":
		return Value{}
	}
	t.Fatalf("unknown type of value %q", v.T)
	return Value{}
}

// record is named typed values.
type record map[string]typed

func (r record) values(t *testing.T, names []string) []Value {
	t.Helper()
	vals := make([]Value, len(names))
	for i, name := range names {
		vals[i] = r[name].value(t)
	}
	return vals
}

// segments are composites of the kinds that the records' values have, strings where they have none.
func segments(t *testing.T, names []string, records ...record) []Segment {
	t.Helper()
	out := make([]Segment, len(names))
	for i, name := range names {
		out[i] = Segment{Field: name, Kind: KindString}
		for _, r := range records {
			if v := r[name].value(t); v.Present() {
				out[i].Kind = v.Kind()
			}
		}
	}
	return out
}

// names is one name, or several.
type names []string

func (n *names) UnmarshalJSON(b []byte) error {
	var one *string
	if json.Unmarshal(b, &one) == nil {
		if one != nil {
			*n = names{*one}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(n))
}

type vectorIndex struct {
	Collection               names
	Type, Casing             *string
	PKComposite, SKComposite []string
	IndexPolicy              map[string]string
}

type vectorSchema struct {
	Name    string
	Version int
	Casing  string
}

func casingOf(name string) Casing {
	return map[string]Casing{"lowercase": CasingLower, "uppercase": CasingUpper, "preserve": CasingNone}[name]
}

// key returns the form of the key that a vector is about.
func (x vectorIndex) key(s vectorSchema, entity string) EntityKey {
	casing := casingOf(s.Casing)
	e := EntityKey{
		Schema: EntitySchema{Name: s.Name, Version: s.Version, Casing: casing},
		Type:   entity, Collection: x.Collection, Clustered: x.Type != nil && *x.Type == "clustered", Casing: casing,
	}
	if x.Casing != nil {
		e.Casing = casingOf(*x.Casing)
	}
	return e
}

// readVectors reads a file of vectors.
func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors/" + name)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
