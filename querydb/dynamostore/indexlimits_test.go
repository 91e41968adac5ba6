package dynamostore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// broad is a table of 60 fields whose indexes, named a, b and so on, hold so many of them each.
func broad(holds ...int) *driver.Table {
	t := &driver.Table{Name: "Broad", PK: []int{0}, NoExpiry: true, Fields: []driver.Field{{Name: "key", Scalar: "ID"}}}
	for i := range 60 {
		t.Fields = append(t.Fields, driver.Field{Name: fmt.Sprintf("f%02d", i), Scalar: "String"})
	}
	for i, n := range holds {
		x := driver.Index{Name: strings.Repeat(string(rune('a'+i)), 3), PK: []int{60 - i}}
		for f := range n {
			x.Projected = append(x.Projected, f+1)
		}
		t.Indexes = append(t.Indexes, x)
	}
	return t
}

// named is how many attributes each index of the table names; -1 is all.
func named(t *testing.T, s *Store, table *driver.Table) map[string]int {
	t.Helper()
	d, err := s.tables.describeTable(t.Context(), layout.Of(s.tables.prefix, table).Table)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, g := range d.GlobalSecondaryIndexes {
		got[*g.IndexName] = namedBy(g.Projection)
		if g.Projection.ProjectionType == types.ProjectionTypeAll {
			got[*g.IndexName] = -1
		}
	}
	return got
}

// TestIndexesNameNoMoreAttributesThanAWSAllows: the largest hold all in place of those. Nothing that is there is made
// anew for that.
func TestIndexesNameNoMoreAttributesThanAWSAllows(t *testing.T) {
	atEach(t, func(t *testing.T, e dynamolocal.Engine) {
		s := open(t, e, Config{})
		apply := func(table *driver.Table, want map[string]int) {
			t.Helper()
			if err := s.ApplyTables(t.Context(), Tables{Needed: []*driver.Table{table}}, false, func(string) {}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, named(t, s, table)); diff != "" {
				t.Errorf("attributes of indexes (-want +got):\n%s", diff)
			}
			if err := s.CheckTables(t.Context(), []*driver.Table{table}); err != nil {
				t.Error(err)
			}
		}
		apply(broad(30, 40), map[string]int{"aaa": 30, "bbb": 40})
		apply(broad(30, 40, 31, 29), map[string]int{"aaa": 30, "bbb": 40, "ccc": -1, "ddd": 29})
		second := broad(30, 40, 50, 20)
		second.Generation = 1
		apply(second, map[string]int{"aaa": 30, "bbb": 40, "ccc": -1, "ddd": 20})
		equal := broad(50, 50, 50)
		equal.Generation = 2
		apply(equal, map[string]int{"aaa": -1, "bbb": 50, "ccc": 50})
	})
}

// TestThePlanSaysWhichIndexesHoldAllAttributesForAWS, and why.
func TestThePlanSaysWhichIndexesHoldAllAttributesForAWS(t *testing.T) {
	both, one := layout.Of("p-", broad(60, 60)), layout.Of("p-", broad(60))
	made := makePlan([]layout.Layout{both}, nil, nil, false)
	added := makePlan([]layout.Layout{both}, nil, map[string]*live{"p-Broad": asMade(one)}, false)
	for index, step := range map[string]Step{"aaa": made.Steps[0], "bbb": added.Steps[0]} {
		if want := "index " + index + " holds all attributes, because the indexes of a table may name 100 together"; !strings.
			Contains(step.Text, want) {
			t.Errorf("%q does not say %q", step.Text, want)
		}
	}
}

// TestATableWhoseIndexesNameMoreThanAWSAllowsStaysAsItIs, where an emulator has made it, or AWS has raised its quota.
func TestATableWhoseIndexesNameMoreThanAWSAllowsStaysAsItIs(t *testing.T) {
	both := layout.Of("p-", broad(60, 60))
	plan := makePlan([]layout.Layout{both}, nil, map[string]*live{"p-Broad": asMade(both)}, false)
	for _, step := range plan.Steps {
		if step.Act != EnableTTL {
			t.Errorf("it is to be changed: %s", step.Text)
		}
	}
	if len(plan.Wrong) > 0 {
		t.Errorf("it is wrong: %v", plan.Wrong)
	}
}

// TestThePlanRefusesMoreIndexesThanAWSAllows before anything is made, and takes a table that has more.
func TestThePlanRefusesMoreIndexesThanAWSAllows(t *testing.T) {
	of := func(n int) layout.Layout { return layout.Of("p-", broad(make([]int, n)...)) }
	for _, c := range []struct{ have, want, steps, wrong int }{
		{0, 20, 1, 0}, {0, 21, 0, 1}, {19, 20, 1, 0}, {19, 21, 0, 1}, {20, 21, 0, 1}, {21, 22, 1, 0},
	} {
		have := map[string]*live{}
		if c.have > 0 {
			have["p-Broad"] = asMade(of(c.have))
		}
		plan := makePlan([]layout.Layout{of(c.want)}, nil, have, false)
		steps := 0
		for _, step := range plan.Steps {
			if step.Act != EnableTTL {
				steps++
			}
		}
		if steps != c.steps || len(plan.Wrong) != c.wrong {
			t.Errorf("from %d indexes to %d: %d steps, wrong %v; want %d and %d", c.have, c.want, steps, plan.Wrong, c.steps,
				c.wrong)
		}
	}
}
