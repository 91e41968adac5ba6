package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/server/internal/positions"
)

// copyDir replaces a directory by a copy of another.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// folded waits until the checkpoint is at an offset.
func (s *server) folded(t *testing.T, n int) {
	t.Helper()
	s.until(t, fmt.Sprint("folded to ", n), func() bool {
		at := s.statusOf(t).Projections[0].Partitions
		return len(at) == 1 && at[0].Checkpoint == uint64(n)
	})
}

// TestALogOlderThanTheRowsTakesNoEventAndLosesNone until an operator has decided: rows are at 110, the log is restored
// from a backup at 50, events are appended to it behind the server's back, and it is started again and again.
func TestALogOlderThanTheRowsTakesNoEventAndLosesNone(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		dir := t.TempDir()
		testOlderLog(t, newProject(false).App, dir, []string{"--store", "embedded:" + dir}, "the log is accepted", func() {})
	})
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			d, dir := deploy(t, e), t.TempDir()
			apply := func() { d.tables(t, "apply").wantExit(t, exitDone, "done") }
			apply()
			testOlderLog(t, d.app, dir, append(slices.Clone(d.store), "--events", "log:"+dir), "server tables apply", apply)
		})
	}
}

// testOlderLog does that over a store, with the log in dir/log. The acceptance prints the advice on what
// comes next, and apply makes the tables that a rebuild needs.
func testOlderLog(t *testing.T, app App, dir string, args []string, advice string, apply func()) {
	backup, newest := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "newest")
	s := serve(t, app, start{args: args})
	if got := s.post(t, slices.Collect(taskEvents(1, 50))); got != http.StatusCreated {
		t.Fatal(got)
	}
	s.folded(t, 50)
	s.end(t)
	copyDir(t, filepath.Join(dir, "log"), backup)
	s = serve(t, app, start{args: args})
	s.post(t, slices.Collect(taskEvents(51, 60)))
	s.folded(t, 110)
	s.end(t)
	copyDir(t, filepath.Join(dir, "log"), newest)

	refuses := func(when string) {
		t.Helper()
		s := serve(t, app, start{args: args})
		status, body := s.request(t, "POST", "/events",
			string(cloudevents.AppendBatch(nil, slices.Collect(taskEvents(1000, 1)))), "Content-Type", batchType)
		if status != http.StatusServiceUnavailable || !strings.Contains(body, "urn:foldql:problem:log-mismatch") {
			t.Errorf("%s: an event is answered %d %s", when, status, body)
		}
		if status, body := s.request(t, "GET", "/readyz", ""); status != http.StatusServiceUnavailable ||
			!strings.Contains(body, "log") {
			t.Errorf("%s: readyz is %d %s", when, status, body)
		}
		at := s.statusOf(t).Projections[0]
		if at.LagKnown || !strings.Contains(at.LastError, "server log accept") {
			t.Errorf("%s: the lag is known: %t, and the last error says %q", when, at.LagKnown, at.LastError)
		}
		if _, got := s.request(t, "GET", "/metrics", ""); strings.Contains(got, "foldql_projection_lag_events{") {
			t.Errorf("%s: metrics tell a lag:\n%s", when, got)
		}
		if got := s.query(t, `{ Task(id: "105") { title } }`); !strings.Contains(got, "Task 105") {
			t.Errorf("%s: rows are not served: %s", when, got)
		}
		s.end(t)
		if !strings.Contains(s.stderr.String(), "server log accept") {
			t.Errorf("%s: the log does not say what to run: %s", when, &s.stderr)
		}
	}
	refusesToAppend := func(when string) {
		t.Helper()
		s := serve(t, app, start{args: args})
		if got := s.post(t, slices.Collect(taskEvents(1000, 1))); got != http.StatusServiceUnavailable {
			t.Errorf("%s: an event is answered %d", when, got)
		}
		s.end(t)
	}
	copyDir(t, backup, filepath.Join(dir, "log"))
	refuses("the log ends at 50")
	refuses("the second time")
	copyDir(t, newest, filepath.Join(dir, "log"))
	requested := runProgram(t, app, start{args: append([]string{"rebuild", "Tasks"}, args...)})
	requested.wantExit(t, exitDone, "rebuilds from the whole log")
	apply()
	copyDir(t, backup, filepath.Join(dir, "log"))
	refusesToAppend("a rebuild was asked for, and the log ends at 50")
	copyDir(t, newest, filepath.Join(dir, "log"))
	s = serve(t, app, start{args: args})
	s.ready(t)
	s.folded(t, 110)
	s.end(t)
	copyDir(t, backup, filepath.Join(dir, "log"))
	older, err := embeddedlog.Open(embeddedlog.Options{Dir: filepath.Join(dir, "log")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := older.Append(t.Context(), slices.Collect(taskEvents(500, 100))); err != nil {
		t.Fatal(err)
	}
	if err := older.Close(); err != nil {
		t.Fatal(err)
	}
	refuses("the log diverged, to 150")
	runProgram(t, app, start{args: append([]string{"replay"}, args...)}).wantExit(t, exitFailed, "server log accept")
	runProgram(t, app, start{args: append([]string{"rebuild", "Task"}, args...)}).wantExit(t, exitFailed,
		"server log accept")

	diverted := filepath.Join(t.TempDir(), "diverted")
	copyDir(t, filepath.Join(dir, "log"), diverted)
	copyDir(t, newest, filepath.Join(dir, "log"))
	s = serve(t, app, start{args: args}) // the log that the rows were folded from is gone on with
	s.ready(t)
	s.end(t)

	copyDir(t, diverted, filepath.Join(dir, "log"))
	accept := append([]string{"log", "accept"}, args...)
	runProgram(t, app, start{args: accept}).wantExit(t, exitUsage, "--yes")
	runProgram(t, app, start{args: accept}).wantExit(t, exitUsage, "at offset 110")
	accepted := runProgram(t, app, start{args: append(accept, "--yes")})
	accepted.wantExit(t, exitDone, "the log is accepted")
	accepted.wantExit(t, exitDone, advice)
	apply()
	runProgram(t, app, start{args: accept}).wantExit(t, exitDone, "nothing to accept")
	s = serve(t, app, start{args: args})
	s.ready(t)
	s.folded(t, 150)
	if got := s.query(t, `{ a: Task(id: "50") { title } b: Task(id: "51") { title } c: Task(id: `+
		`"599") { title } }`); got !=
		`{"data":{"a":{"title":"Task 50"},"b":null,"c":{"title":"Task 599"}}}` {
		t.Error(got)
	}
	s.end(t)
}

// TestARebuildFoldsModelsAgainOnDemand while the server runs, with nothing to fold, and while none runs.
func TestARebuildFoldsModelsAgainOnDemand(t *testing.T) {
	app := newProject(false).App
	args := embedded(t)
	s := serve(t, app, start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 40)))
	s.folded(t, 40)
	runProgram(t, app, start{args: []string{"rebuild", "Tusk", "--url", s.url}}).wantExit(t, exitFailed,
		"did you mean Task")
	runProgram(t, app, start{args: []string{"rebuild", "Task", "--url", s.url}}).wantExit(t, exitDone, "built beside")
	s.until(t, "built and switched to", func() bool {
		_, rebuilds := s.request(t, "GET", "/admin/rebuilds", "")
		return strings.Contains(rebuilds, `"serving":{"generation":1`)
	})
	s.ready(t)
	if got := s.query(t, `{ Task(id: "7") { title } }`); !strings.Contains(got, "Task 7") {
		t.Error(got)
	}
	s.end(t)
	runProgram(t, app, start{args: append([]string{"rebuild", "Tusk"}, args...)}).wantExit(t, exitUsage,
		"did you mean Task")
	runProgram(t, app, start{args: append([]string{"rebuild", "Tasks"}, args...)}).wantExit(t, exitDone,
		"rebuilds from the whole log")
	s = serve(t, app, start{args: args})
	s.until(t, "built and switched to", func() bool {
		_, rebuilds := s.request(t, "GET", "/admin/rebuilds", "")
		return strings.Contains(rebuilds, `"serving":{"generation":2`)
	})
	s.ready(t)
	s.end(t)
}

