package backup

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/foldql/foldql/internal/disk"
	"github.com/google/go-cmp/cmp"
)

// files is a store of some files.
type files map[string]string

func (f files) Snapshot(dir string) error {
	for name, text := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// newSender has rows and a log in one data directory.
func newSender(t *testing.T) *Sender {
	t.Helper()
	data := t.TempDir()
	return &Sender{Parts: []Part{
		{Rows, files{"a.tbl": strings.Repeat("row ", 5000), "MANIFEST": "m", "deep/b.tbl": ""}, filepath.Join(data, "rows")},
		{Log, files{"c.log": "events"}, filepath.Join(data, "log")},
	}}
}

func stream(t *testing.T, s *Sender) []byte {
	t.Helper()
	taken, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := errors.Join(taken.Send(t.Context(), &b), taken.Remove()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tree is the files below a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		all[rel] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWhatIsRestoredIsWhatWasCopied(t *testing.T) {
	s := newSender(t)
	dir, data := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "data")
	if _, err := Receive(bytes.NewReader(stream(t, s)), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), dir, data, nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, p := range s.Parts {
		for name, text := range p.Store.(files) {
			want[p.Name+"/"+name] = text
		}
	}
	if diff := cmp.Diff(want, tree(t, data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if left := tree(t, filepath.Dir(s.Parts[0].Dir)); len(left) > 0 {
		t.Errorf("files are left beside the store: %v", left)
	}
}

// TestAStreamThatIsCutOrChangedIsNoBackup: wherever it ends, and whichever byte is another. What differs in a header
// alone, and in no name or size, need not be noticed.
func TestAStreamThatIsCutOrChangedIsNoBackup(t *testing.T) {
	whole := stream(t, newSender(t))
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	end := bytes.LastIndexByte(whole, '}') // of the manifest; zeros follow
	for range 200 {
		dir := filepath.Join(t.TempDir(), "b")
		cut := rng.IntN(end)
		if _, err := Receive(bytes.NewReader(whole[:cut]), dir); err == nil {
			t.Fatalf("seed %d: a stream that was cut at %d of %d bytes is a backup", seed, cut, len(whole))
		}
		changed := bytes.Clone(whole)
		changed[rng.IntN(end)] ^= byte(1 << rng.IntN(8))
		if _, err := Receive(bytes.NewReader(changed), dir); err == nil {
			want, got := tree(t, dir), tree(t, receiveWhole(t, whole))
			delete(want, manifestName)
			delete(got, manifestName)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: a stream that was changed is a backup:\n%s", seed, diff)
			}
			continue
		}
		if left := tree(t, filepath.Dir(dir)); len(left) > 0 {
			t.Fatalf("seed %d: files are left: %v", seed, left)
		}
	}
}

func receiveWhole(t *testing.T, whole []byte) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "whole")
	if _, err := Receive(bytes.NewReader(whole), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestNoStreamWritesElsewhere: an entry that leads out of the directory, or is no file, is refused.
func TestNoStreamWritesElsewhere(t *testing.T) {
	for _, h := range []tar.Header{
		{Name: "../evil", Typeflag: tar.TypeReg}, {Name: "/evil", Typeflag: tar.TypeReg},
		{Name: "rows/../../evil", Typeflag: tar.TypeReg}, {Name: "rows", Typeflag: tar.TypeSymlink, Linkname: "/"},
		{Name: "rows/x", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}, {Name: "", Typeflag: tar.TypeReg},
	} {
		var b bytes.Buffer
		out := tar.NewWriter(&b)
		if err := errors.Join(out.WriteHeader(&h), out.Close()); err != nil {
			t.Fatal(err)
		}
		above := t.TempDir()
		if _, err := Receive(&b, filepath.Join(above, "b")); err == nil || len(tree(t, above)) > 0 {
			t.Errorf("%+v: error %v, files %v", h.Name, err, tree(t, above))
		}
	}
}

// TestADamagedBackupIsNotRestored: nothing is put in place of one with a file that is missing, other or too many in its
// manifest, nor over what is there.
func TestADamagedBackupIsNotRestored(t *testing.T) {
	whole := stream(t, newSender(t))
	for name, c := range map[string]struct {
		damage func(dir, data string) error
		want   string
	}{
		"a file is missing": {func(dir, _ string) error { return os.Remove(filepath.Join(dir, "rows", "a.tbl")) }, "a.tbl"},
		"a byte is another": {func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, "log", "c.log"), []byte("eventz"), 0o600)
		}, "c.log is damaged"},
		"no manifest": {func(dir, _ string) error { return os.Remove(filepath.Join(dir, manifestName)) }, "is no backup"},
		"another format": {func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, manifestName), []byte(`{"format":2}`), 0o600)
		}, "use the version of the program"},
		"a name that leads out": {func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, manifestName),
				[]byte(`{"format":1,"parts":["log"],"files":[{"name":"log/../../x"}]}`), 0o600)
		}, "it is damaged"},
		"rows are there": {func(_, data string) error { return os.MkdirAll(filepath.Join(data, "rows"), 0o700) }, "exists"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, data := receiveWhole(t, whole), filepath.Join(t.TempDir(), "data")
			if err := c.damage(dir, data); err != nil {
				t.Fatal(err)
			}
			if _, err := Restore(t.Context(), dir, data, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(data, Log)); err == nil {
				t.Error("the log was put in place")
			}
		})
	}
}

