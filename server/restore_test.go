package server

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/server/internal/backup"
)

// TestADataDirectoryThatIsNotRestoredToItsEndIsOpenedByNobody: neither by a server nor by a command, until a restore
// comes to its end.
func TestADataDirectoryThatIsNotRestoredToItsEndIsOpenedByNobody(t *testing.T) {
	app, dir := sampleBackup(t)
	data := filepath.Join(t.TempDir(), "data")
	runProgram(t, app, start{args: []string{"restore", dir, data}}).wantExit(t, exitDone, "with 50 events")
	if err := os.WriteFile(filepath.Join(data, "RESTORING"), []byte(".restore-1\nrows\nlog\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store, events := "embedded:"+data, filepath.Join(t.TempDir(), "events.jsonl")
	for _, refused := range [][]string{
		{"serve", "--listen", "127.0.0.1:0", "--store", store},
		{"serve", "--listen", "127.0.0.1:0", "--store", "memory:", "--events", "log:" + data},
		{"serve", "--listen", "127.0.0.1:0", "--store", store, "--events", "file:" + events, "--mirror"},
		{"rebuild", "start", "Task", "--store", store},
		{"deadletters", "list", "--store", store},
		{"events", "search", "--store", store},
		{"backup", filepath.Join(t.TempDir(), "b"), "--store", store},
	} {
		runProgram(t, app, start{args: refused}).wantExit(t, exitFailed, "RESTORING")
	}
	// As a restore leaves it that has put the other in place, or neither.
	for _, missing := range []string{"log", "rows"} {
		if err := os.RemoveAll(filepath.Join(data, missing)); err != nil {
			t.Fatal(err)
		}
		for _, refused := range [][]string{
			{"events", "search", "--store", store},
			{"backup", filepath.Join(t.TempDir(), "b"), "--store", store},
			{"tables", "plan", "--store", store},
		} {
			runProgram(t, app, start{args: refused}).wantExit(t, exitFailed, "RESTORING")
		}
	}
	runProgram(t, app, start{args: []string{"restore", dir, data}}).wantExit(t, exitDone, "with 50 events")
	answersUpTo(t, app, data, 50)
}

// interruptedBehind is a context that ends as soon as a path is there, and is asked.
type interruptedBehind struct {
	context.Context
	path string
	end  func()
}

func (c interruptedBehind) Err() error {
	if _, err := os.Stat(c.path); err == nil {
		c.end()
	}
	return c.Context.Err()
}

// TestARestoreThatIsInterruptedSaysWhatToDo about the directory, which nobody opens until one succeeds.
func TestARestoreThatIsInterruptedSaysWhatToDo(t *testing.T) {
	app, dir := sampleBackup(t)
	data := filepath.Join(t.TempDir(), "data")
	ctx, cancel := context.WithCancel(t.Context())
	mark, restore := filepath.Join(data, "RESTORING"), start{args: []string{"restore", dir, data}}
	c := &call{}
	c.code = restore.program(app, c).run(interruptedBehind{ctx, mark, cancel})
	c.wantExit(t, exitFailed, "interrupted; no server or command opens "+data)
	c.wantExit(t, exitFailed, "remove "+mark)
	eventsOf(t, app, "search", "--store", "embedded:"+data).wantExit(t, exitFailed, "RESTORING")
	runProgram(t, app, restore).wantExit(t, exitDone, "with 50 events")
	answersUpTo(t, app, data, 50)
}

// TestABackupThatCannotBeUsedIsPutNowhere, and keeps no other one from being restored there.
func TestABackupThatCannotBeUsedIsPutNowhere(t *testing.T) {
	app, dir := sampleBackup(t)
	other, data := filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "data")
	runProgram(t, app, start{args: []string{"backup", other, "--store", "embedded:" + otherLog(t, app)}}).
		wantExit(t, exitDone, "")
	mixed := filepath.Join(t.TempDir(), "mixed")
	copyDir(t, dir, mixed)
	copyDir(t, filepath.Join(other, "log"), filepath.Join(mixed, "log"))
	rows, log := listedIn(t, dir), listedIn(t, other)
	rows.Files = slices.DeleteFunc(rows.Files, func(f backup.File) bool { return strings.HasPrefix(f.Name, "log/") })
	log.Files = slices.DeleteFunc(log.Files, func(f backup.File) bool { return strings.HasPrefix(f.Name, "rows/") })
	rows.Files = append(rows.Files, log.Files...)
	text, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mixed, "backup.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	runProgram(t, app, start{args: []string{"restore", mixed, data}}).
		wantExit(t, exitFailed, "cannot be used: its log is not the one of its rows")
	if left, err := os.ReadDir(data); len(left) != 1 || err != nil {
		t.Errorf("there are %v, error %v, want RESTORING alone", left, err)
	}
	runProgram(t, app, start{args: []string{"restore", dir, data}}).wantExit(t, exitDone, "with 50 events")
	answersUpTo(t, app, data, 50)
}

func listedIn(t *testing.T, dir string) (m backup.Manifest) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "backup.json"))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestWhoRestoresForAnotherUserIsToldToHandItOver: the service that the data are for could read none of them.
func TestWhoRestoresForAnotherUserIsToldToHandItOver(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory to another user")
	}
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: args})
	s.ready(t)
	s.end(t)
	dir := filepath.Join(t.TempDir(), "backup")
	runProgram(t, app, start{args: []string{"backup", dir, "--store", args[1]}}).wantExit(t, exitDone, "")
	for owner, told := range map[int]bool{0: false, 1234: true} {
		data := t.TempDir()
		if err := os.Chown(data, owner, 5678); err != nil {
			t.Fatal(err)
		}
		c := runProgram(t, app, start{args: []string{"restore", dir, data}})
		c.wantExit(t, exitDone, "with 0 events")
		if got := strings.Contains(c.stderr.String(), "run 'chown -R 1234:5678 "+data+"/'"); got != told {
			t.Errorf("a directory of user %d: told %v\n%s", owner, got, &c.stderr)
		}
	}
}
