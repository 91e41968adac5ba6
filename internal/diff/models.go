package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/gen/code"
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/projection"
)

// Start is what the next start does with the rows of a model.
type Start string

// What a start does.
const (
	Nothing Start = "nothing"
	// Indexes: it copies the rows with the keys of the new indexes. On a store that several processes write to it is a
	// Rebuild.
	Indexes Start = "index build"
	Rebuild Start = "rebuild"
	First   Start = "first fold" // there are no rows yet
	Unused  Start = "unused"     // no model has the rows any more; they stay until somebody removes them
	Dropped Start = "dropped"    // no model has the rows any more, and the table is built anew for others
)

// Model is what a change does to the rows of a model.
type Model struct {
	Name  string   `json:"name"`
	Start Start    `json:"start"`
	Why   []string `json:"why,omitempty"`
	// Projections are those that build the rows, and all others that go on from them together.
	Projections []string `json:"projections,omitempty"`
	// Takes says how long that takes, of each projection for which there is a forecast: see Report.Forecast.
	Takes []string `json:"takes,omitempty"`
}

func compareModels(was, now *schema.Model) (all []Model) {
	former, units := projectionsOf(was), projection.Units(projectionsOf(now))
	for _, r := range now.ReadModels {
		for _, unit := range units {
			if folds(unit, r) {
				all = append(all, compareModel(was, now, r, unit, former))
				break
			}
		}
	}
	starts := map[string]Start{}
	for _, m := range all {
		starts[m.Name] = m.Start
	}
	for _, r := range was.ReadModels {
		if modelNamed(now, r.Name) == nil {
			all = append(all, removedModel(r, now, starts))
		}
	}
	return all
}

// removedModel says what a start does with the rows of a model that is no more, by what it does with those of others.
func removedModel(r *schema.ReadModel, now *schema.Model, starts map[string]Start) Model {
	m := Model{Name: r.Name, Start: Unused, Why: []string{"no model has its rows"}}
	var users []string
	for _, other := range now.ReadModels {
		if other.TableName() == r.TableName() {
			users = append(users, other.Name)
		}
	}
	if users == nil {
		return m
	}
	if kept := starts[users[0]]; kept == Nothing || kept == Indexes { // the same rows, of a model that is called otherwise
		return Model{Name: r.Name, Start: Nothing, Why: []string{"its rows are those of " + users[0]}}
	}
	m.Start = Dropped
	m.Why = append(m.Why, fmt.Sprintf("table %s is that of %s", r.TableName(), strings.Join(users, ", ")))
	return m
}

func folds(unit []projection.Projection, r *schema.ReadModel) bool {
	return slices.ContainsFunc(unit, func(p projection.Projection) bool {
		for _, m := range p.Models() {
			if m.Name == r.Name {
				return true
			}
		}
		return false
	})
}

// compareModel says what a start does with the rows of a model, which are those of a unit: they change generation
// together.
func compareModel(was, now *schema.Model, r *schema.ReadModel, unit, former []projection.Projection) Model {
	m := Model{Name: r.Name, Start: Nothing}
	var causes []string
	first := false // though rows of others in its table are built anew
	for _, p := range unit {
		m.Projections = append(m.Projections, p.Name)
		switch why, copied := projection.SchemaChange(former, p); {
		case why == "" && !known(former, &p) && len(r.Writers) <= 1 && folds([]projection.Projection{p}, r):
			first = true
		case copied && len(unit) == 1:
			m.Start, causes = Indexes, append(causes, why)
		case why != "":
			m.Start, causes = Rebuild, append(causes, why)
		}
	}
	slices.Sort(m.Projections)
	if first {
		m.Start = First
	}
	if m.Start != Indexes && m.Start != Rebuild {
		return m
	}
	if before := modelNamed(was, r.Name); before != nil {
		if from, to := before.TableName(), r.TableName(); from != to {
			m.Why = []string{fmt.Sprintf("it is in table %s, and its rows are in table %s", to, from)}
		}
		m.Why = append(m.Why, reasons(code.VersionText(was, before), code.VersionText(now, r))...)
	}
	if m.Why == nil {
		m.Why = together(was, now, unit)
	}
	if m.Why == nil { // they are folded together with others than before, or in another table
		m.Why = causes
	}
	return m
}

// together names the models of a unit that have changed.
func together(was, now *schema.Model, unit []projection.Projection) (why []string) {
	for _, r := range now.ReadModels {
		before := modelNamed(was, r.Name)
		if folds(unit, r) && before != nil && code.Version(was, before) != code.Version(now, r) {
			why = append(why, "it changes together with "+r.Name)
		}
	}
	return why
}

// known reports whether there was a projection of that name, which has folded the rows.
func known(former []projection.Projection, p *projection.Projection) bool {
	return slices.ContainsFunc(former, func(was projection.Projection) bool { return was.Name == p.Name })
}
