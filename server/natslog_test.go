package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/natsserver"
)

// tasks is a stream of tasks on a server of its own.
type tasks struct {
	server *natsserver.Server
	js     jetstream.JetStream
	url    string
}

func newTasks(t *testing.T) *tasks {
	t.Helper()
	s := natsserver.Start(t, nil)
	all := &tasks{s, s.Client(t), "nats://" + s.Address() + "/TASKS"}
	all.create(t)
	return all
}

func (s *tasks) create(t *testing.T) {
	t.Helper()
	natsserver.Create(t, s.js, jetstream.StreamConfig{Name: "TASKS", Subjects: []string{"tasks"}})
}

func (s *tasks) publish(t *testing.T, from, n int) {
	t.Helper()
	natsserver.Publish(t, s.js, "tasks", slices.Collect(taskEvents(from, n)))
}

func (s *tasks) stream(t *testing.T) jetstream.Stream {
	t.Helper()
	st, err := s.js.Stream(t.Context(), "TASKS")
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestCommandsOnAStoreReadItsSourceAsItsServerDoes: with a name and a password, and by a mapping.
func TestCommandsOnAStoreReadItsSourceAsItsServerDoes(t *testing.T) {
	login := func(o *natsd.Options) { o.Username, o.Password = "reader", "sesame" }
	s := natsserver.Start(t, login)
	all := &tasks{s, s.Client(t, nats.UserInfo("reader", "sesame")), "nats://" + s.Address() + "/TASKS"}
	all.create(t)
	const message = `{"number": "m1", "task": {"taskId": "1", "title": "Task 1"}}`
	if _, err := all.js.Publish(t.Context(), "tasks", []byte(message)); err != nil {
		t.Fatal(err)
	}
	mapping := filepath.Join(t.TempDir(), "mapping.yml")
	text := "source: /tasks\nid: field number\ntype: text TaskAdded\ndata: field task\n"
	if err := os.WriteFile(mapping, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	source := append(embedded(t), "--events", all.url, "--events-user", "reader", "--events-mapping", mapping)
	env := map[string]string{"FOLDQL_EVENTS_PASSWORD": "sesame"}
	folding := serve(t, newProject(false).App, start{args: source, env: env})
	folding.until(t, "folded", hasTask(t, folding, 1))
	folding.end(t)
	for _, c := range []struct{ command, says string }{
		{"deadletters list", "there are no dead letters"}, {"rebuild verify Task", ""},
		{"events search --type TaskAdded", "m1"},
	} {
		args := append(strings.Fields(c.command), source...)
		runProgram(t, newProject(false).App, start{args: args, env: env}).wantExit(t, exitDone, c.says)
	}
}

// hasTask reports whether the server answers with a task of taskEvents.
func hasTask(t *testing.T, s *server, id int) func() bool {
	question, want := fmt.Sprintf(`{ Task(id: "%d") { title } }`, id), titled(fmt.Sprint("Task ", id))
	return func() bool { return s.query(t, question) == want }
}

// says reports whether what the server says of its projections has the words.
func says(t *testing.T, s *server, words string) func() bool {
	return func() bool {
		_, status := s.request(t, "GET", "/admin/projections", "")
		return strings.Contains(status, words)
	}
}

// TestAServerFoldsAStream through deleted messages at its end, and a restart of NATS.
func TestAServerFoldsAStream(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, 30)
	if err := all.stream(t).DeleteMsg(t.Context(), 30); err != nil {
		t.Fatal(err)
	}
	args := append(embedded(t), "--events", all.url)
	s := serve(t, newProject(false).App, start{args: args})
	s.ready(t)
	s.until(t, "folded", hasTask(t, s, 29))
	s.until(t, "live", says(t, s, `"state":"live"`))
	if status, body := s.request(t, "POST", "/events", "{}"); status != 404 || !strings.Contains(body, "takes none") {
		t.Errorf("an append: %d %s", status, body)
	}
	connected := all.js.Conn().StatusChanged()
	all.server.Stop()
	s.until(t, "telling", says(t, s, "not connected"))
	if !hasTask(t, s, 29)() {
		t.Error("without NATS, the server does not answer")
	}
	all.server.Restart(t)
	for !all.js.Conn().IsConnected() {
		<-connected
	}
	all.publish(t, 31, 5)
	s.until(t, "following", hasTask(t, s, 35))
	s.end(t)
	all.publish(t, 36, 1)
	s = serve(t, newProject(false).App, start{args: args})
	s.until(t, "caught up", hasTask(t, s, 36))
}

// TestAStreamThatHasForgottenWhatRowsNeedStopsTheProjection; what rows have already is not needed.
func TestAStreamThatHasForgottenWhatRowsNeedStopsTheProjection(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, 10)
	args := append(embedded(t), "--events", all.url)
	s := serve(t, newProject(false).App, start{args: args})
	s.until(t, "folded", hasTask(t, s, 10))
	s.end(t)
	forget := func(through uint64) {
		if err := all.stream(t).Purge(t.Context(), jetstream.WithPurgeSequence(through+1)); err != nil {
			t.Fatal(err)
		}
	}
	forget(10)
	all.publish(t, 11, 10)
	s = serve(t, newProject(false).App, start{args: args})
	s.until(t, "folded", hasTask(t, s, 20))
	s.end(t)
	all.publish(t, 21, 10)
	forget(25)
	s = serve(t, newProject(false).App, start{args: args})
	s.until(t, "telling", says(t, s, "has forgotten them: it begins at offset 26"))
	if status, _ := s.request(t, "GET", "/readyz", ""); status != 503 {
		t.Errorf("the server is ready: %d", status)
	}
	if !hasTask(t, s, 20)() || hasTask(t, s, 26)() {
		t.Error("rows are not as they were")
	}
	s.end(t)
	s = serve(t, newProject(false).App, start{args: append(slices.Clone(args), "--events-begin", "26")})
	s.until(t, "going on by the word of the operator", hasTask(t, s, 30))
}

