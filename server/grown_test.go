package server

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// The project of tasks after its schema has grown: a note, before the title, and an index of titles.
const grownSDL = `
type Task { taskId: ID! note: String title: String! }
type TaskByTitleConnection { items: [Task!]! nextToken: String }
type Query {
  Task(id: ID!, consistent: Boolean): Task
  TaskByTitle(title: String!, reverse: Boolean, limit: Int, nextToken: String): TaskByTitleConnection!
}
`

func grown() App {
	p := newProject(false)
	m := newTaskModel()
	m.Version = "grown"
	m.Fields = []driver.Field{m.Fields[0], {Name: "note", Scalar: "String", Nullable: true}, m.Fields[1]}
	m.Indexes = []querydb.Index{titleIndex(2)}
	ops := taskOps(m)
	ops.Codec.Encode = func(b *record.Builder, t *task) { b.String(t.ID); b.String("about " + t.Title); b.String(t.Title) }
	ops.Codec.Decode = func(rec record.Record, t *task) error {
		t.ID, _ = record.String(rec.JSON(0))
		t.Title, _ = record.String(rec.JSON(2))
		return nil
	}
	ops.Codec.Value = func(t *task, field int) keys.Value {
		return keys.String([]string{t.ID, "about " + t.Title, t.Title}[field])
	}
	p.Models = []*querydb.Model{m}
	p.Projections = []projection.Projection{projection.New(ops, projection.Projection{
		Name: "Tasks", Events: []string{"TaskAdded"},
		Project: func(e *eventlog.Event, _ projection.Meta) ([]projection.Op, error) {
			added, err := readTask(e.Data)
			return []projection.Op{ops.Set(added)}, err
		},
	})}
	typ := p.Catalog.Types["Task"]
	typ.Model = m
	typ.Fields["note"], typ.Fields["title"] = &catalog.Field{Name: "note", Ordinal: 1}, &catalog.Field{Name: "title",
		Ordinal: 2}
	p.askedByTitle(grownSDL)
	return p.App
}

// titleIndex is the index of titles, which are in the field.
func titleIndex(field int) querydb.Index {
	return querydb.Index{Name: "title", PK: querydb.Half{Fields: []int{field}, Layout: keys.Layout{
		Sep: "/", Segments: []keys.Segment{{Field: "title", Kind: keys.KindString}},
	}}}
}

// askedByTitle gives the project the query of that index.
func (p *project) askedByTitle(sdl string) {
	p.Catalog.Queries["TaskByTitle"] = &catalog.Query{
		Name: "TaskByTitle", Kind: catalog.QueryPage, Type: "Task", Connection: "TaskByTitleConnection", Index: 0,
		PK: []catalog.KeyArg{{Name: "title", Kind: keys.KindString}},
	}
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: sdl})
	p.Schema, p.SDL = func(*graph.Runtime) graphql.ExecutableSchema { return plannedOnly{schema} }, sdl
}

// process is a server that can be killed.
type process struct {
	cmd  *exec.Cmd
	url  string
	read sync.WaitGroup
}

func startSchema(t *testing.T, program string, args ...string) *process {
	t.Helper()
	cmd, address, log := startProcessOf(t, program, args...)
	p := &process{cmd: cmd, url: "http://" + address}
	p.read.Go(func() { _, _ = io.Copy(io.Discard, log) }) // until the process ends
	t.Cleanup(p.kill)
	return p
}

// kill ends the process at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	p.read.Wait()
	_ = p.cmd.Wait() // that it was killed is known
}

// poller asks a server again and again, also while it is down, and keeps what it was answered.
type poller struct {
	rests time.Duration // between two questions
	end   chan struct{}
	done  sync.WaitGroup

	mu    sync.Mutex
	url   string // "" while nobody is to answer
	times []time.Duration
	wrong []string
}

func poll(query string, rests time.Duration, right func(answer string) bool) *poller {
	p := &poller{rests: rests, end: make(chan struct{})}
	body := fmt.Sprintf(`{"query":%q}`, query)
	p.done.Go(func() {
		for {
			select {
			case <-p.end:
				return
			default:
			}
			p.mu.Lock()
			url := p.url
			p.mu.Unlock()
			if url == "" {
				time.Sleep(time.Millisecond) // the process is started again
				continue
			}
			time.Sleep(p.rests)
			began := time.Now()
			res, err := http.Post(url+"/graphql", "application/json", strings.NewReader(body))
			if err != nil {
				continue // it was killed
			}
			text, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil {
				continue
			}
			p.mu.Lock()
			p.times = append(p.times, time.Since(began))
			if !right(string(text)) && url == p.url {
				p.wrong = append(p.wrong, string(text))
			}
			p.mu.Unlock()
		}
	})
	return p
}

// at has the poller ask another server; it forgets the times so far, and returns the 99th percentile of them.
func (p *poller) at(url string) (p99 time.Duration, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n = len(p.times); n > 0 {
		slices.Sort(p.times)
		p99 = p.times[n*99/100]
	}
	p.url, p.times = url, nil
	return p99, n
}

func (p *poller) stop(t *testing.T, what string) {
	t.Helper()
	close(p.end)
	p.done.Wait()
	if len(p.wrong) > 0 {
		t.Errorf("%s: %d answers were wrong, such as %.500q", what, len(p.wrong), p.wrong[0])
	}
}

