package embeddedlog_test

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/internal/tests/crashfs"
)

// filesOf are those of the log with the ending.
func filesOf(t *testing.T, fs vfs.FS, ending string) (names []string) {
	t.Helper()
	all, err := fs.List("log")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if strings.HasSuffix(name, ending) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// flipBit changes a bit of a file.
func flipBit(t *testing.T, fs vfs.FS, name string, at func(size int) int) {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	text[at(len(text))] ^= 4
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	w, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamageToRecentEventsIsNotTakenForACrash: a bit that flips in the file of what was appended last would end the log
// there, and the offsets of events that were acknowledged would be given to others.
func TestDamageToRecentEventsIsNotTakenForACrash(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	fs := crashfs.New()
	l := open(t, embeddedlog.Options{Dir: "log", FS: fs})
	for n := range 500 {
		if _, err := l.Append(t.Context(), batch(0, n, 5)); err != nil {
			t.Fatal(err)
		}
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	recent := filesOf(t, crashed, ".log")
	flipBit(t, crashed, "log/"+recent[len(recent)-1], func(size int) int { return rng.IntN(size / 2) })
	if l, err := embeddedlog.Open(embeddedlog.Options{Dir: "log", FS: crashed}); err == nil {
		head, err := l.Head(t.Context(), "0")
		t.Errorf("it opens, and ends at %d, %v; want an error", head, err)
		l.Close()
	} else if !strings.Contains(err.Error(), "restore a backup") {
		t.Errorf("%v; want to be told what to do", err)
	}
}

// TestAClosedLogHasAllItsEventsInTables, every block of which has a checksum.
func TestAClosedLogHasAllItsEventsInTables(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, embeddedlog.Options{Dir: "log", FS: fs})
	if _, err := l.Append(t.Context(), batch(0, 0, 5)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range filesOf(t, fs, ".log") {
		if err := fs.Remove("log/" + name); err != nil {
			t.Fatal(err)
		}
	}
	l = open(t, embeddedlog.Options{Dir: "log", FS: fs})
	if head, err := l.Head(t.Context(), "0"); err != nil || head != 5 {
		t.Errorf("without them it ends at %d, %v; want 5", head, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestALogWhoseMarkerIsLostIsLeftAsItIs, and is not taken for an empty one, as where it was copied in part.
func TestALogWhoseMarkerIsLostIsLeftAsItIs(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, embeddedlog.Options{Dir: "log", FS: fs})
	if _, err := l.Append(t.Context(), batch(0, 0, 5)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range filesOf(t, fs, "") {
		if strings.HasPrefix(name, "marker.manifest.") {
			if err := fs.Remove("log/" + name); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := filesOf(t, fs, "")
	if l, err := embeddedlog.Open(embeddedlog.Options{Dir: "log", FS: fs}); err == nil {
		l.Close()
		t.Error("it opens")
	} else if !strings.Contains(err.Error(), "copy it again") {
		t.Errorf("%v; want to be told what to do", err)
	}
	if after := filesOf(t, fs, ""); !slices.Equal(before, after) {
		t.Errorf("files were %q, and are %q", before, after)
	}
}
