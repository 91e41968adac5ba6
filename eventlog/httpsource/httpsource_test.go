package httpsource_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// upstream is a server that gives the events of a source out. It can go away, and come back with another source.
type upstream struct {
	at  net.Listener
	url string
	mux atomic.Pointer[http.ServeMux]
	*http.Server
}

// serve gives the events of a source out, until the test ends.
func serve(t testing.TB, src eventlog.Source) *upstream {
	t.Helper()
	u := &upstream{}
	u.start(t, src, "127.0.0.1:0")
	t.Cleanup(func() { u.Close() })
	return u
}

// start has the server give out the events of a source, at an address.
func (u *upstream) start(t testing.TB, src eventlog.Source, address string) {
	t.Helper()
	u.now(src)
	var err error
	if u.at, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	u.url, u.Server = "http://"+u.at.Addr().String(), &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { u.mux.Load().ServeHTTP(w, r) }),
	}
	go u.Serve(u.at)
}

// now has another process of the server give out the events of a source from now on, which has started in no time.
func (u *upstream) now(src eventlog.Source) {
	h := &httpsource.Handler{Source: src, Logger: slog.New(slog.DiscardHandler)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+httpsource.EventsPath, h.Events)
	mux.HandleFunc("GET "+httpsource.PartitionsPath, h.Partitions)
	mux.HandleFunc("GET "+httpsource.WaitPath, h.Wait)
	mux.HandleFunc("POST "+httpsource.WaitPath, h.Wait)
	u.mux.Store(mux)
}

// again has another process of the server give out the events of a source.
func (u *upstream) again(t testing.TB, src eventlog.Source) {
	t.Helper()
	u.Close()
	u.start(t, src, u.at.Addr().String())
}

func open(t testing.TB, url string) *httpsource.Source {
	t.Helper()
	s, err := httpsource.Open(httpsource.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTheLogOfAnotherServerKeepsThePromisesOfASource: the log is on a disk, so that it can be made anew and restored.
func TestTheLogOfAnotherServerKeepsThePromisesOfASource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
		dir, saved := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "saved")
		l := openLog(t, dir)
		u := serve(t, l)
		// with replaces the log by what change makes of its directory, and has another process serve it.
		with := func(t testing.TB, change func() error) {
			u.Close()
			if err := errors.Join(l.Close(), change()); err != nil {
				t.Fatal(err)
			}
			l = openLog(t, dir)
			u.again(t, l)
		}
		return sourcetest.Place{
			Add:   func(t testing.TB, events []eventlog.Event) { appendTo(t, l, events) },
			Open:  func(t testing.TB) eventlog.Source { return open(t, u.url+"/") },
			Tails: true, Durable: true,
			Recreate: func(t testing.TB) { with(t, func() error { return os.RemoveAll(dir) }) },
			Leave:    func(testing.TB) { u.Close() },
			Return:   func(t testing.TB) { u.again(t, l) },
			Save:     func(t testing.TB) { with(t, func() error { return os.CopyFS(saved, os.DirFS(dir)) }) },
			Restore: func(t testing.TB) {
				with(t, func() error { return errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(saved))) })
			},
		}
	})
}

func openLog(t testing.TB, dir string) *embeddedlog.Log {
	t.Helper()
	l, err := embeddedlog.Open(embeddedlog.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func appendTo(t testing.TB, l eventlog.Log, events []eventlog.Event) {
	t.Helper()
	if _, err := l.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
}

// TestPartitionsOfAnotherServerKeepThePromisesOfASource: there may be more of them one day.
func TestPartitionsOfAnotherServerKeepThePromisesOfASource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
		l := memlog.New(memlog.Options{Partitions: 3})
		u := serve(t, l)
		add := func(t testing.TB, events []eventlog.Event) { appendTo(t, l, events) }
		return sourcetest.Place{
			Add: add, Open: func(t testing.TB) eventlog.Source { return open(t, u.url) }, Tails: true, Durable: true,
			Grow: func(t testing.TB, events []eventlog.Event) {
				l.AddPartition()
				add(t, events)
			},
		}
	})
}

