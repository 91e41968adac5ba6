package checkpoint_test

import (
	"testing"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestNoNotesStayAboutRowsThatAnAcceptedLogHasForgotten, be they built or kept: nobody would find them again.
func TestNoNotesStayAboutRowsThatAnAcceptedLogHasForgotten(t *testing.T) {
	for what, test := range map[string]struct {
		switched bool
		about    string // the generation that is forgotten
	}{"built": {false, "Note.g1:notes"}, "kept": {true, "Note.g0:notes"}} {
		store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
		first, second := newProgram(t, store, log, "1"), newProgram(t, store, log, "2")
		first.open(first.db)
		second.begin()
		if test.switched {
			if err := second.rearrange(querydb.SwitchToBuilt); err != nil {
				t.Fatal(err)
			}
		}
		kinds := []string{"checkpoint:" + test.about, "deadletter:" + test.about, "link:" + test.about}
		for _, kind := range kinds {
			note := querydb.Note{Kind: kind, ID: "0@1", Value: []byte(`{}`)}
			if err := second.db.Apply(t.Context(), querydb.Batch{Notes: []querydb.Note{note}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := checkpoint.AdoptSource(t.Context(), second.db, memlog.New(memlog.Options{}), second.p); err != nil {
			t.Fatal(err)
		}
		for _, kind := range append(kinds, "leftover") {
			if notes, err := second.db.Notes().List(t.Context(), kind, "", 10); err != nil || len(notes) > 0 {
				t.Errorf("%s: there are %d notes of kind %s, %v", what, len(notes), kind, err)
			}
		}
	}
}
