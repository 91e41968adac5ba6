package projection_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// expiryKeys have the time at which a row expires as its sort key, behind an id in which casing is one.
func expiryKeys() *OpsOf {
	ops := Shaped(func(m *querydb.Model) {
		unstamped(m)
		m.TTL, m.Indexes = -1, nil
		m.PK.Layout.Casing = keys.CasingLower
		m.SK = querydb.Half{Layout: layout(keys.KindDateTime, "expires"), Fields: []int{fieldExpires}}
	})
	ops.SetKeyFields = func(row *Row, k Key) {
		at, _ := time.Parse(time.RFC3339, k.Version)
		row.ID, row.Expires = k.ID, &at
	}
	ops.Key = func(k Key) (keys.Key, error) {
		var row Row
		ops.SetKeyFields(&row, k)
		return querydb.KeyOf(ops.Codec, &row)
	}
	return ops
}

// TestARowIsFoundByTheTimeInItsKeyWhereverABatchEnds, and in whatever time zone events say it.
func TestARowIsFoundByTheTimeInItsKeyWhereverABatchEnds(t *testing.T) {
	const here, there = "2024-01-15T10:30:00+02:00", "2024-01-15T03:30:00-05:00"
	at, err := time.Parse(time.RFC3339, here)
	if err != nil {
		t.Fatal(err)
	}
	made := Step{Op: "set", ID: "a", Expires: &at}
	for _, c := range []struct {
		after Step
		want  []int // totals of the rows in the end
	}{
		{Step{Op: "update", ID: "a", Version: there, Total: 2}, []int{2}},
		{Step{Op: "upsert", ID: "a", Version: here, Total: 3}, []int{3}},
		{Step{Op: "patch", ID: "a", Version: there, Total: 4}, []int{4}},
		{Step{Op: "delete", ID: "a", Version: there}, nil},
	} {
		for _, window := range []int{1, 100} {
			store, ops := newFaultyStore(), expiryKeys()
			db, cfg := open(t, store, ops.Codec.Model), quick()
			cfg.WindowEvents = window
			r, err := projection.NewRunner(ProjectionOf("times", ops), logOf(t, event("", made), event("", c.after)), db, cfg)
			if err == nil {
				err = r.Run(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			rows, err := readRows(db, ops.Codec.Model, store.keys())
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, row := range rows {
				got = append(got, row.Row.Total)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || len(deadLettersOf(t, r)) > 0 {
				t.Errorf("%s, windows of %d: totals (-want +got):\n%s\ndead letters %v, want none", c.after.Op, window, diff,
					deadLettersOf(t, r))
			}
		}
	}
}
