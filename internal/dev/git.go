package dev

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// committed is a file as the last commit has it, "" where git does not say.
func committed(path string) string {
	text, err := exec.Command("git", "-C", filepath.Dir(path), "show", "HEAD:./"+filepath.Base(path)).Output()
	if err != nil {
		return ""
	}
	return string(text)
}

// gitLock is the file that git keeps while it changes files of a folder, "" where git has nothing to do with it.
func gitLock(dir string) string {
	path, err := exec.Command("git", "-C", dir, "rev-parse", "--path-format=absolute", "--git-path", "index.lock").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(path))
}

// toCheckOut is how long git may be at work before the files count as they are: a git that was killed leaves its lock.
const toCheckOut = 10 * time.Second

// awaitGit returns when git has finished what it is at: the files are a part of one commit and a part of another until
// then, and git fails where somebody else writes one that it is about to write.
func awaitGit(ctx context.Context, lock string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		at, err := os.Stat(lock)
		if err != nil || time.Since(at.ModTime()).Abs() > toCheckOut { // or the clock was set back
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