// TestAMarkThatCannotBeWrittenIsNotLeft: nobody would open the directory, in which nothing was put. The mark of another
// restore stays.
func TestAMarkThatCannotBeWrittenIsNotLeft(t *testing.T) {
	data, full := t.TempDir(), errors.New("no space left on device")
	path := filepath.Join(data, restoring)
	half := io.MultiReader(strings.NewReader(".restore-1\n"), iotest.ErrReader(full))
	if err := writeWhole(path, half); !errors.Is(err, full) {
		t.Errorf("error %v, want that of the disk", err)
	}
	if err := CheckRestored(data); err != nil {
		t.Error(err)
	}
	others := mark(".restore-2\nlog\n")
	if err := others.write(data); err != nil {
		t.Fatal(err)
	}
	if err := mark(".restore-1\nlog\n").write(data); !errors.Is(err, fs.ErrExist) {
		t.Errorf("beside another restore: %v", err)
	}
	if diff := cmp.Diff(map[string]string{restoring: string(others)}, tree(t, data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestADirectoryIsMadeWithNamesThatLast: after a power cut, a backup is found below those that were made for it.
func TestADirectoryIsMadeWithNamesThatLast(t *testing.T) {
	top := t.TempDir()
	if err := os.Mkdir(filepath.Join(top, "there"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"there": nil, "one": {"."}, "there/a/b": {"there", "there/a"}} {
		var synced []string
		err := makeDirs(filepath.Join(top, name), func(dir string) error {
			rel, err := filepath.Rel(top, dir)
			synced = append(synced, filepath.ToSlash(rel))
			return err
		})
		if diff := cmp.Diff(want, synced); diff != "" || err != nil {
			t.Errorf("%s: error %v, synced (-want +got):\n%s", name, err, diff)
		}
		if info, err := os.Stat(filepath.Join(top, name)); err != nil || !info.IsDir() {
			t.Errorf("%s is not made: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(top, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := makeDirs(filepath.Join(top, "file", "below"), disk.SyncDir); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: error %v", err)
	}
	dir := filepath.Join(top, "new", "backup")
	if _, err := Receive(bytes.NewReader(stream(t, newSender(t))), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), dir, filepath.Join(top, "newer", "data")+"/", nil); err != nil {
		t.Error(err)
	}
}

func TestBackupsAreMadeOneAtATime(t *testing.T) {
	s := newSender(t)
	first, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Snapshot(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("the second while the first is made: %v", err)
	}
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	stream(t, s)
}

// TestABackupRemovesWhatOthersOfItsStoreLeft, and nothing else that lies beside the store.
func TestABackupRemovesWhatOthersOfItsStoreLeft(t *testing.T) {
	s := newSender(t)
	data := filepath.Dir(s.Parts[0].Dir)
	if _, err := s.Snapshot(t.Context()); err != nil { // a process that ends amid it
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(data, ".*.backup-*"))
	if err != nil || len(left) != 2 {
		t.Fatalf("copies beside the stores: %q, error %v; want two", left, err)
	}
	kept := []string{".backup-2024", ".rows.backup-2024", ".other.backup-1"}
	for _, name := range kept {
		if err := os.MkdirAll(filepath.Join(data, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, name, "thesis"), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(data, ".other.backup-1", marker), nil, 0o600); err != nil { // another server's
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, ".rows.backup-2024.tgz"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	stream(t, &Sender{Parts: s.Parts})
	want := map[string]string{".rows.backup-2024.tgz": "old"}
	for _, name := range kept {
		want[filepath.Join(name, "thesis")] = "mine"
	}
	want[filepath.Join(".other.backup-1", marker)] = ""
	if diff := cmp.Diff(want, tree(t, data)); diff != "" {
		t.Errorf("beside the stores (-want +got):\n%s", diff)
	}
}

// TestWhatAKilledBackupOrRestoreHasLeftIsRemovedByTheNext of the same directory, and nothing that others have made.
func TestWhatAKilledBackupOrRestoreHasLeftIsRemovedByTheNext(t *testing.T) {
	whole := stream(t, newSender(t))
	backups, data := t.TempDir(), t.TempDir()
	dir := filepath.Join(backups, "monday")
	for _, path := range []string{filepath.Join(backups, ".monday.partial-mine"),
		filepath.Join(backups, ".tuesday.partial-1"), filepath.Join(data, ".restore-mine")} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "thesis"), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(backups, ".tuesday.partial-1", marker), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left := func(beside, prefix string) {
		t.Helper()
		killed, err := scratch(beside, prefix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(killed, "large"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left(backups, partialPrefix(dir))
	if _, err := Receive(bytes.NewReader(whole), dir); err != nil {
		t.Fatal(err)
	}
	left(data, restorePrefix)
	if _, err := Restore(t.Context(), dir, data, nil); err != nil {
		t.Fatal(err)
	}
	for above, want := range map[string][]string{
		backups: {".monday.partial-mine", ".tuesday.partial-1", "monday"}, data: {".restore-mine", "log", "rows"},
	} {
		var names []string
		found, err := os.ReadDir(above)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range found {
			names = append(names, entry.Name())
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, marker)); err == nil {
		t.Error("the backup has the marker")
	}
}

func FuzzManifestsNameFilesOfTheBackupAlone(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(`{"format":1,"parts":["rows"],"files":[{"name":"rows/x","size":1,"sha256":""}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parse(text)
		if err != nil {
			return
		}
		for _, file := range m.Files {
			if !filepath.IsLocal(filepath.FromSlash(file.Name)) {
				t.Errorf("%q leads out of the backup", file.Name)
			}
		}
	})
}
