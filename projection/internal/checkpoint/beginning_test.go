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

// interrupted is a store to which others write behind one read.
type interrupted struct {
	*memstore.MultiWriter
	between func()
}

func (s *interrupted) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	rows, err := s.MultiWriter.Get(ctx, g)
	if between := s.between; between != nil {
		s.between = nil
		between()
	}
	return rows, err
}

// TestRowsThatAnotherProcessJustBeginsAreNotToBeReplaced by one that starts at the same time: it needs their table, and
// no other.
func TestRowsThatAnotherProcessJustBeginsAreNotToBeReplaced(t *testing.T) {
	store, log := memstore.NewMultiWriter(memstore.Options{}), memlog.New(memlog.Options{})
	first := newProgram(t, store, log, "1")
	second := &interrupted{MultiWriter: store.Join(memstore.Options{})}
	m := newModel("Note", "1")
	db, err := querydb.Open(t.Context(), second, []*querydb.Model{m}, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	second.between = func() { first.open(first.db) }
	all := []checkpoint.Projection{{Name: "notes", Models: []*querydb.Model{m}}}
	targets, err := checkpoint.TargetGenerations(t.Context(), db, all, []int{0}, true)
	if err != nil || targets[0][m] != 0 || second.between != nil {
		t.Errorf("it is to fold generation %d, %v; want 0, which is begun meanwhile", targets[0][m], err)
	}
}
