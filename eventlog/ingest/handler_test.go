package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/data"
	"github.com/foldql/foldql/eventlog/ingest"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

var fields = []data.Field{{Name: "n", Required: true}}

func readCounted(r *data.Reader) (n int) {
	for range r.Object(fields) {
		n = r.Int()
	}
	return n
}

func checkCounted(b []byte) ([]string, error) { return data.Check(b, readCounted) }

var types = eventlog.Types{
	"Counted": {Name: "Counted", Check: checkCounted},
	"Former": {Name: "Former", Check: func([]byte) ([]string, error) { return nil, nil },
		Former: []func([]byte) ([]string, error){checkCounted}},
	"Dropped": {Name: "Dropped", Retired: true},
	"Broken":  {Name: "Broken", Check: func([]byte) ([]string, error) { return nil, errors.New("secret") }},
}

// event writes one event with other members in place of its own.
func event(id string, members string) string {
	return fmt.Sprintf(`{"specversion":"1.0","id":%q,"source":"/s","type":"Counted","data":{"n":1}%s}`, id, members)
}

// post sends a request whose headers are given as name and value in turn.
func post(h http.Handler, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/events", strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const (
	one   = "application/cloudevents+json"
	batch = "application/cloudevents-batch+json; charset=UTF-8"
)

func quiet(cfg ingest.Config) ingest.Config {
	cfg.Logger = slog.New(slog.DiscardHandler)
	return cfg
}

func TestEventsAreAppendedInEveryMode(t *testing.T) {
	log := memlog.New(memlog.Options{})
	h := ingest.Handler(log, types, ingest.Config{})
	cases := []struct {
		name, body string
		headers    []string
		status     int
		want       string
	}{
		{"structured", event("a", ""), []string{"Content-Type", one}, 201,
			`{"appended":[{"partition":"0","offset":1,"duplicate":false}]}`},
		{"structured again", event("a", " "), []string{"Content-Type", one}, 200,
			`{"appended":[{"partition":"0","offset":1,"duplicate":true}]}`},
		{
			"batch", "[" + event("b", "") + "," + event("a", "") + "]",
			[]string{"Content-Type", batch}, 201,
			`{"appended":[{"partition":"0","offset":2,"duplicate":false},{"partition":"0","offset":1,"duplicate":true}]}`,
		},
		{"empty batch", "[]", []string{"Content-Type", batch}, 200, `{"appended":[]}`},
		{
			"binary", `{"n":7}`, []string{
				"Content-Type", "application/json", "ce-specversion", "1.0", "ce-id", "%63", "ce-source", "/s",
				"ce-type", "Counted",
			},
			201, `{"appended":[{"partition":"0","offset":3,"duplicate":false}]}`,
		},
	}
	for _, c := range cases {
		w := post(h, c.body, c.headers...)
		if w.Code != c.status || w.Body.String() != c.want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s %s", c.name, w.Code, w.Header(), w.Body)
		}
	}
	events, err := log.Read(t.Context(), "0", 0, 10)
	if err != nil || len(events) != 3 || events[2].ID != "c" || events[0].Time.IsZero() {
		t.Errorf("the log has %+v, error %v", events, err)
	}
}

// TestFieldsThatAreNotDeclaredAreNamed, as events are taken with them, and a misspelt field would go by unseen.
func TestFieldsThatAreNotDeclaredAreNamed(t *testing.T) {
	h := ingest.Handler(memlog.New(memlog.Options{}), types, ingest.Config{})
	named := func(body, mediaType string) (answer struct{ Undeclared ingest.Undeclared }) {
		t.Helper()
		w := post(h, body, "Content-Type", mediaType)
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusCreated {
			t.Fatalf("%d %s, error %v", w.Code, w.Body, err)
		}
		return answer
	}
	with := func(id, eventType, members string) string {
		e := strings.Replace(event(id, ""), "Counted", eventType, 1)
		return strings.Replace(e, `{"n":1}`, `{"n":1`+members+`}`, 1)
	}
	want := ingest.Undeclared{{Type: "Counted", Field: "data.m", Events: 2}, {Type: "Former", Field: "data.m", Events: 1},
		{Type: "Counted", Field: "data.k", Events: 1}}
	got := named("["+with("a", "Counted", `,"m":0`)+","+with("b", "Former", `,"m":0`)+","+with("c", "Counted", "")+","+
		with("d", "Counted", `,"m":[],"k":{"n":1}`)+"]", batch)
	if diff := cmp.Diff(want, got.Undeclared); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var many []string
	for i := range 3 * eventlog.MaxUndeclared {
		many = append(many, with(fmt.Sprint("m", i), "Counted", fmt.Sprintf(`,"f%d":0`, i)))
	}
	if got := named("["+strings.Join(many, ",")+"]", batch); len(got.Undeclared) != eventlog.MaxUndeclared {
		t.Errorf("the answer names %d fields", len(got.Undeclared))
	}
}

