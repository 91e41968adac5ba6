package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// append appends events and fails unless they are taken.
func (s *server) append(t testing.TB, events ...eventlog.Event) {
	t.Helper()
	if status := s.post(t, events); status != http.StatusCreated {
		t.Fatalf("append: status %d", status)
	}
}

func TestReadyMeansWithinTheLagAtEveryMoment(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: []string{"--store", "memory:", "--ready-lag", "3"}})
	s.ready(t)
	s.append(t, taskEvent("a", "hold"))
	s.append(t, slices.Collect(taskEvents(1, 2))...)
	if status, body := s.request(t, "GET", "/readyz", ""); status != http.StatusOK {
		t.Errorf("3 events behind: %d %s, want it ready", status, body)
	}
	s.append(t, slices.Collect(taskEvents(3, 1))...)
	if status, body := s.request(t, "GET", "/readyz", ""); status != http.StatusServiceUnavailable {
		t.Errorf("4 events behind: %d %s, want it not ready", status, body)
	}
	close(p.held)
	s.ready(t)
}

func TestAnEventWhoseProjectorEndsItsGoroutineIsADeadLetter(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: []string{"--store", "memory:"}})
	s.append(t, taskEvent("a", "goexit"), taskEvent("b", "fine"))
	s.folded(t, 2)
	s.ready(t)
	if got := s.query(t, `{ Task(id: "b") { title } }`); !strings.Contains(got, "fine") {
		t.Errorf("the event after it: %s", got)
	}
	if got := s.statusOf(t).Projections[0]; got.DeadLetters != 1 || got.Lag != 0 {
		t.Errorf("%+v, want one dead letter and no lag", got)
	}
}

func TestAnEndlessProjectorStopsNamesItsEventAndGoesOnWhenThatIsSkipped(t *testing.T) {
	p := newProject(false)
	args := append(embedded(t), "--project-timeout", "50ms", "--drain-timeout", "10s")
	s := serve(t, p.App, start{args: args})
	s.ready(t)
	s.append(t, taskEvent("a", "hold"), taskEvent("b", "fine"))
	s.until(t, "not ready", func() bool {
		status, _ := s.request(t, "GET", "/readyz", "")
		return status == http.StatusServiceUnavailable
	})
	s.until(t, "stopped", func() bool { return s.statusOf(t).Projections[0].Stop != nil })
	if got := s.statusOf(t).Projections[0]; got.State != "stopped" || got.Stop.Event != "0@1" || got.Stop.ID != "added-a" {
		t.Errorf("%+v, want it stopped at 0@1", got)
	}
	if got := s.stderr.String(); !strings.Contains(got, "0@1") || !strings.Contains(got, "added-a") {
		t.Errorf("the log does not name the event:\n%s", got)
	}
	if _, body := s.request(t, "GET", "/metrics", ""); !strings.Contains(body,
		`foldql_projection_up{projection="Tasks"} 0`) {
		t.Error("foldql_projection_up is not 0")
	}
	command := func(args ...string) *call {
		return runProgram(t, p.App, start{args: append([]string{"deadletters"}, append(args, "--url", s.url)...)})
	}
	command("skip", "Tasks", "0@1").wantExit(t, exitDone, "Tasks 0@1: skipped")
	s.until(t, "folded", func() bool {
		return s.query(t, `{ a: Task(id: "a") { title } b: Task(id: "b") { title } }`) ==
			`{"data":{"a":null,"b":{"title":"fine"}}}`
	})
	s.ready(t)
	s.end(t)

	s = serve(t, p.App, start{args: args}) // and what was skipped stays so
	s.ready(t)
	s.end(t)
}

func TestARebuildLetsAProjectionGoOnThatHasStopped(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: append(embedded(t), "--project-timeout", "50ms")})
	s.ready(t)
	s.append(t, taskEvent("a", "hold"), taskEvent("b", "fine"))
	s.until(t, "stopped", func() bool { return s.statusOf(t).Projections[0].Stop != nil })
	close(p.held) // the code returns from now on
	if status, body := s.request(t, "POST", "/admin/rebuild", `{"names": ["Tasks"]}`, "Content-Type",
		"application/json"); status != http.StatusNoContent {
		t.Fatalf("rebuild: %d %s", status, body)
	}
	s.until(t, "folded", func() bool {
		got := s.query(t, `{ a: Task(id: "a") { title } b: Task(id: "b") { title } }`)
		return strings.Contains(got, "fine") && strings.Contains(got, "hold")
	})
}

func TestAnEndlessProjectorDoesNotHoldUpTheDrain(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: append(embedded(t), "--drain-timeout", "8s")})
	s.ready(t)
	s.append(t, taskEvent("a", "hold"))
	began := time.Now()
	s.end(t)
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the drain took %s", took)
	}
}
