package server

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/projection"
)

// stage is a project whose projector waits at tasks called gate as long as there is one.
type stage struct {
	*project
	gate   atomic.Pointer[chan struct{}]
	impure atomic.Bool // titles hang on how many events were projected before
	calls  atomic.Int64
}

func newStage(version string) *stage {
	s, m := &stage{project: newProject(false)}, newTaskModel()
	m.Version = version
	tasks := s.tasks(m)
	project := tasks.Project
	tasks.Project = func(e *eventlog.Event, meta projection.Meta) ([]projection.Op, error) {
		if gate := s.gate.Load(); gate != nil && strings.Contains(string(e.Data), `"gate"`) {
			<-*gate
		}
		if n := s.calls.Add(1); s.impure.Load() && !strings.Contains(string(e.Data), "poison") {
			changed := *e
			changed.Data = []byte(strings.Replace(string(e.Data), `"title":"`, fmt.Sprintf(`"title":"%d `, n), 1))
			e = &changed
		}
		return project(e, meta)
	}
	s.Models[0], s.Catalog.Types["Task"].Model = m, m
	s.Projections = []projection.Projection{tasks}
	return s
}

// shut has the projector wait at the gate, until open is called.
func (s *stage) shut() (open func()) {
	gate := make(chan struct{})
	s.gate.Store(&gate)
	return func() { s.gate.Store(nil); close(gate) }
}

// gated are ten events, of which the second is the gate and the seventh, 0@7, cannot be folded.
func gated() []eventlog.Event {
	events := slices.Collect(taskEvents(1, 10))
	events[1], events[6] = taskEvent("2", "gate"), taskEvent("7", "poison")
	return events
}

func (s *server) deadLetters(t *testing.T, app App, args ...string) *call {
	t.Helper()
	return runProgram(t, app, start{args: append(append([]string{"deadletters"}, args...), "--url", s.url)})
}

// TestASkippedEventDoesNotTakeEffectUnaskedWhenAProjectionIsRenamed: what was decided is on record under its former
// name.
func TestASkippedEventDoesNotTakeEffectUnaskedWhenAProjectionIsRenamed(t *testing.T) {
	args := append(embedded(t), "--ready-when", "rebuilt")
	first := newStage("1")
	s := serve(t, first.App, start{args: args})
	s.append(t, gated()...)
	s.folded(t, 10)
	s.deadLetters(t, first.App, "skip", "Tasks", "0@7").wantExit(t, exitDone, "")
	s.end(t)

	renamed := newStage("2")
	renamed.poisoned.Store(false)
	renamed.Projections[0].Name = "Chores"
	s = serve(t, renamed.App, start{args: args})
	s.built(t)
	const why = "a retry or a skip of 1 event is on record under a former name of the projection"
	s.until(t, "waiting", func() bool { return s.statusOf(t).Projections[0].Build.FormerDecisions == 1 })
	s.rebuilds(t, renamed.App, "status").wantExit(t, exitDone, "built, but not switched to: "+why)
	if status, body := s.request(t, "GET", "/readyz", ""); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, why) {
		t.Errorf("/readyz: %d %s, want it to say why", status, body)
	}
	if got := s.query(t, `{ Task(id: "7") { title } }`); got != `{"data":{"Task":null}}` {
		t.Errorf("what serves has the skipped event: %s", got)
	}
	s.rebuilds(t, renamed.App, "switch", "Task").wantExit(t, exitDone, "serve")
	s.until(t, "answering from the rows that somebody has asked for", func() bool {
		return strings.Contains(s.query(t, `{ Task(id: "7") { title } }`), "poison")
	})
}

// built waits until the rows that are built are those of all events.
func (s *server) built(t *testing.T) {
	t.Helper()
	s.until(t, "built", func() bool {
		at := s.statusOf(t).Projections[0].Build
		return at != nil && at.Complete && at.Lag == 0
	})
}

// TestADecisionDuringABuildHoldsForBothGenerations: made before the build comes to the event, and after; and the build
// has that event as the rows that serve have it.
func TestADecisionDuringABuildHoldsForBothGenerations(t *testing.T) {
	for _, verb := range []string{"skip", "retry"} {
		for _, before := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, before %t", verb, before), func(t *testing.T) {
				p := newStage("1")
				s := serve(t, p.App, start{args: append(embedded(t), "--switch", "manual")})
				s.append(t, gated()...)
				s.folded(t, 10)
				open := func() {}
				if before {
					open = p.shut()
				}
				s.rebuilds(t, p.App, "start", "Task").wantExit(t, exitDone, "being built")
				if before {
					s.until(t, "begun", func() bool { return s.statusOf(t).Projections[0].Build != nil })
				} else {
					s.built(t)
					s.deadLetters(t, p.App, "list", "--building").wantExit(t, exitDone, "0@7")
				}
				p.poisoned.Store(false) // what is retried succeeds
				s.deadLetters(t, p.App, verb, "Tasks", "0@7").wantExit(t, exitDone, "Tasks 0@7: ")
				open()
				s.built(t)
				s.deadLetters(t, p.App, "list", "--building").wantExit(t, exitDone, "there are no dead letters")
				want := `{"data":{"Task":null}}`
				if verb == "retry" {
					want = `{"data":{"Task":{"title":"poison"}}}`
				}
				for _, when := range []string{"before", "after"} {
					if got := s.query(t, `{ Task(id: "7") { title } }`); got != want {
						t.Errorf("%s the switch: %s, want %s", when, got, want)
					}
					if when == "before" {
						s.rebuilds(t, p.App, "switch", "Task").wantExit(t, exitDone, "serve")
					}
				}
			})
		}
	}
}

