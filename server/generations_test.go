package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// asker asks a server for a row again and again, and remembers each answer that was not the row.
type asker struct {
	done chan struct{}
	wg   sync.WaitGroup

	mu    sync.Mutex
	asked int
	wrong []string
}

func askAlways(t *testing.T, s *server, query, want string) *asker {
	t.Helper()
	a := &asker{done: make(chan struct{})}
	a.wg.Go(func() {
		pace := time.NewTicker(5 * time.Millisecond) // so that it does not starve what it looks at
		defer pace.Stop()
		for {
			select {
			case <-a.done:
				return
			case <-pace.C:
			}
			got := s.query(t, query)
			a.mu.Lock()
			a.asked++
			if !strings.Contains(got, want) {
				a.wrong = append(a.wrong, got)
			}
			a.mu.Unlock()
		}
	})
	return a
}

func (a *asker) end(t *testing.T) {
	t.Helper()
	close(a.done)
	a.wg.Wait()
	if a.asked == 0 || len(a.wrong) > 0 {
		t.Errorf("%d of %d answers were not the row, such as %.1000q", len(a.wrong), a.asked, a.wrong)
	}
}

func (s *server) rebuilds(t *testing.T, app App, args ...string) *call {
	t.Helper()
	return runProgram(t, app, start{args: append(append([]string{"rebuild"}, args...), "--url", s.url)})
}

// TestAServerIsNeverDarkWhileAModelChanges: it is ready at once, serves the rows that it has, and then its own.
func TestAServerIsNeverDarkWhileAModelChanges(t *testing.T) {
	args := append(embedded(t), "--switch", "manual")
	s := serve(t, versioned("1"), start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 300)))
	s.folded(t, 300)
	s.end(t)

	second := versioned("2")
	s = serve(t, second, start{args: args})
	const row = `{ Task(id: "300") { title } }`
	if got := s.query(t, row); !strings.Contains(got, "Task 300") {
		t.Fatalf("at once: %s, want the row", got)
	}
	asker := askAlways(t, s, row, "Task 300")
	s.ready(t)
	s.until(t, "built", func() bool {
		at := s.statusOf(t).Projections[0].Build
		return at != nil && at.Complete
	})
	if status := s.statusOf(t).Projections[0]; !status.Frozen || status.Lag != 0 {
		t.Errorf("while it waits for the switch: %+v, want it frozen", status)
	}
	s.rebuilds(t, second, "status").wantExit(t, exitDone, "built, 0 events behind")
	s.append(t, taskEvent("new", "meanwhile"))
	s.rebuilds(t, second, "rollback", "Task").wantExit(t, exitFailed,
		"Tasks: there are no former rows: 'server rebuild status' lists what there is")
	s.rebuilds(t, second, "switch", "Task").wantExit(t, exitDone, "serve")
	s.until(t, "new", func() bool { return strings.Contains(s.query(t, `{ Task(id: "new") { title } }`), "meanwhile") })
	s.ready(t)
	asker.end(t)
	s.rebuilds(t, second, "switch", "Task").wantExit(t, exitFailed, "no rows are being built")
	s.end(t)

	// the first version takes its rows up again, without another fold of the log
	first := versioned("1")
	s = serve(t, first, start{args: embeddedAgain(args)})
	asker = askAlways(t, s, row, "Task 300")
	s.until(t, "its own again", func() bool { return !s.statusOf(t).Projections[0].Frozen })
	s.ready(t)
	asker.end(t)
	s.rebuilds(t, first, "status").wantExit(t, exitDone, "folded")
	s.end(t)
}

