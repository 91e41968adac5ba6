package projection_test

import (
	"testing"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// TestAChangeOfSchemasIsWhatAStartFinds: what is said of two schemas is what a start says of rows that were folded by
// one of them.
func TestAChangeOfSchemasIsWhatAStartFinds(t *testing.T) {
	shaped := func(change func(*querydb.Model)) projection.Projection {
		return ProjectionOf("script", Shaped(func(m *querydb.Model) {
			m.Version, m.RowVersion = "1", "rows"
			change(m)
		}))
	}
	fewer := func(m *querydb.Model) { m.Version, m.Indexes = "2", m.Indexes[:len(m.Indexes)-1] }
	one, other := release("v1", "v2"), release("v1", "v3")
	was, scanned := shaped(one), false
	for what, now := range map[string]projection.Projection{
		"nothing":            was,
		"another version":    shaped(func(m *querydb.Model) { m.Version, m.RowVersion = "2", "others" }),
		"a value more":       shaped(release("v1", "v2", "v3")),
		"a value less":       shaped(release("v1")),
		"another value":      shaped(other),
		"text":               shaped(release()),
		"fewer indexes":      shaped(func(m *querydb.Model) { fewer(m); one(m) }),
		"and another value":  shaped(func(m *querydb.Model) { fewer(m); other(m) }),
		"of unlike rows":     shaped(func(m *querydb.Model) { fewer(m); m.RowVersion = "" }),
		"another table":      shaped(func(m *querydb.Model) { m.Table = "Elsewhere" }),
		"and fewer indexes":  shaped(func(m *querydb.Model) { fewer(m); m.Table = "Elsewhere" }),
		"another projection": ProjectionOf("other", Shaped(func(m *querydb.Model) { m.Version = "1" })),
	} {
		eachStore(t, func(t *testing.T, store func() driver.Driver) {
			drv := store()
			db := open(t, drv, was.Model)
			r, err := projection.NewRunner(was, logOf(t, upserts(2)...), db, quick())
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			after := open(t, drv, now.Model)
			want, err := projection.RebuildReason(t.Context(), after, now)
			if err != nil {
				t.Fatal(err)
			}
			wantCopied, err := projection.CopiesRows(t.Context(), after, now)
			if err != nil {
				t.Fatal(err)
			}
			scanned = scanned || wantCopied
			why, copied := projection.SchemaChange([]projection.Projection{was}, now)
			if why != want || copied != (wantCopied || copied && !querydb.CanScan(after)) {
				t.Errorf("%s: of the schemas it is said: %q, copied %t; a start says %q, copied %t", what, why, copied, want,
					wantCopied)
			}
		})
	}
	if !scanned {
		t.Error("no rows can be copied on any store")
	}
}
