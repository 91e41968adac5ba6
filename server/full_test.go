package server

import (
	"path/filepath"
	"slices"
	"testing"
)

// onFullDisk has a disk count as full that has less free space than any disk.
var onFullDisk = []string{"--reserve-mb", "549755813888"}

// TestAVerificationEndsWhereItsDiskIsFull, and leaves the server the space that this keeps free: it would otherwise
// wait for the space that its own rows take, and the server would take no events meanwhile.
func TestAVerificationEndsWhereItsDiskIsFull(t *testing.T) {
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 3)))
	s.folded(t, 3)
	s.end(t)
	s = serve(t, app, start{args: append(onFullDisk, args...)})
	s.ready(t)
	s.rebuilds(t, app, "verify", "Task").wantExit(t, exitFailed, "the disk of "+scratch+" is too full for the rows of "+
		"two folds beside the space that the server keeps free for its data there (--reserve-mb, and 128 MB more)")
	if left, err := filepath.Glob(filepath.Join(scratch, "foldql-verify-*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left of the folds", left, err)
	}
	s.end(t)
}

// TestAVerificationLeavesNoSpaceToAServerThatHasNothingThere: the reserve is for the disks of its stores.
func TestAVerificationLeavesNoSpaceToAServerThatHasNothingThere(t *testing.T) {
	app := newProject(false).App
	s := serve(t, app, start{args: append(onFullDisk, "--store", "memory:")})
	s.post(t, slices.Collect(taskEvents(1, 3)))
	s.folded(t, 3)
	s.rebuilds(t, app, "verify", "Task").wantExit(t, exitDone, "")
	s.end(t)
}

// TestAReplayEndsWhereTheDiskIsFull, that of the rows or of a copy of the events, and the next one folds the rest.
func TestAReplayEndsWhereTheDiskIsFull(t *testing.T) {
	for _, copies := range [][]string{nil, {"--mirror"}} {
		app, args := newProject(false).App, append(embedded(t), copies...)
		replay := func(events int, more ...string) *call {
			t.Helper()
			file := "file:" + writeLines(t, "tasks.jsonl", taskEvents(1, events))
			return runProgram(t, app, start{args: slices.Concat([]string{"replay", "--events", file}, args, more)})
		}
		replay(1).wantExit(t, exitDone, "Tasks: 1 event, 1 row written")
		replay(3, onFullDisk...).wantExit(t, exitFailed, "the disk is full: free space, and run 'server replay' again")
		replay(3).wantExit(t, exitDone, "Tasks: 2 events, 2 rows written")
	}
}