// TestAServerIsNeverDarkWhileANewModelRefersToOneThatThereIs: the rows that there are go on serving while those of both
// are built, and the new model says that it has none yet.
func TestAServerIsNeverDarkWhileANewModelRefersToOneThatThereIs(t *testing.T) {
	const task, vote = `{ Task(id: "300") { title } }`, `{ Vote(id: "300") { taskId } }`
	first, second := versioned("1"), newGroup()
	t.Run("embedded", func(t *testing.T) {
		args := embedded(t)
		s := serve(t, first, start{args: args})
		s.post(t, slices.Collect(taskEvents(1, 300)))
		s.folded(t, 300)
		s.end(t)
		s = serve(t, second, start{args: append(slices.Clone(args), "--switch", "manual")})
		neverDark(t, s, second, task, vote)
		s.end(t)
		s = serve(t, second, start{args: append(slices.Clone(args), "--keep-former", "1ms")})
		s.ready(t)
		if got := s.query(t, vote); !strings.Contains(got, `"300"`) {
			t.Errorf("after another start: %s, want the vote", got)
		}
		s.until(t, "without the former rows", func() bool {
			return strings.Contains(s.stderr.String(), "the former rows are no longer kept")
		})
		s.end(t)
	})
	t.Run("DynamoDB", func(t *testing.T) {
		place := dynamolocal.Start(t, dynamolocal.Engines()[0])
		place.Setenv(t)
		store := []string{"--store", "dynamodb:" + place.Prefix + "?concurrency=8"}
		tables := append([]string{"tables", "apply"}, store...)
		runProgram(t, first, start{args: tables}).wantExit(t, exitDone, "done")
		s := serve(t, first, start{args: append(slices.Clone(store), "--events", "log:"+t.TempDir())})
		s.post(t, slices.Collect(taskEvents(1, 300)))
		s.folded(t, 300)
		runProgram(t, second, start{args: tables}).wantExit(t, exitDone, "done")
		neverDark(t, serve(t, second, start{args: append(slices.Clone(store), "--events", s.url, "--switch", "manual")}),
			second, task, vote)
	})
}

// neverDark has a server switch to rows of which there are none of the new model yet, and back, and again.
func neverDark(t *testing.T, s *server, app App, there, fresh string) {
	t.Helper()
	asker := askAlways(t, s, there, "Task 300")
	s.ready(t)
	dark := func() bool {
		return strings.Contains(s.query(t, fresh), "there are no rows of Vote yet: they are being built, ")
	}
	name := s.statusOf(t).Projections[0].Projection
	served := func() bool { return strings.Contains(s.query(t, fresh), `"300"`) }
	if !dark() {
		t.Errorf("before it has rows: %s, want that there are none yet", s.query(t, fresh))
	}
	s.built(t)
	if !dark() {
		t.Errorf("while the switch waits: %s, want that there are none yet", s.query(t, fresh))
	}
	s.rebuilds(t, app, "switch", name).wantExit(t, exitDone, "serve")
	s.until(t, "served", served)
	s.rebuilds(t, app, "rollback", name).wantExit(t, exitDone, "serve again")
	s.until(t, "none again", dark)
	s.built(t)
	s.rebuilds(t, app, "switch", name).wantExit(t, exitDone, "serve")
	s.until(t, "served again", served)
	asker.end(t)
}

// embeddedAgain are the arguments without the switch by hand.
func embeddedAgain(args []string) []string { return args[:len(args)-2] }

// TestARebuildIsDecidedByOperators: aborted, begun again, switched to, rolled back.
func TestARebuildIsDecidedByOperators(t *testing.T) {
	p := versioned("1")
	s := serve(t, p, start{args: append(embedded(t), "--switch", "manual")})
	s.post(t, slices.Collect(taskEvents(1, 50)))
	s.folded(t, 50)
	built := func() {
		t.Helper()
		s.until(t, "built", func() bool {
			at := s.statusOf(t).Projections[0].Build
			return at != nil && at.Complete && at.Lag == 0
		})
	}
	decide := func(what string, status int) {
		t.Helper()
		if got, body := s.request(t, "POST", "/admin/rebuild"+what, `{"names": ["Task"]}`, "Content-Type",
			"application/json"); got != status {
			t.Fatalf("%s: %d %s, want %d", what, got, body, status)
		}
	}
	decide("/switch", http.StatusConflict)
	decide("/abort", http.StatusConflict)
	decide("", http.StatusNoContent)
	decide("", http.StatusConflict)
	built()
	decide("/abort", http.StatusNoContent)
	decide("/switch", http.StatusConflict)
	decide("", http.StatusNoContent)
	built()
	s.append(t, taskEvent("late", "while both are folded"))
	decide("/switch", http.StatusNoContent)
	decide("/rollback", http.StatusNoContent)
	s.append(t, taskEvent("later", "after the rollback"))
	for id, title := range map[string]string{
		"late": "while both are folded", "later": "after the rollback", "7": "Task 7",
	} {
		s.until(t, id, func() bool {
			return strings.Contains(s.query(t, fmt.Sprintf(`{ Task(id: %q) { title } }`, id)), title)
		})
	}
	decide("/switch", http.StatusNoContent)
	s.ready(t)
	if got := s.query(t, `{ Task(id: "later") { title } }`); !strings.Contains(got, "after the rollback") {
		t.Errorf("after the switch to rows that were held: %s", got)
	}
}

