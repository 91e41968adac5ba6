package server

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// decide has an operator of the server decide about a dead letter.
func (u *upstream) decide(t *testing.T, verb, event string) {
	t.Helper()
	status, text := u.request(t, "POST", "/admin/dead-letters/"+verb, `{"projection": "Tasks", "event": "`+event+`"}`,
		"Content-Type", "application/json", "Authorization", "Bearer "+upstreamToken)
	if status != 204 {
		t.Fatalf("%s of %s: status %d: %s", verb, event, status, text)
	}
}

// about is an event about a task, of another subject than the task.
func about(id, title, subject string) eventlog.Event {
	e := taskEvent(id, title)
	e.ID, e.Subject = "by-"+subject+"-"+id, subject
	return e
}

// holds reports whether the tasks have these titles, "" where there is none.
func holds(t *testing.T, s *server, titles map[string]string) func() bool {
	return func() bool {
		for id, title := range titles {
			want := `{"data":{"Task":null}}`
			if title != "" {
				want = titled(title)
			}
			if s.query(t, `{ Task(id: "`+id+`") { title } }`) != want {
				return false
			}
		}
		return true
	}
}

// TestAServerThatFollowsMakesTheRowsThatDecisionsHaveMade: one that has failed on the same events, and is started again
// in between, and one that starts when all is decided, with a program that fails on none of them.
func TestAServerThatFollowsMakesTheRowsThatDecisionsHaveMade(t *testing.T) {
	of, live := newProject(false), newProject(false)
	u := newUpstream(t, of.App)
	args := append(embedded(t), "--events", u.url, "--events-token", upstreamToken)
	s := serve(t, live.App, start{args: args})
	u.add(t, []eventlog.Event{
		taskEvent("x", "poison"), about("x", "between", "other"), taskEvent("y", "poison"), taskEvent("z", "poison"),
		about("z", "between", "other"), taskEvent("last", "last"),
	})
	before := map[string]string{"x": "between", "y": "", "z": "between", "last": "last"}
	s.until(t, "folded as there", holds(t, s, before))
	u.until(t, "folded", holds(t, u.server, before))

	of.poisoned.Store(false)
	live.poisoned.Store(false)
	u.decide(t, "retry", "0@1")
	u.decide(t, "skip", "0@3")
	one := map[string]string{"x": "poison", "y": "", "z": "between", "last": "last"}
	u.until(t, "decided", holds(t, u.server, one))
	s.until(t, "decided as there", holds(t, s, one))
	s.until(t, "one dead letter", func() bool { return s.statusOf(t).Projections[0].DeadLetters == 1 })

	s.end(t)
	u.decide(t, "retry", "0@4")
	all := map[string]string{"x": "poison", "y": "", "z": "poison", "last": "last"}
	s = serve(t, live.App, start{args: args})
	s.until(t, "decided while it was away", holds(t, s, all))
	s.until(t, "no dead letter", func() bool { return s.statusOf(t).Projections[0].DeadLetters == 0 })

	later := newProject(false)
	later.poisoned.Store(false)
	l := serve(t, later.App, start{args: append(embedded(t), "--events", u.url, "--events-token", upstreamToken)})
	l.ready(t)
	l.until(t, "decided before it came", holds(t, l, all))

	u.add(t, []eventlog.Event{about("x", "after", "another")})
	all["x"] = "after"
	s.end(t)
	s = serve(t, live.App, start{args: args})
	for name, server := range map[string]*server{"live": s, "later": l, "upstream": u.server} {
		server.until(t, name+" going on", holds(t, server, all))
	}
	if strings.Contains(s.stderr.String(), "taken over") {
		t.Errorf("it takes over again what it has: %s", &s.stderr)
	}
}

// TestDecisionsAreForThoseWhoMayReadEvents alone.
func TestDecisionsAreForThoseWhoMayReadEvents(t *testing.T) {
	u := newUpstream(t, newProject(false).App)
	for _, path := range []string{"/events/decisions?projection=Tasks", "/events/decisions/wait?seconds=0"} {
		if status, _ := u.request(t, "GET", path, ""); status != 401 {
			t.Errorf("GET %s without a token: status %d, want 401", path, status)
		}
		status, body := u.request(t, "GET", path, "", "Authorization", "Bearer "+upstreamToken)
		if status != 200 {
			t.Errorf("GET %s: status %d: %s", path, status, body)
		}
	}
	for _, path := range []string{
		"/events/decisions", "/events/decisions?projection=Tasks&after=x", "/events/decisions/wait?seconds=99",
		"/events/decisions/wait?seconds=0&known=" + strings.Repeat("x", 100),
	} {
		status, body := u.request(t, "GET", path, "", "Authorization", "Bearer "+upstreamToken)
		if status != 400 {
			t.Errorf("GET %s: status %d, want 400: %s", path, status, body)
		}
	}
}
