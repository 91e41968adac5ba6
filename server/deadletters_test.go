package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/server/internal/admin"
)

// TestDeadLettersAreDecidedInFewRequests: the server works through them, as many at a time as an answer lists, says how
// many it has done and failed, and where to go on.
func TestDeadLettersAreDecidedInFewRequests(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: []string{"--store", "memory:", "--max-dead-letters", "100"}})
	const letters = 2*admin.MostDeadLetters + 500
	var events []eventlog.Event
	for i := range letters {
		events = append(events, taskEvent(fmt.Sprintf("p%04d", i), "poison"))
	}
	s.append(t, events...)
	s.until(t, "dead letters", func() bool { return s.statusOf(t).Projections[0].DeadLetters == letters })
	ask := func(verb, after string) (a admin.BulkAnswer) {
		t.Helper()
		body := fmt.Sprintf(`{"projection": "Tasks", "reason": "poisoned", "after": %q}`, after)
		status, text := s.request(t, "POST", "/admin/dead-letters/"+verb, body, "Content-Type", "application/json")
		if err := json.Unmarshal([]byte(text), &a); err != nil || status != 200 {
			t.Fatalf("%s after %q: status %d, %v: %s", verb, after, status, err, text)
		}
		return a
	}
	if a := ask("retry", ""); a.Done != 0 || a.Failed != admin.MostDeadLetters ||
		len(a.Failures) != admin.MostFailures || a.Next == "" {
		t.Errorf("all fail again: %d done, %d failed, %d listed, next %q", a.Done, a.Failed, len(a.Failures), a.Next)
	}
	p.poisoned.Store(false)
	requests, done := 0, 0
	for after := ""; ; {
		a := ask("retry", after)
		requests, done = requests+1, done+a.Done
		if after = a.Next; after == "" {
			break
		}
	}
	if requests != 3 || done != letters {
		t.Errorf("%d requests have decided %d dead letters, want 3 and %d", requests, done, letters)
	}
	if n := s.statusOf(t).Projections[0].DeadLetters; n != 0 {
		t.Errorf("%d dead letters are left", n)
	}
}

// TestAListOfDeadLettersSaysThatThereAreMore, and how to list them; and nothing where these are all.
func TestAListOfDeadLettersSaysThatThereAreMore(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: []string{"--store", "memory:"}})
	s.append(t, taskEvent("1", "poison"), taskEvent("2", "poison"), taskEvent("3", "poison"))
	s.until(t, "dead letters", func() bool { return s.statusOf(t).Projections[0].DeadLetters == 3 })
	for _, c := range []struct {
		args []string
		told string
	}{
		{[]string{"--limit", "2"}, "2 dead letters; for those that follow, add --projection Tasks --after 0@2, and"},
		{[]string{"--limit", "2", "--json"}, "2 dead letters; for those that follow, add --projection Tasks --after 0@2"},
		{[]string{"--limit", "1", "--projection", "Tasks", "--after", "0@1"},
			"1 dead letter; for those that follow, add --after 0@2\n"},
		{[]string{"--limit", "3"}, ""},
		{[]string{"--limit", "1000"}, ""},
		{[]string{"--limit", "1", "--projection", "Tasks", "--after", "0@2"}, ""},
	} {
		got := s.deadLetters(t, p.App, append([]string{"list"}, c.args...)...)
		got.wantExit(t, exitDone, "")
		if said := got.stderr.String(); !strings.Contains(said, c.told) || c.told == "" && said != "" {
			t.Errorf("%v: said %q, want %q", c.args, said, c.told)
		}
	}
}

// TestAProjectionGoesOnWhenEnoughDeadLettersAreDecided by itself, where it has stopped for too many of them.
func TestAProjectionGoesOnWhenEnoughDeadLettersAreDecided(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: []string{"--store", "memory:"}})
	for i := range 150 {
		s.append(t, taskEvent(fmt.Sprintf("p%03d", i), "poison"))
	}
	s.until(t, "stopped", func() bool { return s.statusOf(t).Projections[0].Stop != nil })
	p.poisoned.Store(false)
	body := `{"projection": "Tasks", "all": true}`
	if status, text := s.request(t, "POST", "/admin/dead-letters/retry", body, "Content-Type",
		"application/json"); status != 200 {
		t.Fatalf("status %d: %s", status, text)
	}
	s.until(t, "at the end of the log", func() bool { return s.statusOf(t).Projections[0].Lag == 0 })
	if at := s.statusOf(t).Projections[0]; at.Stop != nil || at.DeadLetters != 0 {
		t.Errorf("stop %v, %d dead letters, want none", at.Stop, at.DeadLetters)
	}
}
