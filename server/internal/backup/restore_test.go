package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// killing kills a restore at its n-th step: before it copies a file, of which there are four, or gives a part its name.
type killing struct {
	context.Context
	steps, at int
}

func (k *killing) step() {
	if k.steps++; k.steps > k.at {
		panic(k)
	}
}

// Err implements context.Context.
func (k *killing) Err() error {
	k.step()
	return nil
}

func (k *killing) rename(from, to string) error {
	k.step()
	return os.Rename(from, to)
}

// restore restores a backup into a data directory, and reports whether it was killed.
func (k *killing) restore(t *testing.T, dir, data string) (killed bool) {
	t.Helper()
	m, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { killed = recover() == k }()
	if err := (&restoration{Manifest: m, dir: dir, data: data, rename: k.rename}).run(k); err != nil {
		t.Error(err)
	}
	return false
}

// TestARestoreThatIsKilledIsRefusedAndRepeated: wherever it ends, there is all of the backup, or a directory that
// nobody opens, and the next restore puts all of it there.
func TestARestoreThatIsKilledIsRefusedAndRepeated(t *testing.T) {
	whole := stream(t, newSender(t))
	const steps = 6
	for at := range steps + 1 {
		dir, data := receiveWhole(t, whole), t.TempDir()
		killed := (&killing{Context: t.Context(), at: at}).restore(t, dir, data)
		if killed != (at < steps) {
			t.Errorf("after %d steps: killed %v", at, killed)
		}
		if err := CheckRestored(data); (err != nil) != killed {
			t.Errorf("killed %v after %d steps: %v", killed, at, err)
		}
		if !killed {
			continue
		}
		if _, err := Restore(t.Context(), dir, data, nil); err != nil {
			t.Errorf("repeated after %d steps: %v", at, err)
		}
		if err := CheckRestored(data); err != nil {
			t.Error(err)
		}
		want := tree(t, dir)
		delete(want, manifestName)
		if diff := cmp.Diff(want, tree(t, data)); diff != "" {
			t.Errorf("repeated after %d steps (-want +got):\n%s", at, diff)
		}
	}
}

// TestARestoreThatIsRepeatedInVainIsRefusedStill: the former one has left less than the backup, or nothing of it.
func TestARestoreThatIsRepeatedInVainIsRefusedStill(t *testing.T) {
	for at := range 6 {
		dir, data := receiveWhole(t, stream(t, newSender(t))), t.TempDir()
		(&killing{Context: t.Context(), at: at}).restore(t, dir, data)
		file := filepath.Join(dir, "rows", "MANIFEST")
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), dir, data, nil); err == nil {
			t.Error("a damaged backup is restored")
		}
		if err := CheckRestored(data); err == nil {
			t.Errorf("killed after %d steps, and repeated with a damaged backup: anybody can open what is there", at)
		}
		if err := os.WriteFile(file, []byte("m"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), dir, data, nil); err != nil {
			t.Error(err)
		}
		if err := CheckRestored(data); err != nil {
			t.Error(err)
		}
	}
}

// TestARestoreThatIsRepeatedRemovesNothingOfOthers: one that was killed while it copied has put no part in place.
func TestARestoreThatIsRepeatedRemovesNothingOfOthers(t *testing.T) {
	dir, data := receiveWhole(t, stream(t, newSender(t))), t.TempDir()
	(&killing{Context: t.Context(), at: 1}).restore(t, dir, data)
	mine := filepath.Join(data, Rows, "mine")
	if err := errors.Join(os.Mkdir(filepath.Dir(mine), 0o700), os.WriteFile(mine, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), dir, data, nil); err == nil {
		t.Error("restored beside rows of others")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

// TestARestoreThatFailsLeavesItsMarkAlone, where it has put a part in place already, and removes nothing of others.
func TestARestoreThatFailsLeavesItsMarkAlone(t *testing.T) {
	dir, data := receiveWhole(t, stream(t, newSender(t))), t.TempDir()
	m, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &restoration{Manifest: m, dir: dir, data: data, rename: func(from, to string) error {
		if filepath.Base(to) == Rows {
			if err := os.Mkdir(to, 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(to, "other"), nil, 0o600); err != nil {
				return err
			}
		}
		return os.Rename(from, to)
	}}
	err = r.run(t.Context())
	wantUnopened(t, err, data)
	if diff := cmp.Diff(map[string]string{restoring: string(r.mark), "rows/other": ""}, tree(t, data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// wantUnopened fails unless the error of a restore says what to do about its mark, which is there.
func wantUnopened(t *testing.T, err error, data string) {
	t.Helper()
	want := "to begin without one, remove " + filepath.Join(data, restoring)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q in it", err, want)
	}
	if CheckRestored(data) == nil {
		t.Error("anybody can open what is there")
	}
}

// TestADirectoryIsOpenedByNobodyAfterARestoreThatFailed, until one succeeds: whoever found it empty would begin anew.
func TestADirectoryIsOpenedByNobodyAfterARestoreThatFailed(t *testing.T) {
	damaged := errors.New("damaged")
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx    context.Context
		verify func(*Manifest, string) error
		want   string
	}{
		"it is interrupted":         {ended, nil, "interrupted"},
		"the backup cannot be used": {t.Context(), func(*Manifest, string) error { return damaged }, "damaged"},
	} {
		dir, data := receiveWhole(t, stream(t, newSender(t))), t.TempDir()
		_, err := Restore(c.ctx, dir, data, c.verify)
		wantUnopened(t, err, data)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
		if left := tree(t, data); len(left) != 1 {
			t.Errorf("%s: it has left %v", name, left)
		}
		if _, err := Restore(t.Context(), dir, data, nil); err != nil {
			t.Errorf("%s, and repeated: %v", name, err)
		}
		if err := CheckRestored(data); err != nil {
			t.Errorf("%s, and repeated: %v", name, err)
		}
	}
}

// TestHowToBeginWithoutABackupNamesAllThatARestoreHasLeft, the mark last, and nothing else: without the mark, a server
// takes what is there for all that there was.
func TestHowToBeginWithoutABackupNamesAllThatARestoreHasLeft(t *testing.T) {
	data := t.TempDir()
	for _, dir := range []string{"log", "mirror", ".restore-1", ".restore-notes", "backups"} {
		if err := os.Mkdir(filepath.Join(data, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(data, ".restore-1", marker), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := markOf(".restore-1", []string{Rows, Log}).write(data); err != nil {
		t.Fatal(err)
	}
	err := CheckRestored(data)
	want := fmt.Sprintf("remove %[1]s/log, then %[1]s/.restore-1, then %[1]s/RESTORING", data)
	if err == nil || !strings.HasSuffix(filepath.ToSlash(err.Error()), filepath.ToSlash(want)) {
		t.Errorf("error %v, want %q at its end", err, want)
	}
}

// TestAMarkThatCannotBeReadIsNotToBeRemoved: it may name a part of a backup that would be taken for all that there was.
func TestAMarkThatCannotBeReadIsNotToBeRemoved(t *testing.T) {
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, restoring), 0o700); err != nil { // nobody reads that
		t.Fatal(err)
	}
	err := CheckRestored(data)
	if err == nil || !strings.Contains(err.Error(), "into another directory") || strings.Contains(err.Error(), "remove") {
		t.Errorf("error %v", err)
	}
}
