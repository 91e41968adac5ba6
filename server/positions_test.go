package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/server/internal/positions"
)

// appended appends an event, and returns the position that the answer gives.
func (s *server) appended(t testing.TB, e eventlog.Event) string {
	t.Helper()
	body := string(cloudevents.AppendBatch(nil, []eventlog.Event{e}))
	res, text := s.exchange(t, "POST", "/events", body, "Content-Type", batchType)
	at := res.Header.Get(positions.Header)
	if res.StatusCode/100 != 2 || at == "" {
		t.Fatalf("append: %d %s, position %q", res.StatusCode, text, at)
	}
	return at
}

// from asks for a task from a position on.
func (s *server) from(t testing.TB, position, id string) (*http.Response, string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": fmt.Sprintf("{ Task(id: %q) { title } }", id)})
	if err != nil {
		t.Fatal(err)
	}
	headers := []string{"Content-Type", "application/json"}
	if position != "" {
		headers = append(headers, positions.MinHeader, position)
	}
	return s.exchange(t, "POST", "/graphql", string(body), headers...)
}

func titled(title string) string { return fmt.Sprintf(`{"data":{"Task":{"title":%q}}}`, title) }

// reads is how often the tests read what they have written; POSITION_READS asks for more.
func reads(t *testing.T, usual int) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("POSITION_READS"))
	if err != nil {
		return usual
	}
	return n
}

// TestAClientReadsWhatItHasWritten appends events and asks with the position of each answer, on one server that is
// restarted meanwhile.
func TestAClientReadsWhatItHasWritten(t *testing.T) {
	app, args := newProject(false).App, embedded(t)
	s := serve(t, app, start{args: args})
	n := reads(t, 300)
	for i := range n {
		id := fmt.Sprint(i)
		at := s.appended(t, taskEvent(id, "Task "+id))
		if i%(n/3) == n/3-1 { // the position is of the log, and not of the process
			s.end(t)
			s = serve(t, app, start{args: args})
			s.ready(t)
		}
		res, got := s.from(t, at, id)
		if got != titled("Task "+id) {
			t.Fatalf("read %d: %s, want what was written", i, got)
		}
		if res.Header.Get(positions.Header) == "" || res.Header.Get(positions.ConsistencyHeader) != "" {
			t.Fatalf("read %d: headers %v, want a position without reserve", i, res.Header)
		}
	}
	t.Logf("%d of %d reads saw what was written before", n, n)
}

// TestAClientReadsWhatItHasWrittenToDynamoDB: reads by primary key are consistent where they ask for a position. The
// key of the tokens is that of the tables, so the position holds with another server over them.
func TestAClientReadsWhatItHasWrittenToDynamoDB(t *testing.T) {
	d := deploy(t, dynamolocal.Local)
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	s := serve(t, d.app, start{args: d.options})
	s.ready(t)
	n := reads(t, 40)
	var last string
	for i := range n {
		id := fmt.Sprint(i)
		last = s.appended(t, taskEvent(id, "Task "+id))
		res, got := s.from(t, last, id)
		if got != titled("Task "+id) || res.Header.Get(positions.ConsistencyHeader) != "" {
			t.Fatalf("read %d: %s %v, want what was written, by its primary key", i, got, res.Header)
		}
	}
	s.end(t)
	s = serve(t, d.app, start{args: d.options})
	s.ready(t)
	if _, got := s.from(t, last, fmt.Sprint(n-1)); got != titled(fmt.Sprint("Task ", n-1)) {
		t.Errorf("another server: %s", got)
	}
	t.Logf("%d of %d reads saw what was written before", n, n)
}

// TestAStrongReadOfDynamoDBIsByKeyAlone: an answer from an index would be eventual, and is refused.
func TestAStrongReadOfDynamoDBIsByKeyAlone(t *testing.T) {
	d := deploy(t, dynamolocal.Local)
	d.app = grown()
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	s := serve(t, d.app, start{args: d.options})
	s.ready(t)
	at := s.appended(t, taskEvent("1", "one"))
	if _, got := s.from(t, at, "1"); got != titled("one") {
		t.Fatalf("folded: %s", got)
	}
	const byKey, byIndex = `{ Task(id: "1") { title } }`, `{ TaskByTitle(title: "one") { items { title } } }`
	for _, c := range []struct{ query, wanted, consistency, answer string }{
		{byKey, "strong", "", titled("one")},
		{byKey, "STRONG", "", titled("one")},
		{byIndex, "eventual, strong", "", `"BAD_USER_INPUT"`},
		{byKey, "", "eventual", titled("one")},
		{byKey, "eventual", "eventual", titled("one")},
		{byKey, "strongest", "", `"BAD_USER_INPUT"`},
		{byIndex, "strong", "", `"BAD_USER_INPUT"`},
		{byIndex, "", "eventual", `"TaskByTitle":{"items":`},
	} {
		headers := []string{"Content-Type", "application/json"}
		if c.wanted != "" {
			headers = append(headers, positions.ConsistencyHeader, c.wanted)
		}
		res, got := s.exchange(t, "POST", "/graphql", fmt.Sprintf(`{"query":%q}`, c.query), headers...)
		if consistency := res.Header.Get(positions.ConsistencyHeader); !strings.Contains(got, c.answer) ||
			consistency != c.consistency {
			t.Errorf("%s with %q: %s, consistency %q, want %s and %q", c.query, c.wanted, got, consistency, c.answer,
				c.consistency)
		}
	}
}