// detail is what tests look at of a problem.
type detail struct {
	Type, Title, Detail string
	Status              int
	Event               *int
	ID, Field, Reason   string
}

func TestBadInputIsAnsweredWithAProblem(t *testing.T) {
	log := memlog.New(memlog.Options{})
	if _, err := log.Append(t.Context(), []eventlog.Event{
		{ID: "known", Source: "/s", Type: "Counted", Data: []byte(`{"n":2}`)},
	}); err != nil {
		t.Fatal(err)
	}
	h := ingest.Handler(log, types, quiet(ingest.Config{MaxBodyBytes: 2000, MaxEventBytes: 500}))
	zero, first := 0, 1
	cases := []struct {
		name, body string
		headers    []string
		want       detail
	}{
		{
			"an attribute is missing", `{"specversion":"1.0","id":"a","type":"Counted","data":{"n":1}}`,
			[]string{"Content-Type", one},
			detail{Type: "invalid-event", Status: 400, Event: &zero, ID: "a", Field: "source", Reason: "required, but missing"},
		},
		{
			"a field is of the wrong type", "[" + event("a", "") + "," + strings.Replace(event("b", ""), `1}`, `"1"}`, 1) + "]",
			[]string{"Content-Type", batch},
			detail{Type: "invalid-event", Status: 400, Event: &first, ID: "b", Field: "data.n", Reason: "want Int, got string"},
		},
		{
			"the type is retired", strings.Replace(event("a", ""), "Counted", "Dropped", 1), []string{"Content-Type", one},
			detail{Type: "invalid-event", Status: 400, Event: &zero, ID: "a", Field: "type",
				Reason: "the event type Dropped is retired: the log keeps its events, and takes no more of them"},
		},
		{
			"the data do not fit their version", strings.Replace(strings.Replace(event("a", ""), "Counted", "Former", 1), `1}`,
				`"1"}`, 1),
			[]string{"Content-Type", one},
			detail{Type: "invalid-event", Status: 400, Event: &zero, ID: "a", Field: "data.n", Reason: "want Int, got string"},
		},
		{
			"the version is not known", strings.Replace(event("a", `,"dataversion":3`), "Counted", "Former", 1),
			[]string{"Content-Type", one},
			detail{Type: "invalid-event", Status: 400, Event: &zero, ID: "a", Field: "dataversion",
				Reason: "the data are of version 3, and this program knows Former up to version 2"},
		},
		{
			"the version is none", event("a", `,"dataversion":"1.0"`), []string{"Content-Type", one},
			detail{Type: "invalid-event", Status: 400, Event: &zero, ID: "a", Field: "dataversion",
				Reason: `attribute dataversion is "1.0": want a whole number, 1 for the first version`},
		},
		{
			"data are no object", strings.Replace(event("a", ""), `{"n":1}`, `[]`, 1), []string{"Content-Type", one},
			detail{Type: "invalid-event", Status: 400, Event: &zero, ID: "a", Field: "data", Reason: "want an object, got list"},
		},
		{
			"the id is long", strings.Replace(event(strings.Repeat("é", 65), ""), `Counted`, `Other`, 1),
			[]string{"Content-Type", one},
			detail{
				Type: "invalid-event", Status: 400, Event: &zero, ID: strings.Repeat("é", 64) + "…", Field: "type",
				Reason: `no such event type is declared: "Other"`,
			},
		},
		{
			"the type is not declared", strings.Replace(event("a", ""), `Counted`, `Other`, 1), []string{"Content-Type", one},
			detail{Type: "invalid-event", Status: 400, Event: &zero, ID: "a", Field: "type",
				Reason: `no such event type is declared: "Other"`},
		},
		{
			"the type is misspelt", strings.Replace(event("a", ""), `Counted`, `counter`, 1), []string{"Content-Type", one},
			detail{Type: "invalid-event", Status: 400, Event: &zero, ID: "a", Field: "type",
				Reason: `no such event type is declared: "counter"; did you mean Counted?`},
		},
		{
			"the check fails otherwise", strings.Replace(event("a", ""), `Counted`, `Broken`, 1), []string{"Content-Type", one},
			detail{Type: "invalid-event", Status: 400, Event: &zero, ID: "a", Field: "data",
				Reason: "the data do not fit the type"},
		},
		{
			"the batch is no array", event("a", ""), []string{"Content-Type", batch},
			detail{Type: "invalid-batch", Status: 400, Reason: "not JSON: want [, got '{' at byte 0"},
		},
		{
			"other content", "[" + event("a", "") + "," + event("known", "") + "]", []string{"Content-Type", batch},
			detail{
				Type: "conflict", Status: 409, Event: &first, ID: "known", Field: "id",
				Reason: "an event of this source and id exists with other content",
			},
		},
		{
			"an event is too large", event("a", strings.Repeat(" ", 500)), []string{"Content-Type", one},
			detail{Type: "event-too-large", Status: 413, Event: &zero, ID: "a", Reason: "more than 500 bytes"},
		},
		{
			"the body is too large", strings.Repeat(" ", 2001), []string{"Content-Type", one},
			detail{Type: "request-too-large", Status: 413},
		},
		{
			"no media type", event("a", ""), nil,
			detail{Type: "unsupported-media-type", Status: 415, Reason: "the Content-Type is missing or not a media type"},
		},
		{
			"plain JSON", event("a", ""), []string{"Content-Type", "application/json"},
			detail{
				Type: "unsupported-media-type", Status: 415,
				Reason: "this is no CloudEvent: it has neither a media type of CloudEvents nor ce- headers",
			},
		},
		{
			"another format", "", []string{"Content-Type", "application/cloudevents+protobuf"},
			detail{Type: "unsupported-media-type", Status: 415, Reason: "events are taken in the JSON format only"},
		},
		{
			"another charset", event("a", ""), []string{"Content-Type", one + "; charset=latin1"},
			detail{Type: "unsupported-media-type", Status: 415, Reason: "the charset must be utf-8"},
		},
		{
			"an encoding", event("a", ""), []string{"Content-Type", one, "Content-Encoding", "gzip"},
			detail{Type: "unsupported-media-type", Status: 415, Reason: "the body must not have a content encoding"},
		},
		{
			"binary data of another type", "x", []string{"Content-Type", "text/plain", "ce-id", "a"},
			detail{Type: "unsupported-media-type", Status: 415, Reason: "the data of an event must be JSON"},
		},
		{
			"binary without source", `{"n":1}`,
			[]string{"Content-Type", "application/json", "ce-id", "a", "ce-specversion", "1.0", "ce-type", "Counted"},
			detail{Type: "invalid-event", Status: 400, Event: &zero, ID: "a", Field: "source", Reason: "required, but missing"},
		},
	}
	for _, c := range cases {
		w := post(h, c.body, c.headers...)
		got := problemOf(t, w)
		if got.Title == "" || got.Detail == "" || strings.HasSuffix(got.Detail, "?.") {
			t.Errorf("%s: no title or detail: %s", c.name, w.Body)
		}
		got.Title, got.Detail = "", ""
		c.want.Type = "urn:foldql:problem:" + c.want.Type
		if diff := cmp.Diff(c.want, got); diff != "" || w.Code != c.want.Status {
			t.Errorf("%s: status %d (-want +got):\n%s", c.name, w.Code, diff)
		}
	}
	if head, err := log.Head(t.Context(), "0"); err != nil || head != 1 {
		t.Errorf("the log has %d events, error %v", head, err)
	}
}

