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

// TestTheProgramIsPutWhereWindowsRunsIt: by a name that ends as those of programs do.
func TestTheProgramIsPutWhereWindowsRunsIt(t *testing.T) {
	defer func(own string) { executable = own }(executable)
	root := t.TempDir()
	program := filepath.Join(root, "built")
	for _, tc := range []struct{ ending, name, want string }{
		{".exe", "bin/server", "bin/server.exe"}, {".exe", "bin/named.exe", "bin/named.exe"}, {"", "bin/other", "bin/other"},
	} {
		executable = tc.ending
		if err := os.WriteFile(program, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := install(program, root, tc.name); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(root, tc.want)); err != nil {
			t.Errorf("%s is not at %s: %v", tc.name, tc.want, err)
		}
	}
}