// TestFilesOfAnotherServerKeepThePromisesOfASource: these have several partitions, and an end that is none to those who
// follow. They grow, and the server that reads them is started again.
func TestFilesOfAnotherServerKeepThePromisesOfASource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
		dir := t.TempDir()
		names := []string{"a.jsonl", "b.jsonl"}
		u := serve(t, memlog.New(memlog.Options{}))
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return sourcetest.Place{
			Add: func(t testing.TB, events []eventlog.Event) {
				for i := range events {
					key := cmp.Or(events[i].PartitionKey, events[i].Subject)
					name := names[key[len(key)-1]%2]
					f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0)
					if err == nil {
						_, err = f.Write(append(cloudevents.Append(nil, &events[i]), '\n'))
						err = errors.Join(err, f.Close())
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				u.now(openFiles(t, dir))
			},
			Open: func(t testing.TB) eventlog.Source {
				u.now(openFiles(t, dir))
				src := open(t, u.url)
				src.SetRest(time.Millisecond)
				return src
			},
			Tails: true, Durable: true,
			Grow: func(t testing.TB, events []eventlog.Event) {
				var text []byte
				for i := range events {
					text = append(cloudevents.Append(text, &events[i]), '\n')
				}
				if err := os.WriteFile(filepath.Join(dir, "c.jsonl"), text, 0o600); err != nil {
					t.Fatal(err)
				}
				u.now(openFiles(t, dir))
			},
			Remove: func(t testing.TB) {
				if err := os.Remove(filepath.Join(dir, names[0])); err != nil {
					t.Fatal(err)
				}
				u.now(openFiles(t, dir))
			},
		}
	})
}

func openFiles(t testing.TB, dir string) eventlog.Source {
	t.Helper()
	files, err := filesource.OpenDir(filesource.Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	return files
}

// malformed is a source whose first event cannot be read.
type malformed struct{ eventlog.Source }

func (s malformed) Read(ctx context.Context, partition string, after uint64, max int) ([]eventlog.Event, error) {
	events, err := s.Source.Read(ctx, partition, after, max)
	all := append([]eventlog.Event{}, events...)
	for i := range all {
		if all[i].Offset == 1 {
			all[i] = eventlog.Event{ID: "1", Source: "/t", Type: "T", Subject: "s", Malformed: errors.New("no JSON"),
				Data: []byte("\xff{"), Partition: partition, Offset: 1}
		}
	}
	return all, err
}

// readWithin reads a log over HTTP, where events may have so many bytes.
func readWithin(t *testing.T, log eventlog.Source, most int) []eventlog.Event {
	t.Helper()
	src, err := httpsource.Open(httpsource.Options{URL: serve(t, log).url, MaxEventBytes: most})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	names, err := src.Partitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	events, err := src.Read(t.Context(), names[0], 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// TestWhatCannotBeReadKeepsItsPlace: it becomes a dead letter here as it does there, and so does an event that is
// larger than this program takes.
func TestWhatCannotBeReadKeepsItsPlace(t *testing.T) {
	log := memlog.New(memlog.Options{})
	large := eventlog.Event{ID: "2", Source: "/t", Type: "T", Data: []byte(`{"text":"` + strings.Repeat("x", 5000) + `"}`)}
	if _, err := log.Append(t.Context(), []eventlog.Event{{ID: "1", Source: "/t", Type: "T", Data: []byte(`{}`)}, large,
		{ID: "3", Source: "/t", Type: "T", Data: []byte(`{"text":"<&>"}`)}}); err != nil {
		t.Fatal(err)
	}
	events := readWithin(t, malformed{log}, 1000)
	if len(events) != 3 {
		t.Fatalf("%d events", len(events))
	}
	if e := events[0]; e.Malformed == nil || e.Malformed.Error() != "no JSON" || string(e.Data) != "\xff{" ||
		e.Offset != 1 || e.ID != "1" || e.Source != "/t" || e.Type != "T" || e.Subject != "s" {
		t.Errorf("the first is %+v", e)
	}
	if e := events[1]; e.Malformed == nil || e.Offset != 2 {
		t.Errorf("the large one is %v at %d", e.Malformed, e.Offset)
	}
	if e := events[2]; e.Malformed != nil || string(e.Data) != `{"text":"<&>"}` || e.Offset != 3 {
		t.Errorf("the last is %+v", e)
	}
}

// TestTheTokenIsForTheServerAlone: it is not sent on to where that server points.
func TestTheTokenIsForTheServerAlone(t *testing.T) {
	asked := make(chan string, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- "elsewhere " + r.Header.Get("Authorization")
	}))
	defer elsewhere.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Authorization")
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	src, err := httpsource.Open(httpsource.Options{URL: s.URL, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := src.Partitions(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a redirect: %v, want an error without the token", err)
	}
	if got := <-asked; got != "Bearer secret" || len(asked) > 0 {
		t.Errorf("the server got %q, and %d more were asked", got, len(asked))
	}
}

// TestErrorsSayWhatToDo names the server, and what it answers.
func TestErrorsSayWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"no token":        {401, `{"detail":"Send the write token."}`, "give the write token"},
		"another program": {200, "<html>", "is a foldql server there?"},
		"too late":        {503, `{"detail":"The source does not answer."}`, "does not answer"},
		"nothing":         {404, "", "404 Not Found"},
		"out of order":    {200, `{"events":[{"offset":5,"event":{}},{"offset":4,"event":{}}]}`, "out of order"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		}))
		src := open(t, s.URL)
		if _, err := src.Read(t.Context(), "0", 0, 10); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		src.Close()
		s.Close()
	}
	for _, url := range []string{"", "localhost:8080", "ftp://host", "http://", "https://u:p@host", "http://host?x=1",
		"http://host?", "http://host#"} {
		if _, err := httpsource.Open(httpsource.Options{URL: url}); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %v, want an error that does not repeat a password", url, err)
		}
	}
}

