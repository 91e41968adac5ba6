package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/search"
)

// eventsOf runs `events` on an app, of a server or of a store.
func eventsOf(t testing.TB, app App, args ...string) *call {
	t.Helper()
	return runProgram(t, app, start{args: append([]string{"events"}, args...)})
}

// TestEventsAreShownAndSearchedAlikeWhetherTheServerRuns or not: by place, id, subject, type, source and time.
func TestEventsAreShownAndSearchedAlikeWhetherTheServerRuns(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: args})
	events := slices.Collect(taskEvents(1, 5))
	events[1].Time = events[1].Time.Add(time.Hour)
	events[2].Source, events[2].ID = "/other", "0:2"
	events[3].Subject, events[3].Data = "special", []byte("{\"taskId\":\"4\",\n\"title\":\"<four>\"}")
	events[4].Source, events[4].ID = "/other", "added-1"
	if status := s.post(t, events); status != http.StatusCreated {
		t.Fatalf("append: status %d", status)
	}
	cases := []struct {
		args string
		code int
		want string
	}{
		{"show 0:4", exitDone, `"title": "<four>"`},
		{"show 0@4", exitDone, `partition "0", offset 4: 0:4`},
		{"show added-2", exitDone, `"time": "2024-01-15T11:30:00Z"`},
		{"show 0:2", exitDone, `"id": "added-2"`},
		{"show 0:2 --id", exitDone, `partition "0", offset 3`},
		{"show added-1", exitFailed, `of source "/tasks" and of source "/other"; name one by --source, or by its place: 0:1 or 0:5`},
		{"show added-1 --source /other", exitDone, `offset 5`},
		{"show 0:6", exitFailed, "there is none at that place, and the partition ends at 0:5"},
		{"show orders:6", exitFailed, "no event has that id"},
		{"search", exitDone, "5 events; searched to the end of the log, 0:5"},
		{"search --subject special", exitDone, "0:4    2024-01-15T10:30:00Z  TaskAdded  special  /tasks  added-4\n"},
		{"search --subject special --json", exitDone, `{"partition":"0","offset":4,"event":{"specversion":"1.0","id":"added-4",` +
			`"source":"/tasks","type":"TaskAdded","subject":"special","time":"2024-01-15T10:30:00Z","data":{"taskId":"4",` +
			`"title":"<four>"}}}` + "\n"},
		{"search --type Other --type TaskAdded --source /other", exitDone, "2 events;"},
		{"search --type Other", exitDone, "0 events;"},
		{"search --after 2024-01-15T11:30:00Z", exitDone, "1 event;"},
		{"search --before 2024-01-15T11:30:00Z", exitDone, "4 events;"},
		{"search --after 2024-01-15 --before 2024-01-16", exitDone, "5 events;"},
		{"search --limit 2", exitDone, "2 events; for those that follow, add --from 0:2"},
		{"search --limit 2 --from 0:2", exitDone, "2 events; for those that follow, add --from 0:4"},
		{"search --from 0:5", exitDone, "0 events;"},
		{"search --from 0:6", exitFailed, "the position 0:6 is behind the end of the log, 0:5"},
		{"search --from 1:6", exitFailed, `the events have no partition "1"`},
		{"search --from 6", exitUsage, "from: position \"6\": want PARTITION:OFFSET"},
		{"search --after yesterday", exitUsage, `after: "yesterday" is no time; write it as 2024-01-15T10:30:00Z`},
		{"search --after 2024-01-16 --before 2024-01-16", exitUsage, "exchange them"},
		{"search --limit=-1", exitUsage, "give 0 for all events"},
		{"search --after 2024-13-01", exitUsage, "is no time"},
	}
	online := map[string]string{}
	for _, tc := range cases {
		got := eventsOf(t, app, append(strings.Fields(tc.args), "--url", s.url)...)
		got.wantExit(t, tc.code, tc.want)
		online[tc.args] = got.stdout.String()
	}
	eventsOf(t, app, "search", "--store", args[1]).wantExit(t, exitFailed, "another process has it open")
	eventsOf(t, app, "search", "--cache-mb", "1").wantExit(t, exitUsage, "give --store too")
	s.end(t)
	for _, tc := range cases {
		got := eventsOf(t, app, append(strings.Fields(tc.args), "--store", args[1])...)
		got.wantExit(t, tc.code, tc.want)
		if got.stdout.String() != online[tc.args] {
			t.Errorf("%s printed\n%s\nand of a running server\n%s", tc.args, &got.stdout, online[tc.args])
		}
	}
	none := filepath.Join(t.TempDir(), "none")
	eventsOf(t, app, "search", "--store", "embedded:"+none).wantExit(t, exitFailed, "name the data directory")
	if _, err := os.Stat(none); err == nil {
		t.Error("a search has made a data directory")
	}
}

