package pebblestore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

const holderEnv = "PEBBLESTORE_HOLD_DIRECTORY"

// TestMain is also the second process of the test of the lock.
func TestMain(m *testing.M) {
	dir := os.Getenv(holderEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	if _, err := Open(Options{Dir: dir}); err != nil {
		_, _ = os.Stdout.WriteString(err.Error())
		os.Exit(3)
	}
	os.Exit(0)
}

func TestADirectoryThatAnotherProcessHasOpenIsRefusedWithItsNameAndTheMend(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), holderEnv+"="+dir)
	out, err := other.Output()
	if err == nil || !strings.Contains(string(out), dir) || !strings.Contains(string(out), "stop that process") {
		t.Errorf("another process: %v, says %q; want a refusal that names the directory and what to do", err, out)
	}
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), dir) {
		t.Errorf("the same process: %v, want ErrUnavailable with the directory", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = Open(Options{Dir: dir})
	if err != nil {
		t.Fatalf("after the close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestADirectoryThatCannotBeOpenedIsNotCalledLocked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(file, "data")
	if _, err := Open(Options{Dir: dir}); err == nil || strings.Contains(err.Error(), "another process") ||
		!strings.Contains(err.Error(), dir) {
		t.Errorf("%v, want an error that names the directory and speaks of no other process", err)
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	for want, o := range map[string]Options{"Options.Dir": {}, "Options.CacheBytes": {Dir: "x", CacheBytes: -1}} {
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that names %s", err, want)
		}
	}
}

func TestADirectoryOfAnotherFormIsRefused(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(Options{Dir: "data", FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.db.Set(formatKey, binary.AppendUvarint(nil, formatVersion+1), pebble.Sync),
		s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: "data", FS: fs}); err == nil || !strings.Contains(err.Error(), "form 2") {
		t.Errorf("%v, want an error that names the form", err)
	}
}

func TestRowsIndexesAndNumbersOfTablesOutliveTheStore(t *testing.T) {
	fs := vfs.NewMem()
	var b record.Builder
	b.Begin(1)
	b.String("x")
	rec, _, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	tables := []*driver.Table{{Name: "A"}, {Name: "A", Generation: 1}, {Name: "B"}}
	for run := range 4 {
		s, err := Open(Options{Dir: "data", FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		for i, table := range tables {
			key := keys.Key{PK: table.Name + string(rune('0'+i))}
			rows, err := s.Get(t.Context(), driver.Get{Table: table, Keys: []keys.Key{key}})
			if err != nil {
				t.Fatal(err)
			}
			if there := rows[0].Record != nil; there != (run > 0 && (i > 0 || run == 1)) {
				t.Errorf("run %d, table %d: the row is there: %t", run, i, there)
			}
			if run == 0 {
				err = s.Apply(t.Context(),
					driver.Batch{Writes: []driver.Write{{Table: table, Row: driver.Row{Key: key, Record: rec}}}})
			}
			if run == 1 && i == 0 {
				err = s.Drop(t.Context(), table)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if run == 2 && s.tables.next != firstNumber+3 {
			t.Errorf("the next number is %d, want %d: a number is never given again", s.tables.next, firstNumber+3)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDamagedValuesAreErrorsAndNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SliceOf(rapid.Byte()).Draw(t, "value")
		var row driver.Row
		d := decoder{rest: value}
		if err := d.row(&row, &indexKeys{}); err == nil && !row.Record.Valid() {
			t.Fatal("a row without a valid record was taken")
		}
		d = decoder{rest: value}
		if err := d.entry(&row); err == nil && !row.Record.Valid() {
			t.Fatal("an entry without a valid record was taken")
		}
	})
}

func TestTerminatedTextsKeepOrderAndCutCleanly(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 'a', 0xfe, 0xff}), 0, 6).Draw(t, "bytes"))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, rest := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "rest")
		x, y := appendTerminated(nil, a), appendTerminated(nil, b)
		if got, want := bytes.Compare(x, y), strings.Compare(a, b); got != want {
			t.Fatalf("%q and %q compare as %d, encoded as %d", a, b, want, got)
		}
		if a != b && bytes.HasPrefix(x, y) {
			t.Fatalf("the text %q begins the text %q", b, a)
		}
		if len(x) != terminatedSize(a) {
			t.Fatalf("%q takes %d bytes, was counted as %d", a, len(x), terminatedSize(a))
		}
		got, left, ok := cutTerminated(append(x, rest...))
		if !ok || got != a || string(left) != rest {
			t.Fatalf("cut %q and %q, want %q and %q", got, left, a, rest)
		}
	})
}

func TestKeysThatAreNotOursAreNotCut(t *testing.T) {
	for _, key := range []string{"", "a", "a\x00", "a\x00\x02", "\x00\xff", "\x00\xff\x00"} {
		if text, _, ok := cutTerminated([]byte(key)); ok {
			t.Errorf("%q was cut to %q", key, text)
		}
	}
}

// TestTheCountOfADamagedRowTakesMemoryForThatRowAlone, and not for as many index keys of each row of the page.
func TestTheCountOfADamagedRowTakesMemoryForThatRowAlone(t *testing.T) {
	const n = 400_000
	value := append(binary.AppendUvarint([]byte{0}, n), make([]byte, n)...)
	slab := indexKeys{rows: 1000}
	var row driver.Row
	if err := (&decoder{rest: value}).row(&row, &slab); !errors.Is(err, errDamaged) {
		t.Errorf("the row is read: %v", err)
	}
	if slab.held > n {
		t.Errorf("there is memory for %d index keys, want at most %d", slab.held, n)
	}
}
