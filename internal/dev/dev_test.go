package dev

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/term"

	"github.com/foldql/foldql/internal/dev/front"
	"github.com/foldql/foldql/internal/newproject"
)

// Variables with the project that this program develops in place of its tests, where it then listens, and the file
// that its generator makes before it does not end.
const (
	project = "FOLDQL_TEST_DEV_PROJECT"
	address = "FOLDQL_TEST_DEV_ADDRESS"
	stuck   = "FOLDQL_TEST_DEV_STUCK"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == GenerateCommand {
		if begun := os.Getenv(stuck); begun != "" {
			beStuck(begun)
		}
		if err := Generate(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	dir := os.Getenv(project)
	if dir == "" {
		os.Exit(m.Run())
	}
	listen := cmp.Or(os.Getenv(address), "127.0.0.1:0")
	for _, own := range []string{project, address} {
		_ = os.Unsetenv(own) // the server takes variables that begin so for its own
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	cfg := Config{Dir: dir, Listen: listen, Binary: "bin/server", Out: os.Stderr}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		cfg.Again = os.Stdin
	}
	err := Run(ctx, cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// beStuck makes a file, and returns when this process is asked to end.
func beStuck(begun string) {
	asked, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := os.WriteFile(begun, nil, 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	<-asked.Done()
}

// TestAProjectIsDeveloped as its files change: what is right is served, with the data kept; what is wrong is told while
// the former server answers; and the process leaves none behind.
func TestAProjectIsDeveloped(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a server several times")
	}
	dir := filepath.Join(t.TempDir(), "todo")
	if err := newproject.Write(dir, newproject.Options{Library: newproject.Library{Checkout: "../.."}}); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		link = dir // there are none here
	}
	d := develop(t, link)
	d.answers(`{ Task(id: "2") { name archivedAt } }`, `{"name":"Write its projector","archivedAt":null}`)
	d.post(`{"specversion": "1.0", "id": "4", "source": "/task", "type": "TaskAdded", "subject": "3",
		"data": {"taskId": "3", "name": "Kept", "category": "new", "addedAt": "2024-01-16T09:00:00Z"}}`)

	d.edit("projection/projectors/task.go", "Name: e.Name,", "Name: e.Name, Note: new(\"of \" + e.Name),")
	d.edit("schema.graphqls", "archivedAt: DateTime\n", "archivedAt: DateTime\n  note: String\n")
	d.await("the new field is served", func(s front.State) bool { return s.Starts == 2 && s.Failed == "" })
	d.answers(`{ Task(id: "3") { name note } }`, `{"name":"Kept","note":"of Kept"}`)

	d.edit("schema.graphqls", "note: String\n", "note: Strin\n")
	s := d.await("the schema is wrong", func(s front.State) bool { return s.Failed != "" })
	if !s.Serving || s.Starts != 2 || !strings.Contains(s.Error, "schema.graphqls:13:") {
		t.Errorf("of a schema that is wrong: %+v", s)
	}
	d.answers(`{ Task(id: "3") { note } }`, `{"note":"of Kept"}`)
	d.edit("schema.graphqls", "note: Strin\n", "note: String\n")
	d.await("the schema is mended", func(s front.State) bool { return s.Failed == "" && s.Doing == "" })

	d.edit("projection/projectors/task.go", "type Task struct{}", "type Task struct{}\n\nfunc init() { wrong() }")
	s = d.await("the code is wrong", func(s front.State) bool { return s.Failed != "" })
	if !s.Serving || s.Starts != 2 || !strings.Contains(s.Error, "task.go:14:15: undefined: wrong") {
		t.Errorf("of code that is wrong: %+v", s)
	}
	d.answers(`{ Task(id: "3") { note } }`, `{"note":"of Kept"}`)

	d.edit("projection/projectors/task.go", "wrong()", `panic("it will not start")`)
	s = d.await("it does not start", func(s front.State) bool { return s.Failed == "start the server" })
	if !s.Serving || s.Starts != 3 || !strings.Contains(s.Error, "it will not start") {
		t.Errorf("of a server that does not start: %+v", s)
	}
	d.answers(`{ Task(id: "3") { note } }`, `{"note":"of Kept"}`)
	d.edit("projection/projectors/task.go", "\n\nfunc init() { panic(\"it will not start\") }", "")
	d.await("the code is mended", func(s front.State) bool { return s.Failed == "" && s.Doing == "" && s.Serving })
	if _, err := os.Stat(filepath.Join(dir, "bin", "server")); err != nil {
		t.Errorf("the program is not where its commands are called: %v", err)
	}

	if runtime.GOOS == "linux" { // a server that went on would hold the data
		if told := d.kill(); strings.Count(told, "foldql dev: fixed: the server at "+d.url) != 2 {
			t.Errorf("of the schema and the code, which were mended without another server, it tells\n%s", told)
		}
		d = develop(t, dir)
		d.answers(`{ Task(id: "3") { note } }`, `{"note":"of Kept"}`)
	}
	d.edit("projection/projectors/task.go", `"of "`, `"by "`)
	s = d.await("other code serves", func(s front.State) bool { return s.Starts > 1 && s.Doing == "" })
	d.answers(`{ Task(id: "3") { name note } }`, `{"name":"Kept","note":"by Kept"}`)

	d.declaresEvents(s.Starts)
	told := d.end()
	for _, want := range []string{"foldql dev: generating the code\n", "foldql dev: building the server\n",
		"of the projectors of Task has changed: their rows are being built again"} {
		if !strings.Contains(told, want) {
			t.Errorf("it tells no %q:\n%s", want, told)
		}
	}
}

// declaresEvents saves events before they are what they are to be. They are free to change as long as the log has none.
func (d *developer) declaresEvents(starts int) {
	d.t.Helper()
	lock := filepath.Join(d.dir, "events.lock")
	holds := func(want, never string) {
		d.t.Helper()
		text, err := os.ReadFile(lock)
		if err != nil || !strings.Contains(string(text), want) || strings.Contains(string(text), never) {
			d.t.Errorf("the lock is to have %q and not %q: %v\n%s", want, never, err, text)
		}
	}
	serves := func(what string) {
		d.t.Helper()
		s := d.await(what, func(s front.State) bool { return s.Failed != "" || s.Starts > starts && s.Doing == "" })
		if starts = s.Starts; s.Failed != "" {
			d.t.Fatalf("%s: it fails: %+v", what, s)
		}
	}
	d.edit("events.graphqls", "type TaskArchived", "type TaskNotd { taskId: ID! text: Int }\n\ntype TaskArchived")
	serves("a draft of an event is served")
	holds("type TaskNotd {", "TaskNoted")
	d.edit("events.graphqls", "TaskNotd { taskId: ID! text: Int }", "TaskNoted { taskId: ID! text: String! }")
	serves("another draft is served")
	holds("type TaskNoted {", "TaskNotd")

	d.post(`{"specversion": "1.0", "id": "5", "source": "/task", "type": "TaskNoted", "subject": "3",
		"data": {"taskId": "3", "text": "It is so."}}`)
	d.edit("events.graphqls", "text: String!", "text: Int!")
	s := d.await("an event that the log has is held to its type", func(s front.State) bool { return s.Failed != "" })
	if !strings.Contains(s.Error, "text") {
		d.t.Errorf("of an event that the log has: %+v", s)
	}
	d.edit("events.graphqls", "text: Int!", "text: String!")
	d.await("the event is what it was", func(s front.State) bool { return s.Failed == "" && s.Doing == "" })
	holds("type TaskNoted {", "Int!")

	const name = "  name: String!\n"
	d.edit("events.graphqls", name, "")
	d.await("the code wants the field", func(s front.State) bool { return s.Failed == "build the server" })
	d.edit("events.graphqls", "category: String!\n", "category: String!\n"+name)
	d.await("the field is there again", func(s front.State) bool { return s.Failed == "" && s.Doing == "" })
	d.edit("events.graphqls", name, name+"  nte: String\n")
	serves("a draft of a field is served")
	d.edit("events.graphqls", "nte: String\n", "note: Int\n")
	serves("another draft of it is served")
	holds("note: Int @added", "nte")
}

// developer is a process that develops a project.
type developer struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	url    string
	told   chan string // what is told after the server was first started, once the process has ended
	states *bufio.Scanner
}

// develop starts to develop a project, and returns when it is served.
func develop(t *testing.T, dir string) *developer {
	t.Helper()
	d := &developer{t: t, dir: dir, cmd: exec.Command(os.Args[0]), told: make(chan string, 1)}
	d.cmd.Dir = dir
	d.cmd.Env = append(os.Environ(), project+"="+dir, "PWD="+dir, // as a shell has it, which may be a link
		"TMPDIR="+t.TempDir()) // a killed process leaves its programs
	out, err := d.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if d.cmd.ProcessState == nil {
			_ = d.cmd.Process.Signal(os.Interrupt)
			t.Logf("it told\n%s", <-d.told)
			_ = d.cmd.Wait()
		}
	})
	lines := bufio.NewReader(out)
	var told strings.Builder
	for d.url == "" {
		line, err := lines.ReadString('\n')
		told.WriteString(line)
		if err != nil {
			d.told <- ""
			t.Fatalf("it has ended before it served: %v\n%s", err, &told)
		}
		if _, url, ok := strings.Cut(line, "serving at "); ok {
			d.url = strings.TrimSpace(url)
		}
	}
	go func() {
		_, _ = io.Copy(&told, lines) // it has been closed
		d.told <- told.String()
	}()
	d.follow()
	return d
}

