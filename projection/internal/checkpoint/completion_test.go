package checkpoint_test

import (
	"testing"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestAStatusCallsNoRowsCompleteThatAreRefused: whoever waits for the status to say that the rows are no longer rebuilt
// reads them at once.
func TestAStatusCallsNoRowsCompleteThatAreRefused(t *testing.T) {
	g := newProgram(t, memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{}), "1")
	w := &reader{T: t, db: g.db, m: g.p.Models[0]}
	if err := checkpoint.NewState(g.p, g.log, g.db, g.cfg, w).Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !w.rebuilt || !w.complete {
		t.Errorf("the watch was told that rows are rebuilt: %v, and complete: %v; want both", w.rebuilt, w.complete)
	}
}

// reader is a Watch that reads when it is told that rows are complete.
type reader struct {
	nobody
	*testing.T
	db                *querydb.DB
	m                 *querydb.Model
	rebuilt, complete bool
}

func (r *reader) Building(rebuilding bool, _ map[string]uint64) {
	if rebuilding {
		r.rebuilt = true
		return
	}
	r.complete = true
	if r.db.Rebuilds().Running(r.m, "") {
		r.Error("the rows are called complete while reads of them are refused")
	}
}
