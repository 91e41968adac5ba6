package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// firstEvent is the body of a decision about the first event of the log.
const firstEvent = `{"projection": "Tasks", "event": "0@1"}`

// TestAServerThatDrainsDecidesNothing: nobody waits at its end for what begins now.
func TestAServerThatDrainsDecidesNothing(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:", "--drain-delay", "2s"}})
	s.append(t, taskEvent("1", "poison"))
	s.until(t, "a dead letter", func() bool { return s.statusOf(t).Projections[0].DeadLetters == 1 })
	s.stop()
	s.until(t, "draining", func() bool {
		status, _ := s.request(t, "GET", "/readyz", "")
		return status == http.StatusServiceUnavailable
	})
	status, body := s.request(t, "POST", "/admin/dead-letters/skip", firstEvent, "Content-Type", "application/json")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "urn:foldql:problem:unavailable") {
		t.Errorf("a decision is answered %d %s", status, body)
	}
}

// TestAServerClosesNoStoreThatADecisionWritesTo, also where its projections have ended with their source: it says that
// it has not, and ends.
func TestAServerClosesNoStoreThatADecisionWritesTo(t *testing.T) {
	p := newProject(false)
	held, goOn := make(chan struct{}), make(chan struct{})
	defer close(goOn)
	tasks := &p.Projections[0]
	project := tasks.Project
	tasks.Project = func(e *eventlog.Event, meta projection.Meta) ([]projection.Op, error) {
		if !p.poisoned.Load() {
			close(held)
			<-goOn
		}
		return project(e, meta)
	}
	poison := slices.Values([]eventlog.Event{taskEvent("1", "poison")})
	events := "file:" + writeLines(t, "poison.jsonl", poison)
	s := serve(t, p.App, start{args: []string{"--store", "memory:", "--events", events, "--drain-timeout", "1ms"}})
	s.until(t, "a dead letter", func() bool { return s.statusOf(t).Projections[0].DeadLetters == 1 })
	p.poisoned.Store(false)
	go func() { // it is cut off
		res, err := http.Post(s.url+"/admin/dead-letters/retry", "application/json", strings.NewReader(firstEvent))
		if err == nil {
			res.Body.Close()
		}
	}()
	<-held
	s.stop()
	<-s.done
	s.wantExit(t, exitFailed, "the store was not closed")
}
