package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/server/internal/progress"
)

// lines writes events as a file has them.
func lines(events iter.Seq[eventlog.Event]) io.Reader {
	var b bytes.Buffer
	for e := range events {
		b.Write(append(cloudevents.Append(nil, &e), '\n'))
	}
	return &b
}

func writeLines(t testing.TB, name string, events iter.Seq[eventlog.Event]) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var to io.WriteCloser = f
	if strings.HasSuffix(name, ".gz") {
		to = gzip.NewWriter(f)
		defer to.Close()
	}
	if _, err := io.Copy(to, lines(events)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAppendSendsAFileAndMayBeRepeated(t *testing.T) {
	app := newProject(false).App
	s := serve(t, app, start{args: []string{"--store", "memory:"}, env: map[string]string{"FOLDQL_WRITE_TOKEN": "w"}})
	path := writeLines(t, "events.jsonl.gz", taskEvents(1, 1234))
	env := map[string]string{"FOLDQL_WRITE_TOKEN": "w", "FOLDQL_URL": s.url}
	runProgram(t, app, start{args: []string{"append", path}, env: env}).
		wantExit(t, exitDone, "1234 events appended, 0 there already")
	runProgram(t, app, start{args: []string{"append", "-"}, env: env, stdin: lines(taskEvents(1000, 300))}).
		wantExit(t, exitDone, "65 events appended, 235 there already")
	s.until(t, "answering", func() bool {
		return strings.Contains(s.query(t, `{ Task(id: "1299") { title } }`), "Task 1299")
	})
	runProgram(t, app, start{args: []string{"append", path, "--url", s.url}}).wantExit(t, exitFailed, "write token")
}

func TestAppendNamesTheLineThatIsWrong(t *testing.T) {
	app := newProject(false).App
	s := serve(t, app, start{args: []string{"--store", "memory:"}})
	good, err := io.ReadAll(lines(taskEvents(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	other := taskEvent("1", "other content")
	for _, tc := range []struct{ name, bad, want string }{
		{"no event", "nonsense\n", "line 3 of standard input"},
		{"field", `{"specversion":"1.0","id":"x","source":"/s","type":"TaskAdded","data":{}}`, "line 3 of -"},
		{"conflict", string(cloudevents.Append(nil, &other)), "line 3 of -"},
	} {
		c := runProgram(t, app, start{args: []string{"append", "-", "--url", s.url},
			stdin: strings.NewReader(string(good) + tc.bad)})
		if c.code != exitFailed || !strings.Contains(c.stderr.String(), tc.want) {
			t.Errorf("%s: exit code %d: %s", tc.name, c.code, &c.stderr)
		}
	}
}

func TestAppendSendsWhatPrecedesALineThatIsNoEvent(t *testing.T) {
	app := newProject(false).App
	s := serve(t, app, start{args: []string{"--store", "memory:"}})
	broken := io.MultiReader(lines(taskEvents(1, 3)), strings.NewReader("nonsense\n"), lines(taskEvents(4, 1)))
	runProgram(t, app, start{args: []string{"append", "-", "--url", s.url}, stdin: broken}).
		wantExit(t, exitFailed, "the lines before 4 are appended")
	runProgram(t, app, start{args: []string{"append", "-", "--url", s.url}, stdin: lines(taskEvents(1, 4))}).
		wantExit(t, exitDone, "1 event appended, 3 there already")
}

func TestAppendGoesOnWhenTheServerIsBack(t *testing.T) {
	var asked atomic.Int64
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		var batch []json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&batch); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"appended":[%s]}`, strings.TrimSuffix(strings.Repeat(`{"partition":"0","offset":1},`, len(batch)),
			","))
	}))
	defer away.Close()
	runProgram(t, App{}, start{args: []string{"append", "-", "--url", away.URL}, stdin: lines(taskEvents(1, 3))}).
		wantExit(t, exitDone, "3 events appended")
	away.Close()
	runProgram(t, App{}, start{args: []string{"append", "-", "--url", away.URL, "--attempts", "1"},
		stdin: lines(taskEvents(1, 3))}).
		wantExit(t, exitFailed, "append lines 1 to 3")
}

func TestReplayFoldsAFileToItsEnd(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	path := writeLines(t, "events.jsonl.gz", taskEvents(1, 5000))
	args = append(args, "--events", "file:"+path)
	c := runProgram(t, app, start{args: append([]string{"replay"}, args...)})
	c.wantExit(t, exitDone, "Tasks: 5000 events, 5000 rows written, 0 dead letters")
	c.wantExit(t, exitDone, "folded 5000 of 5000 events (100%)")
	runProgram(t, app, start{args: append([]string{"replay"}, args...)}).wantExit(t, exitDone, "Tasks: 0 events, 0 rows")
	s := serve(t, app, start{args: args})
	s.ready(t)
	if got := s.query(t, `{ Task(id: "4999") { title } }`); !strings.Contains(got, "Task 4999") {
		t.Error(got)
	}
}

func TestEventsOfUndeclaredTypesInAFileAreLogged(t *testing.T) {
	misspelt := taskEvent("x", "misspelt")
	misspelt.Type = "TaskAded"
	file := io.MultiReader(lines(taskEvents(1, 2)), bytes.NewReader(cloudevents.Append(nil, &misspelt)))
	app, args := newProject(false).App, embedded(t)
	c := runProgram(t, app, start{args: append([]string{"replay", "--events", "file:-"}, args...), stdin: file})
	c.wantExit(t, exitDone, "3 events")
	if n := strings.Count(c.stderr.String(), `"type":"TaskAded"`); n != 1 {
		t.Errorf("logged %d times, want once: %s", n, &c.stderr)
	}
}

// The checkpoint counts lines: the first lines of another file would be passed over.
func TestRowsAreNotFoldedOnFromOtherEvents(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	replay := func(stdin io.Reader, file string) *call {
		return runProgram(t, app, start{args: append([]string{"replay", "--events", "file:" + file}, args...), stdin: stdin})
	}
	replay(nil, writeLines(t, "a.jsonl", taskEvents(1, 3))).wantExit(t, exitDone, "Tasks: 3 events")
	other := writeLines(t, "b.jsonl", taskEvents(100, 5))
	replay(nil, other).wantExit(t, exitFailed, "another log")
	replay(lines(taskEvents(100, 5)), "-").wantExit(t, exitFailed, "another log")
	replay(nil, writeLines(t, "grown.jsonl", taskEvents(1, 5))).wantExit(t, exitDone, "Tasks: 2 events")
	replay(lines(taskEvents(1, 6)), "-").wantExit(t, exitDone, "Tasks: 1 event,")
}

func TestReplayOfALogEndsWhereTheLogEnded(t *testing.T) {
	p, args := newProject(false), embedded(t)
	s := serve(t, p.App, start{args: append([]string{"--sample"}, args...)})
	s.end(t)
	runProgram(t, p.App, start{args: append([]string{"replay"}, args...)}).wantExit(t, exitDone, "0 dead letters")
}

func TestDeadLettersAreListedRetriedAndSkipped(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: []string{"--store", "memory:"}})
	poisoned := []eventlog.Event{taskEvent("a", "poison"), taskEvent("b", "poison"), taskEvent("c", "fine")}
	if status := s.post(t, poisoned); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	s.until(t, "dead letters", func() bool { return s.statusOf(t).Projections[0].DeadLetters == 2 })
	command := func(args ...string) *call {
		return runProgram(t, p.App, start{args: append([]string{"deadletters"}, append(args, "--url", s.url)...)})
	}
	list := command("list")
	for _, want := range []string{"Tasks", "0@1", "0@2", "poisoned", "added-a"} {
		list.wantExit(t, exitDone, want)
	}
	command("list", "--json", "--limit", "1").wantExit(t, exitDone, `"event":"0@1"`)
	command("list", "--projection", "Tasks", "--after", "0@1").wantExit(t, exitDone, "0@2")

	command("retry", "Tasks", "0@1").wantExit(t, exitFailed, "poisoned")
	p.poisoned.Store(false)
	command("retry", "Tasks", "0@1").wantExit(t, exitDone, "Tasks 0@1: folded")
	command("skip", "Tasks", "0@2").wantExit(t, exitDone, "Tasks 0@2: skipped")
	command("skip", "Tasks", "0@2").wantExit(t, exitFailed, "no dead letter")
	command("skip", "Nothing", "0@2").wantExit(t, exitFailed, "no projection")
	command("skip", "Tasks", "zz").wantExit(t, exitFailed,
		`answered 400: skip event zz of Tasks: event "zz": want a partition`)
	command("list", "--projection", "Tasks", "--after", "zz").wantExit(t, exitFailed, "answered 400")
	command("list").wantExit(t, exitDone, "there are no dead letters")
	if got := s.query(t, `{ a: Task(id: "a") { title } b: Task(id: "b") { title } }`); got !=
		`{"data":{"a":{"title":"poison"},"b":null}}` {
		t.Error(got)
	}
}

func TestListOfEventsLeavesRoomForItsColumns(t *testing.T) {
	p := newProject(false)
	p.poisoned.Store(true)
	s := serve(t, p.App, start{args: []string{"--store", "memory:"}})
	poisoned := taskEvent(strings.Repeat("é", 300), "poison")
	if status := s.post(t, []eventlog.Event{poisoned}); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	s.until(t, "dead letters", func() bool { return s.statusOf(t).Projections[0].DeadLetters == 1 })
	list := runProgram(t, p.App, start{args: []string{"deadletters", "list", "--url", s.url}})
	list.wantExit(t, exitDone, strings.Repeat("é", 59)+"…")
	for line := range strings.Lines(list.stdout.String()) {
		if utf8.RuneCountInString(line) > 500 {
			t.Errorf("a line of the list has %d characters", utf8.RuneCountInString(line))
		}
	}
}

func TestSchemaAndVersionArePrinted(t *testing.T) {
	app := newProject(false).App
	if c := runProgram(t, app, start{args: []string{"schema"}}); c.code != exitDone || c.stdout.String() != taskSDL {
		t.Errorf("exit code %d: %s", c.code, &c.stdout)
	}
	runProgram(t, app, start{args: []string{"version"}}).wantExit(t, exitDone, "go1.")
}

func TestProgressIsPrintedInLinesWhereNobodyWatches(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC)
	m := progress.Meter{Total: 1000, Now: func() time.Time { return now }}
	m.From(100)
	m.Start(&out, "folded")
	m.At(150)
	now = now.Add(5 * time.Second)
	m.At(200)
	now = now.Add(time.Second)
	m.At(300)
	now = now.Add(4 * time.Second)
	m.At(1000)
	m.Stop()
	want := "folded 200 of 1000 events (20%), 20/s, 40s left\n"
	if !strings.HasPrefix(out.String(), want) || !strings.HasSuffix(out.String(),
		"folded 1000 of 1000 events (100%), 90/s\n") {
		t.Errorf("said:\n%s", out.String())
	}
}

func TestDeadLettersAreRetriedAndSkippedInBulk(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: []string{"--store", "memory:"}})
	for i := range 5 {
		s.append(t, taskEvent(fmt.Sprint("p", i), "poison"))
	}
	s.until(t, "dead letters", func() bool { return s.statusOf(t).Projections[0].DeadLetters == 5 })
	command := func(args ...string) *call {
		return runProgram(t, p.App, start{args: append([]string{"deadletters"}, append(args, "--url", s.url)...)})
	}
	command("retry", "Tasks").wantExit(t, exitUsage, "--all")
	command("retry", "Tasks", "--all").wantExit(t, exitFailed, "5 dead letters of Tasks failed again")
	command("skip", "Tasks", "--reason", "something else").wantExit(t, exitDone,
		"Tasks: no dead letter fits that is not blocked by another, so none is skipped")
	command("skip", "Tasks", "0@1").wantExit(t, exitDone, "Tasks 0@1: skipped")
	p.poisoned.Store(false)
	command("retry", "Tasks", "--reason", "poisoned", "--type", "TaskAdded").wantExit(t, exitDone,
		"Tasks: 4 dead letters folded\n")
	command("retry", "Tasks", "--all").wantExit(t, exitDone, "Tasks: there are no dead letters, so none is folded\n")
	command("list").wantExit(t, exitDone, "there are no dead letters")
	for _, body := range []string{`{"projection": "Tasks"}`, `{"projection": "Tasks", "event": "0@1", "all": true}`} {
		if status, _ := s.request(t, "POST", "/admin/dead-letters/retry", body, "Content-Type",
			"application/json"); status != 400 {
			t.Errorf("%s: status %d, want 400", body, status)
		}
	}
	if got := s.query(t, `{ a: Task(id: "p0") { title } b: Task(id: "p4") { title } }`); got !=
		`{"data":{"a":null,"b":{"title":"poison"}}}` {
		t.Error(got)
	}
	if status, _ := s.request(t, "GET", "/admin/dead-letters", ""); status != http.StatusOK {
		t.Errorf("/admin/dead-letters: status %d", status)
	}
}
