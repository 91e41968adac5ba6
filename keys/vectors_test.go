package keys

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The vectors are what the system of the key design guides composes. These are the differences from it that are meant,
// each with its reason; a vector that differs for none of them fails, and so does one that should differ and does not.
const (
	escapedValue   = "a separator or % inside a value is escaped, so that distinct values never share a key"
	orderedNumber  = "negative, fractional and long numbers are encoded so that text order is number order"
	oneInteger     = "all integers are padded to 16 digits: there is no second, wider kind of integer"
	noKeyText      = "NaN, infinities and years outside 0000 to 9999 have no place in an order and are refused"
	noScalar       = "lists and objects cannot be part of a key: the schema is refused"
	mixedHalf      = "a half that mixes the row's own key with other composites is left alone by a patch that mentions none"
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
		Schema: Schema{Name: s.Name, Version: s.Version, Casing: casing},
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

type keyVector struct {
	ID, Op            string
	Schema            vectorSchema
	EntityType, Query string
	Index             vectorIndex
	Record            record
	Value             typed
	Collection        names
	Composites        []string
	Type              string
	Expected          json.RawMessage
}

// expect reads what is expected.
func (c *keyVector) expect(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(c.Expected, into); err != nil {
		t.Fatal(err)
	}
}

// outside are the vectors of what this system does not have.
var outside = map[string]bool{"unique_sentinel": true, "version_snapshot_sk": true, "version_snapshot_prefix": true,
	"timeseries_event_sk": true, "timeseries_event_prefix": true, "eventstore_event_sk": true, "deleted_prefix": true}

func TestKeysEqualTheVectors(t *testing.T) {
	var file struct{ Cases []keyVector }
	readVectors(t, "effect-keys.json", &file)
	run, differ := map[string]int{}, map[string]int{}
	ops := map[string]func(*testing.T, *keyVector) string{
		"index": indexVector, "gsi_put": putVector, "sk_prefix": prefixVector, "serialize": scalarVector,
		"collection_query_prefix": levelVector, "aggregate_pk": aggregateVector,
	}
	for _, c := range file.Cases {
		if outside[c.Op] {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			run[c.Op]++
			if reason := ops[c.Op](t, &c); reason != "" {
				differ[reason]++
			}
		})
	}
	if diff := cmp.Diff(map[string]int{"index": 110, "gsi_put": 20, "sk_prefix": 34, "serialize": 17,
		"collection_query_prefix": 10, "aggregate_pk": 10}, run); diff != "" {
		t.Errorf("vectors run:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{escapedValue: 8, orderedNumber: 14, oneInteger: 6, noKeyText: 6, noScalar: 2,
		closedPrefix: 10}, differ); diff != "" {
		t.Errorf("vectors that differ:\n%s", diff)
	}
}

// half checks the text of one half, whole or a prefix of it, and returns why it is meant to differ.
func (c *keyVector) half(t *testing.T, e EntityKey, layout func(EntityKey, ...Segment) Layout, composites []string, given int, want string) string {
	t.Helper()
	e.Schema.Escape = EscapePercent
	l := layout(e, segments(t, composites, c.Record)...)
	vals := c.Record.values(t, composites)[:given]
	reason, expected := "", want
	for _, name := range composites[:given] {
		v := c.Record[name]
		switch d := v.difference(); d {
		case noScalar:
			return d
		case noKeyText:
			if got, err := l.Compose(vals...); err == nil {
				t.Errorf("Compose = %q, want an error: %s", got, d)
			}
			return d
		case "":
		default:
			reason = d
			ours := ownText(t, v, l)
			expected = strings.Replace(expected, l.Casing.Text(v.theirs()), ours, 1)
		}
	}
	if got, err := l.Compose(vals...); err != nil || got != expected {
		t.Errorf("Compose = %q, %v, want %q", got, err, expected)
	}
	if reason != "" && expected == want {
		t.Errorf("%q does not differ although %s", want, reason)
	}
	if reason != escapedValue {
		return reason
	}
	e.Schema.Escape = EscapeNone
	if got, err := layout(e, segments(t, composites, c.Record)...).Compose(vals...); err != nil || got != want {
		t.Errorf("without escapes: %q, %v, want %q", got, err, want)
	}
	return reason
}

