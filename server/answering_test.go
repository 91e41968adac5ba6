package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/faultproxy"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/dynamostore"
	"github.com/foldql/foldql/server/internal/positions"
	"github.com/foldql/foldql/server/internal/stores"
)

// readOperations are what a server asks of DynamoDB that writes nothing. It scans 25 items of a table that nobody has
// folded into yet.
var readOperations = []string{"GetItem", "BatchGetItem", "TransactGetItems", "Query", "DescribeTable",
	"DescribeTimeToLive", "Scan"}

// answerers starts servers that only answer. When the test ends, none of them may have asked DynamoDB for anything but
// to read.
func (d *deployment) answerers(t *testing.T) func(app App, args ...string) *server {
	t.Helper()
	proxy := faultproxy.New(faultproxy.Config{Backend: d.URL})
	front := httptest.NewServer(proxy)
	t.Cleanup(func() {
		front.Close()
		proxy.Close()
		requests := proxy.Counts().Requests
		if requests["Query"] == 0 {
			t.Error("servers that only answer have asked DynamoDB for nothing: the test proves nothing")
		}
		for operation, n := range requests {
			if !slices.Contains(readOperations, operation) {
				t.Errorf("servers that only answer have sent %d requests %s", n, operation)
			}
		}
	})
	store := "dynamodb:" + d.Prefix + "?concurrency=8&endpoint=" + front.URL
	return func(app App, args ...string) *server {
		t.Helper()
		return serve(t, app, start{args: append([]string{"--store", store, "--fold", "off"}, args...)})
	}
}

