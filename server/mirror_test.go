package server

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog/mirror"
)

// mirrored are the arguments of a server that keeps a copy of the stream, and its data directory.
func mirrored(t *testing.T, all *tasks) (args []string, data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	return []string{"--store", "embedded:" + data, "--cache-mb", "8", "--events", all.url, "--mirror"}, data
}

// copied makes a stream of so many tasks, and has a server fold and copy them, which has ended.
func copied(t *testing.T, n int) (all *tasks, args []string, data string) {
	t.Helper()
	all = newTasks(t)
	all.publish(t, 1, n)
	args, data = mirrored(t, all)
	s := serve(t, newProject(false).App, start{args: args})
	s.until(t, "folded", hasTask(t, s, n))
	s.end(t)
	return all, args, data
}

// purge has the stream forget its messages up to a sequence.
func (s *tasks) purge(t *testing.T, through uint64) {
	t.Helper()
	if err := s.stream(t).Purge(t.Context(), jetstream.WithPurgeSequence(through+1)); err != nil {
		t.Fatal(err)
	}
}

// withoutRows removes the rows, so that the next start folds everything.
func withoutRows(t *testing.T, data string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(data, "rows")); err != nil {
		t.Fatal(err)
	}
}

// TestRowsAreRebuiltFromTheCopyOfAPurgedStream, by the server that has the copy and by one that follows it.
func TestRowsAreRebuiltFromTheCopyOfAPurgedStream(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, 30)
	args, data := mirrored(t, all)
	s := serve(t, versioned("1"), start{args: args})
	s.ready(t)
	s.folded(t, 30)
	all.purge(t, 30)
	all.publish(t, 31, 5)
	s.until(t, "following", hasTask(t, s, 35))
	s.end(t)
	all.purge(t, 35)

	s = serve(t, versioned("2"), start{args: args}) // which rebuilds
	s.ready(t)
	s.until(t, "switched", func() bool { return s.statusOf(t).Projections[0].Build == nil })
	s.folded(t, 35)
	s.end(t)

	withoutRows(t, data)
	s = serve(t, versioned("2"), start{args: append(slices.Clone(args), "--write-token", upstreamToken)})
	s.until(t, "folded", hasTask(t, s, 35))
	for _, id := range []int{1, 30, 35} {
		if !hasTask(t, s, id)() {
			t.Errorf("task %d is not there", id)
		}
	}
	other := serve(t, versioned("2"), start{args: append(embedded(t), "--events", s.url, "--events-token", upstreamToken)})
	other.until(t, "folded", hasTask(t, other, 35))
	all.publish(t, 36, 1)
	other.until(t, "following", hasTask(t, other, 36))
}

// TestACopyIsFoldedWhileTheSourceIsAway: the server starts, folds what it has, and says that it is not up to date.
func TestACopyIsFoldedWhileTheSourceIsAway(t *testing.T) {
	all, args, data := copied(t, 30)
	withoutRows(t, data)
	connected := all.js.Conn().StatusChanged()
	all.server.Stop()

	s := serve(t, newProject(false).App, start{args: args})
	s.until(t, "folded without NATS", hasTask(t, s, 30))
	s.until(t, "telling", says(t, s, "not connected"))
	s.until(t, "stalled", says(t, s, `"state":"stalled"`))
	if status, _ := s.request(t, "GET", "/readyz", ""); status != 503 {
		t.Errorf("the server is ready: %d", status)
	}
	if s.statusOf(t).Projections[0].LagKnown || hasLag(t, s) {
		t.Error("the lag is told though nobody knows it")
	}
	if status, body := s.request(t, "GET", "/events?partition=TASKS&after=28&limit=10", ""); status != 200 ||
		!strings.Contains(body, "added-30") {
		t.Errorf("its events: %d %s", status, body)
	}
	all.server.Restart(t)
	for !all.js.Conn().IsConnected() {
		<-connected
	}
	all.publish(t, 31, 5)
	s.until(t, "following", hasTask(t, s, 35))
	s.ready(t)
	if !hasLag(t, s) {
		t.Error("the lag is not told")
	}
}

