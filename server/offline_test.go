package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/stores"
)

// TestDeadLettersAreListedAndSkippedWhileNoServerRuns, with what a running server says of them.
func TestDeadLettersAreListedAndSkippedWhileNoServerRuns(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		testOffline(t, newProject(false).App, []string{"--store", "embedded:" + t.TempDir()}, true)
	})
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			d := deploy(t, e)
			d.app = newProject(false).App
			d.tables(t, "apply").wantExit(t, exitDone, "done")
			testOffline(t, d.app, d.options, false)
		})
	}
}

// testOffline folds events of which four are poisoned. alone says that one process at a time may have the store.
func testOffline(t *testing.T, app App, args []string, alone bool) {
	var events = slices.Collect(taskEvents(1, 20))
	for _, at := range []int{3, 5, 7} {
		events[at-1].Data = []byte(`{"taskId":"x","title":"poison"}`)
	}
	waits := taskEvent("21", "Waits")
	waits.Subject = events[4].Subject
	events = append(events, waits)
	run := func(command string, more ...string) *call {
		t.Helper()
		return runProgram(t, app, start{args: append([]string{"deadletters", command}, more...)})
	}
	offline := func(command string, more ...string) *call {
		t.Helper()
		return run(command, append(more, args...)...)
	}
	s := serve(t, app, start{args: args})
	s.post(t, events)
	s.folded(t, 21)
	online := runProgram(t, app, start{
		args: []string{"deadletters", "list", "--url", s.url}, env: map[string]string{"FOLDQL_STORE": "memory:"},
	})
	online.wantExit(t, exitDone, "0@5")
	json := run("list", "--json", "--url", s.url)
	if alone {
		offline("list").wantExit(t, exitFailed, "another process has it open")
	}
	s.end(t)

	if got := offline("list"); got.stdout.String() != online.stdout.String() {
		t.Errorf("listed:\n%s\nand by a running server:\n%s", &got.stdout, &online.stdout)
	}
	if got := offline("list", "--json"); got.stdout.String() != json.stdout.String() {
		t.Errorf("listed:\n%s\nand by a running server:\n%s", &got.stdout, &json.stdout)
	}
	offline("list", "--projection", "Tusks").wantExit(t, exitFailed, "There is no projection")
	offline("skip", "Tasks", "0@4").wantExit(t, exitFailed, "no dead letter")
	offline("retry", "Tasks", "0@3").wantExit(t, exitFailed, "failed again")
	changed := versioned("2")
	if alone {
		runProgram(t, changed, start{args: append([]string{"deadletters", "skip", "Tasks", "0@3"}, args...)}).
			wantExit(t, exitFailed, "does not fold the rows of projection Tasks on")
	}
	offline("skip", "Tasks", "0@5").wantExit(t, exitDone, "Tasks 0@5: skipped\n")
	offline("skip", "Tasks", "--all").wantExit(t, exitDone, "Tasks: 2 dead letters skipped\n")
	offline("list").wantExit(t, exitDone, "there are no dead letters")

	s = serve(t, app, start{args: args})
	s.ready(t)
	if got := s.query(t, `{ Task(id: "21") { title } }`); !strings.Contains(got, "Waits") {
		t.Errorf("what waited for a skipped event is not folded: %s", got)
	}
	if n := s.statusOf(t).Projections[0].DeadLetters; n != 0 {
		t.Errorf("%d dead letters are left", n)
	}
	s.end(t)
}

// TestDeadLettersOfAModelThatHasChangedAreListedWhileNoServerRuns, with what a running server says of them: those of
// the rows that serve, and of those that are built beside these.
func TestDeadLettersOfAModelThatHasChangedAreListedWhileNoServerRuns(t *testing.T) {
	args := embedded(t)
	s := serve(t, indexedTasks("1", false), start{args: args})
	s.post(t, []eventlog.Event{taskEvent("1", "Task"), taskEvent("2", "poison")})
	s.folded(t, 2)
	s.end(t)

	changed := indexedTasks("2", true)
	run := func(command ...string) *call {
		t.Helper()
		return runProgram(t, changed, start{args: append([]string{"deadletters"}, command...)})
	}
	offline := func(command ...string) *call { t.Helper(); return run(append(command, args[:2]...)...) }
	list := offline("list")
	list.wantExit(t, exitDone, "Tasks       0@2")
	if told := list.stderr.String(); told != "" {
		t.Errorf("beside the list it says %s", told)
	}
	offline("list", "--building").wantExit(t, exitDone, "there are no dead letters\n")

	s = serve(t, changed, start{args: append(slices.Clone(args), "--switch", "manual")})
	s.until(t, "built", func() bool {
		at := s.statusOf(t).Projections[0].Build
		return at != nil && at.Complete
	})
	for _, rows := range [][]string{{"list"}, {"list", "--building"}} {
		run(append(rows, "--url", s.url)...).wantExit(t, exitDone, list.stdout.String())
	}
	s.end(t)
	for _, rows := range [][]string{{"list"}, {"list", "--building"}} {
		offline(rows...).wantExit(t, exitDone, list.stdout.String())
	}
}

