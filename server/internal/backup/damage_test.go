package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// engine is a store of its engine alone.
type engine struct{ *pebble.DB }

func (e engine) Snapshot(dir string) error { return e.Checkpoint(dir) }

// rowsOf makes a store of many rows in a directory.
func rowsOf(t *testing.T, rows int) (*pebble.DB, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rows")
	db, err := pebble.Open(dir, &pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range rows {
		row, value := fmt.Appendf(nil, "row %08d", i*i), fmt.Appendf(nil, "value %d", i)
		if err := db.Set(row, value, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	return db, dir
}

// tableIn is a table of the store in a directory.
func tableIn(t *testing.T, dir string) string {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("there are the tables %v, error %v", tables, err)
	}
	return tables[0]
}

// TestATableThatCannotBeReadIsNotCalledDamaged: it may be read again, as when files can be opened again, and a store
// that is in order need not be restored.
func TestATableThatCannotBeReadIsNotCalledDamaged(t *testing.T) {
	db, dir := rowsOf(t, 10)
	s := &Sender{Parts: []Part{{Rows, engine{db}, dir}}}
	taken, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := tableIn(t, filepath.Join(taken.dirs[0], Rows))
	if err := errors.Join(os.Remove(table), os.Symlink(table, table)); err != nil {
		t.Fatal(err)
	}
	err = taken.Send(t.Context(), io.Discard)
	if !errors.Is(err, syscall.ELOOP) || strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v", err)
	}
	if err := taken.Remove(); err != nil {
		t.Error(err)
	}
}

// TestADamagedTableIsReportedWithWhatToDoAboutItsPart: rows can be rebuilt, and a log cannot.
func TestADamagedTableIsReportedWithWhatToDoAboutItsPart(t *testing.T) {
	db, dir := rowsOf(t, 10)
	if err := os.WriteFile(tableIn(t, dir), []byte("no table"), 0o600); err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]string{
		Rows: "move their directory away", Log: "restore log and rows from one backup", Mirror: "restore it from a backup",
	} {
		s := &Sender{Parts: []Part{{part, engine{db}, dir}}}
		taken, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := taken.Send(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of the %s: error %v, want %s", part, err, want)
		}
		if err := taken.Remove(); err != nil {
			t.Error(err)
		}
	}
}

// TestNoBackupIsMadeOfAStoreThatIsDamaged, wherever in a table the damage is: it would take the place of a good one.
func TestNoBackupIsMadeOfAStoreThatIsDamaged(t *testing.T) {
	db, dir := rowsOf(t, 20_000)
	s := &Sender{Parts: []Part{{Rows, engine{db}, dir}}}
	if _, err := Receive(bytes.NewReader(stream(t, s)), filepath.Join(t.TempDir(), "backup")); err != nil {
		t.Fatal(err)
	}
	table := tableIn(t, dir)
	whole, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	const places = 20
	for i := range places {
		at := i * (len(whole) - 1) / (places - 1)
		changed := bytes.Clone(whole)
		changed[at] ^= 0x10
		if err := os.WriteFile(table, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		taken, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = taken.Send(t.Context(), io.Discard)
		if err == nil || !strings.Contains(err.Error(), "rows/"+filepath.Base(table)+" is damaged") {
			t.Errorf("with byte %d of %d changed: error %v", at, len(whole), err)
		}
		if err := errors.Join(taken.Remove(), os.WriteFile(table, whole, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	stream(t, s)
}