// TestADecisionOfACommandHoldsForABuild that goes on when a server starts again, and the command lists what the build
// has.
func TestADecisionOfACommandHoldsForABuild(t *testing.T) {
	for _, verb := range []string{"skip", "retry"} {
		p, args := newStage("1"), embedded(t)
		s := serve(t, p.App, start{args: append(slices.Clone(args), "--switch", "manual")})
		s.append(t, gated()...)
		s.folded(t, 10)
		s.rebuilds(t, p.App, "start", "Task").wantExit(t, exitDone, "being built")
		s.built(t)
		s.end(t)
		command := func(how ...string) *call {
			t.Helper()
			return runProgram(t, p.App, start{args: slices.Concat([]string{"deadletters"}, how, args)})
		}
		command("list", "--building").wantExit(t, exitDone, "0@7")
		p.poisoned.Store(false)
		command(verb, "Tasks", "0@7").wantExit(t, exitDone, "Tasks 0@7: ")
		for _, rows := range [][]string{{"list"}, {"list", "--building"}} {
			command(rows...).wantExit(t, exitDone, "there are no dead letters")
		}
		s = serve(t, p.App, start{args: append(slices.Clone(args), "--switch", "manual")})
		s.built(t)
		s.deadLetters(t, p.App, "list", "--building").wantExit(t, exitDone, "there are no dead letters")
		s.end(t)
	}
}

// TestRowsThatLoseEventsWaitForADecision: rows with dead letters that those which serve do not have are not switched
// to by themselves. It is said wherever one looks, and each decision lets it go on.
func TestRowsThatLoseEventsWaitForADecision(t *testing.T) {
	for _, c := range []struct {
		name   string
		decide func(t *testing.T, s *server, p *stage)
		row    string // when it is decided
	}{
		{"retried", func(t *testing.T, s *server, p *stage) {
			p.poisoned.Store(false)
			s.deadLetters(t, p.App, "retry", "Tasks", "0@7").wantExit(t, exitDone, "folded")
		}, `{"data":{"Task":{"title":"poison"}}}`},
		{"skipped", func(t *testing.T, s *server, p *stage) {
			s.deadLetters(t, p.App, "skip", "Tasks", "--all").wantExit(t, exitDone, "1 dead letter skipped")
		}, `{"data":{"Task":null}}`},
		{"switched", func(t *testing.T, s *server, p *stage) {
			s.rebuilds(t, p.App, "switch", "Task").wantExit(t, exitDone, "serve")
		}, `{"data":{"Task":null}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append(embedded(t), "--ready-when", "rebuilt")
			first := newStage("1")
			first.poisoned.Store(false)
			s := serve(t, first.App, start{args: args})
			s.append(t, gated()...)
			s.folded(t, 10)
			s.end(t)

			p := newStage("2")
			s = serve(t, p.App, start{args: args})
			s.until(t, "waiting", func() bool {
				at := s.statusOf(t).Projections[0].Build
				return at != nil && at.NewDeadLetters == 1
			})
			const why = "they have 1 dead letter that the rows that serve do not have"
			s.rebuilds(t, p.App, "status").wantExit(t, exitDone, "built, but not switched to: "+why)
			if status, body := s.request(t, "GET", "/readyz", ""); status != http.StatusServiceUnavailable ||
				!strings.Contains(body, why) {
				t.Errorf("/readyz: %d %s, want it to say why", status, body)
			}
			if _, body := s.request(t, "GET", "/admin/rebuilds", ""); !strings.Contains(body, `"waits":"`+why) ||
				!strings.Contains(body, "see 'server deadletters list --building', then retry or skip each, or switch with") {
				t.Errorf("/admin/rebuilds: %s, want it to say why and what to do", body)
			}
			if log := s.stderr.String(); !strings.Contains(log, why) {
				t.Errorf("the log does not say so:\n%s", log)
			}
			_, metrics := s.request(t, "GET", "/metrics", "")
			for _, line := range []string{`foldql_rebuild_new_dead_letters{projection="Tasks"} 1`,
				`foldql_rebuild_eta_seconds{projection="Tasks"} 0`} {
				if !strings.Contains(metrics, line) {
					t.Errorf("/metrics lacks %s", line)
				}
			}
			if got := s.query(t, `{ Task(id: "7") { title } }`); !strings.Contains(got, "poison") {
				t.Errorf("what serves meanwhile: %s", got)
			}
			s.deadLetters(t, p.App, "list").wantExit(t, exitDone, "there are no dead letters")
			s.deadLetters(t, p.App, "list", "--building").wantExit(t, exitDone, "0@7")
			c.decide(t, s, p)
			s.until(t, "switched", func() bool { return !s.statusOf(t).Projections[0].Frozen })
			s.ready(t)
			if got := s.query(t, `{ Task(id: "7") { title } }`); got != c.row {
				t.Errorf("after the switch: %s, want %s", got, c.row)
			}
			s.end(t)
		})
	}
}