// TestAServerThatAnotherVersionHasFollowedDoesNotTakeTheRowsBack when its own are removed: it is there by mistake.
func TestAServerThatAnotherVersionHasFollowedDoesNotTakeTheRowsBack(t *testing.T) {
	d := deploy(t, dynamolocal.Local)
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	first := serve(t, d.app, start{args: d.options})
	first.post(t, slices.Collect(taskEvents(1, 10)))
	first.until(t, "folded", hasTask(t, first, 10))
	d.app = versioned("2")
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	second := serve(t, d.app, start{args: append(slices.Clone(d.store), "--events", first.url, "--keep-former", "1ms")})
	first.until(t, "saying that it can no longer update its rows", func() bool {
		at := first.statusOf(t).Projections[0]
		return at.Frozen && strings.Contains(at.LastError, "can no longer update its rows")
	})
	first.append(t, taskEvent("11", "for the rows of the other"))
	for _, s := range []*server{first, second} {
		s.until(t, "folded", func() bool { return hasTitle(t, s, "11", "for the rows of the other") })
		s.end(t)
	}
}

// rolledBack is a server that holds the rows which it has switched away from again: tasks 1 to 5.
func rolledBack(t *testing.T, app App, options ...string) *server {
	t.Helper()
	s := serve(t, app, start{args: append(embedded(t), append(options, "--switch", "manual")...)})
	s.post(t, slices.Collect(taskEvents(1, 5)))
	s.folded(t, 5)
	s.rebuilds(t, app, "start", "Task").wantExit(t, exitDone, "being built")
	s.built(t)
	s.rebuilds(t, app, "switch", "Task").wantExit(t, exitDone, "serve")
	s.rebuilds(t, app, "rollback", "Task").wantExit(t, exitDone, "serve again")
	return s
}

// awaitedSwitch has an operator wait for a switch to rows that lag, and do so until open is called.
func awaitedSwitch(t *testing.T, p *stage, s *server) (switched chan *call, open func()) {
	t.Helper()
	s.append(t, taskEvent("6", "gate"))
	s.until(t, "folded", func() bool { return hasTitle(t, s, "6", "gate") })
	open = sync.OnceFunc(p.shut())
	t.Cleanup(open)
	switched = make(chan *call, 1)
	go func() { switched <- s.rebuilds(t, p.App, "switch", "Task") }()
	s.until(t, "folding on the others", func() bool { return s.statusOf(t).Projections[0].Build != nil })
	return switched, open
}

// TestRowsServeOnWhileThoseOfARollbackAreFoldedOn: a switch back to these takes as long as they lag.
func TestRowsServeOnWhileThoseOfARollbackAreFoldedOn(t *testing.T) {
	p := newStage("1")
	s := rolledBack(t, p.App, "--ready-lag", "0") // else these are near enough at once, and the switch waits for the rest
	switched, open := awaitedSwitch(t, p, s)
	s.append(t, taskEvent("7", "meanwhile"))
	s.until(t, "folded meanwhile", func() bool { return hasTitle(t, s, "7", "meanwhile") })
	s.rebuilds(t, p.App, "switch", "Task").wantExit(t, exitFailed, "as was asked for before")
	open()
	(<-switched).wantExit(t, exitDone, "serve")
	for id, title := range map[string]string{"6": "gate", "7": "meanwhile"} {
		if !hasTitle(t, s, id, title) {
			t.Errorf("after the switch task %s is not %q", id, title)
		}
	}
	s.end(t)
}