// follow reads the states from now on.
func (d *developer) follow() {
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.url+front.StatusPath, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { resp.Body.Close() })
	d.states = bufio.NewScanner(resp.Body)
}

// await reads states until there is one of a kind.
func (d *developer) await(what string, of func(front.State) bool) front.State {
	d.t.Helper()
	for d.states.Scan() {
		data, ok := strings.CutPrefix(d.states.Text(), "data: ")
		if !ok {
			continue
		}
		var state front.State
		if err := json.Unmarshal([]byte(data), &state); err != nil {
			d.t.Fatal(err)
		}
		if of(state) {
			return state
		}
	}
	d.t.Fatalf("the states have ended, and %s is none: %v", what, d.states.Err())
	return front.State{}
}

// edit saves a file of the project as many editors do: another file takes its place.
func (d *developer) edit(name, old, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	content, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if n := strings.Count(string(content), old); n != 1 {
		d.t.Fatalf("%s has %q %d times:\n%s", name, old, n, content)
	}
	edited := strings.Replace(string(content), old, text, 1)
	if err := os.WriteFile(path+"~", []byte(edited), 0o644); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		d.t.Fatal(err)
	}
}

// answers waits, a minute at most, until the answer to a query has a text: rows follow their events and schema a moment
// later.
func (d *developer) answers(query, want string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		d.t.Fatal(err)
	}
	for {
		answer := d.send("/graphql", "application/json", string(body))
		if strings.Contains(answer, want) {
			return
		}
		select {
		case <-ctx.Done():
			d.t.Fatalf("%s: %s, want %s", query, answer, want)
		case <-tick.C:
		}
	}
}

