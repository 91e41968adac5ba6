package checkpoint

import (
	"context"
	"slices"
	"strings"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/record"
)

// Projection names what is on record of.
type Projection struct {
	Name   string
	Models []*querydb.Model // whose rows it folds, at least one
	// Reindex gives a stored row the index keys of the model: see querydb.Reindex. It is nil where the projection folds
	// several models.
	Reindex func(b *record.Builder, former []int, stored querydb.Row) (querydb.Row, error)
	// Code is a hash of the code that folds, "" where the program knows none.
	Code string
	// Program are the models that each projection of the program folds, by its name; nil where others are not known.
	Program map[string][]*querydb.Model
}

// others says whose the rows are that serve in the model's table, where they are on record in the name of another
// projection: together that they are of the model, which the other folds too, or has folded together with p; others
// that they are of models which the other, a projection of the program, folds in its place. Where the program has no
// such projection any more, it is neither.
func (p Projection) others(name string, m *querydb.Model) (together, others bool) {
	folds, present := p.Program[name]
	own := strings.Split(p.Name, "+")
	together = slices.Contains(folds, m) ||
		slices.ContainsFunc(strings.Split(name, "+"), func(n string) bool { return slices.Contains(own, n) })
	return together, present && !together && m.Entity == nil
}

// recordName is by which a TableRecord names the model.
func (p Projection) recordName(m *querydb.Model) string {
	if len(p.Models) == 1 {
		return ""
	}
	return m.Name
}

// names are those of the models, for people.
func (p Projection) names() string {
	names := make([]string, len(p.Models))
	for i, m := range p.Models {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

// writer is the name under which the rows are written: its own where it is one of several projections that write them,
// "" where it writes them whole.
func (p Projection) writer() string {
	if p.isWriterOf(p.Models[0]) {
		return p.Name
	}
	return ""
}

func (p Projection) isWriterOf(m *querydb.Model) bool {
	return slices.ContainsFunc(m.Writers, func(w querydb.Writer) bool { return w.Name == p.Name })
}

// writers are those whose rows of the model it folds, as querydb.Rebuilds names them: a group folds what all of them
// write.
func (p Projection) writers(m *querydb.Model) []string {
	switch {
	case p.isWriterOf(m):
		return []string{p.Name}
	case len(m.Writers) == 0:
		return []string{""}
	}
	var all []string
	for _, w := range m.Writers {
		all = append(all, w.Name)
	}
	return all
}

// recordOf is what is on record of the projection's i-th model; the zero value where that is nothing.
func (p Projection) recordOf(i int, recorded []TableRecord) (t TableRecord) {
	if i < len(recorded) && recorded[i].Model == p.recordName(p.Models[i]) {
		t = recorded[i]
	}
	return t
}

// records are what is on record of the rows that the projection folds, as far as its schema tells.
func (p Projection) records() (all []TableRecord) {
	for _, m := range p.Models {
		all = append(all, TableRecord{Model: p.recordName(m), Version: m.Version, Table: m.Table})
	}
	return all
}

// meets reports whether both fold into one table.
func (p Projection) meets(o Projection) bool {
	return slices.ContainsFunc(p.Models, func(m *querydb.Model) bool {
		return slices.ContainsFunc(o.Models, func(n *querydb.Model) bool { return n.Table == m.Table })
	})
}

// hasTable reports whether the projection folds into the table.
func (p Projection) hasTable(table string) bool {
	return slices.ContainsFunc(p.Models, func(m *querydb.Model) bool { return m.Table == table })
}

// tablesOf are the tables of the projections' models, each once.
func tablesOf(ctx context.Context, db *querydb.DB, all []Projection) (tables map[string]querydb.Successor, err error) {
	tables = map[string]querydb.Successor{}
	for _, p := range all {
		for _, m := range p.Models {
			if _, known := tables[m.Table]; known {
				continue
			}
			at, err := db.Generations().Recorded(ctx, m)
			if err != nil {
				return nil, err
			}
			tables[m.Table] = querydb.Successor{Model: m, Former: at}
		}
	}
	return tables, nil
}
