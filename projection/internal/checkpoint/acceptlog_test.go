package checkpoint_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestNoNotesStayAboutRowsThatAnAcceptedLogHasForgotten, be they built or kept: nobody would find them again.
func TestNoNotesStayAboutRowsThatAnAcceptedLogHasForgotten(t *testing.T) {
	for _, test := range map[string]struct {
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
			wantDropped(t, second.db, kind)
		}
	}
}

// wantDropped waits until there are no notes of the kind any more.
func wantDropped(t *testing.T, db *querydb.DB, kind string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); thereAre(t, db, kind); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("there are notes of kind %s, which nobody reads any more", kind)
		}
	}
}

// thereAre reports whether there are notes of the kind.
func thereAre(t *testing.T, db *querydb.DB, kind string) bool {
	t.Helper()
	notes, err := db.Notes().List(t.Context(), kind, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	return len(notes) > 0
}