func problemOf(t testing.TB, w *httptest.ResponseRecorder) (d detail) {
	t.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type %q", got)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Errorf("%s: %v", w.Body, err)
	}
	return d
}

func TestRetiredEventsOfAFormerLogAreTaken(t *testing.T) {
	h := ingest.Handler(memlog.New(memlog.Options{}), types, quiet(ingest.Config{TakeRetired: true}))
	if w := post(h, strings.Replace(event("a", ""), "Counted", "Dropped", 1), "Content-Type", one); w.Code != 201 {
		t.Errorf("answered with %d %s", w.Code, w.Body)
	}
}

// TestEventsThatOnlyANewerProgramKnowsAreTaken where that is asked for, with those of known types held to these still.
func TestEventsThatOnlyANewerProgramKnowsAreTaken(t *testing.T) {
	var told []string
	h := ingest.Handler(memlog.New(memlog.Options{}), types, quiet(ingest.Config{
		TakeUnknown: func(e *eventlog.Event) { told = append(told, e.ID) },
	}))
	for _, c := range []struct {
		body string
		code int
	}{
		{strings.Replace(event("gift", ""), "Counted", "Gifted", 1), 201},
		{strings.Replace(event("gift", ""), "Counted", "Gifted", 1), 200},
		{event("later", `,"dataversion":"2"`), 201},
		{event("known", ""), 201},
		{event("wrong version", `,"dataversion":"two"`), 400},
		{strings.Replace(event("wrong version", `,"dataversion":"two"`), "Counted", "Gifted", 1), 400},
		{strings.Replace(event("wrong data", ""), `"n":1`, `"n":"x"`, 1), 400},
		{strings.Replace(event("retired", ""), "Counted", "Dropped", 1), 400},
	} {
		if w := post(h, c.body, "Content-Type", one); w.Code != c.code {
			t.Errorf("%s: answered with %d %s, want %d", c.body, w.Code, w.Body, c.code)
		}
	}
	if want := []string{"gift", "gift", "later"}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
}

