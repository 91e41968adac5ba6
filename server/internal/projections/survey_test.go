package projections

import (
	"testing"

	"github.com/foldql/foldql/projection"
)

// TestALostBuildIsBegunAgainBesideRowsThatServe alone. Where these are lost too they are begun again, as after notes
// were restored from a backup, and nobody has asked for more.
func TestALostBuildIsBegunAgainBesideRowsThatServe(t *testing.T) {
	lost := &projection.Rows{Own: true, Lost: true}
	for name, c := range map[string]struct {
		servable, another bool // another projection of the unit has none yet
		held              bool
		begins, drops     bool
	}{
		"beside rows that serve":      {servable: true, begins: true},
		"beside some rows that serve": {servable: true, another: true, begins: true},
		"beside none":                 {drops: true},
		"held":                        {servable: true, held: true},
		"held beside none":            {held: true},
	} {
		serving := &projection.Rows{Own: true, Complete: true}
		all := []projection.Generations{{Serving: serving, Building: lost, Servable: c.servable, Held: c.held}}
		if c.another {
			all = append(all, projection.Generations{Serving: &projection.Rows{Own: true}, Building: lost})
		}
		s := newSurvey(all, true)
		if !s.folds || s.builds || s.begins != c.begins || s.drops != c.drops {
			t.Errorf("%s: folds %t, builds %t, begins %t, drops %t", name, s.folds, s.builds, s.begins, s.drops)
		}
	}
}

// TestWhatFollowsFromTheRowsThatThereAre of one projection whose rows that serve another one has folded.
func TestWhatFollowsFromTheRowsThatThereAre(t *testing.T) {
	own, strange := &projection.Rows{Own: true}, &projection.Rows{}
	for name, c := range map[string]struct {
		rows             projection.Generations
		shared           bool
		begins, builds   bool
		resumes, hasAWhy bool
	}{
		"nothing is built":      {rows: projection.Generations{}, begins: true},
		"own rows are built":    {rows: projection.Generations{Building: own}, builds: true},
		"own rows are held":     {rows: projection.Generations{Building: own, Held: true}, builds: true},
		"others are":            {rows: projection.Generations{Building: strange}, begins: true},
		"others are, by others": {rows: projection.Generations{Building: strange}, shared: true, hasAWhy: true},
		"own ones served":       {rows: projection.Generations{Former: own}, resumes: true},
		"a build was aborted":   {rows: projection.Generations{Aborted: true}, hasAWhy: true},
		"one of another version of some models was": {
			rows: projection.Generations{Aborted: true, OtherAborted: true}, begins: true,
		},
		"asked for":                {rows: projection.Generations{Asked: true}, begins: true},
		"asked for again":          {rows: projection.Generations{Asked: true, Building: own}, begins: true},
		"asked for in their place": {rows: projection.Generations{Asked: true, Former: own}, begins: true},
		"asked for after an abort": {rows: projection.Generations{Asked: true, Aborted: true}, begins: true},
		"rows are held of which nothing is on record": {
			rows: projection.Generations{Held: true}, shared: true, hasAWhy: true,
		},
		"rows are held of which nothing is on record, on a store of one's own": {
			rows: projection.Generations{Held: true}, begins: true,
		},
		"asked for beside others": {rows: projection.Generations{Asked: true, Building: strange}, shared: true,
			hasAWhy: true},
	} {
		c.rows.Servable = true
		s := newSurvey([]projection.Generations{c.rows}, c.shared)
		if s.folds || s.begins != c.begins || s.builds != c.builds || s.resumes != c.resumes || (s.why != "") != c.hasAWhy {
			t.Errorf("%s: folds %t, begins %t, builds %t, resumes %t, why %q", name, s.folds, s.begins, s.builds, s.resumes,
				s.why)
		}
		if c.rows.Held && s.switches(&Keep{}) {
			t.Errorf("%s: they are switched to unasked", name)
		}
	}
}
