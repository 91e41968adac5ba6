package keys

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
func (c *keyVector) half(t *testing.T, e EntityKey, layout func(EntityKey, ...Segment) Layout, composites []string,
	given int, want string) string {
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
			expected = strings.Replace(expected, l.Casing.Apply(v.theirs()), ours, 1)
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
		return strings.NewReplacer("#", "%23", "%", "%25").Replace(l.Casing.Apply(v.text()))
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
	put := func(layout func(...Segment) Layout, composites []string) HalfUpdate {
		l := layout(segments(t, composites, c.Record)...)
		o, err := l.UpdateForPut(c.Record.values(t, composites))
		if err != nil {
			t.Errorf("Put(%v): %v", composites, err)
		}
		return o
	}
	pk, sk := PairUpdates(put(e.PK, c.Index.PKComposite), put(e.SK, c.Index.SKComposite))
	wantPK, wantSK := HalfUpdate{Op: RemoveKey}, HalfUpdate{Op: RemoveKey}
	if want != nil {
		wantPK, wantSK = HalfUpdate{SetKey, want.PK}, HalfUpdate{SetKey, want.SK}
	}
	if pk != wantPK || sk != wantSK {
		t.Errorf("Put = %v, %v, want %v, %v", pk, sk, wantPK, wantSK)
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
	given := CountLeading(c.Record.values(t, composites))
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
		if got := e.CollectionRange(depth); got != (Range{Op: RangePrefix, Lo: want + "#"}) {
			t.Errorf("Level(%d) = %v, want %q, closed", depth, got, want)
		}
	}
	return closedPrefix
}

// aggregateVector composes the partition half of an aggregate, whose composites stand without their names.
func aggregateVector(t *testing.T, c *keyVector) string {
	var want string
	c.expect(t, &want)
	e := vectorIndex{Collection: c.Collection}.key(c.Schema, "")
	c.Record = record{}
	for i, text := range c.Composites {
		c.Composites[i] = strconv.Itoa(i)
		c.Record[c.Composites[i]] = typed{"string", text}
	}
	unnamed := func(e EntityKey, composites ...Segment) Layout {
		l := e.PK(composites...)
		for i := range l.Segments {
			l.Segments[i].Before = ""
		}
		return l
	}
	return c.half(t, e, unnamed, c.Composites, len(c.Composites), want)
}