// building starts a server over rows of another version, which builds its own and stops where open lets it go on.
func building(t *testing.T) (s *server, open func()) {
	t.Helper()
	args := append(embedded(t), "--ready-when", "rebuilt")
	s = serve(t, newStage("1").App, start{args: args})
	s.append(t, gated()...)
	s.folded(t, 10)
	s.end(t)
	p := newStage("2")
	open = p.shut()
	s = serve(t, p.App, start{args: args})
	return s, open
}

// TestRowsWithTheSameDeadLettersAreSwitchedTo by themselves.
func TestRowsWithTheSameDeadLettersAreSwitchedTo(t *testing.T) {
	s, open := building(t)
	if status, body := s.request(t, "GET", "/readyz", ""); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, "has not built its rows yet") {
		t.Errorf("/readyz while they are built: %d %s", status, body)
	}
	open()
	s.ready(t)
	if at := s.statusOf(t).Projections[0]; at.Frozen || at.DeadLetters != 1 {
		t.Errorf("ready with %+v, want the new rows with their dead letter", at)
	}
	s.end(t)
}

// TestAnEventThatOnlyTheNewRowsCameToHoldsUpNoSwitch: the rows that serve do not have it either.
func TestAnEventThatOnlyTheNewRowsCameToHoldsUpNoSwitch(t *testing.T) {
	s, open := building(t)
	s.append(t, taskEvent("11", "poison"), taskEvent("12", "after it"))
	open()
	s.ready(t)
	if at := s.statusOf(t).Projections[0]; at.Frozen || at.DeadLetters != 2 || !hasTitle(t, s, "12", "after it") {
		t.Errorf("ready with %+v, want the new rows with two dead letters", at)
	}
	s.end(t)
}

func hasTitle(t *testing.T, s *server, id, title string) bool {
	t.Helper()
	return s.query(t, fmt.Sprintf(`{ Task(id: %q) { title } }`, id)) == titled(title)
}

// TestVerifyTellsPureProjectorsFromOthers, with what was decided about dead letters, beside a server and without one.
func TestVerifyTellsPureProjectorsFromOthers(t *testing.T) {
	t.Run("embedded", func(t *testing.T) { testVerify(t, embedded(t)) })
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) { testVerify(t, inDynamo(t, e, newStage("1").App)) })
	}
}

func testVerify(t *testing.T, args []string) {
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	p := newStage("1")
	s := serve(t, p.App, start{args: args})
	s.append(t, gated()...)
	s.folded(t, 10)
	s.deadLetters(t, p.App, "skip", "Tasks", "0@7").wantExit(t, exitDone, "skipped")
	s.append(t, taskEvent("p", "poison"))
	s.folded(t, 11)
	offline := func() *call {
		return runProgram(t, p.App, start{args: append([]string{"rebuild", "verify", "Task"}, args...)})
	}
	const pure, impure = "Tasks: 9 rows and 1 dead letter of two folds compared, 0 differences",
		"Tasks: 9 rows and 1 dead letter of two folds compared, 9 differences\n  Task \"1\": its fields differ: title\n"
	s.rebuilds(t, p.App, "verify", "Task").wantExit(t, exitDone, pure)
	p.impure.Store(true)
	s.rebuilds(t, p.App, "verify", "Tasks").wantExit(t, exitFailed, impure)
	s.rebuilds(t, p.App, "verify", "Tusk").wantExit(t, exitFailed, "did you mean Task?")
	p.impure.Store(false)
	if got := s.query(t, `{ Task(id: "1") { title } }`); !strings.Contains(got, `"Task 1"`) {
		t.Errorf("what serves: %s", got)
	}
	s.end(t)
	offline().wantExit(t, exitDone, pure)
	p.impure.Store(true)
	offline().wantExit(t, exitFailed, impure)
	if left, err := filepath.Glob(filepath.Join(scratch, "foldql-verify-*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left of the folds", left, err)
	}
}