// post appends an event.
func (d *developer) post(event string) {
	d.t.Helper()
	if answer := d.send("/events", "application/cloudevents+json", event); !strings.Contains(answer, `"duplicate":false`) {
		d.t.Fatalf("the event is not appended: %s", answer)
	}
}

func (d *developer) send(path, contentType, body string) string {
	d.t.Helper()
	resp, err := http.Post(d.url+path, contentType, bytes.NewReader([]byte(body)))
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(answer)
}

// kill ends the process without a word, and returns what it has told before.
func (d *developer) kill() string {
	d.t.Helper()
	if err := d.cmd.Process.Kill(); err != nil {
		d.t.Fatal(err)
	}
	told := <-d.told
	_ = d.cmd.Wait()
	return told
}

// end has the process end, as Ctrl-C does, and fails where it does not end well. It returns what it has told.
func (d *developer) end() string {
	d.t.Helper()
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		d.t.Fatal(err)
	}
	told := <-d.told
	if err := d.cmd.Wait(); err != nil || !strings.Contains(told, `"msg":"stopped"`) {
		d.t.Errorf("it does not end well: %v\n%s", err, told)
	}
	if _, err := http.Get(d.url); !errors.Is(err, syscall.ECONNREFUSED) {
		d.t.Errorf("somebody still answers: %v", err)
	}
	return told
}
