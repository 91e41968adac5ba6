package server

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// What happens at a moment of a build which a line of the log shows.

// moment calls do once, with the server, where the log has the text.
type moment struct {
	text    string
	once    sync.Once
	servers chan *server
	do      func(*server)
}

func (m *moment) logged(text string) {
	if strings.Contains(text, m.text) {
		m.once.Do(func() { m.do(<-m.servers) })
	}
}

// The log's words as the rows that serve stand still for a switch, and when others serve.
const (
	standsStill = "the rows that serve stand still"
	switchedTo  = "the rows that were built serve from now on"
)

// TestADecisionAmidASwitchHolds for the rows that serve then: made while those that have served stand still, and before
// the others are folded.
func TestADecisionAmidASwitchHolds(t *testing.T) {
	for _, verb := range []string{"skip", "retry"} {
		for _, when := range []string{standsStill, switchedTo} {
			t.Run(verb+" as "+when, func(t *testing.T) {
				p, decided := newStage("1"), make(chan *call, 1)
				m := &moment{text: when, servers: make(chan *server, 1)}
				m.do = func(s *server) {
					go func() { // the server answers nobody before the line is written
						decided <- runProgram(t, p.App, start{args: []string{"deadletters", verb, "Tasks", "0@7", "--url", s.url}})
					}()
				}
				s := serve(t, p.App, start{args: append(embedded(t), "--switch", "manual"), logged: m.logged})
				m.servers <- s
				s.append(t, gated()...)
				s.folded(t, 10)
				s.rebuilds(t, p.App, "start", "Task").wantExit(t, exitDone, "being built")
				s.built(t)
				p.poisoned.Store(false) // what is retried succeeds
				s.rebuilds(t, p.App, "switch", "Task").wantExit(t, exitDone, "serve")
				(<-decided).wantExit(t, exitDone, "Tasks 0@7: ")
				want := `{"data":{"Task":null}}`
				if verb == "retry" {
					want = `{"data":{"Task":{"title":"poison"}}}`
				}
				s.until(t, "decided", func() bool { return s.query(t, `{ Task(id: "7") { title } }`) == want })
				s.until(t, "without dead letters", func() bool { return s.statusOf(t).Projections[0].DeadLetters == 0 })
				s.end(t)
			})
		}
	}
}

// TestAVerificationThatIsInterruptedLeavesNothing: by its client, by the end of the server, and without a server.
func TestAVerificationThatIsInterruptedLeavesNothing(t *testing.T) {
	args := embedded(t)
	scratch := t.TempDir()
	t.Setenv("TMPDIR", scratch)
	p := newStage("1")
	s := serve(t, p.App, start{args: args})
	s.append(t, gated()...)
	s.folded(t, 10)
	defer p.shut()()
	left := func() int {
		found, err := filepath.Glob(filepath.Join(scratch, "foldql-verify-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	for _, how := range []string{"client", "server", "command"} {
		to := []string{"--url", s.url}
		if how == "command" {
			to = args
		}
		ctx, interrupt := context.WithCancel(t.Context())
		c, ended := &call{}, make(chan struct{})
		go func() {
			defer close(ended)
			c.code = start{args: append([]string{"rebuild", "verify", "Task"}, to...)}.program(p.App, c).run(ctx)
		}()
		s.until(t, how+" at it", func() bool { return left() > 0 })
		if how == "server" {
			s.end(t)
		} else {
			interrupt()
		}
		<-ended
		s.until(t, how+" without rows", func() bool { return left() == 0 })
		if c.code == exitDone {
			t.Errorf("%s: exit code %d, %s", how, c.code, c.stdout.String()+c.stderr.String())
		}
		interrupt()
	}
}
