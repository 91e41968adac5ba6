package keys

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
	if diff := cmp.Diff(map[string]int{clampedBound: 5, nextComposite: 39, inclusiveBound: 20, lastCharacter: 10},
		differ); diff != "" {
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
	n := CountLeading(given)
	if n < len(composites) && composites[n] != c.Target || n == len(composites) && n > 0 && composites[n-1] != c.Target {
		if c.Expected["error"] == nil {
			t.Errorf("the target is not the next composite, and yet the vector is no error: %v", c.Expected)
		}
		return []string{nextComposite}
	}
	l := e.SK(segments(t, composites, c.Pinned, record{c.Target: values[0]})...)
	got, err := l.Select(given, conditionOf(t, op, values))
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
	case want.Op == RangeAtLeast:
		want = Range{Op: RangeBetween, Lo: want.Lo, Hi: l.Head + "#" + last}
		reasons = append(reasons, clampedBound)
	case want.Op == RangeAtMost:
		want = Range{Op: RangeBetween, Lo: l.Head + "#", Hi: want.Lo}
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

func conditionOf(t *testing.T, op string, values []typed) (c Condition) {
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
	ops := map[string]RangeOp{"eq": RangeEqual, "beginsWith": RangePrefix, "gte": RangeAtLeast, "lte": RangeAtMost,
		"between": RangeBetween}
	for name, raw := range c.Expected {
		r.Op = ops[name]
		texts := []string{""}
		err := json.Unmarshal(raw, &texts[0])
		if r.Op == RangeBetween {
			err = json.Unmarshal(raw, &texts)
		}
		if err != nil || r.Op == RangeAll {
			t.Fatal(name, err)
		}
		r.Lo = texts[0]
		if len(texts) > 1 {
			r.Hi = texts[1]
		}
	}
	return r
}
