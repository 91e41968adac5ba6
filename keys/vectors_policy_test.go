package keys

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOutcomesEqualTheVectors(t *testing.T) {
	var file struct {
		Fixed struct {
			Schema     vectorSchema
			EntityType string
		}
		Cases []policyVector
	}
	readVectors(t, "effect-index-policy.json", &file)
	run, differ := 0, map[string]int{}
	for _, c := range file.Cases {
		t.Run(c.ID, func(t *testing.T) {
			run++
			e := c.Index.key(file.Fixed.Schema, file.Fixed.EntityType)
			pk := c.half(t, "pk", e.PK, c.Index.PKComposite)
			sk := c.half(t, "sk", e.SK, c.Index.SKComposite)
			for _, h := range []policyHalf{pk, sk} {
				if got, err := h.UpdateForPatch(h.parts); err != nil || got != h.want {
					t.Errorf("Patch(%v) = %v, %v, want %v", h.parts, got, err, h.want)
				}
				if h.reason != "" {
					differ[h.reason]++
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

type policyVector struct {
	ID                 string
	Index              vectorIndex
	KeyRecord, Payload record
	Removed            []string
	Expected           map[string]struct{ Op, Value string }
}

// policyHalf is one half of a vector: what is known of it, what is wanted, and why that is not what the vector says.
type policyHalf struct {
	IndexHalf
	parts  []PatchedComposite
	want   HalfUpdate
	reason string
}

func (c *policyVector) half(t *testing.T, which string, layout func(...Segment) Layout,
	composites []string) (h policyHalf) {
	h.Layout = layout(segments(t, composites, c.KeyRecord, c.Payload)...)
	if c.Index.IndexPolicy[which] == "sparse" {
		h.Policy = PolicySparse
	}
	expected := c.Expected[which]
	h.want = HalfUpdate{map[string]HalfUpdateOp{"noop": KeepKey, "set": SetKey, "remove": RemoveKey}[expected.Op],
		expected.Value}
	for _, name := range composites {
		h.parts = append(h.parts, c.part(t, name))
		if v := c.Payload[name]; v.difference() != "" {
			h.reason = v.difference()
			h.want.Key = strings.Replace(h.want.Key, v.theirs(), ownText(t, v, h.Layout), 1)
		}
	}
	if reason := c.leftAlone(t, composites, h.parts); reason != "" && h.want != (HalfUpdate{}) {
		h.want, h.reason = HalfUpdate{}, reason
	}
	return h
}

// part returns what the vector's patch knows of a composite.
func (c *policyVector) part(t *testing.T, name string) PatchedComposite {
	v, given := c.Payload[name]
	p := PatchedComposite{KeyValue: c.KeyRecord[name].value(t), Value: v.value(t)}
	switch {
	case slices.Contains(c.Removed, name):
		p.Change = FieldRemoved
	case given && p.Value.Present():
		p.Change = FieldGiven
	case given:
		p.Change = FieldCleared
	}
	return p
}

// leftAlone returns why a half that the patch does not mention is left alone although the vector's system judges it.
func (c *policyVector) leftAlone(t *testing.T, composites []string, parts []PatchedComposite) string {
	inKey, withoutValue := 0, false
	for i, name := range composites {
		if parts[i].Change != FieldUntouched {
			return ""
		}
		if v, ok := c.KeyRecord[name]; ok {
			inKey++
			withoutValue = withoutValue || !v.value(t).Present()
		}
	}
	switch {
	case withoutValue:
		return keyHasValues
	case inKey > 0 && inKey < len(composites):
		return mixedHalf
	}
	return ""
}
