package projection_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// byTimes has an index of customers by their last write, and one of ids by their first.
func byTimes(m *querydb.Model) {
	half := func(kind keys.Kind, field int) querydb.Half {
		return querydb.Half{Layout: layout(kind, m.Fields[field].Name), Fields: []int{field}, Policy: keys.PolicySparse}
	}
	m.Indexes = []querydb.Index{
		{Name: "recent", PK: half(keys.KindString, fieldCustomer), SK: half(keys.KindDateTime, fieldUpdatedAt)},
		{Name: "made", PK: half(keys.KindString, fieldID), SK: half(keys.KindDateTime, fieldCreatedAt)},
	}
}

// shareTable puts the model into a table that several share.
func shareTable(m *querydb.Model) {
	byTimes(m)
	m.Entity = &querydb.Entity{
		Table: &querydb.SharedTable{Name: m.Table, Indexes: []querydb.SharedIndex{{Name: "recent"}, {Name: "made"}}},
		Kind:  "script", PhysicalIndexes: []int{0, 1},
	}
}

func textOf(t *testing.T, at time.Time) string {
	l := layout(keys.KindDateTime, "at")
	text, err := l.Compose(keys.DateTime(at))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestIndexKeysHoldTheTimesOfTheWritesHoweverTheyAreCut has rows that are made and changed in every way.
func TestIndexKeysHoldTheTimesOfTheWritesHoweverTheyAreCut(t *testing.T) {
	step := func(op string, s Step) Step { s.Op, s.ID, s.Version = op, "a", "v1"; return s }
	x := ptr("x")
	shapes := map[string]*OpsOf{
		"own table": Shaped(byTimes), "shared table": Shaped(shareTable),
		"one of several writers": Shaped(func(m *querydb.Model) {
			shareTable(m)
			m.Writers = []querydb.Writer{
				{Name: "times", Part: driver.Part{
					Fields: []int{fieldCustomer, fieldRank, fieldTotal, fieldNotes, fieldCreatedAt, fieldUpdatedAt},
					PK:     []int{0, 1}, SK: []int{0, 1}}},
				{Name: "others", Part: driver.Part{Fields: []int{fieldExpires}}},
			}
		}),
	}
	for _, c := range []struct {
		name  string
		steps steps
	}{
		{"set", steps{step("set", Step{Customer: x})}},
		{"set again", steps{step("set", Step{Customer: x}), step("set", Step{Customer: x, Total: 2})}},
		{"updated", steps{step("set", Step{Customer: x}), step("update", Step{Customer: x, Total: 2})}},
		{"patched elsewhere", steps{step("set", Step{Customer: x}), step("patch", Step{Total: 2}),
			step("patch", Step{Total: 3})}},
		{"made by a patch", steps{step("patch", Step{Customer: x}), step("patch", Step{Total: 2})}},
		{"patched and set", steps{step("patch", Step{Customer: x}), step("set", Step{Customer: x})}},
	} {
		for shape, ops := range shapes {
			for _, window := range []int{1, 100} {
				store := newFaultyStore()
				db := open(t, store, ops.Codec.Model)
				log := openLog(t)
				for i, s := range c.steps {
					add(t, log, i+1, event("", s))
				}
				log.End()
				cfg := quick()
				cfg.WindowEvents = window
				r, err := projection.NewRunner(ProjectionOf("times", ops), log, db, cfg)
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				rows, err := readRows(db, ops.Codec.Model, store.keys())
				if err != nil {
					t.Fatal(err)
				}
				row := rows[Key{ID: "a", Version: "v1"}]
				first, last := textOf(t, row.Row.CreatedAt), textOf(t, row.Row.UpdatedAt)
				if len(c.steps) > 1 && first == last {
					t.Errorf("%s, %s: the row was made and changed at %s", shape, c.name, last)
				}
				want := []querydb.IndexKey{
					{Key: keys.Key{PK: "x", SK: last}, HasPK: true, HasSK: true},
					{Key: keys.Key{PK: "a", SK: first}, HasPK: true, HasSK: true},
				}
				if diff := cmp.Diff(want, row.Indexes); diff != "" {
					t.Errorf("%s, %s, windows of %d: index keys (-want +got):\n%s", shape, c.name, window, diff)
				}
			}
		}
	}
}
