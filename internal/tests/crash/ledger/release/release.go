// Package release makes another release of the ledger: one of the same models, whose rows are folded anew.
package release

import (
	"slices"

	"github.com/foldql/foldql/querydb"
)

// The releases after the present one, which has no name.
const (
	Next = "next"
	// Exchanged is one in which models have each other's tables, as far as these are not shared.
	Exchanged = "exchanged"
)

// Apply has the models be those of a release, until undo is called. Nobody may use them meanwhile but whoever is of
// that release.
func Apply(name string, models []*querydb.Model) (undo func()) {
	var undos []func()
	set := func(field *string, text string) {
		was := *field
		*field = text
		undos = append(undos, func() { *field = was })
	}
	var own []*querydb.Model // with tables of their own
	for _, m := range models {
		set(&m.Version, name+m.Version)
		set(&m.RowVersion, name+m.RowVersion)
		if m.Entity == nil {
			own = append(own, m)
		}
	}
	if name == Exchanged {
		first := own[0].Table
		for i, m := range own {
			if next := i + 1; next < len(own) {
				set(&m.Table, own[next].Table)
			} else {
				set(&m.Table, first)
			}
		}
	}
	return func() {
		for _, undo := range slices.Backward(undos) {
			undo()
		}
	}
}
