package projections

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/config"
)

// Check refuses projections that do not fit the models: a read model that nothing is folded into would answer null
// forever, and the rows of a model that is not served would be folded for nobody.
func Check(models []*querydb.Model, all []projection.Projection) error {
	var wrong []error
	names := map[string]bool{}
	for _, p := range all {
		if names[p.Name] {
			wrong = append(wrong, fmt.Errorf("App.Projections has projection %s twice: take one of them out", p.Name))
		}
		names[p.Name] = true
		for _, m := range p.Models() {
			if m != nil && !slices.Contains(models, m) {
				wrong = append(wrong, fmt.Errorf("App.Models lacks %s, which projection %s is of: give model.All",
					m.Name, p.Name))
			}
		}
	}
	for _, m := range models {
		if m.HistoryOf != "" {
			continue // its projector is that of the time series
		}
		if missing := unfolded(m, all); missing != "" {
			wrong = append(wrong, fmt.Errorf("App.Projections has no projection of read model %s%s, so that its queries would "+
				"answer without some of the events: add it, as generated package ops makes it, where the others are "+
				"(projection/projectors/projectors.go, as foldql init writes it)", m.Name, missing))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return config.Error{Err: errors.Join(wrong...)}
}

// unfolded names the projections that a model lacks: its only one, or those of its writers. It is "" where it lacks
// none.
func unfolded(m *querydb.Model, all []projection.Projection) string {
	folds := func(name string) bool {
		for _, p := range all {
			if slices.Contains(p.Models(), m) && (name == "" || slices.Contains(p.Members(), name)) {
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