// TestRowsThatAreLostAreFoldedAgain from the log that was kept.
func TestRowsThatAreLostAreFoldedAgain(t *testing.T) {
	app, dir := newProject(false).App, t.TempDir()
	args := []string{"--store", "embedded:" + dir}
	s := serve(t, app, start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 40)))
	s.folded(t, 40)
	s.end(t)
	if err := os.RemoveAll(filepath.Join(dir, "rows")); err != nil {
		t.Fatal(err)
	}
	s = serve(t, app, start{args: args})
	s.ready(t)
	if got := s.query(t, `{ Task(id: "7") { title } }`); !strings.Contains(got, "Task 7") {
		t.Error(got)
	}
	s.end(t)
}

// TestRowsTellHowFarTheyAreWhileTheLogIsAnother, after a restart too: no query waits for what they have, and none for
// what nobody folds.
func TestRowsTellHowFarTheyAreWhileTheLogIsAnother(t *testing.T) {
	app, dir, diverted := newProject(false).App, t.TempDir(), t.TempDir()
	begin := func(dir string) *server {
		return serve(t, app, start{args: []string{"--store", "embedded:" + dir, "--position-wait", "1h"}})
	}
	adds := func(s *server, id string) string {
		defer s.end(t)
		at := s.appended(t, taskEvent(id, "Task "+id))
		if res, got := s.from(t, at, id); got != titled("Task "+id) {
			t.Fatalf("%d %s", res.StatusCode, got)
		}
		return at
	}
	adds(begin(dir), "1")
	copyDir(t, dir, diverted)
	reached := adds(begin(dir), "2")
	adds(begin(diverted), "3")
	beyond := adds(begin(diverted), "4")
	copyDir(t, filepath.Join(diverted, "log"), filepath.Join(dir, "log"))
	s := begin(dir)
	defer s.end(t)

	status := s.statusOf(t).Projections[0]
	if p := status.Partitions; len(p) != 1 || p[0].Checkpoint != 2 || p[0].Head != 3 || status.LagKnown {
		t.Errorf("partitions %v, lag known %t; want rows at 2 of 3 events of another log", p, status.LagKnown)
	}
	if status.Heartbeat.IsZero() {
		t.Error("no heartbeat")
	}
	res, got := s.from(t, reached, "2")
	if got != titled("Task 2") || res.Header.Get(positions.Header) == "" {
		t.Errorf("a query for what the rows have: %s, position %q", got, res.Header.Get(positions.Header))
	}
	if _, got := s.from(t, beyond, "4"); !strings.Contains(got, "STALE") || !strings.Contains(got, "nobody folds") {
		t.Errorf("a query for what they lack: %s", got)
	}
}