func TestABodyOfUnknownLengthIsBounded(t *testing.T) {
	for _, c := range []struct {
		name    string
		cfg     ingest.Config
		headers []string
		want    string
	}{
		{"a request", ingest.Config{MaxBodyBytes: 1000}, []string{"Content-Type", one}, "request-too-large"},
		{"a batch", ingest.Config{MaxBodyBytes: 1000, MaxEventBytes: 500}, []string{"Content-Type", batch},
			"request-too-large"},
		{"an event", ingest.Config{MaxEventBytes: 1000}, []string{"Content-Type", one}, "event-too-large"},
		{"an event in the binary mode", ingest.Config{MaxEventBytes: 1000}, []string{"Content-Type", "application/json",
			"Ce-Id", "a"}, "event-too-large"},
	} {
		sent := 0
		endless := readerFunc(func(b []byte) (int, error) {
			sent += len(b)
			for i := range b {
				b[i] = ' '
			}
			return len(b), nil
		})
		r := httptest.NewRequest(http.MethodPost, "/events", endless)
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Set(c.headers[i], c.headers[i+1])
		}
		w := httptest.NewRecorder()
		ingest.Handler(memlog.New(memlog.Options{}), types, c.cfg).ServeHTTP(w, r)
		if got := problemOf(t, w); got.Type != "urn:foldql:problem:"+c.want || got.Status != 413 || sent > 10_000 {
			t.Errorf("%s: %s, status %d, after %d bytes", c.name, got.Type, got.Status, sent)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestABodyThatDoesNotComeToItsEndIsTheCallersProblem(t *testing.T) {
	h := ingest.Handler(memlog.New(memlog.Options{}), types, ingest.Config{})
	for _, c := range []struct {
		err    error
		kind   string
		status int
	}{
		{io.ErrUnexpectedEOF, "incomplete-request", http.StatusBadRequest},
		{os.ErrDeadlineExceeded, "request-timeout", http.StatusRequestTimeout},
	} {
		partial := io.MultiReader(strings.NewReader(event("a", "")), iotest.ErrReader(c.err))
		r := httptest.NewRequest(http.MethodPost, "/events", partial)
		r.Header.Set("Content-Type", one)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := problemOf(t, w); got.Status != c.status || got.Type != "urn:foldql:problem:"+c.kind {
			t.Errorf("%v: %+v, want %s with status %d", c.err, got, c.kind, c.status)
		}
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	h := ingest.Handler(memlog.New(memlog.Options{}), types, ingest.Config{})
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/events", nil))
		if got := problemOf(t, w); w.Code != 405 || got.Status != 405 || w.Header().Get("Allow") != "POST" {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
}

// failing is a log that cannot append.
type failing struct {
	eventlog.Log
	err error
}

func (f failing) Append(context.Context, []eventlog.Event) ([]eventlog.AppendResult, error) {
	return nil, f.err
}

func TestFailuresOfTheLogShowNothingOfIt(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		logged bool
	}{
		{errors.New("secret/path: no space left"), 500, true},
		{fmt.Errorf("append: %w", eventlog.ErrClosed), 503, false},
		{context.Canceled, 503, false},
	} {
		var logged bytes.Buffer
		cfg := ingest.Config{Logger: slog.New(slog.NewTextHandler(&logged, nil))}
		w := post(ingest.Handler(failing{err: c.err}, types, cfg), event("a", ""), "Content-Type", one)
		got := problemOf(t, w)
		if got.Status != c.status || strings.Contains(w.Body.String(), "secret") || got.Detail == "" {
			t.Errorf("%v: %s", c.err, w.Body)
		}
		if strings.Contains(logged.String(), "secret") != c.logged {
			t.Errorf("%v: logged is %q", c.err, logged.String())
		}
	}
}

// TestALogThatTakesNothingNowSaysWhetherEventsAreTaken, since the sender has to know.
func TestALogThatTakesNothingNowSaysWhetherEventsAreTaken(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{eventlog.ErrFull, 507, "may or may not have been appended"},
		{fmt.Errorf("%w: %w", eventlog.ErrFull, eventlog.ErrNothingAppended), 507, "Nothing was appended"},
		{eventlog.ErrUnwritable, 503, "may or may not have been appended"},
		{fmt.Errorf("%w: %w", eventlog.ErrUnwritable, eventlog.ErrNothingAppended), 503, "Nothing was appended"},
	} {
		w := post(ingest.Handler(failing{err: c.err}, types, quiet(ingest.Config{})), event("a", ""), "Content-Type", one)
		nothing := strings.Contains(w.Body.String(), `"nothingDone":true`)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) ||
			nothing != errors.Is(c.err, eventlog.ErrNothingAppended) {
			t.Errorf("%v: %d %s", c.err, w.Code, w.Body)
		}
	}
}

// FuzzHandler takes or refuses, and never fails: what it takes is in the log.
func FuzzHandler(f *testing.F) {
	f.Add([]byte(event("a", "")), one, "")
	f.Add([]byte("["+event("a", "")+"]"), batch, "")
	f.Add([]byte(`{"n":1}`), "application/json", "%41")
	f.Fuzz(func(t *testing.T, body []byte, contentType, id string) {
		log := memlog.New(memlog.Options{Partitions: 2})
		h := ingest.Handler(log, types, quiet(ingest.Config{MaxBodyBytes: 4000}))
		r := httptest.NewRequest(http.MethodPost, "/events", bytes.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		if id != "" {
			for name, value := range map[string]string{"Id": id, "Source": "/s", "Type": "Counted", "Specversion": "1.0"} {
				r.Header.Set("Ce-"+name, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		switch {
		case w.Code == 500 || w.Code == 503:
			t.Fatalf("%q: %d %s", body, w.Code, w.Body)
		case w.Code > 299:
			problemOf(t, w)
			return
		}
		var got struct{ Appended []eventlog.AppendResult }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		for _, a := range got.Appended {
			if events, err := log.Read(t.Context(), a.Partition, a.Offset-1, 1); err != nil || len(events) != 1 {
				t.Fatalf("%q: at %+v there is nothing, error %v", body, a, err)
			}
		}
	})
}

// BenchmarkBatch posts batches of a thousand events.
func BenchmarkBatch(b *testing.B) {
	events := sourcetest.Events(1000)
	n := 0
	for b.Loop() {
		n++
		var body strings.Builder
		for i := range events {
			if i > 0 {
				body.WriteByte(',')
			}
			body.WriteString(event(fmt.Sprintf("%d-%d", n, i), ""))
		}
		h := ingest.Handler(memlog.New(memlog.Options{}), types, ingest.Config{})
		if w := post(h, "["+body.String()+"]", "Content-Type", batch); w.Code != 201 {
			b.Fatal(w.Body)
		}
	}
}