// TestAListOfDeadLettersThatFailsTellsOfNoDecision: nobody has made one.
func TestAListOfDeadLettersThatFailsTellsOfNoDecision(t *testing.T) {
	app, dir := newProject(false).App, t.TempDir()
	s := serve(t, app, start{args: []string{"--store", "embedded:" + dir}})
	s.post(t, []eventlog.Event{taskEvent("1", "poison")})
	s.folded(t, 1)
	s.end(t)
	spoilNote(t, app, dir, "deadletter:Task.g0:Tasks")

	list := runProgram(t, app, start{args: []string{"deadletters", "list", "--store", "embedded:" + dir}})
	list.wantExit(t, exitFailed, "The dead letters of Tasks could not be listed: ")
	if told := list.stderr.String(); strings.Contains(told, "retried or skipped") {
		t.Errorf("it says %s", told)
	}
}

// spoilNote makes the one note of a kind in an embedded store unreadable.
func spoilNote(t *testing.T, app App, dir, kind string) {
	t.Helper()
	at := config.Store{Kind: config.Embedded, Dir: dir}
	db, err := stores.Open(t.Context(), at, stores.Options{Models: app.Models})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	notes, err := db.Notes().List(t.Context(), kind, "", 2)
	if err != nil || len(notes) != 1 {
		t.Fatalf("on record are %d of %s, %v; want 1", len(notes), kind, err)
	}
	notes[0].Value = []byte("{")
	if err := db.Apply(t.Context(), querydb.Batch{Notes: notes}); err != nil {
		t.Fatal(err)
	}
}

// TestARetryOfAllThatIsInterruptedSaysSo, and that and only that is done which it counts.
func TestARetryOfAllThatIsInterruptedSaysSo(t *testing.T) {
	p, args := newProject(false), embedded(t)
	ctx, interrupt := context.WithCancel(t.Context())
	project := p.Projections[0].Project
	p.Projections[0].Project = func(e *eventlog.Event, meta projection.Meta) ([]projection.Op, error) {
		if !p.poisoned.Load() {
			interrupt()
		}
		return project(e, meta)
	}
	s := serve(t, p.App, start{args: args})
	s.post(t, []eventlog.Event{taskEvent("a", "poison"), taskEvent("b", "poison"), taskEvent("c", "poison")})
	s.folded(t, 3)
	s.end(t)
	p.poisoned.Store(false)
	retry := start{args: append([]string{"deadletters", "retry", "Tasks", "--all"}, args...)}
	c := &call{}
	c.code = retry.program(p.App, c).run(ctx)
	c.wantExit(t, exitFailed, "interrupted")
	c.wantExit(t, exitFailed, "Tasks: 1 dead letter folded\n")
	runProgram(t, p.App, retry).wantExit(t, exitDone, "Tasks: 2 dead letters folded\n")
}

// TestABulkDecisionWithoutAnAnswerSaysThatItsLastPageIsNotCounted, since the server may have decided some of it.
func TestABulkDecisionWithoutAnAnswerSaysThatItsLastPageIsNotCounted(t *testing.T) {
	const uncounted = "some of the last page, which are not counted"
	app := newProject(false).App
	ctx, interrupt := context.WithCancel(t.Context())
	for name, tc := range map[string]struct {
		ctx    context.Context
		answer http.HandlerFunc
		told   bool
	}{
		"interrupted": {ctx, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // a server sees that a client has gone once it has read what that sent
			interrupt()
			<-r.Context().Done()
		}, true},
		"a proxy gives it up": {t.Context(), func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusGatewayTimeout)
		}, true},
		"refused":   {t.Context(), http.NotFound, false},
		"not there": {t.Context(), nil, false},
	} {
		between := httptest.NewServer(tc.answer)
		if tc.answer == nil {
			between.Close()
		}
		c := &call{}
		retry := start{args: []string{"deadletters", "retry", "Tasks", "--all", "--url", between.URL}}
		c.code = retry.program(app, c).run(tc.ctx)
		c.wantExit(t, exitFailed, "")
		if said := c.stdout.String(); said != "" {
			t.Errorf("%s: it says %q of dead letters of which it knows nothing", name, said)
		}
		if told := strings.Contains(c.stderr.String(), uncounted); told != tc.told {
			t.Errorf("%s: it says that something is not counted: %t, want %t\n%s", name, told, tc.told, &c.stderr)
		}
		between.Close() // once more does nothing
	}
}

