package backup

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// putStore makes a directory look like a store.
func putStore(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"LOCK", "marker.manifest.000001.MANIFEST-000001"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNothingIsWrittenIntoStoresAndBackups: neither a backup nor what is restored of one, by whichever way the
// directory is named; nor a backup that a server would open as a part of its data.
func TestNothingIsWrittenIntoStoresAndBackups(t *testing.T) {
	whole := stream(t, newSender(t))
	top := t.TempDir()
	in := func(path string) string { return filepath.Join(top, filepath.FromSlash(path)) }
	putStore(t, in("data/rows"))
	if _, err := Receive(bytes.NewReader(whole), in("monday")); err != nil {
		t.Fatal(err)
	}
	copied := receiveWhole(t, whole)
	putStore(t, filepath.Join(copied, "rows"))
	if err := os.Mkdir(in("half"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("half/RESTORING"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(in("data/rows"), link); err != nil {
		t.Skip(err)
	}
	t.Chdir(in("data/rows"))
	before := tree(t, top)
	const both, ofBackups = true, false
	for dir, c := range map[string]struct {
		restored bool // it is refused as a data directory too
		want     string
	}{
		in("data/rows/x"):         {both, in("data/rows") + ", which is a store"},
		in("data/rows/deep/in/x"): {both, "which is a store"},
		filepath.Join(link, "x"):  {both, "which is a store"},
		"x":                       {both, "which is a store"},
		in("monday/rows/x"):       {both, in("monday") + ", which is a backup"},
		in("data/log"):            {ofBackups, "looks for the log of the data directory " + in("data")},
		in("data/mirror"):         {ofBackups, "looks for the mirror"},
		in("half/rows"):           {ofBackups, "looks for the rows"},
	} {
		if _, err := Receive(bytes.NewReader(whole), dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a backup in %s: error %v, want %q", dir, err, c.want)
		}
		if !c.restored {
			continue
		}
		if _, err := Restore(t.Context(), in("monday"), dir, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("restored into %s: error %v, want %q", dir, err, c.want)
		}
	}
	for dir, want := range map[string]string{in("data/rows"): "is a store", in("monday"): "is a backup"} {
		if _, err := Restore(t.Context(), in("monday"), dir, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("restored into %s: error %v, want %q", dir, err, want)
		}
	}
	if diff := cmp.Diff(before, tree(t, top)); diff != "" {
		t.Errorf("something was written (-want +got):\n%s", diff)
	}
	// A data directory that was copied from a backup by hand has its manifest.
	for _, dir := range []string{in("data/tuesday"), in("log"), "../wednesday", filepath.Join(copied, "thursday")} {
		if _, err := Receive(bytes.NewReader(whole), dir); err != nil {
			t.Errorf("a backup in %s: %v", dir, err)
		}
	}
}
