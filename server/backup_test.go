package server

import (
	"archive/tar"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foldql/foldql/eventlog/embeddedlog"
)

// TestABackupIsAPrefixOfWhatWasAcknowledged: it is taken while events are appended, has all that were acknowledged
// before it began, and a server over what is restored of it answers with just its events.
func TestABackupIsAPrefixOfWhatWasAcknowledged(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: args})
	s.ready(t)
	var acknowledged atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for next := 1; ; next += 20 {
			select {
			case <-stop:
				return
			default:
			}
			if status := s.post(t, slices.Collect(taskEvents(next, 20))); status != http.StatusCreated {
				t.Errorf("append: status %d", status)
				return
			}
			acknowledged.Add(20)
		}
	}()
	for n := range 3 {
		s.until(t, "further", func() bool { return acknowledged.Load() >= int64(1000*(n+1)) })
		before := acknowledged.Load()
		dir, data := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
		runProgram(t, app, start{args: []string{"backup", dir, "--url", s.url}}).
			wantExit(t, exitDone, "has the rows and the log as of")
		restored := runProgram(t, app, start{args: []string{"restore", dir, data}})
		restored.wantExit(t, exitDone, " events\n")
		events := number(t, restored.stdout.String(), `with (\d+) events`)
		if events < before {
			t.Errorf("the backup has %d events; %d were acknowledged before it", events, before)
		}
		isPrefix(t, data, uint64(events))
		answersUpTo(t, app, data, events)
	}
	close(stop)
	<-stopped
	left, err := filepath.Glob(filepath.Join(strings.TrimPrefix(args[1], "embedded:"), ".*backup-*"))
	if len(left) > 0 || err != nil {
		t.Errorf("copies are left beside the store: %q, error %v", left, err)
	}
}

