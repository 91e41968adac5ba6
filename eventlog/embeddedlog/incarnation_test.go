package embeddedlog_test

import (
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

func incarnation(t *testing.T, l *embeddedlog.Log) string {
	t.Helper()
	made, err := eventlog.IncarnationOf(t.Context(), l, embeddedlog.Partition)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestALogHasAnIncarnationThatItsCopiesShare(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()+"/log"
	first := openDir(t, dir)
	made := incarnation(t, first)
	if _, err := first.Append(t.Context(), sourcetest.Events(3)); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	again, other := openDir(t, copied), openDir(t, t.TempDir())
	if got := incarnation(t, again); made == "" || got != made {
		t.Errorf("the copy has %q, want %q", got, made)
	}
	if got := incarnation(t, other); got == "" || got == made {
		t.Errorf("another log has %q, as the first has %q", got, made)
	}
	if err := again.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	renewed := incarnation(t, again)
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if got := incarnation(t, openDir(t, copied)); got == made || got != renewed {
		t.Errorf("renewed and opened again it has %q; it was %q, and then %q", got, made, renewed)
	}
}

// A log of an earlier version keeps the positions that rows remember of it.
func TestALogOfAnEarlierVersionHasNoIncarnation(t *testing.T) {
	dir := t.TempDir()
	if err := openDir(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := pebble.Open(dir, &pebble.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Delete([]byte("n"), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l := openDir(t, dir)
		if got := incarnation(t, l); got != "" {
			t.Errorf("incarnation %q, want none", got)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func openDir(t *testing.T, dir string) *embeddedlog.Log {
	t.Helper()
	l, err := embeddedlog.Open(embeddedlog.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}