// TestAStoreIsNotVerifiedOrAcceptedByAnotherLog, as at a running server: what its events give says nothing of the rows.
func TestAStoreIsNotVerifiedOrAcceptedByAnotherLog(t *testing.T) {
	app, dir, older := newProject(false).App, t.TempDir(), filepath.Join(t.TempDir(), "log")
	args := []string{"--store", "embedded:" + dir}
	for id := range 2 {
		s := serve(t, app, start{args: args})
		s.appended(t, taskEvent(fmt.Sprint(id), "Task"))
		s.folded(t, id+1)
		s.end(t)
		if id == 0 {
			copyDir(t, filepath.Join(dir, "log"), older)
		}
	}
	copyDir(t, older, filepath.Join(dir, "log"))
	for _, what := range []string{"start", "verify", "accept"} {
		c := runProgram(t, app, start{args: append([]string{"rebuild", what, "Task"}, args...)})
		c.wantExit(t, exitFailed, "the log ends at offset 1")
	}
}

// TestNoBackupIsMadeOfRowsWithALogThatIsNotTheirs: nobody could use it, and it could take the place of a good one.
// Rows alone are as good as they were while their source was that.
func TestNoBackupIsMadeOfRowsWithALogThatIsNotTheirs(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: append(slices.Clone(args), "--sample")})
	s.ready(t)
	s.end(t)
	copyDir(t, filepath.Join(otherLog(t, app), "log"), filepath.Join(strings.TrimPrefix(args[1], "embedded:"), "log"))
	s = serve(t, app, start{args: args})
	s.differs(t)
	dir := filepath.Join(t.TempDir(), "backup")
	runProgram(t, app, start{args: []string{"backup", dir, "--url", s.url}}).wantExit(t, exitFailed, "server log accept")
	if _, err := os.Stat(dir); err == nil {
		t.Error("a backup was made")
	}
	s.end(t)

	store := embedded(t)
	over := func(first int) []string {
		return append(slices.Clone(store), "--events", "file:"+writeLines(t, "events.jsonl", taskEvents(first, 10)))
	}
	s = serve(t, app, start{args: over(1)})
	s.ready(t)
	s.end(t)
	s = serve(t, app, start{args: over(100)})
	s.differs(t)
	runProgram(t, app, start{args: []string{"backup", dir, "--url", s.url}}).wantExit(t, exitDone, "has the rows as of")
}

// TestALogIsBackedUpThatIsNotTheOneOfRowsElsewhere: the backup has the log alone, from which other rows can be folded.
func TestALogIsBackedUpThatIsNotTheOneOfRowsElsewhere(t *testing.T) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			app := newProject(false).App
			args := inDynamo(t, e, app)
			s := serve(t, app, start{args: append(slices.Clone(args), "--sample")})
			s.ready(t)
			s.end(t)
			args[3] = "log:" + otherLog(t, app)
			s = serve(t, app, start{args: args})
			s.differs(t)
			dir := t.TempDir()
			runProgram(t, app, start{args: []string{"backup", filepath.Join(dir, "running"), "--url", s.url}}).
				wantExit(t, exitDone, "has the log as of")
			s.end(t)
			runProgram(t, app, start{args: append([]string{"backup", filepath.Join(dir, "stopped")}, args...)}).
				wantExit(t, exitDone, "has the log as of")
		})
	}
}

// differs waits until the server has found that its log is not the one that its rows were folded from.
func (s *server) differs(t *testing.T) {
	t.Helper()
	s.until(t, "found", func() bool {
		status, body := s.request(t, "GET", "/readyz", "")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "nothing is appended or folded")
	})
}
