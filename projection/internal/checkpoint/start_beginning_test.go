package checkpoint_test

import (
	"context"
	"testing"

	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// interrupted is a store to which others write behind one of its reads.
type interrupted struct {
	*memstore.MultiWriter
	before  int // reads before that one
	between func()
}

func (s *interrupted) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	rows, err := s.MultiWriter.Get(ctx, g)
	if between := s.between; between != nil {
		if s.before--; s.before < 0 {
			s.between = nil
			between()
		}
	}
	return rows, err
}

// TestRowsThatAnotherProcessJustBeginsAreNotToBeReplaced by one that starts at the same time: it needs their table, and
// no other. The other begins them behind each of its reads.
func TestRowsThatAnotherProcessJustBeginsAreNotToBeReplaced(t *testing.T) {
	for before := 0; ; before++ {
		store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
		first := newProgram(t, store, log, "1")
		second := &interrupted{MultiWriter: store.Join(memstore.Options{}), before: before}
		m := newModel("Note", "1")
		db, err := querydb.Open(t.Context(), second, []*querydb.Model{m}, querydb.Config{})
		if err != nil {
			t.Fatal(err)
		}
		second.between = func() { first.open(first.db) }
		all := []checkpoint.Projection{{Name: "notes", Models: []*querydb.Model{m}}}
		targets, err := checkpoint.TargetGenerations(t.Context(), db, all, []int{0}, true)
		if err != nil || targets[0][m] != 0 {
			t.Errorf("behind read %d: it is to fold generation %d, %v; want 0, which is begun meanwhile", before+1,
				targets[0][m], err)
		}
		if second.between != nil { // there were fewer reads
			if before < 2*3 {
				t.Errorf("it looks with %d reads, and never again", before)
			}
			return
		}
	}
}