// TestAServerThatEndsLetsNobodyWait, so that its end does not take as long as the longest wait.
func TestAServerThatEndsLetsNobodyWait(t *testing.T) {
	h := &httpsource.Handler{Source: memlog.New(memlog.Options{}), Logger: slog.New(slog.DiscardHandler),
		Stopping: func() bool { return true }}
	w := httptest.NewRecorder()
	began := time.Now()
	h.Wait(w, httptest.NewRequest("GET", `/events/wait?after={}&seconds=20`, nil))
	var answer struct{ More bool }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.More || time.Since(began) > 15*time.Second {
		t.Errorf("after %s: %s %v", time.Since(began), w.Body, err)
	}
}

// cannotGoOn is a copy of a log that has forgotten what follows.
type cannotGoOn struct{ eventlog.Source }

func (cannotGoOn) Wait(context.Context, eventlog.Offsets) error {
	return fmt.Errorf("the copy: %w", &eventlog.ForgottenError{Partition: "1", After: 7, First: 12})
}

// TestAWaitSaysOfWhichPartitionEventsAreForgotten: it is for all of them. Where an earlier version does not say that, a
// read will.
func TestAWaitSaysOfWhichPartitionEventsAreForgotten(t *testing.T) {
	src := open(t, serve(t, cannotGoOn{memlog.New(memlog.Options{})}).url)
	defer src.Close()
	lost := eventlog.ForgottenIn(src.Wait(t.Context(), eventlog.Offsets{"1": 7}))
	want := &eventlog.ForgottenError{Partition: "1", After: 7, First: 12}
	if diff := gocmp.Diff(want, lost); diff != "" {
		t.Errorf("what is forgotten (-want +got):\n%s", diff)
	}
	earlier := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusGone)
		fmt.Fprint(w, `{"type":"urn:foldql:problem:forgotten-events","first":12}`)
	}))
	defer earlier.Close()
	src = open(t, earlier.URL)
	defer src.Close()
	if err := src.Wait(t.Context(), eventlog.Offsets{"1": 7}); err == nil || eventlog.ForgottenIn(err) != nil {
		t.Errorf("a wait at an earlier version: %v, want an error that passes", err)
	}
	if _, err := src.Read(t.Context(), "1", 7, 10); eventlog.ForgottenIn(err) == nil {
		t.Errorf("a read at an earlier version: %v, want that the events are forgotten", err)
	}
}

