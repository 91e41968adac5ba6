package checkpoint_test

import (
	"testing"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestRowsThatWereFoldedTogetherAreTakenUpOnceTheyAreRolledBack, each by itself as it was switched away from. Until all
// of them are, the program that folded them together has none to take up.
func TestRowsThatWereFoldedTogetherAreTakenUpOnceTheyAreRolledBack(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	together := newProgramOf(t, store, log, newModel("Note", "1"), newModel("Tag", "1"))
	together.open(together.db)
	var apart []*program
	for _, name := range []string{"Note", "Tag"} {
		g := newProgramOf(t, store, log, newModel(name, "1"))
		g.p.Name = name
		g.begin()
		apart = append(apart, g)
	}
	arrange := func(how querydb.Rearrangement) {
		for _, g := range apart {
			s := together.look()
			if !s.Servable || s.Serving == nil || s.Serving.Own && how == querydb.SwitchBack || s.Former != nil {
				t.Errorf("%s, before %s: the group finds %+v, want rows of others, and no former ones", how, g.p.Name, s)
			}
			if err := g.rearrange(how); err != nil {
				t.Fatal(err)
			}
		}
	}
	arrange(querydb.SwitchToBuilt)
	arrange(querydb.SwitchBack)
	if s := together.look(); s.Serving == nil || !s.Serving.Own || !s.Serving.Complete {
		t.Errorf("after the rollbacks there are %+v, want rows that are taken up", s.Serving)
	}
}