// begin leaves the store as a server that folds does which ends at once: it has folded nothing.
func (d *deployment) begin(t *testing.T) {
	t.Helper()
	drv, err := dynamostore.Open(t.Context(), dynamostore.Config{Prefix: d.Prefix})
	if err != nil {
		t.Fatal(err)
	}
	db, err := querydb.Open(t.Context(), drv, d.app.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stores.TokenKey(t.Context(), db); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestAServerThatFoldsNothingAnswersFromWhatOthersFold: as far as these have come, with positions, and with a lag that
// it sees itself. Here it is also the one that has the log.
func TestAServerThatFoldsNothingAnswersFromWhatOthersFold(t *testing.T) {
	d := deploy(t, dynamolocal.Local)
	d.app = newProject(false).App // some events of which cannot be projected
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	d.begin(t)
	answering := d.answerers(t)
	off := answering(d.app, "--events", "log:"+t.TempDir(), "--ready-lag", "5")
	if got := off.query(t, `{ Task(id: "1") { title } }`); !strings.Contains(got, "UNAVAILABLE") {
		t.Errorf("before anything is folded: %s", got)
	}
	if status, body := off.request(t, "GET", "/readyz", ""); status != 503 || !strings.Contains(body, "one that folds") {
		t.Errorf("before anything is folded: %d %s", status, body)
	}

	follows := append(slices.Clone(d.store), "--events", off.url)
	folding := serve(t, d.app, start{args: follows})
	off.post(t, slices.Collect(taskEvents(1, 20)))
	off.until(t, "answering", hasTask(t, off, 20))
	off.ready(t)
	if s := off.statusOf(t).Projections[0]; s.State != "following" || s.Commits > 0 || s.LastError != "" {
		t.Errorf("the status is %+v", s)
	}
	for url, want := range map[string]string{off.url: "1", folding.url: "0"} {
		s := &server{url: url}
		if _, got := s.request(t, "GET", "/metrics", ""); !strings.Contains(got,
			`foldql_projection_following{projection="Tasks"} `+want) {
			t.Errorf("the metrics do not say who folds:\n%s", got)
		}
	}
	for i := 21; i <= 40; i++ {
		id := fmt.Sprint(i)
		if _, got := off.from(t, off.appended(t, taskEvent(id, "Task "+id)), id); got != titled("Task "+id) {
			t.Errorf("%s from its position: %s", id, got)
		}
	}

	other := answering(d.app, "--events", off.url, "--position-wait", "50ms")
	t.Chdir(t.TempDir())
	copies := answering(d.app, "--events", off.url, "--mirror")
	decidesElsewhere(t, d.app, off, other, folding)

	folding.end(t)
	off.post(t, slices.Collect(taskEvents(101, 9)))
	at := off.appended(t, taskEvent("110", "Task 110"))
	off.until(t, "behind", func() bool {
		status, body := off.request(t, "GET", "/readyz", "")
		return status == 503 && strings.Contains(body, "10 events behind")
	})
	if !hasTask(t, off, 40)() || hasTask(t, off, 101)() {
		t.Error("it has folded, or does not answer")
	}
	if _, got := other.from(t, at, "110"); !strings.Contains(got, `"STALE"`) {
		t.Errorf("from a position that nobody folds up to: %s", got)
	}
	folding = serve(t, d.app, start{args: follows})
	off.until(t, "answering again", hasTask(t, off, 110))
	off.ready(t)

	folding.end(t)
	off.end(t)
	for _, s := range []*server{other, copies} {
		s.until(t, "telling that the log is away", says(t, s, "httpsource: ask "+off.url))
		s.ready(t) // nobody knows of an event that the rows lack
		if hasLag(t, s) {
			t.Error("the lag is told though nobody knows it")
		}
	}
	again := answering(d.app, "--events", off.url)
	again.ready(t)
	if !hasTask(t, again, 110)() {
		t.Error("without the log, it does not answer")
	}
}

// decidesElsewhere has an event become a dead letter that only the server that folds lets be decided about. The 41st
// event of the log is the next.
func decidesElsewhere(t *testing.T, app App, off, other, folding *server) {
	t.Helper()
	at := off.appended(t, taskEvent("poisoned", "poison"))
	other.until(t, "told of the dead letter", func() bool { return other.statusOf(t).Projections[0].DeadLetters == 1 })
	if res, _ := other.from(t, at, "40"); res.Header.Get(positions.ConsistencyHeader) != "blocked" {
		t.Errorf("behind a dead letter: %v", res.Header)
	}
	runProgram(t, app, start{args: []string{"deadletters", "list", "--url", other.url}}).
		wantExit(t, exitDone, "added-poisoned")
	for _, args := range [][]string{{"deadletters", "skip", "Tasks", "0@41"}, {"deadletters", "retry", "Tasks", "--all"},
		{"deadletters", "retry-cascades", "Tasks"}, {"rebuild", "start", "Task"}, {"rebuild", "switch", "Task"},
		{"rebuild", "abort", "Task"}, {"rebuild", "rollback", "Task"}} {
		runProgram(t, app, start{args: append(args, "--url", other.url)}).
			wantExit(t, exitFailed, "send the command to a server that folds")
	}
	status, body := other.request(t, "POST", "/admin/dead-letters/skip", `{"projection": "Tasks", "event": "0@41"}`,
		"Content-Type", "application/json")
	if status != http.StatusConflict || !strings.Contains(body, "folds-nothing") {
		t.Errorf("a decision is refused with %d %s", status, body)
	}
	if status := other.post(t, slices.Collect(taskEvents(500, 1))); status != http.StatusNotFound {
		t.Errorf("events are refused with %d", status)
	}
	runProgram(t, app, start{args: []string{"deadletters", "skip", "Tasks", "0@41", "--url", folding.url}}).
		wantExit(t, exitDone, "")
	other.until(t, "told of the decision", func() bool { return other.statusOf(t).Projections[0].DeadLetters == 0 })
}

// TestAServerThatFoldsNothingFollowsOthersToNextGenerations: to one of the same version, and to one of another,
// whichever of the two is its own.
func TestAServerThatFoldsNothingFollowsOthersToNextGenerations(t *testing.T) {
	d := deploy(t, dynamolocal.Local)
	first, second := versioned("1"), versioned("2")
	d.folds(t, 1, 20)
	answering := d.answerers(t)
	folding := serve(t, first, start{args: d.options})
	former := answering(first, "--events", folding.url)
	former.until(t, "answering", hasTask(t, former, 20))

	folding.end(t)
	runProgram(t, first, start{args: append([]string{"rebuild", "start", "Task"}, d.options...)}).
		wantExit(t, exitDone, "rebuilds from the whole log")
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	folding = serve(t, first, start{args: d.options})
	folding.until(t, "built and switched to", func() bool {
		_, rebuilds := folding.request(t, "GET", "/admin/rebuilds", "")
		return strings.Contains(rebuilds, `"serving":{"generation":1`)
	})
	folding.post(t, slices.Collect(taskEvents(21, 1)))
	former.until(t, "answering from a generation of its version", hasTask(t, former, 21))
	events := []string{"--events", folding.url}

	d.app = second
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	next := answering(second, events...)
	next.until(t, "frozen", says(t, next, "start a server of this version that folds"))
	if s := next.statusOf(t).Projections[0]; !s.Frozen || !hasTask(t, next, 21)() {
		t.Errorf("rows of another version are answered from as %+v", s)
	}
	building := serve(t, second, start{args: append(slices.Clone(d.store), events...)})
	next.until(t, "following", func() bool { return next.statusOf(t).Projections[0].State == "following" })
	former.until(t, "frozen", func() bool { return former.statusOf(t).Projections[0].Frozen })
	folding.post(t, slices.Collect(taskEvents(22, 1)))
	for _, s := range []*server{former, next, building} {
		s.until(t, "answering from a generation of the second version", hasTask(t, s, 22))
	}

	// the rows that are left are removed, so that whoever read them still would answer with less
	building.rebuilds(t, second, "rollback", "Task").wantExit(t, exitDone, "serve again")
	building.rebuilds(t, second, "abort", "Task").wantExit(t, exitDone, "removed")
	building.end(t)
	folding.post(t, slices.Collect(taskEvents(23, 1)))
	for name, s := range map[string]*server{"folding": folding, "former": former, "next": next} {
		s.until(t, name+" answering from the generation that serves again", hasTask(t, s, 23))
	}
}

// TestAServerFoldsNothingWhereOthersCanFold alone: nobody else writes to a store on this machine.
func TestAServerFoldsNothingWhereOthersCanFold(t *testing.T) {
	for _, store := range []string{"embedded:" + t.TempDir(), "memory:"} {
		runProgram(t, newProject(false).App, start{args: []string{"serve", "--listen", "127.0.0.1:0", "--fold", "off",
			"--store", store}}).wantExit(t, exitUsage, "fold: with --fold=off nothing would update the rows")
	}
}

// TestAServerThatFoldsNothingRefusesOptionsOfFolds on its command line: they would have no effect.
func TestAServerThatFoldsNothingRefusesOptionsOfFolds(t *testing.T) {
	for _, option := range []string{"--window=10", "--max-dead-letters=5", "--rebuild-share=0.1", "--switch=manual"} {
		runProgram(t, newProject(false).App, start{args: []string{"serve", "--listen", "127.0.0.1:0", "--fold", "off",
			"--store", "dynamodb:x-", option}}).wantExit(t, exitUsage, "no effect with --fold=off")
	}
}

// TestAServerFoldsNothingWhereOthersHaveBegun: the secret of page tokens is with the rows, and it keeps none there. It
// refuses rows of another kind of source.
func TestAServerFoldsNothingWhereOthersHaveBegun(t *testing.T) {
	d := deploy(t, dynamolocal.Local)
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	answer := func(args ...string) *call {
		t.Helper()
		return runProgram(t, d.app, start{args: slices.Concat([]string{"serve", "--listen", "127.0.0.1:0", "--fold", "off"},
			d.store, args)})
	}
	answer("--events", "log:"+t.TempDir()).wantExit(t, exitUsage, "start one that folds first")
	d.folds(t, 1, 1)
	answer("--events", "file:none").wantExit(t, exitUsage, "are folded from log:, not from file:")
}
