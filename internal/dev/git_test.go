package dev

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestNothingIsDoneWhileGitChangesFiles, but for a lock that a git that was killed has left.
func TestNothingIsDoneWhileGitChangesFiles(t *testing.T) {
	dir := t.TempDir()
	if lock := gitLock(dir); lock != "" {
		t.Fatalf("without git, its lock is %s", lock)
	}
	awaitGit(t.Context(), "")
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lock := gitLock(dir)
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if awaitGit(ctx, lock); ctx.Err() == nil {
		t.Error("it does not wait for git")
	}
	for _, by := range []time.Duration{-2 * toCheckOut, time.Hour} {
		left := time.Now().Add(by)
		if err := os.Chtimes(lock, left, left); err != nil {
			t.Fatal(err)
		}
		awaitGit(t.Context(), lock)
	}
}