// hasLag reports whether the metrics say how far the projection is behind.
func hasLag(t *testing.T, s *server) bool {
	t.Helper()
	_, got := s.request(t, "GET", "/metrics", "")
	return strings.Contains(got, `foldql_projection_lag_events{projection="Tasks"} `)
}

// TestACopyOfAStreamThatWasMadeAnewIsSetAside when an operator accepts the new one, and nothing is mixed before.
func TestACopyOfAStreamThatWasMadeAnewIsSetAside(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, 10)
	args, data := mirrored(t, all)
	all.remadeUnder(t, args)

	accept := append([]string{"log", "accept"}, args...)
	runProgram(t, newProject(false).App, start{args: accept}).wantExit(t, exitUsage, "is of another log")
	runProgram(t, newProject(false).App, start{args: append(accept, "--yes")}).wantExit(t, exitDone, "is kept as")
	aside, err := filepath.Glob(filepath.Join(data, "mirror.former-*"))
	if len(aside) != 1 || err != nil {
		t.Errorf("set aside are %q, %v", aside, err)
	}
	s := serve(t, newProject(false).App, start{args: args})
	s.until(t, "folding the new one", hasTask(t, s, 120))
	if hasTask(t, s, 10)() {
		t.Error("a task of the former stream is there")
	}
	s.end(t)
	runProgram(t, newProject(false).App, start{args: accept}).wantExit(t, exitDone, "there is nothing to accept")
}

// TestAnAcceptThatWasInterruptedWithTheCopySetAsideIsRunAgain, and one that finds no copy for another reason is not.
func TestAnAcceptThatWasInterruptedWithTheCopySetAsideIsRunAgain(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, 10)
	args, data := mirrored(t, all)
	all.remadeUnder(t, args)
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(filepath.Join(data, from), filepath.Join(data, to)); err != nil {
			t.Fatal(err)
		}
	}
	accept := start{args: append([]string{"log", "accept", "--yes"}, args...)}
	rename("mirror", "mirror.mine")
	runProgram(t, newProject(false).App, accept).wantExit(t, exitFailed, "start the server once")
	const former = "mirror.former-20240301T120000.000Z"
	rename("mirror.mine", former)
	runProgram(t, newProject(false).App, accept).wantExit(t, exitDone, "the log is accepted")
	if _, err := os.Stat(filepath.Join(data, former)); err != nil {
		t.Errorf("the former copy: %v, want that it stays", err)
	}
	s := serve(t, newProject(false).App, start{args: args})
	s.until(t, "folding the new one", hasTask(t, s, 120))
	if hasTask(t, s, 10)() {
		t.Error("a task of the former stream is there")
	}
	s.end(t)
}

// TestRowsThatAreFurtherOnThanTheirCopyGoOn: the copy comes later than the rows, or is restored from a backup.
func TestRowsThatAreFurtherOnThanTheirCopyGoOn(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, 30)
	args, data := mirrored(t, all)
	plain := args[:len(args)-1]
	s := serve(t, newProject(false).App, start{args: plain})
	s.until(t, "folded", hasTask(t, s, 30))
	s.end(t)
	all.purge(t, 20)
	s = serve(t, newProject(false).App, start{args: args})
	all.publish(t, 31, 5)
	s.until(t, "going on with a copy", hasTask(t, s, 35))
	s.ready(t)
	older := filepath.Join(t.TempDir(), "older")
	backup := runProgram(t, newProject(false).App, start{args: []string{"backup", older, "--url", s.url}})
	backup.wantExit(t, exitDone, "has the rows and the copy of the events as of")
	all.publish(t, 36, 5)
	s.until(t, "following", hasTask(t, s, 40))
	s.end(t)

	if err := os.RemoveAll(filepath.Join(data, "mirror")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(data, "mirror"), os.DirFS(filepath.Join(older, "mirror"))); err != nil {
		t.Fatal(err)
	}
	all.publish(t, 41, 5)
	s = serve(t, newProject(false).App, start{args: args})
	s.until(t, "going on with an older copy", hasTask(t, s, 45))
	s.end(t)

	restored := filepath.Join(t.TempDir(), "restored")
	runProgram(t, newProject(false).App, start{args: []string{"restore", older, restored}}).
		wantExit(t, exitDone, "the copy of the events goes up to TASKS:35")
	again := slices.Clone(args)
	again[1] = "embedded:" + restored
	s = serve(t, newProject(false).App, start{args: again})
	s.until(t, "going on from a backup", hasTask(t, s, 45))
}

