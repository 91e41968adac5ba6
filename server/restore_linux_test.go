package server

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestADataDirectoryIsOpenedByNobodyWhileARestoreCopies, nor after one that was killed or terminated meanwhile, which
// is repeated.
func TestADataDirectoryIsOpenedByNobodyWhileARestoreCopies(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) { testRestoreThatEnds(t, signal) })
	}
}

func testRestoreThatEnds(t *testing.T, by syscall.Signal) {
	app, dir := sampleBackup(t)
	data := filepath.Join(t.TempDir(), "data")
	files, err := filepath.Glob(filepath.Join(dir, "log", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the backup has %v of the log, error %v", files, err)
	}
	last, kept := files[len(files)-1], filepath.Join(t.TempDir(), "kept")
	if err := errors.Join(os.Rename(last, kept), syscall.Mkfifo(last, 0o600)); err != nil {
		t.Fatal(err)
	}
	restore := exec.CommandContext(t.Context(), os.Args[0], "restore", dir, data)
	restore.Env = append(os.Environ(), "SERVER_TEST_PROGRAM=1")
	if err := restore.Start(); err != nil {
		t.Fatal(err)
	}
	amid, err := os.OpenFile(last, os.O_WRONLY, 0) // returns when the restore is about to read it
	if err != nil {
		t.Fatal(err)
	}
	wantRefused(t, app, data)
	if err := errors.Join(restore.Process.Signal(by), amid.Close()); err != nil {
		t.Fatal(err)
	}
	if err := restore.Wait(); err == nil {
		t.Error("the restore has not failed")
	}
	wantRefused(t, app, data)
	if err := errors.Join(os.Remove(last), os.Rename(kept, last)); err != nil {
		t.Fatal(err)
	}
	runProgram(t, app, start{args: []string{"restore", dir, data}}).wantExit(t, exitDone, "with 50 events")
	if left, err := filepath.Glob(filepath.Join(data, ".restore-*")); len(left) > 0 || err != nil {
		t.Errorf("the former restore has left %v, error %v", left, err)
	}
	answersUpTo(t, app, data, 50)
}

// wantRefused fails unless a server refuses to open a data directory.
func wantRefused(t *testing.T, app App, data string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of a server that opens it
	defer cancel()
	c, args := &call{}, []string{"serve", "--listen", "127.0.0.1:0", "--store", "embedded:" + data}
	c.code = start{args: args}.program(app, c).run(ctx)
	c.wantExit(t, exitFailed, "RESTORING")
}
