package crash

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/foldql/foldql/internal/tests/crash/verifier"
)

// embedded is a world of one server with its own store.
type embedded struct{ dir, backup string }

func openEmbedded(tr *trial) (world, error) {
	return embedded{filepath.Join(tr.dir, "store"), filepath.Join(tr.dir, "backup")}, nil
}

func (e embedded) store() string                                { return "embedded:" + e.dir }
func (e embedded) servers() (args, env []string)                { return []string{"--store", e.store()}, nil }
func (embedded) most() int                                      { return 1 }
func (embedded) oneMoment() bool                                { return true }
func (embedded) afterWrites(int) <-chan struct{}                { return nil }
func (embedded) forget(context.Context) (int, error)            { return 0, nil }
func (embedded) makeTables(context.Context, *trial) error       { return nil }
func (embedded) calm()                                          {}
func (embedded) settle()                                        {}
func (embedded) check(context.Context, *verifier.Verdict) error { return nil }
func (embedded) end(*report) error                              { return nil }

// lose has the store be as it was at a disaster before, or removes it. Where the log went another way since the copy
// was taken, or will never be as long again, its rows are of the former log, and an operator accepts the present one
// once more.
func (e embedded) lose(ctx context.Context, tr *trial) error {
	rows := filepath.Join(e.dir, "rows")
	_, err := os.Stat(e.backup)
	kept := err == nil
	if !kept && tr.rng.IntN(2) == 0 {
		tr.copied = tr.lines
		return os.CopyFS(e.backup, os.DirFS(rows))
	}
	if err := os.RemoveAll(rows); err != nil || !kept || tr.rng.IntN(3) == 0 {
		return err
	}
	if err := os.CopyFS(rows, os.DirFS(e.backup)); err != nil {
		return err
	}
	if n := len(tr.copied); n <= len(tr.whole) && slices.Equal(tr.copied, tr.whole[:n]) {
		return nil
	}
	return tr.acceptLog(ctx)
}
