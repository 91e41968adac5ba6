package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
	"github.com/foldql/foldql/server/internal/commands"
)

// The tests serve a project of one read model, written by hand as the generator would: tasks with a title.
const taskSDL = `
type Task { taskId: ID! title: String! }
type Query { Task(id: ID!, consistent: Boolean): Task }
`

type task struct{ ID, Title string }

func newTaskModel() *querydb.Model {
	return &querydb.Model{
		Name: "Task", Table: "Task", Version: "1", TTL: -1, CreatedAt: -1, UpdatedAt: -1,
		Fields: []driver.Field{{Name: "taskId", Scalar: "ID"}, {Name: "title", Scalar: "String"}},
		PK: querydb.Half{Fields: []int{0}, Layout: keys.Layout{
			Sep: "/", Segments: []keys.Segment{{Field: "taskId", Kind: keys.KindString}},
		}},
	}
}

func taskOps(m *querydb.Model) *projection.Ops[task, string, string] {
	return &projection.Ops[task, string, string]{
		Codec: &querydb.Codec[task]{
			Model:  m,
			Encode: func(b *record.Builder, t *task) { b.String(t.ID); b.String(t.Title) },
			Decode: func(rec record.Record, t *task) error {
				t.ID, _ = record.String(rec.JSON(0))
				t.Title, _ = record.String(rec.JSON(1))
				return nil
			},
			Value:   func(t *task, field int) keys.Value { return keys.String([]string{t.ID, t.Title}[field]) },
			Clone:   func(t *task) task { return *t },
			Time:    func(*task, int) time.Time { return time.Time{} },
			SetTime: func(*task, int, time.Time) {},
		},
		Key:       func(id string) (keys.Key, error) { return keys.Key{PK: id}, nil },
		Partition: func(id string) (string, error) { return id, nil },
	}
}

// project is an App and what tests change of it.
type project struct {
	App
	poisoned atomic.Bool // tasks called poison cannot be projected
	// held is what tasks called hold wait for; those called goexit end the goroutine of their projector.
	held chan struct{}
}

// newProject makes the project; with a rule, tasks are for admins only.
func newProject(secured bool) *project {
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: taskSDL})
	m := newTaskModel()
	p := &project{held: make(chan struct{})}
	p.poisoned.Store(true)
	typ := &catalog.Type{Name: "Task", Model: m, Owner: -1, Fields: map[string]*catalog.Field{
		"taskId": {Name: "taskId", Ordinal: 0}, "title": {Name: "title", Ordinal: 1},
	}}
	if secured {
		typ.Rule = &catalog.Rule{Groups: []string{"admin"}}
	}
	p.App = App{
		Models: []*querydb.Model{m},
		Events: eventlog.Types{"TaskAdded": {
			Name:  "TaskAdded",
			Check: func(data []byte) ([]string, error) { _, err := readTask(data); return nil, err },
			Tags:  func([]byte) ([]string, error) { return nil, nil },
		}, "TaskDropped": {Name: "TaskDropped", Retired: true}},
		Projections: []projection.Projection{p.tasks(m)},
		Catalog: &catalog.Catalog{
			Types: map[string]*catalog.Type{"Task": typ}, Secured: secured,
			Queries: map[string]*catalog.Query{"Task": {
				Name: "Task", Kind: catalog.QueryOne, Type: "Task", Index: driver.Primary,
				PK: []catalog.KeyArg{{Name: "id", Kind: keys.KindString}},
			}},
		},
		Schema:   func(*graph.Runtime) graphql.ExecutableSchema { return plannedOnly{schema} },
		SDL:      taskSDL,
		Examples: "{ Task(id: \"1\") { title } }",
		Sample:   taskEvents(1, 50),
	}
	return p
}

func (p *project) tasks(m *querydb.Model) projection.Projection {
	ops := taskOps(m)
	return projection.New(ops, projection.Projection{
		Name: "Tasks", Events: []string{"TaskAdded"},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			added, err := readTask(e.Data)
			if err == nil && added.Title == "poison" && p.poisoned.Load() {
				err = errors.New("poisoned")
			}
			switch added.Title {
			case "hold":
				<-p.held
			case "goexit":
				runtime.Goexit()
			}
			return []projection.Op{ops.Set(added)}, err
		},
	})
}

// anyData is what types of events check of their data where a test has data of no form, and which tags these have.
func anyData([]byte) ([]string, error) { return nil, nil }

func readTask(data []byte) (task, error) {
	var t struct{ TaskID, Title string }
	if err := json.Unmarshal(data, &t); err != nil {
		return task{}, &eventlog.FieldError{Field: "taskId", Reason: "want texts"}
	}
	if t.TaskID == "" {
		return task{}, &eventlog.FieldError{Field: "taskId", Reason: "required, but missing"}
	}
	return task{t.TaskID, t.Title}, nil
}

