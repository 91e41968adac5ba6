package enums

import (
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
	for name, c := range map[string]struct {
		rows Fields
		now  *querydb.Model
		why  string
	}{
		"the same":                      {Of(model("OPEN", "DONE")), model("DONE", "OPEN"), ""},
		"a value more":                  {Of(model("OPEN")), model("OPEN", "DONE"), ""},
		"a value less":                  {Of(model("OPEN", "DONE")), model("OPEN"), "Task.part.state may be DONE"},
		"text that becomes an enum":     {Of(model()), model("OPEN"), "may be any text in the rows"},
		"an enum that becomes text":     {Of(model("OPEN")), model(), ""},
		"a record of nothing":           {nil, model("OPEN"), ""},
		"after a value was lost":        {lost, model("OPEN"), ""},
		"another value after that":      {lost, model("OPEN", "HELD"), ""},
		"the lost value again":          {lost, model("OPEN", "DONE"), "and the rows are of a program without"},
		"text once it is an enum":       {Of(model("OPEN")).After(Of(model())), model(), "program where it is an enum"},
		"an enum once it is an enum":    {Of(model("OPEN")).After(Of(model())), model("OPEN"), ""},
		"the lost value and rows since": {lost.After(lost), model("OPEN", "DONE"), "of a program without"},
	} {
		if why := c.rows.Unlike(c.now); (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
	}
}

// TestWhoeverWroteRowsCanFoldThemOn, whatever programs were before; and a program that has values which others of the
// same version have lost, or lacks values that others have written, cannot.
func TestWhoeverWroteRowsCanFoldThemOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "C", "D"}), 1, 4, rapid.ID[string])
		first := states.Draw(t, "first")
		rows, may, lost := Of(model(first...)), slices.Clone(first), map[string]bool{}
		for range rapid.IntRange(1, 8).Draw(t, "programs") {
			now := states.Draw(t, "program")
			can := !slices.ContainsFunc(may, func(v string) bool { return !slices.Contains(now, v) }) &&
				!slices.ContainsFunc(now, func(v string) bool { return lost[v] })
			if got := rows.Unlike(model(now...)) == ""; got != can {
				t.Fatalf("rows may be %v, and lost %v; a program with %v can fold them: %t", may, lost, now, got)
			}
			for _, v := range may {
				lost[v] = lost[v] || !slices.Contains(now, v)
			}
			for _, v := range now {
				lost[v] = false
			}
			rows, may = Of(model(now...)).After(rows), now // folded on, or built anew
			if why := rows.Unlike(model(now...)); why != "" {
				t.Fatalf("a program with %v cannot fold what it has written: %s", now, why)
			}
		}
	})
}
