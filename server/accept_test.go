package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/config"
)

// cutBack is a store whose rows are at 110 and whose log is a copy from when it ended at 50.
type cutBack struct {
	app  App
	dir  string
	args []string
}

// newCutBack folds the tasks into two models. Those at the offsets are poisoned: they become dead letters.
func newCutBack(t *testing.T, poisoned ...int) *cutBack {
	t.Helper()
	c := &cutBack{app: projectOf(newTaskModel()), dir: t.TempDir()}
	c.args = []string{"--store", "embedded:" + c.dir}
	chores := newTaskModel()
	chores.Name, chores.Table = "Chore", "Chore"
	second := (&project{}).tasks(chores)
	second.Name = "Chores"
	c.app.Models, c.app.Projections = append(c.app.Models, chores), append(c.app.Projections, second)
	p := newProject(false)
	for i := range c.app.Projections {
		c.app.Projections[i].Project = p.tasks(c.app.Projections[i].Model).Project
	}
	all := slices.Collect(taskEvents(1, 110))
	for _, at := range poisoned {
		all[at-1] = taskEvent(fmt.Sprint(at), "poison")
	}
	backup := filepath.Join(t.TempDir(), "backup")
	s := serve(t, c.app, start{args: c.args})
	if got := s.post(t, all[:50]); got != http.StatusCreated {
		t.Fatal(got)
	}
	s.folded(t, 50)
	s.end(t)
	copyDir(t, c.log(), backup)
	s = serve(t, c.app, start{args: c.args})
	s.post(t, all[50:])
	s.folded(t, 110)
	s.until(t, "folded by both", func() bool { return s.statusOf(t).Projections[1].Partitions[0].Checkpoint == 110 })
	for _, at := range poisoned[len(poisoned)/2:] {
		runProgram(t, c.app, start{args: []string{"deadletters", "skip", "Tasks", fmt.Sprint("0@", at), "--url", s.url}}).
			wantExit(t, exitDone, "")
	}
	s.end(t)
	copyDir(t, backup, c.log())
	return c
}

func (c *cutBack) log() string { return filepath.Join(c.dir, "log") }

func (c *cutBack) accept(t *testing.T, more ...string) *call {
	t.Helper()
	return runProgram(t, c.app, start{args: append(append([]string{"log", "accept"}, c.args...), more...)})
}