// TestRowsThatStayBehindAPositionAreStale: an answer from them would be wrong, and nobody would see it.
func TestRowsThatStayBehindAPositionAreStale(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: []string{"--store", "memory:", "--position-wait", "50ms"}})
	s.ready(t)
	before := s.appended(t, taskEvent("a", "first"))
	if _, got := s.from(t, before, "a"); got != titled("first") {
		t.Fatalf("before: %s", got)
	}
	s.append(t, taskEvent("hold", "hold"))
	at := s.appended(t, taskEvent("b", "second"))
	res, got := s.from(t, at, "b")
	if !strings.Contains(got, `"STALE"`) || strings.Contains(got, "data\":{") {
		t.Errorf("behind: %s, want the error STALE and no data", got)
	}
	if res.StatusCode != http.StatusOK {
		t.Errorf("behind: status %d", res.StatusCode)
	}
	res, _ = s.exchange(t, "POST", "/graphql", `{"query": "{ Task(id: \"b\") { title } }"}`, "Content-Type",
		"application/json", "Accept", "application/graphql-response+json", positions.MinHeader, at)
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("behind: status %d of a response that says more by it", res.StatusCode)
	}
	if _, got := s.from(t, "", "b"); got != `{"data":{"Task":null}}` {
		t.Errorf("without a position: %s, want the rows as they are", got)
	}
	if _, got := s.from(t, before, "a"); got != titled("first") {
		t.Errorf("an earlier position: %s", got)
	}
	close(p.held)
	s.until(t, "caught up", func() bool {
		_, got := s.from(t, at, "b")
		return got == titled("second")
	})
}

// TestThePositionOfAnAnswerIsOneToAskFor: whoever asks with it sees no older rows.
func TestThePositionOfAnAnswerIsOneToAskFor(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	s.ready(t)
	if res, _ := s.from(t, "", "1"); res.Header.Get(positions.Header) != "" {
		t.Errorf("an empty log has the position %q", res.Header.Get(positions.Header))
	}
	at := s.appended(t, taskEvent("1", "one"))
	res, _ := s.from(t, at, "1")
	answered := res.Header.Get(positions.Header)
	if answered != at { // it is the only event
		t.Errorf("the position of the answer is %q, and that of the event %q", answered, at)
	}
	_, told := s.request(t, "POST", "/graphql", `{"query":"{Task(id:\"1\"){title}}","extensions":{"position":true}}`,
		"Content-Type", "application/json")
	if !strings.Contains(told, fmt.Sprintf(`"extensions":{"position":%q}`, answered)) {
		t.Errorf("asked for in extensions: %s", told)
	}
	if _, got := s.from(t, answered, "1"); got != titled("one") {
		t.Errorf("with the position of an answer: %s", got)
	}
	if again := s.appended(t, taskEvent("1", "one")); again != at {
		t.Errorf("the same event again is at %q, was at %q", again, at)
	}
}

// TestDeadLettersCountAsReached: nobody waits for an event that cannot be folded, and the answer says that it is not
// in.
func TestDeadLettersCountAsReached(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	s.ready(t)
	at := s.appended(t, taskEvent("x", "poison"))
	res, got := s.from(t, at, "x")
	if got != `{"data":{"Task":null}}` || res.Header.Get(positions.ConsistencyHeader) != "blocked" {
		t.Errorf("%s, %s %q, want null and the reserve that events are blocked", got, positions.ConsistencyHeader,
			res.Header.Get(positions.ConsistencyHeader))
	}
}

