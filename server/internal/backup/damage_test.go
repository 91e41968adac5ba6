package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// engine is a store of its engine alone.
type engine struct{ *pebble.DB }

func (e engine) Snapshot(dir string) error { return e.Checkpoint(dir) }

// TestNoBackupIsMadeOfAStoreThatIsDamaged, wherever in a table the damage is: it would take the place of a good one.
func TestNoBackupIsMadeOfAStoreThatIsDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rows")
	db, err := pebble.Open(dir, &pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range 20_000 {
		row, value := fmt.Appendf(nil, "row %08d", i*i), fmt.Appendf(nil, "value %d", i)
		if err := db.Set(row, value, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	s := &Sender{Parts: []Part{{Rows, engine{db}, dir}}}
	if _, err := Receive(bytes.NewReader(stream(t, s)), filepath.Join(t.TempDir(), "backup")); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("there are the tables %v, error %v", tables, err)
	}
	table := tables[0]
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