// taskEvents yields n events, of tasks counted from first.
func taskEvents(first, n int) iter.Seq[eventlog.Event] {
	return func(yield func(eventlog.Event) bool) {
		for i := first; i < first+n; i++ {
			id := fmt.Sprint(i)
			if !yield(taskEvent(id, "Task "+id)) {
				return
			}
		}
	}
}

func taskEvent(id, title string) eventlog.Event {
	return eventlog.Event{
		ID: "added-" + id, Source: "/tasks", Type: "TaskAdded", Subject: id,
		Time: time.Date(2024, 1, 15, 10, 30, 0, 0, time.UTC),
		Data: fmt.Appendf(nil, `{"taskId":%q,"title":%q}`, id, title),
	}
}

// plannedOnly is a schema whose operations are all answered by plans.
type plannedOnly struct{ schema *ast.Schema }

func (s plannedOnly) Schema() *ast.Schema { return s.schema }
func (s plannedOnly) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}
func (s plannedOnly) Exec(context.Context) graphql.ResponseHandler {
	return graphql.OneShot(&graphql.Response{Data: json.RawMessage(`{"__typename":"Query"}`)})
}

// output collects what a program prints; it may be read while the program runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// call is one run of the program.
type call struct {
	code           int
	stdout, stderr output
}

// start describes a run.
type start struct {
	args  []string
	env   map[string]string
	stdin io.Reader
	// logged is called with all that the program logs, before it goes on.
	logged func(text string)
}

// heard is where a program logs.
type heard struct {
	io.Writer
	logged func(text string)
}

func (h heard) Write(b []byte) (int, error) {
	n, err := h.Writer.Write(b)
	if h.logged != nil {
		h.logged(string(b))
	}
	return n, err
}

func (s start) program(app App, c *call) *program {
	p := newProgram(app, commands.Program{
		Env:   func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
		Stdin: s.stdin, Stdout: &c.stdout, Stderr: heard{&c.stderr, s.logged},
	})
	p.args, p.vars = s.args, slices.Collect(maps.Keys(s.env))
	return p
}

// runProgram runs a command to its end.
func runProgram(t testing.TB, app App, s start) *call {
	t.Helper()
	c := &call{}
	c.code = s.program(app, c).run(t.Context())
	return c
}

// wantExit fails unless the command ended so, and said so.
func (c *call) wantExit(t testing.TB, code int, said string) {
	t.Helper()
	if c.code != code || !strings.Contains(c.stdout.String()+c.stderr.String(), said) {
		t.Fatalf("exit code %d, want %d and %q\nstdout: %s\nstderr: %s", c.code, code, said, &c.stdout, &c.stderr)
	}
}

// server is a program that serves.
type server struct {
	call
	url  string
	stop context.CancelFunc
	done chan struct{}
}

// serve starts `serve` at a free port; the test's end stops it.
func serve(t testing.TB, app App, s start) *server {
	t.Helper()
	s.args = append([]string{"serve", "--listen", "127.0.0.1:0"}, s.args...)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	srv := &server{stop: stop, done: make(chan struct{})}
	p := s.program(app, &srv.call)
	listening := make(chan string, 1)
	p.listening = func(address string) { listening <- address }
	go func() {
		defer close(srv.done)
		srv.code = p.run(ctx)
	}()
	t.Cleanup(func() { stop(); <-srv.done })
	select {
	case address := <-listening:
		srv.url = "http://" + address
	case <-srv.done:
		t.Fatalf("the server ended before it listened: %s", &srv.stderr)
	}
	return srv
}

// end drains the server and fails unless that goes well.
func (s *server) end(t testing.TB) {
	t.Helper()
	s.stop()
	<-s.done
	s.wantExit(t, exitDone, "stopped")
}

// request sends a request and returns the status and the body; headers are given as name and value in turn.
func (s *server) request(t testing.TB, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	res, text := s.exchange(t, method, path, body, headers...)
	return res.StatusCode, text
}

func (s *server) exchange(t testing.TB, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// query asks the API.
func (s *server) query(t testing.TB, query string, headers ...string) string {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	_, answer := s.request(t, "POST", "/graphql", string(body), append(headers, "Content-Type", "application/json")...)
	return answer
}

// ready returns when the server says so. It asks again and again: there is nothing else to wait on from outside.
func (s *server) ready(t testing.TB) {
	t.Helper()
	s.until(t, "ready", func() bool {
		status, _ := s.request(t, "GET", "/readyz", "")
		return status == http.StatusOK
	})
}

func (s *server) until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	limit := time.After(2 * time.Minute)
	for !holds() {
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("not %s within two minutes:\n%s", what, &s.stderr)
		}
	}
}
