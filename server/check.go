package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/config"
)

// checkComplete refuses an App of which a part is missing that would not be missed otherwise: a read model that nothing
// is folded into answers null forever, and rows of a model that is not served are folded for nobody.
func (a *App) checkComplete() error {
	var wrong []error
	names := map[string]bool{}
	for _, p := range a.Projections {
		if names[p.Name] {
			wrong = append(wrong, fmt.Errorf("App.Projections has projection %s twice: take one of them out", p.Name))
		}
		names[p.Name] = true
		if p.Model != nil && !slices.Contains(a.Models, p.Model) {
			wrong = append(wrong, fmt.Errorf("App.Models lacks %s, which projection %s is of: give model.All",
				p.Model.Name, p.Name))
		}
	}
	for _, m := range a.Models {
		if missing := a.unfolded(m); missing != "" {
			wrong = append(wrong, fmt.Errorf("App.Projections has no projection of read model %s%s, so that its queries would "+
				"answer without some of the events: add it, as generated package ops makes it", m.Name, missing))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return config.Error{Err: errors.Join(wrong...)}
}

// unfolded names what folds nothing into a model: its one projection, or those of its writers that are not there. It is
// "" where all are.
func (a *App) unfolded(m *querydb.Model) string {
	folds := func(name string) bool {
		for _, p := range a.Projections {
			if p.Model == m && (name == "" || p.Name == name) {
				return true
			}
		}
		return false
	}
	if len(m.Writers) == 0 {
		if folds("") {
			return ""
		}
		return " (ops.Project" + m.Name + ")"
	}
	var missing []string
	for _, w := range m.Writers {
		if !folds(w.Name) {
			missing = append(missing, w.Name)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return " by " + strings.Join(missing, ", ")
}