// TestAnAnswerSaysInItsExtensionsWhatItMayLack, to clients that see no headers.
func TestAnAnswerSaysInItsExtensionsWhatItMayLack(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	s.ready(t)
	s.from(t, s.appended(t, taskEvent("x", "poison")), "x") // which waits until it is a dead letter
	res, told := s.exchange(t, "POST", "/graphql", `{"query":"{Task(id:\"x\"){title}}","extensions":{"position":true}}`,
		"Content-Type", "application/json")
	want := fmt.Sprintf(`"extensions":{"consistency":"blocked","position":%q}`, res.Header.Get(positions.Header))
	if !strings.Contains(told, want) {
		t.Errorf("%s, want %s", told, want)
	}
}

// TestWhatIsNoPositionIsRefused at once, whoever has made it.
func TestWhatIsNoPositionIsRefused(t *testing.T) {
	other := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	s.ready(t)
	for name, position := range map[string]string{
		"of another server": other.appended(t, taskEvent("1", "one")), "made up": "AAAA",
		"too long": strings.Repeat("A", 5000),
	} {
		if _, got := s.from(t, position, "1"); !strings.Contains(got, `"INVALID_TOKEN"`) {
			t.Errorf("a position %s: %s, want it refused", name, got)
		}
	}
}

// TestAPositionBeyondTheLogIsRefused: after the log was restored from a copy, nobody waits for events that it has lost,
// and the client learns which position to forget.
func TestAPositionBeyondTheLogIsRefused(t *testing.T) {
	app, dir, copied := newProject(false).App, t.TempDir(), t.TempDir()
	s := serve(t, app, start{args: []string{"--store", "embedded:" + dir}})
	kept := s.appended(t, taskEvent("1", "one"))
	s.end(t)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s = serve(t, app, start{args: []string{"--store", "embedded:" + dir}})
	lost := s.appended(t, taskEvent("2", "two"))
	s.end(t)

	s = serve(t, app, start{args: []string{"--store", "embedded:" + copied, "--position-wait", "1h"}})
	s.ready(t)
	if _, got := s.from(t, kept+", "+lost, "1"); !strings.Contains(got, `"INVALID_TOKEN"`) ||
		!strings.Contains(got, fmt.Sprintf(`"positions":[%q]`, lost)) {
		t.Errorf("beyond the log: %s, want that position refused", got)
	}
	if _, got := s.from(t, kept, "1"); got != titled("one") {
		t.Errorf("a position that the log has: %s", got)
	}
}

// TestAfterARollbackNoAnswerClaimsMoreThanItsRowsHave: the former rows have not come as far as those that served, and
// an event holds them up. Who is answered without a later event is not told a position behind it.
func TestAfterARollbackNoAnswerClaimsMoreThanItsRowsHave(t *testing.T) {
	p := newProject(false)
	s := serve(t, p.App, start{args: append(embedded(t), "--switch", "manual", "--position-wait", "10ms")})
	s.ready(t)
	rebuild := func(what string) { // as soon as that can be
		t.Helper()
		s.until(t, "rebuild"+what, func() bool {
			status, _ := s.request(t, "POST", "/admin/rebuild"+what, `{"names": ["Task"]}`, "Content-Type",
				"application/json")
			return status == http.StatusNoContent
		})
	}
	release := func() (hold func()) {
		held, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case p.held <- struct{}{}:
				case <-held:
					return
				}
			}
		}()
		return func() { close(held); <-done }
	}
	s.append(t, taskEvent("a", "first"))
	s.folded(t, 1)
	for n := range 5 {
		hold := release()
		rebuild("")
		rebuild("/switch")
		s.append(t, taskEvent(fmt.Sprint("h", n), "hold"))
		id := fmt.Sprint("b", n)
		at := s.appended(t, taskEvent(id, "second"))
		s.until(t, "folded", func() bool { _, got := s.from(t, at, id); return got == titled("second") })

		hold()
		done, rolled := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for last := false; !last; {
				select {
				case <-rolled:
					last = true
				default:
				}
				res, got := s.from(t, "", id)
				if got != titled("second") && res.Header.Get(positions.Header) == at {
					t.Errorf("round %d: %s at the position of the event", n, got)
				}
			}
		}()
		rebuild("/rollback")
		if _, got := s.from(t, at, id); !strings.Contains(got, `"STALE"`) && got != titled("second") {
			t.Errorf("round %d: from the position on: %s, want STALE, or the event", n, got)
		}
		close(rolled)
		<-done
		hold = release()
		s.until(t, "caught up", func() bool { _, got := s.from(t, at, id); return got == titled("second") })
		hold()
		rebuild("/abort") // the rows that it was rolled back from
	}
}