// TestFlagsOfAStoreAreRefusedWithoutOne: a running server has its own. Those of the environment are for all commands.
func TestFlagsOfAStoreAreRefusedWithoutOne(t *testing.T) {
	for _, args := range [][]string{
		{"deadletters", "list", "--max-ops", "5"}, {"deadletters", "retry", "Tasks", "0@1", "--window=1"},
		{"deadletters", "skip", "Tasks", "--all", "--commit-timeout", "1m"}, {"deadletters", "list", "--cache-mb", "1"},
		{"deadletters", "list", "--max-row-bytes", "67108864"}, {"deadletters", "list", "--max-aggregate", "5"},
		{"deadletters", "list", "--max-dead-letters", "5"},
		{"deadletters", "list", "--project-timeout", "5s"}, {"rebuild", "Task", "--events", "log:"},
		{"rebuild", "Task", "--max-event", "5"}, {"deadletters", "list", "--events-user", "reader"},
		{"events", "import", "-", "--mirror"}, {"events", "import", "-", "--events-mapping", "mapping.yml"},
		{"events", "import", "-", "--events-begin", "5"},
	} {
		runProgram(t, newProject(false).App, start{args: args}).wantExit(t, exitUsage, "give --store too")
	}
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	runProgram(t, newProject(false).App, start{
		args: []string{"deadletters", "list", "--url", s.url}, env: map[string]string{"FOLDQL_MAX_OPS": "5"},
	}).wantExit(t, exitDone, "there are no dead letters")
}

// TestACommandOnAStoreThatIsNotThereFailsAndMakesNone: an empty one would have it report that all is well, and one half
// beside the other would keep a restore from the directory.
func TestACommandOnAStoreThatIsNotThereFailsAndMakesNone(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: append(args, "--sample")})
	s.ready(t)
	s.end(t)
	whole := strings.TrimPrefix(args[1], "embedded:")
	for missing, says := range map[string]string{"rows": "open the rows", "log": "open the events"} {
		data := t.TempDir()
		copyDir(t, whole, data)
		if err := os.RemoveAll(filepath.Join(data, missing)); err != nil {
			t.Fatal(err)
		}
		mistyped := filepath.Join(data, "typo")
		for _, command := range []string{
			"deadletters list", "deadletters skip Tasks --all", "deadletters retry-cascades Tasks",
			"rebuild start Tasks", "rebuild verify Tasks", "rebuild accept Tasks", "log accept --yes",
		} {
			for store, want := range map[string]string{mistyped: "open the rows", data: says} {
				runProgram(t, app, start{args: append(strings.Fields(command), "--store", "embedded:"+store)}).
					wantExit(t, exitFailed, want)
				made := filepath.Join(data, missing)
				if store == mistyped {
					made = mistyped
				}
				if _, err := os.Stat(made); !errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("%s has made %s, error %v", command, made, err)
				}
			}
		}
	}
}

// TestACommandOnACopyThatWasMovedAwaySaysHowToMakeItAnew, as the server does at its next start: the data directory is
// named rightly.
func TestACommandOnACopyThatWasMovedAwaySaysHowToMakeItAnew(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	args = append(args, "--events", "file:"+writeLines(t, "tasks.jsonl", taskEvents(1, 5)), "--mirror")
	runProgram(t, app, start{args: append([]string{"replay"}, args...)}).wantExit(t, exitDone, "Tasks: 5 events")
	mirror := filepath.Join(strings.TrimPrefix(args[1], "embedded:"), "mirror")
	if err := os.Rename(mirror, mirror+".former"); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{{"deadletters", "list"}, {"log", "accept", "--yes"}, {"events", "search"}}
	for _, command := range commands {
		runProgram(t, app, start{args: append(command, args...)}).wantExit(t, exitFailed, "start the server once")
	}
	runProgram(t, app, start{args: append([]string{"replay"}, args...)}).wantExit(t, exitDone, "")
	for _, command := range commands {
		runProgram(t, app, start{args: append(command, args...)}).wantExit(t, exitDone, "")
	}
}
