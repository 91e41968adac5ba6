package diff

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/schema/parse"
	shop "github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// TestWhatIsComparedIsWhatIsGenerated: a server compares rows with the generated models, and diff with those of
// projectionsOf.
func TestWhatIsComparedIsWhatIsGenerated(t *testing.T) {
	home := filepath.Join("..", "..")
	m, found := parse.Load([]*ast.Source{source(t, filepath.Join(home, "schema.graphqls"))},
		[]*ast.Source{source(t, filepath.Join(home, "events.graphqls"))})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	indexes := 0
	for _, p := range projectionsOf(m) {
		for _, got := range p.Models() {
			want := generated(t, shop.All, got.Name)
			if diff := cmp.Diff(compared(want), compared(got)); diff != "" {
				t.Errorf("%s: -generated +compared:\n%s", got.Name, diff)
			}
			if former, ok := want.Layout().Reindexed(got); ok != (got.RowVersion != "") || slices.Contains(former, -1) {
				t.Errorf("%s: its indexes are others than the generated ones: %v %t", got.Name, former, ok)
			}
			indexes += len(got.Indexes)
		}
		if why, copied := projection.SchemaChange(projectionsOf(m), p); why != "" || copied {
			t.Errorf("%s changes though its schema does not: %s %t", p.Name, why, copied)
		}
	}
	if indexes == 0 {
		t.Error("no model has an index")
	}
}

func generated(t *testing.T, all []*querydb.Model, name string) *querydb.Model {
	t.Helper()
	i := slices.IndexFunc(all, func(m *querydb.Model) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("there is no generated model %s", name)
	}
	return all[i]
}

// compared is what of a model is compared with rows.
func compared(m *querydb.Model) querydb.Model {
	c := querydb.Model{Name: m.Name, Table: m.Table, Version: m.Version, RowVersion: m.RowVersion}
	if m.Entity != nil {
		c.Entity = &querydb.Entity{}
	}
	for _, f := range m.Fields {
		c.Fields = append(c.Fields, driver.Field{Name: f.Name, Nullable: f.Nullable})
	}
	if m.RowVersion != "" {
		for _, x := range m.Indexes {
			x.Projected = nil
			c.Indexes = append(c.Indexes, x)
		}
	}
	return c
}