// ownText returns our text of one value.
func ownText(t *testing.T, v typed, l Layout) string {
	t.Helper()
	if v.T == "string" {
		return strings.NewReplacer("#", "%23", "%", "%25").Replace(l.Casing.Text(v.text()))
	}
	text, err := half("#", v.value(t).Kind()).Compose(v.value(t))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func indexVector(t *testing.T, c *keyVector) string {
	var want struct{ PK, SK string }
	c.expect(t, &want)
	e := c.Index.key(c.Schema, c.EntityType)
	pk, sk := c.Index.PKComposite, c.Index.SKComposite
	reason := c.half(t, e, EntityKey.PK, pk, len(pk), want.PK)
	if other := c.half(t, e, EntityKey.SK, sk, len(sk), want.SK); other != "" {
		reason = other
	}
	return reason
}

func putVector(t *testing.T, c *keyVector) string {
	var want *struct{ PK, SK string }
	c.expect(t, &want)
	e := c.Index.key(c.Schema, c.EntityType)
	x := Index{
		PK: Half{Layout: e.PK(segments(t, c.Index.PKComposite, c.Record)...)},
		SK: Half{Layout: e.SK(segments(t, c.Index.SKComposite, c.Record)...)},
	}
	pk, sk, err := x.Put(c.Record.values(t, c.Index.PKComposite), c.Record.values(t, c.Index.SKComposite))
	wantPK, wantSK := Outcome{Op: Remove}, Outcome{Op: Remove}
	if want != nil {
		wantPK, wantSK = Outcome{Set, want.PK}, Outcome{Set, want.SK}
	}
	if err != nil || pk != wantPK || sk != wantSK {
		t.Errorf("Put = %v, %v, %v, want %v, %v", pk, sk, err, wantPK, wantSK)
	}
	return ""
}

func prefixVector(t *testing.T, c *keyVector) string {
	var want struct {
		Prefix     string
		BeginsWith string `json:"begins_with_v1_16"`
	}
	c.expect(t, &want)
	e := c.Index.key(c.Schema, c.EntityType)
	composites := c.Index.SKComposite
	given := Lead(c.Record.values(t, composites))
	return c.half(t, e, EntityKey.SK, composites, given, want.BeginsWith)
}

func scalarVector(t *testing.T, c *keyVector) string {
	var want string
	c.expect(t, &want)
	reason := c.Value.difference()
	if reason == noScalar {
		return reason
	}
	v := c.Value.value(t)
	got, err := half("#", v.Kind()).Compose(v)
	switch reason {
	case noKeyText:
		if err == nil {
			t.Errorf("Compose = %q, want an error: %s", got, reason)
		}
	case "":
		if err != nil || got != want {
			t.Errorf("Compose = %q, %v, want %q", got, err, want)
		}
	default:
		if err != nil || got == want || want != c.Value.theirs() {
			t.Errorf("Compose = %q, %v, want another than %q: %s", got, err, want, reason)
		}
	}
	return reason
}

func levelVector(t *testing.T, c *keyVector) string {
	var want string
	c.expect(t, &want)
	e := vectorIndex{Collection: c.Collection, Type: &c.Type}.key(c.Schema, "Member")
	for depth, name := range c.Collection {
		if name != c.Query {
			continue
		}
		if got := e.Level(depth); got != (Range{Op: Prefix, Lo: want + "#"}) {
			t.Errorf("Level(%d) = %v, want %q, closed", depth, got, want)
		}
	}
	return closedPrefix
}

func aggregateVector(t *testing.T, c *keyVector) string {
	var want string
	c.expect(t, &want)
	e := vectorIndex{Collection: c.Collection}.key(c.Schema, "")
	c.Record = record{}
	for i, text := range c.Composites {
		c.Composites[i] = strconv.Itoa(i)
		c.Record[c.Composites[i]] = typed{"string", text}
	}
	return c.half(t, e, EntityKey.AggregatePK, c.Composites, len(c.Composites), want)
}

func TestOutcomesEqualTheVectors(t *testing.T) {
	var file struct {
		Fixed struct {
			Schema     vectorSchema
			EntityType string
		}
		Cases []struct {
			ID                 string
			Index              vectorIndex
			KeyRecord, Payload record
			Removed            []string
			Expected           map[string]struct{ Op, Value string }
		}
	}
	readVectors(t, "effect-index-policy.json", &file)
	run, differ := 0, map[string]int{}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			run++
			e := c.Index.key(file.Fixed.Schema, file.Fixed.EntityType)
			half := func(l func(EntityKey, ...Segment) Layout, which string, composites []string) (Half, []Part, Outcome, string) {
				h := Half{Layout: l(e, segments(t, composites, c.KeyRecord, c.Payload)...)}
				if c.Index.IndexPolicy[which] == "sparse" {
					h.Policy = Sparse
				}
				parts := make([]Part, len(composites))
				keyed, others, mentioned, empty := false, false, false, false
				want := Outcome{Text: c.Expected[which].Value}
				want.Op = map[string]OutcomeOp{"noop": Keep, "set": Set, "remove": Remove}[c.Expected[which].Op]
				reason := ""
				for i, name := range composites {
					p := &parts[i]
					v, given := c.Payload[name]
					p.Key, p.Value = c.KeyRecord[name].value(t), v.value(t)
					switch {
					case slices.Contains(c.Removed, name):
						p.Mention = Removed
					case given && p.Value.Present():
						p.Mention = Given
					case given:
						p.Mention = Cleared
					}
					key, inKey := c.KeyRecord[name]
					empty = empty || inKey && !key.value(t).Present()
					keyed, others = keyed || inKey, others || !inKey
					mentioned = mentioned || p.Mention != NotGiven
					if d := v.difference(); given && d != "" {
						reason = d
						want.Text = strings.Replace(want.Text, v.theirs(), ownText(t, v, h.Layout), 1)
					}
				}
				if empty && !mentioned && want != (Outcome{}) {
					return h, parts, Outcome{}, keyHasValues
				}
				if keyed && others && !mentioned && want != (Outcome{}) {
					return h, parts, Outcome{}, mixedHalf
				}
				return h, parts, want, reason
			}
			pkHalf, pkParts, wantPK, pkReason := half(EntityKey.PK, "pk", c.Index.PKComposite)
			skHalf, skParts, wantSK, skReason := half(EntityKey.SK, "sk", c.Index.SKComposite)
			pk, sk, err := (&Index{pkHalf, skHalf}).Patch(pkParts, skParts)
			if err != nil || pk != wantPK || sk != wantSK {
				t.Errorf("Patch = %v, %v, %v, want %v, %v", pk, sk, err, wantPK, wantSK)
			}
			for _, reason := range []string{pkReason, skReason} {
				if reason != "" {
					differ[reason]++
				}
			}
		})
	}
	if run != 255 {
		t.Errorf("%d vectors run, want 255", run)
	}
	if diff := cmp.Diff(map[string]int{mixedHalf: 12, keyHasValues: 2, orderedNumber: 2}, differ); diff != "" {
		t.Errorf("halves that differ:\n%s", diff)
	}
}

