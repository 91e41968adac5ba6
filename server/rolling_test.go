package server

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/natsserver"
)

// rollout is a stream of ticks of one task, and a client that asks several servers for it in turn.
type rollout struct {
	stream *tasks
	random *rand.Rand
	ticks  int // published
	seen   int // the latest tick that any server has answered with
	asked  int
	back   int // the furthest that an answer was behind an earlier one
}

// ahead is how many events there may be that no answer shows yet: a server that is far behind is not ready.
const ahead = 100

// tick publishes a few events, unless servers are far behind; the title of the task counts them.
func (r *rollout) tick(t *testing.T) {
	t.Helper()
	if r.ticks > r.seen+ahead {
		return
	}
	var events []eventlog.Event
	for range 1 + r.random.IntN(5) {
		r.ticks++
		e := taskEvent("clock", strconv.Itoa(r.ticks))
		e.ID = fmt.Sprint("tick-", r.ticks)
		events = append(events, e)
	}
	natsserver.Publish(t, r.stream.js, "tasks", events)
}

// ask asks each server for the task, and before and after that how far behind it is, since it may change to other rows
// between: what it answers is at most so much older than what any has answered before. At least one is ready.
func (r *rollout) ask(t *testing.T, servers ...*server) {
	t.Helper()
	ready, why := 0, ""
	for i, s := range servers {
		seen, lag := r.seen, s.statusOf(t).Projections[0].Lag
		var answer struct {
			Data struct{ Task struct{ Title string } }
		}
		text := s.query(t, `{ Task(id: "clock") { title } }`)
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err)
		}
		at, err := strconv.Atoi(answer.Data.Task.Title)
		if err != nil {
			t.Fatalf("server %d answers %s", i+1, text)
		}
		lag = max(lag, s.statusOf(t).Projections[0].Lag)
		if back := seen - at; back > int(lag) {
			t.Fatalf("server %d says that it is %d events behind, and goes back by %d, from %d to %d", i+1, lag, back, seen, at)
		}
		r.seen, r.back, r.asked = max(r.seen, at), max(r.back, seen-at), r.asked+1
		status, body := s.request(t, "GET", "/readyz", "")
		if status == http.StatusOK {
			ready++
		}
		why += body
	}
	if ready == 0 {
		t.Fatalf("no server is ready: %s", why)
	}
}

// TestANewVersionIsRolledOutOverAStream: two servers serve and fold while one with a field and an index more builds its
// rows and switches to them, and takes over when they are gone. A client that asks all of them in turn always finds one
// ready, and never an answer that is older by more than the server says.
func TestANewVersionIsRolledOutOverAStream(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, setting("SERVER_TEST_EVENTS", 1000))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := &rollout{stream: all, random: rand.New(rand.NewPCG(seed, 0))}
	place := dynamolocal.Start(t, dynamolocal.Local)
	place.Setenv(t)
	store := []string{"--store", "dynamodb:" + place.Prefix + "?concurrency=8"}
	apply := func(app App) {
		t.Helper()
		runProgram(t, app, start{args: append([]string{"tables", "apply"}, store...)}).wantExit(t, exitDone, "done")
	}
	former := newProject(false).App
	apply(former)
	args := append(slices.Clone(store), "--events", all.url)
	r.tick(t)
	first, second := serve(t, former, start{args: args}), serve(t, former, start{args: args})
	for _, s := range []*server{first, second} {
		s.ready(t)
		s.until(t, "folded", func() bool { return strings.Contains(s.query(t, `{ Task(id: "clock") { title } }`), `"title":"`) })
	}
	apply(grown())
	third := serve(t, grown(), start{args: args})
	r.tick(t)
	field := `{ Task(id: "clock") { note } }`
	third.until(t, "switched to", func() bool {
		r.tick(t)
		r.ask(t, first, second, third)
		return strings.Contains(third.query(t, field), "about ")
	})
	for range 50 {
		r.tick(t)
		r.ask(t, third, second, first)
	}
	first.end(t)
	r.tick(t)
	r.ask(t, second, third)
	second.end(t)
	third.until(t, "alone and up to date", func() bool {
		r.ask(t, third)
		return r.seen == r.ticks
	})
	t.Logf("%d answers while %d events came, and none older than an earlier one by more than %d", r.asked, r.ticks, r.back)
}