// TestAStreamThatIsMadeAnewIsNotFolded, whether the server runs meanwhile or not, until an operator accepts it.
func TestAStreamThatIsMadeAnewIsNotFolded(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, 10)
	args := append(embedded(t), "--events", all.url)
	all.remadeUnder(t, args)
	runProgram(t, newProject(false).App, start{args: append([]string{"log", "accept", "--yes"}, args...)}).
		wantExit(t, exitDone, "accepted")
	s := serve(t, newProject(false).App, start{args: args})
	s.until(t, "folding the new one", hasTask(t, s, 120))
}

// remadeUnder has a server fold ten tasks, and others be published in a stream that is made anew under it. It says so,
// before a restart and after, and keeps the rows that it has.
func (s *tasks) remadeUnder(t *testing.T, args []string) {
	t.Helper()
	at := serve(t, newProject(false).App, start{args: args})
	at.until(t, "folded", hasTask(t, at, 10))
	if err := s.js.DeleteStream(t.Context(), "TASKS"); err != nil {
		t.Fatal(err)
	}
	s.create(t)
	s.publish(t, 101, 20)
	mismatch := func() bool {
		_, body := at.request(t, "GET", "/readyz", "")
		return strings.Contains(body, "server log accept")
	}
	at.until(t, "telling", mismatch)
	at.end(t)
	at = serve(t, newProject(false).App, start{args: args})
	at.until(t, "telling after a restart", mismatch)
	if !hasTask(t, at, 10)() || hasTask(t, at, 120)() {
		t.Error("rows are not as they were")
	}
	at.end(t)
}

// TestServersFoldOneStreamIntoOneSetOfTables: both do the same work, and the rows are those of the stream.
func TestServersFoldOneStreamIntoOneSetOfTables(t *testing.T) {
	all := newTasks(t)
	d := deploy(t, dynamolocal.Local)
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	all.publish(t, 1, 50)
	args := append(slices.Clone(d.store), "--events", all.url)
	first, other := serve(t, d.app, start{args: args}), serve(t, d.app, start{args: args})
	for i := 51; i <= 70; i++ {
		all.publish(t, i, 1)
		for _, s := range []*server{first, other} {
			s.until(t, "seen", hasTask(t, s, i))
		}
	}
	first.end(t)
	all.publish(t, 71, 9)
	other.until(t, "going on alone", hasTask(t, other, 79))
	if said := other.stderr.String() + first.stderr.String(); strings.Contains(said, "level=ERROR") {
		t.Errorf("they say %s", said)
	}
}