// TestASearchGoesThroughMoreThanAPage in the order of the log, each event once.
func TestASearchGoesThroughMoreThanAPage(t *testing.T) {
	app := newProject(false).App
	s := serve(t, app, start{args: []string{"--store", "memory:"}})
	s.post(t, slices.Collect(taskEvents(1, 2500)))
	c := eventsOf(t, app, "search", "--limit", "0", "--json", "--url", s.url)
	c.wantExit(t, exitDone, "2500 events; searched to the end of the log, 0:2500")
	n := 0
	for line := range strings.Lines(c.stdout.String()) {
		var f struct{ Event struct{ ID string } }
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if n++; f.Event.ID != fmt.Sprint("added-", n) {
			t.Fatalf("event %d is %s", n, f.Event.ID)
		}
	}
	if n != 2500 {
		t.Errorf("%d events are listed", n)
	}
	table := eventsOf(t, app, "search", "--limit", "0", "--url", s.url)
	if n := strings.Count(table.stdout.String(), "\n"); n != 2501 {
		t.Errorf("the table has %d lines, want 2501", n)
	}
}

// TestEventsAreForThoseWhoMayWrite: they hold what rules keep from readers.
func TestEventsAreForThoseWhoMayWrite(t *testing.T) {
	s := serve(t, newProject(false).App, start{
		args: []string{"--store", "memory:", "--sample", "--admin-listen", "127.0.0.1:0"},
		env:  map[string]string{"FOLDQL_WRITE_TOKEN": "let me in"},
	})
	for _, url := range []string{s.url, "http://" + adminAddress(t, s)} {
		at := &server{url: url}
		for _, headers := range [][]string{{}, {"Authorization", "Bearer x"}} {
			status, body := at.request(t, "POST", "/admin/events/search", "{}", append(headers, "Content-Type",
				"application/json")...)
			if status != http.StatusUnauthorized || strings.Contains(body, "Task") {
				t.Errorf("with %q at %s: status %d: %.200s", headers, url, status, body)
			}
		}
	}
	token := []string{"Authorization", "Bearer let me in", "Content-Type"}
	for body, want := range map[string]int{
		`{"limit":1}`: 200, `{"limit":1001}`: 400, `{"limit":-1}`: 400, `{"nothing":1}`: 400, ``: 400, `{"from":{"0":-1}}`: 400,
		`{"upTo":{"x":1}}`: 404, `{"after":"x"}`: 400,
	} {
		if status, text := s.request(t, "POST", "/admin/events/search", body,
			append(token, "application/json")...); status != want {
			t.Errorf("%s: status %d, want %d: %.200s", body, status, want, text)
		}
	}
	if status, _ := s.request(t, "POST", "/admin/events/search", "{}", append(token, "text/plain")...); status != 400 {
		t.Errorf("as plain text: status %d, want 400", status)
	}
}

// isBehind reports whether there are events that the projection has yet to fold: a server that is ready may have some.
func isBehind(s projection.Status) bool { return s.Lag > 0 }

