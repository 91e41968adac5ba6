package dev

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// programsPrefix begins the name of a folder for programs; the number of the process that uses it follows.
const programsPrefix = "foldql-dev-"

// newProgramsFolder makes a folder for the programs that are built, and removes those that killed processes have left.
func newProgramsFolder() (string, error) {
	removeLeftPrograms()
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-*", programsPrefix, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make a folder for the programs: %w", err)
	}
	return dir, nil
}

// removeLeftPrograms removes the folders whose process is gone. Those that it may not remove are somebody else's, and
// left to them.
func removeLeftPrograms() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), programsPrefix+"*-*"))
	for _, dir := range left {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), programsPrefix), "-")
		if pid, err := strconv.Atoi(number); err == nil && pid > 0 && isGone(pid) {
			_ = os.RemoveAll(dir)
		}
	}
}

// isGone reports whether no process has the number. One that may not be asked is there.
func isGone(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return !errors.Is(err, os.ErrPermission) // on Windows; elsewhere every number is found
	}
	defer func() { _ = p.Release() }()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
