package dev

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestProgramsOfKilledRunsAreRemoved at the next start, and those of runs that go on are not.
func TestProgramsOfKilledRunsAreRemoved(t *testing.T) {
	temp := t.TempDir()
	for _, variable := range []string{"TMPDIR", "TMP"} {
		t.Setenv(variable, temp)
	}
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	removed := map[string]bool{
		fmt.Sprintf("foldql-dev-%d-1", ended.Process.Pid): true,
		fmt.Sprintf("foldql-dev-%d-1", os.Getpid()):       false,
		fmt.Sprintf("foldql-dev-%d-1", os.Getppid()):      false,
		"foldql-dev-mine-1":                               false,
		fmt.Sprintf("another-%d-1", ended.Process.Pid):    false,
	}
	for name := range removed {
		if err := os.MkdirAll(filepath.Join(temp, name, "run-1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ours, err := newProgramsFolder()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range removed {
		if _, err := os.Stat(filepath.Join(temp, name)); os.IsNotExist(err) != want {
			t.Errorf("%s: %v, want it removed: %t", name, err, want)
		}
	}
	removeLeftPrograms()
	if _, err := os.Stat(ours); err != nil {
		t.Errorf("another start removes the folder of this one: %v", err)
	}
}