// TestAnExportImportedElsewhereMakesTheSameRows of the shop: from a running server and a store to a store and a running
// server, and from a log with partitions.
func TestAnExportImportedElsewhereMakesTheSameRows(t *testing.T) {
	app, args := shopApp(), embedded(t)
	open := func(args ...string) *server {
		s := serve(t, app, start{args: append(args, "--auth=off")})
		s.ready(t)
		return s
	}
	original := open(append(args, "--sample")...)
	want := original.examples(t)
	dir := t.TempDir()
	online, offline := filepath.Join(dir, "online.jsonl.gz"), filepath.Join(dir, "offline.jsonl")
	eventsOf(t, app, "export", online, "--url", original.url).
		wantExit(t, exitDone, "export to another file with --from 0:")
	original.end(t)
	eventsOf(t, app, "export", offline, "--store", args[1]).
		wantExit(t, exitDone, "export to another file with --from 0:")
	if got := readAll(t, online); got != readAll(t, offline) {
		t.Error("the exports of a running server and of a store differ")
	}

	stored := "embedded:" + filepath.Join(dir, "stored")
	n := strings.Count(readAll(t, online), "\n")
	eventsOf(t, app, "import", online, "--store", stored).
		wantExit(t, exitDone, fmt.Sprintf("%d events imported, 0 there already", n))
	eventsOf(t, app, "import", offline, "--store", stored).
		wantExit(t, exitDone, fmt.Sprintf("0 events imported, %d there already", n))
	again := open("--store", stored, "--cache-mb", "8")
	again.sameExamples(t, "imported into a store", want)
	again.end(t)
	third := open("--store", "memory:")
	eventsOf(t, app, "import", offline, "--url", third.url).wantExit(t, exitDone, fmt.Sprintf("%d events imported", n))
	third.until(t, "folded", func() bool { return !slices.ContainsFunc(third.statusOf(t).Projections, isBehind) })
	third.sameExamples(t, "imported by a running server", want)

	parts := partitioned(t, readAll(t, offline))
	folded := open("--store", "memory:", "--events", "file:"+parts)
	folded.sameExamples(t, "folded from partitions", want)
	joined := filepath.Join(dir, "joined.jsonl.gz")
	eventsOf(t, app, "export", joined, "--url", folded.url).
		wantExit(t, exitDone, fmt.Sprintf("joined.jsonl.gz has %d events, up to a%%2Cb:", n))
	eventsOf(t, app, "import", joined, "--url", folded.url).wantExit(t, exitFailed, "There is no log")
	other := "embedded:" + filepath.Join(dir, "joined")
	eventsOf(t, app, "import", joined, "--store", other).wantExit(t, exitDone, fmt.Sprintf("%d events imported", n))
	open("--store", other, "--cache-mb", "8").sameExamples(t, "imported from partitions", want)
}

// partitioned writes the events to the files of a directory, those of a subject into the same one.
func partitioned(t *testing.T, lines string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	parts := map[string]string{}
	for line := range strings.Lines(lines) {
		e, err := cloudevents.Decoder{}.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		name := []string{"a,b", "c", "d"}[len(e.Subject)%3]
		parts[name] += line
	}
	for name, text := range parts {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(parts) < 2 {
		t.Fatalf("the events are in %d partitions", len(parts))
	}
	return dir
}

// examples are the answers to what GraphiQL shows first, which is of every model of the shop.
func (s *server) examples(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../cmd/server/examples.graphql")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parser.ParseQuery(&ast.Source{Input: string(text)})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	for _, op := range doc.Operations {
		answers[op.Name] = withoutTokens(s.operation(t, string(text), op.Name))
	}
	return answers
}