// inLog calls f with the log.
func (c *cutBack) inLog(t *testing.T, f func(*embeddedlog.Log) error) {
	t.Helper()
	l, err := embeddedlog.Open(embeddedlog.Options{Dir: c.log()})
	if err != nil {
		t.Fatal(err)
	}
	if err := f(l); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// inRows calls f with the store.
func inRows(t *testing.T, app App, dir string, f func(*querydb.DB) error) {
	t.Helper()
	at := config.Store{Kind: config.Embedded, Dir: dir}
	p := start{}.program(app, &call{})
	p.Log = newLogger(p.Stderr, "text", "error")
	rows, err := p.OpenStore(t.Context(), at, &config.Data{CacheMB: 16, ReserveMB: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f(rows.DB), rows.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestAnAcceptanceThatIsInterruptedIsGoneOnWith by the next one, and until then nothing is appended or folded.
func TestAnAcceptanceThatIsInterruptedIsGoneOnWith(t *testing.T) {
	for done := range 3 { // the log has another identity, and so many projections have noted it
		t.Run(fmt.Sprint(done, " projections have noted it"), func(t *testing.T) {
			c := newCutBack(t)
			c.inLog(t, func(l *embeddedlog.Log) error {
				if err := l.Renew(t.Context()); err != nil {
					return err
				}
				inRows(t, c.app, c.dir, func(db *querydb.DB) error {
					for _, one := range c.app.Projections[:done] {
						if err := projection.AdoptSource(t.Context(), db, l, one); err != nil {
							return err
						}
					}
					return nil
				})
				return nil
			})
			if done < 2 {
				s := serve(t, c.app, start{args: c.args})
				if got := s.post(t, slices.Collect(taskEvents(1000, 1))); got != http.StatusServiceUnavailable {
					t.Errorf("an event is answered %d", got)
				}
				s.end(t)
				c.accept(t).wantExit(t, exitUsage, "--yes")
				c.accept(t, "--yes").wantExit(t, exitDone, "accepted")
			}
			c.accept(t).wantExit(t, exitDone, "nothing to accept")
			s := serve(t, c.app, start{args: c.args})
			s.ready(t)
			if got := s.post(t, slices.Collect(taskEvents(1000, 1))); got != http.StatusCreated {
				t.Errorf("an event is answered %d", got)
			}
			s.folded(t, 51)
			if got := s.query(t, `{ a: Task(id: "50") { title } b: Task(id: "51") { title } }`); got !=
				`{"data":{"a":{"title":"Task 50"},"b":null}}` {
				t.Error(got)
			}
			s.end(t)
		})
	}
}

// TestAnAcceptanceSaysHowMuchWouldBeLost: events that the log does not have, those that it may have others in place
// of, and decisions.
func TestAnAcceptanceSaysHowMuchWouldBeLost(t *testing.T) {
	c := newCutBack(t, 20, 30, 80, 90)
	shown := c.accept(t)
	for _, want := range []string{
		`lost in partition "0": 60 events, at offsets 51 to 110, which the log does not have`,
		`lost in partition "0": 2 decisions to retry or skip events that the log does not have`,
	} {
		shown.wantExit(t, exitUsage, want)
	}
	if strings.Contains(shown.stdout.String(), "where the log has others") {
		t.Errorf("a log that was cut has others:\n%s", &shown.stdout)
	}
	c.inLog(t, func(l *embeddedlog.Log) error {
		_, err := l.Append(context.Background(), slices.Collect(taskEvents(500, 40)))
		return err
	})
	shown = c.accept(t)
	shown.wantExit(t, exitUsage, `lost in partition "0": 20 events, at offsets 91 to 110, which the log does not have`)
	shown.wantExit(t, exitUsage, `lost in partition "0": up to 60 events, at offsets 31 to 90, where the log has others`)
	c.accept(t, "--yes").wantExit(t, exitDone, "accepted")
	s := serve(t, c.app, start{args: c.args})
	s.ready(t)
	s.folded(t, 90)
	s.end(t)
}

// TestAFileThatWasReplacedIsNotFoldedOn until somebody accepts it: rows are served as they are.
func TestAFileThatWasReplacedIsNotFoldedOn(t *testing.T) {
	app := newProject(false).App
	events := writeLines(t, "tasks.jsonl", taskEvents(1, 30))
	args := []string{"--store", "embedded:" + t.TempDir(), "--events", "file:" + events}
	s := serve(t, app, start{args: args})
	s.ready(t)
	s.end(t)
	for name, file := range map[string]string{
		"others": writeLines(t, "others.jsonl", taskEvents(101, 30)), "fewer": writeLines(t, "fewer.jsonl",
			taskEvents(1, 29)),
	} {
		args[3] = "file:" + file
		for range 2 {
			s := serve(t, app, start{args: args})
			if status, body := s.request(t, "GET", "/readyz", ""); status != http.StatusServiceUnavailable ||
				!strings.Contains(body, "log") {
				t.Errorf("%s: readyz is %d %s", name, status, body)
			}
			if got := s.query(t, `{ Task(id: "30") { title } }`); !strings.Contains(got, "Task 30") {
				t.Errorf("%s: rows are not served: %s", name, got)
			}
			s.end(t)
			if !strings.Contains(s.stderr.String(), "server log accept") {
				t.Errorf("%s: the log does not say what to run: %s", name, &s.stderr)
			}
		}
	}
	args[3] = "file:" + writeLines(t, "more.jsonl", taskEvents(1, 31))
	s = serve(t, app, start{args: args}) // the same file, gone on with
	s.ready(t)
	s.end(t)
	args[3] = "file:" + writeLines(t, "others.jsonl", taskEvents(101, 30))
	accept := append([]string{"log", "accept"}, args...)
	runProgram(t, app, start{args: accept}).wantExit(t, exitUsage,
		`1 event, at offsets 31 to 31, which the log does not have`)
	runProgram(t, app, start{args: append(accept, "--yes")}).wantExit(t, exitDone, "accepted")
	s = serve(t, app, start{args: args})
	s.ready(t)
	if got := s.query(t, `{ a: Task(id: "130") { title } b: Task(id: "30") { title } }`); got !=
		`{"data":{"a":{"title":"Task 130"},"b":null}}` {
		t.Error(got)
	}
	s.end(t)
}