// TestAGrowingSchemaLeavesNoReaderInTheDark: rows are folded, a field and an index are added, and the server is killed
// at random moments while it builds the new rows. Who asks for rows gets them at every moment that a process answers;
// the new field and the new index are REBUILDING, and then there, in one step; and the former program answers as before
// when it is started again. SERVER_TEST_EVENTS and SERVER_TEST_KILLS make it larger than it is in every run.
func TestAGrowingSchemaLeavesNoReaderInTheDark(t *testing.T) {
	events, kills := setting("SERVER_TEST_EVENTS", 20_000), setting("SERVER_TEST_KILLS", 4)
	t.Run("embedded", func(t *testing.T) { testGrows(t, events, kills, "embedded:"+t.TempDir()) })
	t.Run(string(dynamolocal.Local), func(t *testing.T) {
		place := dynamolocal.Start(t, dynamolocal.Local)
		place.Setenv(t)
		testGrows(t, events/20, kills, "dynamodb:"+place.Prefix+"?concurrency=8")
	})
}

// testGrows is that test with a number of events. In a store that others may share it is for a person to make tables,
// and to go back to former rows.
func testGrows(t *testing.T, events, kills int, store string) {
	shared := strings.HasPrefix(store, "dynamodb:")
	apply := func(app App) {
		t.Helper()
		if shared {
			apply := start{args: []string{"tables", "apply", "--store", store}}
			runProgram(t, app, apply).wantExit(t, exitDone, "done")
		}
	}
	lines := writeLines(t, "tasks.jsonl", taskEvents(1, events))
	args := []string{"--store", store, "--events", "file:" + lines}
	last := fmt.Sprint(events)
	row := fmt.Sprintf(`{ Task(id: %q) { title } }`, last)
	isRow := func(answer string) bool { return answer == `{"data":{"Task":{"title":"Task `+last+`"}}}` }
	field, index := fmt.Sprintf(`{ Task(id: %q) { taskId note } }`, last),
		fmt.Sprintf(`{ TaskByTitle(title: "Task %s") { items { taskId } } }`, last)
	isBuilding := func(answer string) bool { return strings.Contains(answer, `"REBUILDING"`) }
	isField := func(answer string) bool { return strings.Contains(answer, `"note":"about Task `+last) }
	isIndex := func(answer string) bool { return strings.Contains(answer, `"items":[{"taskId":"`+last+`"}]`) }

	apply(newProject(false).App)
	first := startSchema(t, "1", args...)
	awaitAnswer(t, first, row, isRow)
	const often = 5 * time.Millisecond // beside the one that asks without a pause, whose answers are timed
	rows := poll(row, 0, isRow)
	rows.at(first.url)
	fields := poll(field, often, func(answer string) bool { return isBuilding(answer) || isField(answer) })
	indexes := poll(index, often, func(answer string) bool { return isBuilding(answer) || isIndex(answer) })
	others := []*poller{poll(row, often, isRow), poll(row, often, isRow)} // in the place of those that ask for what is new
	for _, one := range others {
		one.at(first.url)
	}
	pause(t, max(time.Second, time.Duration(events)*10*time.Microsecond))
	before, n := rows.at("")
	t.Logf("before: p99 %v of %d answers", before, n)
	for _, one := range others {
		one.stop(t, "rows before")
	}
	first.kill()
	apply(grown())

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range kills {
		p := startSchema(t, "grown", args...)
		awaitAnswer(t, p, row, isRow)
		for _, one := range []*poller{rows, fields, indexes} {
			one.at(p.url)
		}
		pause(t, time.Duration(random.IntN(400))*time.Millisecond)
		for _, one := range []*poller{rows, fields, indexes} {
			one.at("")
		}
		p.kill()
	}
	second := startSchema(t, "grown", args...)
	awaitAnswer(t, second, row, isRow)
	for _, one := range []*poller{rows, fields, indexes} {
		one.at(second.url)
	}
	began := time.Now()
	awaitAnswer(t, second, field, isField)
	awaitAnswer(t, second, index, isIndex)
	during, n := rows.at("")
	t.Logf("while it built for another %v: p99 %v of %d answers, %.1f times that before", time.Since(began), during, n,
		float64(during)/float64(before))
	fields.stop(t, "the new field")
	indexes.stop(t, "the new index")
	second.kill()

	again := startSchema(t, "1", args...)
	awaitAnswer(t, again, row, isRow)
	rows.at(again.url)
	if shared {
		back := start{args: []string{"rebuild", "rollback", "Task", "--url", again.url}}
		runProgram(t, newProject(false).App, back).wantExit(t, exitDone, "serve again")
	}
	awaitStatus(t, again, func(body string) bool {
		return !strings.Contains(body, `"frozen":true`) && !strings.Contains(body, `"build"`)
	})
	rows.stop(t, "rows")
}

func setting(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// pause lets time pass in which a process works: there is nothing to wait for where it is to be killed at any moment.
func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

func awaitAnswer(t *testing.T, p *process, query string, right func(string) bool) {
	t.Helper()
	p.await(t, "POST", "/graphql", fmt.Sprintf(`{"query":%q}`, query), right)
}

func awaitStatus(t *testing.T, p *process, right func(string) bool) {
	t.Helper()
	p.await(t, "GET", "/admin/projections", "", right)
}

// await asks until the answer is right.
func (p *process) await(t *testing.T, method, path, body string, right func(string) bool) {
	t.Helper()
	end, got := time.Now().Add(2*time.Minute), ""
	for time.Now().Before(end) {
		req, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if res, err := http.DefaultClient.Do(req); err == nil {
			text, err := io.ReadAll(res.Body)
			res.Body.Close()
			if got = string(text); err == nil && right(got) {
				return
			}
		}
		pause(t, 5*time.Millisecond)
	}
	t.Fatalf("%s %s %s: %.500s", method, path, body, got)
}
