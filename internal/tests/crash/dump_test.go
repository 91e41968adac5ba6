package crash

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// entry is one pair of a store, the value as a digest: dumps are compared, not read.
type entry struct {
	key    string
	digest uint64
}

// dump reads every pair of the stores in a data directory, in order.
func dump(t *testing.T, dir string) []entry {
	t.Helper()
	var all []entry
	for _, store := range []string{"rows", "log"} {
		eachPair(t, vfs.Default, filepath.Join(dir, store), func(key, value []byte) {
			all = append(all, newEntry(store+"/"+string(key), comparable(t, key, value)))
		})
	}
	return all
}

func newEntry(key string, value []byte) entry {
	h := fnv.New64a()
	_, _ = h.Write(value)
	return entry{key, h.Sum64()}
}

// eachPair visits every pair of one store, in order.
func eachPair(t *testing.T, fs vfs.FS, dir string, visit func(key, value []byte)) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{FS: fs, ReadOnly: true, Logger: quiet{}})
	if err != nil {
		t.Fatalf("open %s: %v", dir, err)
	}
	it, err := db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		visit(it.Key(), it.Value())
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// dictionary is the number under which the store of rows keeps the numbers and names of its tables: a key of the
// dictionary that begins so, with a "t", holds a table's number, and for its value the generation and the name.
const (
	dictionary = "\x00\x00\x00\x00"
	tableSize  = len(dictionary) // bytes of a table's number
)

// dumpNamed is dump for stores that did not begin as copies of one: which number a table has depends on which
// projection wrote first, so rows go by the name of their table.
func dumpNamed(t *testing.T, fs vfs.FS) []entry {
	t.Helper()
	names := map[string]string{dictionary: "dictionary"}
	var all []entry
	// The dictionary stands before all rows.
	eachPair(t, fs, "rows", func(key, value []byte) {
		number, rest := string(key[:tableSize]), string(key[tableSize:])
		if number == dictionary && rest[0] == 't' {
			names[rest[1:]] = fmt.Sprintf("%q", value)
			rest, value = "t"+names[rest[1:]], nil
		}
		if names[number] == "" {
			t.Errorf("a row of no table: %q", key)
		}
		all = append(all, newEntry("rows/"+names[number]+rest, comparable(t, key, value)))
	})
	eachPair(t, fs, "log", func(key, value []byte) {
		all = append(all, newEntry("log/"+string(key), comparable(t, key, value)))
	})
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return all
}

// comparable is what must be equal of a value: all of it, but which log it was, since two runs may have one each, and
// how much of it there was when the fold began. Rows have the log in their positions, and checkpoints in the text of
// their notes.
func comparable(t *testing.T, key, value []byte) []byte {
	if string(key) == "n" || bytes.Contains(key, []byte("rates")) { // of a log, and how fast it was folded
		return nil
	}
	var differs *regexp.Regexp
	switch {
	case bytes.Contains(key, []byte("checkpoint:")):
		differs = incarnations
	case bytes.Contains(key, []byte("completion")):
		differs = goal
	case bytes.Contains(value, []byte("0~")):
		return withoutIncarnations(value)
	default:
		return value
	}
	note := noteText.FindSubmatch(value)
	if note == nil {
		return value
	}
	text, err := base64.RawURLEncoding.DecodeString(string(note[1]))
	if err != nil {
		t.Fatalf("read the note under %q: %v", key, err)
	}
	return differs.ReplaceAll(text, nil)
}

// withoutIncarnations leaves out which log the positions in a row are of. There are so many rows that no regexp does
// it.
func withoutIncarnations(row []byte) []byte {
	const mark, long = "0~", 10
	parts := bytes.Split(row, []byte(mark))
	for i, part := range parts[1:] {
		parts[i+1] = part[min(len(part), long):]
	}
	return bytes.Join(parts, []byte(mark))
}

// noteText finds the value of a note in its record, incarnations those of logs in a checkpoint, and goal where rows
// were to come to be complete.
var (
	noteText     = regexp.MustCompile(`"([A-Za-z0-9_-]{24,})"`)
	incarnations = regexp.MustCompile(`"incarnation":"[a-z0-9]{10}"`)
	goal         = regexp.MustCompile(`"goal":\{[^}]*\},?`)
)

// compare fails the test where two dumps differ, naming the first few differences.
func compare(t *testing.T, got, want []entry) {
	t.Helper()
	differences := 0
	report := func(format string, args ...any) {
		if differences++; differences <= 5 {
			t.Errorf(format, args...)
		}
	}
	for i, j := 0, 0; i < len(got) || j < len(want); {
		switch {
		case j == len(want) || i < len(got) && got[i].key < want[j].key:
			report("a key that an undisturbed run does not have: %q", got[i].key)
			i++
		case i == len(got) || want[j].key < got[i].key:
			report("a key is missing: %q", want[j].key)
			j++
		default:
			if got[i].digest != want[j].digest {
				report("another value under %q", got[i].key)
			}
			i, j = i+1, j+1
		}
	}
	if differences > 5 {
		t.Errorf("… and %d more differences", differences-5)
	}
}

// quiet is a logger that says nothing.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}