// TestAnExportThatGoesOnBehindForgottenEventsFails: the files would not have these, and nobody would know. One from the
// beginning has what there is, and says what it lacks.
func TestAnExportThatGoesOnBehindForgottenEventsFails(t *testing.T) {
	all := newTasks(t)
	all.publish(t, 1, 10)
	app, dir := newProject(false).App, t.TempDir()
	source := []string{"--store", "embedded:" + filepath.Join(dir, "data"), "--events", all.url}
	export := func(name string, more ...string) *call {
		return eventsOf(t, app, append(append([]string{"export", filepath.Join(dir, name)}, source...), more...)...)
	}
	first := export("first.jsonl")
	first.wantExit(t, exitDone, "has 10 events, up to TASKS:10")
	if text := first.stderr.String(); strings.Contains(text, "forgotten") {
		t.Errorf("an export of a whole stream says %s", text)
	}
	all.publish(t, 11, 10)
	if err := all.stream(t).Purge(t.Context(), jetstream.WithPurgeSequence(16)); err != nil {
		t.Fatal(err)
	}
	export("second.jsonl", "--from", "TASKS:10").
		wantExit(t, exitFailed, `has forgotten those of partition "TASKS" behind offset 10, up to 15`)
	if _, err := os.Stat(filepath.Join(dir, "second.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the export with a gap is there: %v", err)
	}
	export("third.jsonl", "--from", "TASKS:0").wantExit(t, exitFailed, "behind offset 0, up to 15")
	again := export("again.jsonl")
	again.wantExit(t, exitDone, "has 5 events, up to TASKS:20")
	if want := `has forgotten those of partition "TASKS" up to offset 15`; !strings.Contains(again.stderr.String(), want) {
		t.Errorf("the export says %s, want %s", &again.stderr, want)
	}
	export("next.jsonl", "--from", "TASKS:15").wantExit(t, exitDone, "has 5 events")
}

// TestAStreamThatIsRestoredGoesOnWithItsIdentity, which an operator gives back to it, and not with other events.
func TestAStreamThatIsRestoredGoesOnWithItsIdentity(t *testing.T) {
	for name, tt := range map[string]struct {
		from, n int
		same    bool
	}{"the same events": {1, 12, true}, "others": {101, 12, false}} {
		for _, mirror := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, with a copy: %t", name, mirror), func(t *testing.T) {
				all := newTasks(t)
				all.publish(t, 1, 10)
				args := append(embedded(t), "--events", all.url)
				if mirror {
					args = append(args, "--mirror")
				}
				s := serve(t, newProject(false).App, start{args: args})
				s.until(t, "folded", hasTask(t, s, 10))
				s.end(t)
				if err := all.js.DeleteStream(t.Context(), "TASKS"); err != nil {
					t.Fatal(err)
				}
				all.create(t)
				all.publish(t, tt.from, tt.n)
				mismatch := regexp.MustCompile(`identity (?:is \\*")?([0-9a-z]+)`)
				var told []string
				s = serve(t, newProject(false).App, start{args: args})
				s.until(t, "telling the identity", func() bool {
					told = mismatch.FindStringSubmatch(s.stderr.String())
					return told != nil
				})
				s.end(t)
				info, err := all.stream(t).Info(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				config := info.Config
				config.Metadata = map[string]string{natssource.IdentityKey: told[1]}
				if _, err := all.js.UpdateStream(t.Context(), config); err != nil {
					t.Fatal(err)
				}
				s = serve(t, newProject(false).App, start{args: args})
				if tt.same {
					s.until(t, "going on", hasTask(t, s, 12))
					return
				}
				s.until(t, "telling that the events are others", func() bool {
					_, body := s.request(t, "GET", "/readyz", "")
					return strings.Contains(body, "server log accept")
				})
				if hasTask(t, s, 112)() {
					t.Error("other events are folded")
				}
			})
		}
	}
}