func TestConditionsEqualTheVectors(t *testing.T) {
	var file struct {
		Fixed struct {
			Schema     vectorSchema
			EntityType string
		}
		Cases []conditionVector
	}
	readVectors(t, "effect-sk-conditions.json", &file)
	run, differ := 0, map[string]int{}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			run++
			for _, reason := range c.check(t, c.Index.key(file.Fixed.Schema, file.Fixed.EntityType)) {
				differ[reason]++
			}
		})
	}
	if run != 97 {
		t.Errorf("%d vectors run, want 97", run)
	}
	if diff := cmp.Diff(map[string]int{clampedBound: 5, nextComposite: 39, inclusiveBound: 20, lastCharacter: 10}, differ); diff != "" {
		t.Errorf("vectors that differ:\n%s", diff)
	}
}

type conditionVector struct {
	ID        string
	Index     vectorIndex
	Pinned    record
	Target    string
	Condition map[string]json.RawMessage
	Expected  map[string]json.RawMessage `json:"expected_v1_16"`
}

// check compares the ranges and returns why they are meant to differ.
func (c *conditionVector) check(t *testing.T, e EntityKey) (reasons []string) {
	composites := c.Index.SKComposite
	op, values := c.operator(t)
	if op == "gt" || op == "lt" {
		return []string{inclusiveBound}
	}
	given := c.Pinned.values(t, composites)
	n := Lead(given)
	if n < len(composites) && composites[n] != c.Target || n == len(composites) && n > 0 && composites[n-1] != c.Target {
		if c.Expected["error"] == nil {
			t.Errorf("the target is not the next composite, and yet the vector is no error: %v", c.Expected)
		}
		return []string{nextComposite}
	}
	l := e.SK(segments(t, composites, c.Pinned, record{c.Target: values[0]})...)
	got, err := l.Select(given, selection(t, op, values))
	if c.Expected["error"] != nil {
		if err == nil {
			t.Errorf("Select = %v, want an error", got)
		}
		return nil
	}
	want := c.expected(t)
	if strings.HasSuffix(want.Hi, "#\uffff") || strings.HasSuffix(want.Lo, "#\uffff") {
		want.Lo, want.Hi = strings.Replace(want.Lo, "\uffff", last, 1), strings.Replace(want.Hi, "\uffff", last, 1)
		reasons = append(reasons, lastCharacter)
	}
	switch {
	case want.Op == AtLeast:
		want = Range{Op: Between, Lo: want.Lo, Hi: l.Head + "#" + last}
		reasons = append(reasons, clampedBound)
	case want.Op == AtMost:
		want = Range{Op: Between, Lo: l.Head + "#", Hi: want.Lo}
		reasons = append(reasons, clampedBound)
	}
	if diff := cmp.Diff([]Range{want}, got); diff != "" || err != nil {
		t.Errorf("Select: %v\n%s", err, diff)
	}
	return reasons
}