// TestASwitchThatAnOperatorAwaitsOutlivesWhatOthersAskForInVain: what is refused, here; what fails, in package
// projections.
func TestASwitchThatAnOperatorAwaitsOutlivesWhatOthersAskForInVain(t *testing.T) {
	p := newStage("1")
	s := rolledBack(t, p.App, "--ready-lag", "0")
	switched, open := awaitedSwitch(t, p, s)
	for what, why := range map[string]string{
		"start": "being built already", "switch": "as was asked for before", "rollback": "no former rows",
	} {
		s.rebuilds(t, p.App, what, "Task").wantExit(t, exitFailed, why)
	}
	open()
	(<-switched).wantExit(t, exitDone, "serve")
	s.end(t)
}

// TestServersOfTwoVersionsServeOneSetOfTables: those of the former version fold and serve while one of the new version
// builds, and serve its rows when it has switched to them. At every moment each answers, and no row goes back further
// than the servers are apart.
func TestServersOfTwoVersionsServeOneSetOfTables(t *testing.T) {
	place := dynamolocal.Start(t, dynamolocal.Engines()[0])
	place.Setenv(t)
	store := []string{"--store", "dynamodb:" + place.Prefix + "?concurrency=8"}
	tables := func(app App) {
		t.Helper()
		runProgram(t, app, start{args: append([]string{"tables", "apply"}, store...)}).wantExit(t, exitDone, "done")
	}
	tables(versioned("1"))
	first := serve(t, versioned("1"), start{args: append(slices.Clone(store), "--events", "log:"+t.TempDir())})
	follow := append(slices.Clone(store), "--events", first.url)
	second := serve(t, versioned("1"), start{args: follow})
	first.post(t, slices.Collect(taskEvents(1, 100)))
	const row = `{ Task(id: "100") { title } }`
	for _, s := range []*server{first, second} {
		s.until(t, "folded", func() bool { return strings.Contains(s.query(t, row), "Task 100") })
	}
	tables(versioned("2"))
	var askers []*asker
	for _, s := range []*server{first, second} {
		askers = append(askers, askAlways(t, s, row, "Task 100"))
	}
	third := serve(t, versioned("2"), start{args: append(slices.Clone(follow), "--switch", "manual")})
	askers = append(askers, askAlways(t, third, row, "Task 100"))
	third.ready(t)
	third.until(t, "built", func() bool {
		at := third.statusOf(t).Projections[0].Build
		return at != nil && at.Complete
	})
	follows := func(id string) {
		t.Helper()
		first.append(t, taskEvent(id, "task "+id))
		for i, s := range []*server{first, second, third} {
			s.until(t, fmt.Sprintf("%s, server %d", id, i+1), func() bool {
				return strings.Contains(s.query(t, fmt.Sprintf(`{ Task(id: %q) { title } }`, id)), "task "+id)
			})
		}
	}
	first.rebuilds(t, versioned("1"), "start", "Task").wantExit(t, exitFailed, "another version of the program")
	follows("before the switch")
	third.rebuilds(t, versioned("2"), "switch", "Task").wantExit(t, exitDone, "serve")
	follows("after the switch")
	for i, s := range []*server{first, second} {
		s.until(t, fmt.Sprintf("frozen, server %d", i+1), func() bool { return s.statusOf(t).Projections[0].Frozen })
		s.ready(t)
	}
	follows("by the third alone")
	first.rebuilds(t, versioned("1"), "rollback", "Task").wantExit(t, exitDone, "serve again")
	third.until(t, "frozen", func() bool { return third.statusOf(t).Projections[0].Frozen })
	first.rebuilds(t, versioned("1"), "switch", "Task").wantExit(t, exitFailed, "are of another version")
	follows("after the rollback")
	for _, a := range askers {
		a.end(t)
	}
}