// TestRowsThatAreFurtherOnThanTheirCopyAreServedWhileTheSourceIsAway, from the start on: nobody can say yet that they
// are of another log.
func TestRowsThatAreFurtherOnThanTheirCopyAreServedWhileTheSourceIsAway(t *testing.T) {
	for _, further := range []int{1, 5} {
		all, args, _ := copied(t, 30)
		all.publish(t, 31, further)
		s := serve(t, newProject(false).App, start{args: args[:len(args)-1]})
		s.until(t, "folded without a copy", hasTask(t, s, 30+further))
		s.end(t)
		connected := all.js.Conn().StatusChanged()
		all.server.Stop()

		s = serve(t, newProject(false).App, start{args: args})
		s.until(t, "serving", hasTask(t, s, 30+further))
		s.until(t, "telling", says(t, s, "not connected"))
		all.server.Restart(t)
		for !all.js.Conn().IsConnected() {
			<-connected
		}
		all.publish(t, 31+further, 5)
		s.until(t, "following", hasTask(t, s, 35+further))
		s.ready(t)
		s.end(t)
	}
}

// TestTheEventsOfACopyAreShownWithoutTheirSource, by commands that work on the data directory.
func TestTheEventsOfACopyAreShownWithoutTheirSource(t *testing.T) {
	all, args, _ := copied(t, 30)
	all.server.Stop()
	app, where := newProject(false).App, slices.Concat(args[:2], args[4:])
	runProgram(t, app, start{args: append([]string{"events", "show", "TASKS:30"}, where...)}).
		wantExit(t, exitDone, "added-30")
	found := runProgram(t, app, start{args: append([]string{"events", "search", "--limit", "0"}, where...)})
	if n := strings.Count(found.stdout.String(), "TaskAdded"); found.code != exitDone || n != 30 {
		t.Errorf("%d events: %s%s", n, &found.stdout, &found.stderr)
	}
	missing := append([]string{"events", "search", "--store", "embedded:" + t.TempDir()}, args[4:]...)
	runProgram(t, app, start{args: missing}).wantExit(t, exitFailed, "name the data directory")
}

// TestACopyIsRefusedWhereItMakesNoSense, with the way out.
func TestACopyIsRefusedWhereItMakesNoSense(t *testing.T) {
	store := embedded(t)
	for want, args := range map[string][]string{
		"in a log on this machine already": store,
		"is there only once":               append(slices.Clone(store), "--events", "file:-"),
		"memory: keeps nothing":            {"--store", "memory:", "--events", "nats://127.0.0.1:1/TASKS"},
	} {
		for _, by := range []start{
			{args: append([]string{"replay", "--mirror"}, args...)},
			{args: append([]string{"replay"}, args...), env: map[string]string{"FOLDQL_MIRROR": "true"}},
		} {
			runProgram(t, newProject(false).App, by).wantExit(t, exitUsage, "mirror: ")
			runProgram(t, newProject(false).App, by).wantExit(t, exitUsage, want)
		}
	}
}