// operator returns the operator of the condition and its values, one or two.
func (c *conditionVector) operator(t *testing.T) (op string, values []typed) {
	for name, raw := range c.Condition {
		op = name
		if json.Unmarshal(raw, &values) != nil {
			var one typed
			if err := json.Unmarshal(raw, &one); err != nil {
				t.Fatal(err)
			}
			values = []typed{one}
		}
	}
	return op, values
}

func selection(t *testing.T, op string, values []typed) (c Condition) {
	switch op {
	case "eq":
		c.Eq = values[0].value(t)
	case "beginsWith":
		text := values[0].text()
		c.Prefix = &text
	case "gte":
		c.From = values[0].value(t)
	case "lte":
		c.To = values[0].value(t)
	case "between":
		c.From, c.To = values[0].value(t), values[1].value(t)
	default:
		t.Fatalf("unknown operator %q", op)
	}
	return c
}

// expected reads the one condition that is expected.
func (c *conditionVector) expected(t *testing.T) (r Range) {
	ops := map[string]RangeOp{"eq": Equal, "beginsWith": Prefix, "gte": AtLeast, "lte": AtMost, "between": Between}
	for name, raw := range c.Expected {
		r.Op = ops[name]
		texts := []string{""}
		err := json.Unmarshal(raw, &texts[0])
		if r.Op == Between {
			err = json.Unmarshal(raw, &texts)
		}
		if err != nil || r.Op == All {
			t.Fatal(name, err)
		}
		r.Lo = texts[0]
		if len(texts) > 1 {
			r.Hi = texts[1]
		}
	}
	return r
}
