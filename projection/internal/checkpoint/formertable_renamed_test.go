package checkpoint_test

import (
	"testing"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestRowsOfATypeThatIsRenamedServeOnInTheirTable: they are its rows where its projector has kept the name too, and are
// built anew beside those that serve where it has not.
func TestRowsOfATypeThatIsRenamedServeOnInTheirTable(t *testing.T) {
	for name, own := range map[string]bool{"notes": true, "memos": false} {
		store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
		former := newProgram(t, store, log, "1")
		former.open(former.db)
		m := newModel("Memo", "1")
		m.Table = "Note"
		renamed := newProgramOf(t, store, log, m)
		renamed.p.Name = name
		s := renamed.look()
		if !s.Servable || own != (s.Serving != nil && s.Serving.Own) {
			t.Errorf("projected by %s: they are %+v, want that they serve, as its own %t", name, s, own)
		}
		if own {
			continue
		}
		if renamed.begin(); renamed.rearrange(querydb.SwitchToBuilt) != nil || !renamed.look().Serving.Own {
			t.Errorf("projected by %s: others are not switched to", name)
		}
	}
}
