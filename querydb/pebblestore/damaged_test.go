package pebblestore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/querydb/record"
)

// said is a log that is written from several goroutines.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

var things = &driver.Table{Name: "Thing", Fields: []driver.Field{{Name: "text", Scalar: "String"}}}

func thing(rng *rand.Rand, i int) driver.Row {
	text := make([]byte, 2000) // so random that no two fit into a block, or are compressed
	for j := range text {
		text[j] = byte('!' + rng.IntN(90))
	}
	var b record.Builder
	b.Begin(1)
	b.String(string(text))
	rec, _, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return driver.Row{Key: keys.Key{PK: fmt.Sprintf("k%05d", i)}, Record: rec}
}

// TestADamagedFileGivesErrorsAndNoWrongRows: where bytes of a file change while the store is open, reads of what was
// there fail as unavailable, alone or in a batch; other reads succeed, nothing more is written, and the log names
// the file.
func TestADamagedFileGivesErrorsAndNoWrongRows(t *testing.T) {
	const n = 2000
	dir, seed := t.TempDir(), rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	log := &said{}
	opts := pebblestore.Options{
		Dir: dir, CacheBytes: 1, MemTableBytes: 256 << 10, Reserve: 1, Logger: slog.New(slog.NewTextHandler(log, nil)),
	}
	s := open(t, opts)
	want := map[keys.Key]driver.Row{}
	for from := 0; from < n; from += 50 {
		var b driver.Batch
		for i := range 50 {
			row := thing(rng, from+i)
			want[row.Key] = row
			b.Writes = append(b.Writes, driver.Write{Table: things, Row: row})
		}
		if err := s.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, opts)
	defer s.Close()
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		damage(t, name)
	}
	var all []keys.Key
	failed, whole := 0, 0
	check := func(rows []driver.Row, err error) {
		t.Helper()
		if err != nil {
			if !errors.Is(err, driver.ErrUnavailable) {
				t.Fatalf("a damaged row: %v, want ErrUnavailable", err)
			}
			failed++
			return
		}
		for _, row := range rows {
			if !bytes.Equal(row.Record, want[row.Key].Record) {
				t.Fatalf("row %s is not what was written: %d bytes of %d", row.Key.PK, len(row.Record), len(want[row.Key].Record))
			}
		}
		whole++
	}
	get := func(ks ...keys.Key) {
		t.Helper()
		check(s.Get(context.Background(), driver.Get{Table: things, Keys: ks}))
	}
	for i := range n {
		all = append(all, keys.Key{PK: fmt.Sprintf("k%05d", i)})
		get(all[i])
	}
	if failed == 0 || whole < n/2 {
		t.Fatalf("alone %d rows fail and %d are read; want some, and most", failed, whole)
	}
	for i := 0; i+3 <= n; i += 3 {
		get(all[i], all[i+1], all[i+2])
	}
	get(all...)
	for i := range n {
		page, err := s.Query(context.Background(), driver.Query{Table: things, Index: driver.Primary,
			PK: all[i].PK, Limit: 1})
		if err == nil && len(page.Rows) != 1 {
			t.Fatalf("row %s is not there", all[i].PK)
		}
		check(page.Rows, err)
	}
	if err := s.Writable(); !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrFull) {
		t.Errorf("Writable: %v, want ErrUnavailable", err)
	}
	if err := s.Apply(context.Background(),
		driver.Batch{Writes: []driver.Write{{Table: things, Row: thing(rng, n)}}}); err == nil {
		t.Error("a damaged store takes writes")
	}
	if !strings.Contains(log.String(), "is damaged") || !strings.Contains(log.String(), ".sst") {
		t.Errorf("the log does not name the damaged file:\n%s", log)
	}
}

// damage overwrites the middle of a file, unless the store has compacted it away.
func damage(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte("damaged "), 1000), info.Size()/2); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