func TestWrongRequestsSayWhatIsWrong(t *testing.T) {
	s := serve(t, memlog.New(memlog.Options{}))
	for path, want := range map[string]int{
		"/events?partition=0&after=0&limit=10": 200, "/events?partition=0&after=0": 400, "/events?partition=0&limit=1": 400,
		"/events?partition=none&after=0&limit=1": 404, "/events?partition=0&after=-1&limit=1": 400,
		"/events?partition=0&after=0&limit=1001": 400, "/events/wait?after=x&seconds=0": 400,
		"/events?partition=0&after=0&limit=1&known=x": 400, "/events/wait?after={}&seconds=0&known=x": 400,
		"/events/wait?after={}&seconds=21": 400, "/events/wait?after={}&seconds=0": 200,
	} {
		res, err := http.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if diff := gocmp.Diff(want, res.StatusCode); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// TestAnEventThatIsAsLargeAsItMayBeIsFollowed: its text is longer here than that in which it came.
func TestAnEventThatIsAsLargeAsItMayBeIsFollowed(t *testing.T) {
	const limit = 1000
	decoder, log := cloudevents.Decoder{MaxSize: limit}, memlog.New(memlog.Options{})
	came := `{"specversion":"1.0","id":"1","source":"/t","type":"T","x":true,"y":"` + strings.Repeat("\\\\", 50)
	came += `","data":{"t":"`
	came += strings.Repeat("x", limit-len(came)-3) + `"}}`
	structured, err := decoder.Decode([]byte(came))
	if err != nil || len(came) != limit {
		t.Fatal(len(came), err)
	}
	binary, err := decoder.DecodeBinary(http.Header{"Ce-Specversion": {"1.0"}, "Ce-Id": {"2"}, "Ce-Source": {"/t"},
		"Ce-Type": {"T"}, "Content-Type": {"application/json"}}, []byte(`{"t":"`+strings.Repeat("x", limit-20)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	structured.Time = time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC) // as a log gives it to an event without
	if _, err := log.Append(t.Context(), []eventlog.Event{structured, binary}); err != nil {
		t.Fatal(err)
	}
	for most, fits := range map[int]bool{limit: true, limit - 300: false} {
		events := readWithin(t, log, most)
		if len(events) != 2 {
			t.Fatalf("%d events", len(events))
		}
		for i := range events {
			if (events[i].Malformed == nil) != fits || events[i].Type != "T" {
				t.Errorf("where events may have %d bytes, event %d is %v", most, i+1, events[i].Malformed)
			}
		}
	}
}

// counting counts how often it is asked where a partition ends.
type counting struct {
	*memlog.Log
	heads atomic.Int32
}

func (c *counting) Head(ctx context.Context, partition string) (uint64, error) {
	c.heads.Add(1)
	return c.Log.Head(ctx, partition)
}

// TestTheEndOfAPartitionCostsNoLookAtOthers, except at an earlier version, which answers with all of them.
func TestTheEndOfAPartitionCostsNoLookAtOthers(t *testing.T) {
	l := &counting{Log: memlog.New(memlog.Options{Partitions: 50})}
	appendTo(t, l, sourcetest.Events(200))
	now := serve(t, l)
	earlier := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.RawQuery = ""
		now.Handler.ServeHTTP(w, r)
	}))
	defer earlier.Close()
	for url, most := range map[string]int32{now.url: 1, earlier.URL: 50} {
		src := open(t, url)
		defer src.Close()
		want, err := l.Log.Head(t.Context(), "7")
		if err != nil {
			t.Fatal(err)
		}
		l.heads.Store(0)
		if head, err := src.Head(t.Context(), "7"); head != want || err != nil {
			t.Errorf("the head is %d, %v; want %d", head, err, want)
		}
		if n := l.heads.Load(); n > most {
			t.Errorf("it took %d looks, at most %d may be", n, most)
		}
		if _, err := src.Head(t.Context(), "none"); err == nil || !strings.Contains(err.Error(), `no partition "none"`) {
			t.Errorf("the end of a partition that is not there: %v", err)
		}
	}
}