func (s *server) sameExamples(t *testing.T, how string, want map[string]string) {
	t.Helper()
	for name, got := range s.examples(t) {
		if got != want[name] {
			t.Errorf("%s: %s is answered\n%s\nwant\n%s", how, name, got, want[name])
		}
	}
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return string(text)
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if text, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAnExportIsWholeOrNotThere, replaces no file, and goes on where an earlier one ended.
func TestAnExportIsWholeOrNotThere(t *testing.T) {
	app := newProject(false).App
	s := serve(t, app, start{args: []string{"--store", "memory:"}})
	s.post(t, slices.Collect(taskEvents(1, 20)))
	dir := t.TempDir()
	first, second := filepath.Join(dir, "1.jsonl"), filepath.Join(dir, "2.jsonl.gz")
	eventsOf(t, app, "export", first, "--url", s.url).
		wantExit(t, exitDone, "1.jsonl has 20 events, up to 0:20; for later ones, export to another file with --from 0:20\n")
	s.post(t, slices.Collect(taskEvents(21, 10)))
	eventsOf(t, app, "export", second, "--url", s.url, "--from", "0:20").wantExit(t, exitDone, "has 10 events, up to 0:30")
	std := eventsOf(t, app, "export", "-", "--url", s.url)
	std.wantExit(t, exitDone, "standard output has 30 events")
	if got := readAll(t, first) + readAll(t, second); got != std.stdout.String() {
		t.Errorf("the two files have\n%s\nstandard output has\n%s", got, &std.stdout)
	}
	one := eventsOf(t, app, "export", "-", "--url", s.url, "--subject", "7")
	if want := string(cloudevents.Append(nil, new(taskEvent("7", "Task 7")))) + "\n"; one.stdout.String() != want {
		t.Errorf("exported %s, want %s", &one.stdout, want)
	}

	eventsOf(t, app, "export", first, "--url", s.url).
		wantExit(t, exitFailed, "1.jsonl exists: name another file, or remove it")
	eventsOf(t, app, "export", filepath.Join(dir, "x.json"), "--url", s.url).
		wantExit(t, exitUsage, "name it NAME.jsonl.gz")
	eventsOf(t, app, "export", filepath.Join(dir, "3.jsonl"), "--url", s.url, "--from", "0:31").
		wantExit(t, exitFailed, "behind the end of the log")
	s.end(t)
	eventsOf(t, app, "export", filepath.Join(dir, "3.jsonl"), "--url", s.url).wantExit(t, exitFailed, "export events to")
	files, err := os.ReadDir(dir)
	if len(files) != 2 || err != nil {
		t.Errorf("the directory has %v, error %v; want two exports", files, err)
	}
}

// TestAReadThatBreaksOffSaysWhereToGoOn: of a search what was found so far is printed, of an export nothing is left.
func TestAReadThatBreaksOffSaysWhereToGoOn(t *testing.T) {
	app := newProject(false).App
	for _, tc := range []struct{ args, want string }{
		{"search --limit 0", "search events: the server answered 503: Try again later.; go on with --from 0:2\n"},
		{"export -", "the server answered 503: Try again later.; go on with --from 0:2\n"},
		{"export FILE", "the server answered 503: Try again later.; repeat the command: nothing was written\n"},
	} {
		pages := 0
		breaking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var q search.Query
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
				t.Error(err)
			}
			if pages++; pages == 1 {
				fmt.Fprint(w, `{"events":[{"partition":"0","offset":2,"event":{"specversion":"1.0","id":"added-2"}}],`+
					`"next":{"0":2},"upTo":{"0":9},"more":true}`)
				return
			}
			if q.From["0"] != 2 || q.UpTo["0"] != 9 {
				t.Errorf("the next page is asked for from %v up to %v", q.From, q.UpTo)
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"detail":"Try again later."}`)
		}))
		t.Cleanup(breaking.Close)
		dir := t.TempDir()
		args := strings.Fields(strings.ReplaceAll(tc.args, "FILE", filepath.Join(dir, "x.jsonl.gz")))
		got := eventsOf(t, app, append(args, "--url", breaking.URL)...)
		got.wantExit(t, exitFailed, tc.want)
		if printed := got.stdout.String(); strings.Contains(printed, "added-2") != !strings.HasSuffix(tc.args, "FILE") {
			t.Errorf("%s printed %s", tc.args, printed)
		}
		if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
			t.Errorf("%s has left %v, error %v", tc.args, left, err)
		}
	}
}

// TestAnImportIntoAStoreIsRefusedWhereTheLogIsNotTheOneOfTheRows, as a server refuses events then.
func TestAnImportIntoAStoreIsRefusedWhereTheLogIsNotTheOneOfTheRows(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: append(args, "--sample")})
	s.ready(t)
	s.end(t)
	path := writeLines(t, "events.jsonl", taskEvents(100, 3))
	eventsOf(t, app, "import", path, "--store", args[1]).wantExit(t, exitDone, "3 events imported")
	if err := os.RemoveAll(filepath.Join(strings.TrimPrefix(args[1], "embedded:"), "log")); err != nil {
		t.Fatal(err)
	}
	eventsOf(t, app, "import", path, "--store", args[1]).wantExit(t, exitFailed, "nothing is appended or folded")
	eventsOf(t, app, "search", "--store", args[1]).wantExit(t, exitDone, "0 events; searched to the end of the log, 0:0")
}

// TestEventsOfANewerVersionAreImportedIntoAStore on demand, so that one can go back to an earlier program with all of
// them. Else they are refused, as the log would keep those of a wrong file for ever.
func TestEventsOfANewerVersionAreImportedIntoAStore(t *testing.T) {
	app, dir := newProject(false).App, "embedded:"+t.TempDir()
	gift := taskEvent("2", "Task 2")
	gift.Type = "TaskGifted"
	path := writeLines(t, "events.jsonl", slices.Values([]eventlog.Event{gift, taskEvent("1", "Task 1")}))
	s := serve(t, app, start{args: []string{"--store", "memory:"}})
	eventsOf(t, app, "import", path, "--url", s.url).
		wantExit(t, exitFailed, `no such event type is declared: "TaskGifted"; nothing is imported`)
	eventsOf(t, app, "import", path, "--url", s.url, "--take-newer").wantExit(t, exitUsage, "give --store too")
	s.end(t)
	eventsOf(t, app, "import", path, "--store", dir).wantExit(t, exitFailed, "give --take-newer); nothing is imported")
	for _, printed := range []string{"2 events imported, 0 there already", "0 events imported, 2 there already"} {
		c := eventsOf(t, app, "import", path, "--store", dir, "--take-newer")
		c.wantExit(t, exitDone, printed)
		if got := c.stderr.String(); !strings.Contains(got, "warning: 1 event with a type") ||
			!strings.Contains(got, ": 1 TaskGifted.") {
			t.Errorf("the warning: %s", got)
		}
	}
	wrong := taskEvent("", "No task")
	path = writeLines(t, "wrong.jsonl", slices.Values([]eventlog.Event{gift, wrong}))
	c := eventsOf(t, app, "import", path, "--store", dir, "--take-newer", "--batch", "1")
	c.wantExit(t, exitFailed, "the lines before 2 are imported")
	c.wantExit(t, exitFailed, ": 1 TaskGifted.")
	s = serve(t, app, start{args: []string{"--store", dir}})
	s.ready(t)
	if got := s.query(t, `{ Task(id: "1") { title } }`); got != titled("Task 1") {
		t.Error(got)
	}
}

// TestAnImportIntoASourceThatIsNoLogMakesNoStore, which would be bound to that source.
func TestAnImportIntoASourceThatIsNoLogMakesNoStore(t *testing.T) {
	app, path := newProject(false).App, writeLines(t, "events.jsonl", taskEvents(1, 3))
	data := filepath.Join(t.TempDir(), "data")
	for _, source := range []string{"file:" + path, "http://127.0.0.1:1", "nats://127.0.0.1:1/EVENTS"} {
		eventsOf(t, app, "import", path, "--store", "embedded:"+data, "--events", source).
			wantExit(t, exitUsage, source+" is no log on this machine")
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("an import that is refused has made a data directory")
	}
}

// TestWhatIsNoEventIsToldAndLeftOutOfAnExport: it could be imported nowhere.
func TestWhatIsNoEventIsToldAndLeftOutOfAnExport(t *testing.T) {
	app := newProject(false).App
	path := filepath.Join(t.TempDir(), "events.jsonl")
	text, err := io.ReadAll(lines(taskEvents(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append([]byte("nonsense\n\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) *call {
		t.Helper()
		return eventsOf(t, app, append(args, "--store", "embedded:"+t.TempDir(), "--events", "file:"+path)...)
	}
	run("search").wantExit(t, exitDone, `0:1    no event: "line 1 of`)
	run("show", "0:1").wantExit(t, exitFailed, "what stands at 0:1 is no event")
	run("show", "0:2").wantExit(t, exitFailed, "there is none at that place")
	c := run("export", "-")
	c.wantExit(t, exitDone, "0:1 is no event, and left out")
	if c.stdout.String() != string(text) {
		t.Errorf("exported\n%s\nwant\n%s", &c.stdout, text)
	}
}

// TestAnImportIsCheckedAsPostedEventsAre, names the line that is wrong, and keeps those before its batch.
func TestAnImportIsCheckedAsPostedEventsAre(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	running := serve(t, app, start{args: []string{"--store", "memory:"}})
	good, err := io.ReadAll(lines(taskEvents(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	other, unknown := taskEvent("1", "other content"), taskEvent("3", "x")
	large := taskEvent("3", strings.Repeat("x", 1000))
	unknown.Type = "TaskLost"
	line := func(e eventlog.Event) string { return string(cloudevents.Append(nil, &e)) }
	for _, tc := range []struct{ name, bad, want string }{
		{"no event", "nonsense\n", "import line 3 of standard input: event: not JSON"},
		{"field", `{"specversion":"1.0","id":"x","source":"/s","type":"TaskAdded","data":{}}`,
			"line 3 of - (id \"x\"): data.taskId"},
		{"conflict", line(other),
			"line 3 of - (id \"added-1\"): id: an event of this source and id exists with other content"},
		{"type", line(unknown), "line 3 of - (id \"added-3\"): type: no such event type is declared"},
		{"size", line(large), "give a larger --max-event"},
	} {
		for _, where := range [][]string{{"--url", running.url}, {"--store", args[1]}} {
			c := runProgram(t, app, start{args: append([]string{"events", "import", "-", "--max-event", "800"}, where...),
				stdin: strings.NewReader(string(good) + tc.bad)})
			if c.code != exitFailed || !strings.Contains(c.stderr.String(), tc.want) {
				t.Errorf("%s, %s: exit code %d, want %q: %s", tc.name, where, c.code, tc.want, &c.stderr)
			}
		}
	}
	missing := filepath.Join(t.TempDir(), "missing.jsonl")
	eventsOf(t, app, "import", missing, "--store", "embedded:"+missing).wantExit(t, exitFailed, "import events: stat")
	if _, err := os.Stat(missing); err == nil {
		t.Error("an import of nothing has made a data directory")
	}
	eventsOf(t, app, "import", "-", "--cache-mb", "8").wantExit(t, exitUsage, "give --store too")
}