// TestAFileIsFoldedFromItsCopy, and what is appended to it later; another file in its place is not.
func TestAFileIsFoldedFromItsCopy(t *testing.T) {
	store := embedded(t)
	replay := func(name string, from, n int) *call {
		path := writeLines(t, name, taskEvents(from, n))
		args := append(append([]string{"replay"}, store...), "--events", "file:"+path, "--mirror")
		return runProgram(t, newProject(false).App, start{args: args})
	}
	replay("first.jsonl", 1, 20).wantExit(t, exitDone, "Tasks: 20 events")
	replay("grown.jsonl", 1, 30).wantExit(t, exitDone, "Tasks: 10 events")
	replay("other.jsonl", 101, 40).wantExit(t, exitFailed, "server log accept")
}

// TestRowsAreMadeOfTheCopyOfAFileThatIsGone, and of what the file has more once it is back. Without a copy, whoever
// starts the server is told what to do.
func TestRowsAreMadeOfTheCopyOfAFileThatIsGone(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	path, grown := writeLines(t, "all.jsonl", taskEvents(1, 20)), writeLines(t, "grown.jsonl", taskEvents(1, 30))
	args := []string{"--store", "embedded:" + data, "--events", "file:" + path, "--mirror"}
	s := serve(t, newProject(false).App, start{args: args})
	s.until(t, "folded", hasTask(t, s, 20))
	s.end(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	withoutRows(t, data)
	s = serve(t, newProject(false).App, start{args: args})
	s.until(t, "folded from the copy", hasTask(t, s, 20))
	s.until(t, "told", func() bool { return strings.Contains(s.stderr.String(), "put the file back") })
	if err := os.Rename(grown, path); err != nil {
		t.Fatal(err)
	}
	s.until(t, "folded from the file", hasTask(t, s, 30))
	s.end(t)

	args[3] = "file:" + grown // which is not there any more
	args[1] = "embedded:" + t.TempDir()
	runProgram(t, newProject(false).App, start{args: append([]string{"replay"}, args...)}).
		wantExit(t, exitFailed, "correct --events, or put the file back")
}

// copiedThrough is how far the stream is copied; no server runs.
func copiedThrough(t *testing.T, data string) uint64 {
	t.Helper()
	at, err := mirror.CopiedThrough(mirror.Options{Dir: filepath.Join(data, "mirror")})
	if err != nil {
		t.Fatal(err)
	}
	return at["TASKS"]
}

// TestACopyHasTheEventsThatAreNotWanted: rows may be made of them one day, when the stream has forgotten them.
func TestACopyHasTheEventsThatAreNotWanted(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, 30)
	args, data := mirrored(t, all)
	from := func(begin string, first int) {
		t.Helper()
		s := serve(t, newProject(false).App, start{args: append(slices.Clone(args), "--events-begin", begin)})
		defer s.end(t)
		s.until(t, "folded", hasTask(t, s, 30))
		if !hasTask(t, s, first)() || hasTask(t, s, first-1)() {
			t.Errorf("with events from %s on, the rows do not begin there", begin)
		}
	}
	for tries := 0; copiedThrough(t, data) < 30; tries++ {
		if tries == 10 {
			t.Fatal("the stream is not copied")
		}
		from("21", 21)
	}
	all.purge(t, 30)
	for _, begin := range []int{11, 1, 16} {
		withoutRows(t, data)
		from(strconv.Itoa(begin), begin)
	}
}

// TestACopyHasNoGapThoughWhatIsMissingIsNotWanted: it may be one day. The server goes on from the stream.
func TestACopyHasNoGapThoughWhatIsMissingIsNotWanted(t *testing.T) {
	all, args, data := copied(t, 10)
	all.publish(t, 11, 20)
	all.purge(t, 25)
	s := serve(t, newProject(false).App, start{args: append(args, "--events-begin", "26")})
	s.until(t, "going on", hasTask(t, s, 30))
	s.until(t, "telling", func() bool { return strings.Contains(s.stderr.String(), "goes on without a gap only") })
	s.end(t)
	if at := copiedThrough(t, data); at != 10 {
		t.Errorf("it is copied up to %d", at)
	}
}
