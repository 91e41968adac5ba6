package filter_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/filter"
	"github.com/foldql/foldql/querydb/record"
)

// box is a row of boxes with a label, a size and tags.
func box(t testing.TB, label string, size float64, tags ...string) record.Record {
	t.Helper()
	var b record.Builder
	of := boxes()
	b.Begin(len(of.Model.Fields))
	for _, f := range of.Model.Fields {
		switch f.Name {
		case "label":
			b.String(label)
		case "size":
			b.Float(size)
		case "tags":
			b.BeginList()
			for _, tag := range tags {
				b.String(tag)
			}
			b.EndList()
		default:
			b.Null()
		}
	}
	rec, _, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// anyOf is a filter of so many conditions on a field, none of which a box meets.
func anyOf(t testing.TB, conditions int, field string, condition func(i int) map[string]any) *filter.Filter {
	t.Helper()
	var or []any
	for i := range conditions {
		or = append(or, map[string]any{field: condition(i)})
	}
	f, err := filter.Parse(boxes(), catalog.Filter{"or": or})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// allOf is a filter of eight conditions on the label, so many times, all of which a label of many a's meets.
func allOf(t testing.TB, times int) *filter.Filter {
	t.Helper()
	label := map[string]any{"ne": "z", "lt": "b", "le": "b", "gt": "a", "ge": "a", "beginsWith": "a", "contains": "a",
		"between": []any{"a", "b"}}
	f, err := filter.Parse(boxes(), catalog.Filter{"and": slices.Repeat([]any{map[string]any{"label": label}}, times)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// contains is the condition to contain a text that no box has.
func contains(i int) map[string]any { return map[string]any{"contains": fmt.Sprint("zz", i)} }

// TestAFieldIsDecodedOnceForAllConditions: they cost no memory beside what one costs, which is one text here.
func TestAFieldIsDecodedOnceForAllConditions(t *testing.T) {
	for field, rec := range map[string]record.Record{
		"label": box(t, `a "quoted" text`, 1),
		"tags":  box(t, "", 1, `a "quoted" text`),
	} {
		for _, conditions := range []int{1, 64} {
			judge := anyOf(t, conditions, field, contains).Judge()
			texts := testing.AllocsPerRun(10, func() {
				if holds, err := judge.Holds(rec); holds || err != nil {
					t.Fatal(holds, err)
				}
			})
			if texts > 1 {
				t.Errorf("%s is decoded %v times for %d conditions", field, texts, conditions)
			}
		}
	}
}

// TestAJudgeKnowsNothingOfTheRowBefore, whichever conditions looked at that.
func TestAJudgeKnowsNothingOfTheRowBefore(t *testing.T) {
	read, err := filter.Parse(boxes(), catalog.Filter{"or": []any{
		map[string]any{"size": map[string]any{"gt": 10}},
		map[string]any{"label": map[string]any{"in": []any{"c", "a", "b"}}, "tags": map[string]any{"contains": "x"}},
		map[string]any{"tags": map[string]any{"contains": "y"}},
		map[string]any{"tags": map[string]any{"contains": "x"}, "size": map[string]any{"lt": 0}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	judge := read.Judge()
	for i, of := range []struct {
		rec   record.Record
		holds bool
	}{
		{box(t, "a", 1, "x"), true}, {box(t, "a", 1), false}, {box(t, "d", 11), true}, {box(t, "d", 1), false},
		{box(t, "c", 1, "w", "x", "y"), true}, {box(t, "c", 1, "w"), false}, {box(t, "d", 1, "y"), true},
		{box(t, "d", -1, "x"), true}, {box(t, "d", 0, "x"), false},
	} {
		if holds, err := judge.Holds(of.rec); holds != of.holds || err != nil {
			t.Errorf("row %d: %v, %v, want %v", i, holds, err, of.holds)
		}
	}
}

// TestARowCountsOnceMoreForEach64KiBThatConditionsLookAt, whichever of them does, until it is clear whether it is met.
func TestARowCountsOnceMoreForEach64KiBThatConditionsLookAt(t *testing.T) {
	const kib = 1 << 10
	const full = 144 // conditions of a filter with as many as there can be, which all hold
	many := slices.Repeat([]string{"a"}, 64*kib/(64+4))
	for name, of := range map[string]struct {
		rec        record.Record
		field      string
		conditions int
		extra      int
	}{
		"a usual row":          {box(t, strings.Repeat("a", 1000), 1), "label", 64, 0},
		"a short row":          {box(t, strings.Repeat("a", 450), 1), "label", full, 0},
		"as many as can be":    {box(t, strings.Repeat("a", 990), 1), "label", full, 2},
		"a long text":          {box(t, strings.Repeat("a", 160*kib), 1), "label", 1, 2},
		"many conditions":      {box(t, strings.Repeat("a", 4*kib), 1), "label", 64, 4},
		"one is met":           {box(t, strings.Repeat("a", 160*kib)+"zz0", 1), "label", 64, 2},
		"a list":               {box(t, "", 1, many[1:]...), "tags", 64, 0},
		"a list of more":       {box(t, "", 1, append(many, "b")...), "tags", 64, 1},
		"a list, until it has": {box(t, "", 1, append([]string{"zz0"}, many...)...), "tags", 1, 0},
	} {
		asked := allOf(t, full/8)
		if of.conditions < full {
			asked = anyOf(t, of.conditions, of.field, contains)
		}
		judge := asked.Judge()
		for range 2 {
			if _, err := judge.Holds(of.rec); err != nil || judge.Extra() != of.extra {
				t.Errorf("%s counts as %d rows more, want %d; %v", name, judge.Extra(), of.extra, err)
			}
		}
	}
}

func BenchmarkHolds(b *testing.B) {
	plain := strings.Repeat("a plain text ", 74)
	escaped := strings.Repeat(`a "quoted" text `, 60)
	above := func(i int) map[string]any { return map[string]any{"gt": 100 + i} }
	for _, of := range []struct {
		name, field string
		rec         record.Record
		condition   func(i int) map[string]any
	}{
		{"Escaped", "label", box(b, escaped, 1), contains},
		{"Plain", "label", box(b, plain, 1), contains},
		{"Short", "label", box(b, "a", 1), contains},
		{"Number", "size", box(b, "a", 1), above},
		{"List", "tags", box(b, "a", 1, "red", "green", `"blue"`), contains},
	} {
		for _, n := range []int{1, 64} {
			judge := anyOf(b, n, of.field, of.condition).Judge()
			b.Run(fmt.Sprintf("%s/%d", of.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if holds, err := judge.Holds(of.rec); holds || err != nil {
						b.Fatal(holds, err)
					}
				}
			})
		}
	}
}