func number(t *testing.T, text, pattern string) int64 {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("%q does not match %s", text, pattern)
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// isPrefix fails unless the log has the first n events that were appended, in their order, and no others.
func isPrefix(t *testing.T, data string, n uint64) {
	t.Helper()
	l, err := embeddedlog.Open(embeddedlog.Options{Dir: filepath.Join(data, "log")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for after := uint64(0); ; {
		events, err := l.Read(t.Context(), embeddedlog.Partition, after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			if after != n {
				t.Errorf("the log has %d events, want %d", after, n)
			}
			return
		}
		for _, e := range events {
			if after++; e.Offset != after || e.ID != fmt.Sprint("added-", after) {
				t.Fatalf("event %d is %s at offset %d", after, e.ID, e.Offset)
			}
		}
	}
}

// answersUpTo fails unless a server over the data has the tasks of the first n events, and no others.
func answersUpTo(t *testing.T, app App, data string, n int64) {
	t.Helper()
	s := serve(t, app, start{args: []string{"--store", "embedded:" + data, "--cache-mb", "8"}})
	s.ready(t)
	if got, want := s.query(t, fmt.Sprintf(`{ last: Task(id: "%d") { title } next: Task(id: "%d") { title } }`, n, n+1)),
		fmt.Sprintf(`{"data":{"last":{"title":"Task %d"},"next":null}}`, n); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.end(t)
}

// TestABackupOfAStoreThatNoServerHasOpen is as good as that of a running server, and refused where there is nothing to
// copy.
func TestABackupOfAStoreThatNoServerHasOpen(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: append(args, "--sample")})
	s.ready(t)
	s.end(t)
	dir, data := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
	runProgram(t, app, start{args: []string{"backup", dir + "/", "--store", args[1]}}).wantExit(t, exitDone,
		"rows and the log")
	runProgram(t, app, start{args: []string{"backup", dir, "--store", args[1]}}).wantExit(t, exitFailed, "exists")
	runProgram(t, app, start{args: []string{"restore", dir, data}}).wantExit(t, exitDone, "with 50 events")
	answersUpTo(t, app, data, 50)
	runProgram(t, app, start{args: []string{"restore", dir, data}}).wantExit(t, exitFailed, "rows exists")
	runProgram(t, app, start{args: []string{"restore", data, filepath.Join(t.TempDir(), "x")}}).
		wantExit(t, exitFailed, "is no backup")

	for name, wrong := range map[string]struct {
		args []string
		says string
	}{
		"a data directory that is not there": {[]string{"--store", args[1] + "x"}, "open the rows"},
		"a log that is not there": {[]string{"--store", args[1], "--events", "log:" + filepath.Join(t.TempDir(), "x")},
			"open the events"},
		"a log that is not that of the rows": {[]string{"--store", args[1], "--events", "log:" + otherLog(t, app)},
			"--events"},
	} {
		made := filepath.Join(t.TempDir(), "backup")
		runProgram(t, app, start{args: append([]string{"backup", made}, wrong.args...)}).wantExit(t, exitFailed, wrong.says)
		if _, err := os.Stat(made); err == nil {
			t.Errorf("a backup of %s was made", name)
		}
	}

	memory := serve(t, app, start{args: []string{"--store", "memory:"}})
	runProgram(t, app, start{args: []string{"backup", dir + "2", "--url", memory.url}}).
		wantExit(t, exitFailed, "keeps neither rows nor a log")
	if _, err := os.Stat(dir + "2"); err == nil {
		t.Error("a backup of nothing was made")
	}
}

// otherLog is a data directory with other events.
func otherLog(t *testing.T, app App) (dir string) {
	t.Helper()
	args := embedded(t)
	s := serve(t, app, start{args: args})
	s.ready(t)
	s.end(t)
	return strings.TrimPrefix(args[1], "embedded:")
}

// TestABackupHasTheDecisionsThatWereMadeBeforeIt, and no others: what was decided later is to be decided again, and a
// rebuild of what was restored comes to the same rows.
func TestABackupHasTheDecisionsThatWereMadeBeforeIt(t *testing.T) {
	p, args := newProject(false), embedded(t)
	s := serve(t, p.App, start{args: args})
	s.append(t, taskEvent("retried", "poison"), taskEvent("skipped", "poison"), taskEvent("later", "poison"),
		taskEvent("last", "last"))
	s.until(t, "folded", holds(t, s, map[string]string{"retried": "", "skipped": "", "later": "", "last": "last"}))
	p.poisoned.Store(false)
	decide := func(s *server, verb string, offset int) {
		t.Helper()
		s.deadLetters(t, p.App, verb, "Tasks", fmt.Sprintf("0@%d", offset)).wantExit(t, exitDone, "")
	}
	decide(s, "retry", 1)
	decide(s, "skip", 2)
	before := map[string]string{"retried": "poison", "skipped": "", "later": "", "last": "last"}
	after := map[string]string{"retried": "poison", "skipped": "", "later": "poison", "last": "last"}
	s.until(t, "decided", holds(t, s, before))
	dir, data := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
	runProgram(t, p.App, start{args: []string{"backup", dir, "--url", s.url}}).wantExit(t, exitDone, "")
	decide(s, "retry", 3)
	s.until(t, "decided after the backup", holds(t, s, after))

	runProgram(t, p.App, start{args: []string{"restore", dir, data}}).wantExit(t, exitDone, "with 4 events")
	r := serve(t, p.App, start{args: []string{"--store", "embedded:" + data, "--cache-mb", "8", "--switch", "manual"}})
	r.ready(t)
	r.until(t, "as at the backup", holds(t, r, before))
	r.deadLetters(t, p.App, "list").wantExit(t, exitDone, "0@3")
	decide(r, "retry", 3)
	r.until(t, "decided again", holds(t, r, after))
	r.rebuilds(t, p.App, "start", "Tasks").wantExit(t, exitDone, "")
	r.built(t)
	r.rebuilds(t, p.App, "switch", "Tasks").wantExit(t, exitDone, "")
	r.until(t, "rebuilt with what was decided", holds(t, r, after))
	if n := r.statusOf(t).Projections[0].DeadLetters; n != 0 {
		t.Errorf("%d dead letters are left", n)
	}
}

// sampleBackup is a backup of a store with 50 sample events, and the program that it is of.
func sampleBackup(t *testing.T) (app App, dir string) {
	t.Helper()
	app = newProject(false).App
	args := embedded(t)
	s := serve(t, app, start{args: append(args, "--sample")})
	s.ready(t)
	s.end(t)
	dir = filepath.Join(t.TempDir(), "backup")
	runProgram(t, app, start{args: []string{"backup", dir, "--store", args[1]}}).wantExit(t, exitDone, "")
	return app, dir
}

// TestAServerThatStartsRemovesWhatAKilledBackupHasLeft, which would fill its disk until the next one, and what a
// restore has left where its mark was removed.
func TestAServerThatStartsRemovesWhatAKilledBackupHasLeft(t *testing.T) {
	args := embedded(t)
	data := strings.TrimPrefix(args[1], "embedded:")
	left, other := filepath.Join(data, ".log.backup-1"), filepath.Join(data, ".log.backup-mine")
	restored := filepath.Join(data, ".restore-1")
	for _, name := range []string{
		filepath.Join(left, "FOLDQL-BACKUP"), filepath.Join(restored, "FOLDQL-BACKUP"), filepath.Join(other, "thesis"),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	serve(t, newProject(false).App, start{args: args}).ready(t)
	for _, gone := range []string{left, restored} {
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("what was left as %s: %v", gone, err)
		}
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("what somebody else has made: %v", err)
	}
}

// TestABackupIsNotPutIntoADirectoryThatIsNamedAsAStoreIs, where no server would look for it.
func TestABackupIsNotPutIntoADirectoryThatIsNamedAsAStoreIs(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	serve(t, app, start{args: args}).end(t)
	t.Chdir(t.TempDir())
	runProgram(t, app, start{args: append([]string{"backup", "monday"}, args...)}).wantExit(t, exitDone, "has the rows")
	for _, wrong := range [][]string{
		{"restore", "monday", "embedded:data"}, {"restore", "monday", "log:data"}, {"restore", "embedded:monday", "data"},
		append([]string{"backup", "embedded:tuesday"}, args...),
	} {
		runProgram(t, app, start{args: wrong}).wantExit(t, exitUsage, "write the directory alone")
	}
	if made, err := os.ReadDir("."); len(made) != 1 || err != nil {
		t.Errorf("there are %v, error %v, want the backup alone", made, err)
	}
	runProgram(t, app, start{args: []string{"restore", "monday", "./log:data"}}).wantExit(t, exitDone, "events")
}

// TestABackupThatTheServerGivesUpSaysWhereTheReasonIs, in or between two files: the answer has begun by then.
func TestABackupThatTheServerGivesUpSaysWhereTheReasonIs(t *testing.T) {
	const file = "what is in the file"
	for _, sent := range []string{file, ""} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			out := tar.NewWriter(w)
			err := out.WriteHeader(&tar.Header{Name: "rows/1.sst", Size: int64(len(file)), Mode: 0o600})
			if _, not := io.WriteString(out, sent); err != nil || not != nil {
				t.Errorf("errors %v, %v", err, not)
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}))
		dir := filepath.Join(t.TempDir(), "backup")
		runProgram(t, newProject(false).App, start{args: []string{"backup", dir, "--url", s.URL}}).
			wantExit(t, exitFailed, "its log says why")
		s.Close()
	}
}

// TestABackupIsForThoseWhoMayWrite: it holds all rows, and the secret of page tokens.
func TestABackupIsForThoseWhoMayWrite(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: append(embedded(t), "--write-token", "a-long-enough-secret")})
	s.ready(t)
	for _, c := range []struct {
		status  int
		headers []string
	}{
		{http.StatusUnauthorized, []string{"Content-Type", "application/json"}},
		{http.StatusUnauthorized, []string{"Content-Type", "application/json", "Authorization", "Bearer another"}},
		{http.StatusBadRequest, []string{"Authorization", "Bearer a-long-enough-secret"}},
		{http.StatusOK, []string{"Content-Type", "application/json", "Authorization", "Bearer a-long-enough-secret"}},
	} {
		if status, _ := s.request(t, "POST", "/admin/backup", "{}", c.headers...); status != c.status {
			t.Errorf("%v: status %d, want %d", c.headers, status, c.status)
		}
	}
}
