package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// TestAServerFoldsTheLogOfAnother into rows of its own, also when that one has been away.
func TestAServerFoldsTheLogOfAnother(t *testing.T) {
	app := newProject(false).App
	args := append(embedded(t), "--write-token", "let me in")
	first := serve(t, app, start{args: args})
	auth := []string{"Authorization", "Bearer let me in"}
	post := func(from, n int) {
		t.Helper()
		if status := first.post(t, slices.Collect(taskEvents(from, n)), auth...); status != 201 {
			t.Fatalf("append: status %d", status)
		}
	}
	post(1, 30)
	follow := append(embedded(t), "--events", first.url, "--events-token", "let me in")
	other := serve(t, app, start{args: follow})
	has := func(s *server, id int) func() bool {
		question, want := fmt.Sprintf(`{ Task(id: "%d") { title } }`, id), titled(fmt.Sprint("Task ", id))
		return func() bool { return s.query(t, question) == want }
	}
	other.until(t, "folded", has(other, 30))
	post(31, 1)
	other.until(t, "following", has(other, 31))
	if status, body := other.request(t, "POST", "/events", "{}"); status != 404 || !strings.Contains(body, "takes none") {
		t.Errorf("an append to the one that follows: %d %s", status, body)
	}
	// the rows are bound to the log: an older one, or another, is noticed by its positions as it is on this machine
	other.end(t)
	post(32, 3)
	other = serve(t, app, start{args: follow})
	other.until(t, "caught up", has(other, 34))

	wrong := runProgram(t, app, start{args: append([]string{"serve", "--listen", "127.0.0.1:0", "--events", first.url,
		"--events-token", "let me guess"}, embedded(t)...)})
	wrong.wantExit(t, exitFailed, "give the write token")
	if strings.Contains(wrong.stdout.String()+wrong.stderr.String(), "let me guess") {
		t.Error("the token is in what it says")
	}
	first.end(t)
	if !has(other, 34)() {
		t.Error("without the server that has the log, the other does not answer")
	}
	other.until(t, "telling", func() bool {
		_, status := other.request(t, "GET", "/admin/projections", "")
		return strings.Contains(status, "httpsource: ask "+first.url)
	})
}

// TestServersFoldOneLogIntoOneSetOfTables: the one that has the log, and one that reads it there, do the same work, and
// the rows are those of the log.
func TestServersFoldOneLogIntoOneSetOfTables(t *testing.T) {
	d := deploy(t, dynamolocal.Local)
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	first := serve(t, d.app, start{args: d.options})
	first.ready(t)
	other := serve(t, d.app, start{args: append(slices.Clone(d.store), "--events", first.url)})
	for i := range 20 {
		id := fmt.Sprint(i)
		at := first.appended(t, taskEvent(id, "Task "+id))
		for _, s := range []*server{first, other} {
			s.until(t, "seen", func() bool {
				_, got := s.from(t, at, id)
				return got == titled("Task "+id)
			})
		}
	}
	other.ready(t)
	if said := other.stderr.String() + first.stderr.String(); strings.Contains(said, "level=ERROR") {
		t.Errorf("they say %s", said)
	}
}
