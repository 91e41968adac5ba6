package enums

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// model has a field state that is the enum with the values, or text without any, and the same inside an object.
func model(values ...string) *querydb.Model {
	field := driver.Field{Name: "state", Scalar: "String"}
	m := &querydb.Model{Name: "Task"}
	if len(values) > 0 {
		field.Enum = "State"
		m.Enums = []querydb.Enum{{Name: "State", Values: values}}
	}
	m.Fields = []driver.Field{field, {Name: "part", Object: []driver.Field{field}, List: true}}
	return m
}

func TestWhatIsOnRecordNamesEachEnumByItsPath(t *testing.T) {
	both := Field{Values: []string{"DONE", "OPEN"}}
	if diff := cmp.Diff(Fields{"state": both, "part.state": both}, Of(model("OPEN", "DONE"))); diff != "" {
		t.Error(diff)
	}
	if f := Of(model()); f == nil || len(f) > 0 {
		t.Errorf("of a model without enums: %v, want a record of none", f)
	}
}

func TestRowsAreThoseOfAProgramThatKnowsAllTheyMayBe(t *testing.T) {
	lost := Of(model("OPEN")).After(Of(model("OPEN", "DONE")))
	more := Of(model("OPEN", "DONE")).On(Of(model("OPEN")))
	longAgo := maps.Clone(more)
	for path, field := range longAgo {
		field.Since = field.Since.Add(-2 * lately)
		longAgo[path] = field
	}
	for name, c := range map[string]struct {
		rows   Fields
		now    *querydb.Model
		why    string
		gained bool
	}{
		"the same":                   {Of(model("OPEN", "DONE")), model("DONE", "OPEN"), "", false},
		"a value more":               {Of(model("OPEN")), model("OPEN", "DONE"), "", false},
		"a value less":               {Of(model("OPEN", "DONE")), model("OPEN"), "Task.part.state may be DONE", false},
		"all values others":          {Of(model("OPEN", "DONE")), model("HELD"), "may be DONE or OPEN in the rows", false},
		"text that becomes an enum":  {Of(model()), model("OPEN"), "may be any text in the rows", false},
		"an enum that becomes text":  {Of(model("OPEN")), model(), "", false},
		"a record of nothing":        {nil, model("OPEN"), "", false},
		"after a value was lost":     {lost, model("OPEN"), "", false},
		"another value after that":   {lost, model("OPEN", "HELD"), "", false},
		"the lost value again":       {lost, model("OPEN", "DONE"), "may be DONE, which the program", false},
		"text once it is an enum":    {Of(model("OPEN")).After(Of(model())), model(), "is an enum in the program", false},
		"an enum once it is an enum": {Of(model("OPEN")).After(Of(model())), model("OPEN"), "", false},
		"folded on without":          {Of(model("OPEN", "HELD")).On(lost), model("OPEN", "DONE"), "which the program", false},
		"folded on with more":        {more, model("OPEN"), "may be DONE in the rows", true},
		"folded on so long ago":      {longAgo, model("OPEN"), "may be DONE in the rows", false},
		"folded on again since":      {Of(model("OPEN", "DONE")).On(longAgo), model("OPEN"), "may be DONE", false},
		"folded on, and others":      {more, model("DONE"), "may be OPEN in the rows", false},
		"folded on as text":          {Of(model()).On(Of(model("OPEN"))), model("OPEN"), "may be any text in the rows", true},
		"folded on as text, and so":  {Of(model()).On(Of(model("OPEN"))), model(), "", false},
	} {
		got := c.rows.Unlike(c.now)
		if (got.Why == "") != (c.why == "") || !strings.Contains(got.Why, c.why) || got.Gained != c.gained {
			t.Errorf("%s: %+v, want %q, gained %t", name, got, c.why, c.gained)
		}
	}
}

// TestWhoeverWroteRowsCanFoldThemOn, whatever programs were before; and a program that has values which others of the
// same version have lost, or lacks values that others have written, cannot. It can where it could before others folded
// them on with more values, but for these.
func TestWhoeverWroteRowsCanFoldThemOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "C", "D"}), 1, 4, rapid.ID[string])
		without := func(values, others []string) (left []string) {
			return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(others, v) })
		}
		first := states.Draw(t, "first")
		rows, may, began, lost := Of(model(first...)), first, first, []string(nil)
		for range rapid.IntRange(1, 8).Draw(t, "programs") {
			now := states.Draw(t, "program")
			strange := without(may, now)
			again := without(lost, without(lost, now))
			got := rows.Unlike(model(now...))
			if can := len(strange)+len(again) == 0; (got.Why == "") != can {
				t.Fatalf("rows may be %v, and lost %v; of a program with %v it is said: %q", may, lost, now, got.Why)
			} else if gained := !can && len(again) == 0 && len(without(began, now)) == 0; got.Gained != gained {
				t.Fatalf("rows may be %v, were begun with %v, and lost %v; a program with %v lacks gained ones alone: %t", may,
					began, lost, now, got.Gained)
			}
			if got.Why == "" {
				rows, may = Of(model(now...)).On(rows), now
			} else { // built anew
				lost = append(without(lost, now), strange...)
				rows, may, began = Of(model(now...)).After(rows), now, now
			}
			if got := rows.Unlike(model(now...)); got.Why != "" {
				t.Fatalf("a program with %v cannot fold what it has written: %s", now, got.Why)
			}
		}
	})
}
