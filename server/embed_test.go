package server

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// embed serves a project over a store in memory and a log with three events.
func embed(t *testing.T, ctx context.Context, change func(*EmbedConfig)) (*Embedded, *memlog.Log, error) {
	t.Helper()
	return embedApp(t, ctx, newProject(false).App, change)
}

func embedApp(t *testing.T, ctx context.Context, app App, change func(*EmbedConfig)) (*Embedded, *memlog.Log, error) {
	t.Helper()
	db, err := querydb.Open(t.Context(), memstore.New(), app.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	log := memlog.New(memlog.Options{})
	if _, err := log.Append(t.Context(), slices.Collect(taskEvents(1, 3))); err != nil {
		t.Fatal(err)
	}
	cfg := EmbedConfig{DB: db, Source: log, Logger: slog.New(slog.DiscardHandler)}
	change(&cfg)
	e, err := Embed(ctx, app, cfg)
	return e, log, err
}

func TestServerInsideAnotherProgramAnswersAll(t *testing.T) {
	e, log, err := embed(t, t.Context(), func(c *EmbedConfig) { c.WriteToken = "secret" })
	if err != nil {
		t.Fatal(err)
	}
	log.End()
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body, token string
		status                    int
		want                      string
	}{
		{"POST", "/graphql", `{"query":"{ Task(id: \"2\") { title } }"}`, "", 200, `{"data":{"Task":{"title":"Task 2"}}}`},
		{"GET", "/admin/projections", "", "secret", 200, `"projection":"Tasks"`},
		{"GET", "/admin/projections", "", "", 401, "write token"},
		{"GET", "/readyz", "", "", 200, `{"ready":true}`},
		{"GET", "/readyz", "", "secret", 200, `"projection":"Tasks"`},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
		if w.Code == http.StatusOK && w.Header().Get("X-Content-Type-Options") == "" {
			t.Errorf("%s is answered past the middleware", c.path)
		}
	}
}

func TestServerInsideAnotherProgramEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e, _, err := embed(t, ctx, func(*EmbedConfig) {})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := e.Wait(); err != nil { // the log has no end
		t.Error(err)
	}
}

// TestAnEmbeddedServerWhoseContextHasEndedIsNotReady, so that nobody sends it requests while it ends.
func TestAnEmbeddedServerWhoseContextHasEndedIsNotReady(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e, _, err := embed(t, ctx, func(*EmbedConfig) {})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "draining") {
		t.Errorf("/readyz: %d %s", w.Code, w.Body)
	}
}

// silentStore is a store that says of itself that it does not answer.
type silentStore struct{ driver.Driver }

func (silentStore) CheckAvailable(context.Context) error { return driver.ErrUnavailable }

// embedOver embeds a server over a driver, and an empty log that it has come to the end of.
func embedOver(t *testing.T, drv driver.Driver) *Embedded {
	t.Helper()
	app, log := newProject(false).App, memlog.New(memlog.Options{})
	db, err := querydb.Open(t.Context(), drv, app.Models, querydb.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := Embed(t.Context(), app, EmbedConfig{DB: db, Source: log, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	log.End()
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestAnEmbeddedServerIsReadyOnlyWhileItsStoreAnswers, as the package promises.
func TestAnEmbeddedServerIsReadyOnlyWhileItsStoreAnswers(t *testing.T) {
	e := embedOver(t, silentStore{memstore.New()})
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "unavailable") {
		t.Errorf("/readyz: %d %s", w.Code, w.Body)
	}
}

func TestServerInsideAnotherProgramRefusesAWrongConfiguration(t *testing.T) {
	for want, change := range map[string]func(*EmbedConfig){
		"EmbedConfig.DB is nil":        func(c *EmbedConfig) { c.DB = nil },
		"EmbedConfig.Source is nil":    func(c *EmbedConfig) { c.Source = nil },
		"EmbedConfig.WriteAccess is 9": func(c *EmbedConfig) { c.WriteAccess = 9 },
		"max-depth":                    func(c *EmbedConfig) { c.Limits.MaxDepth = -1 },
		"max-answer":                   func(c *EmbedConfig) { c.Limits.MaxAnswerBytes = 1 << 40 },
		"MaxDeadLetterPercent":         func(c *EmbedConfig) { c.Runner.MaxDeadLetterPercent = 101 },
		"write-token":                  func(c *EmbedConfig) { c.WriteToken = "a\nb" },
		"cors-origins":                 func(c *EmbedConfig) { c.CORSOrigins = []string{"example.com"} },
		"cors-headers":                 func(c *EmbedConfig) { c.CORSHeaders = []string{"traceparent"} },
		"metric-operations":            func(c *EmbedConfig) { c.NamedOperations = []string{"a b"} },
	} {
		if _, _, err := embed(t, t.Context(), change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q: %v", want, err)
		}
	}
	app := newProject(true).App
	_, err := Embed(t.Context(), app, EmbedConfig{DB: &querydb.DB{}, Source: memlog.New(memlog.Options{})})
	if err == nil || !strings.Contains(err.Error(), "EmbedConfig.Verifier") {
		t.Errorf("rules without a verifier: %v", err)
	}
}

// TestAnAppThatLacksItsAPIIsRefused, and the error says what to give.
func TestAnAppThatLacksItsAPIIsRefused(t *testing.T) {
	cfg := EmbedConfig{DB: &querydb.DB{}, Source: memlog.New(memlog.Options{})}
	_, err := Embed(t.Context(), App{}, cfg)
	for _, want := range []string{
		"App.Catalog is nil: give generated.Catalog",
		"App.Schema is nil: give graph.Schema, of the project's own package graph",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q: %v", want, err)
		}
	}
}

// TestEmbedLeavesWhatItIsGivenAsItIs: the program may have other uses for its lists.
func TestEmbedLeavesWhatItIsGivenAsItIs(t *testing.T) {
	hosts := []string{"API.Example.com."}
	e, _, err := embed(t, t.Context(), func(c *EmbedConfig) { c.AllowedHosts = hosts })
	if err != nil {
		t.Fatal(err)
	}
	if hosts[0] != "API.Example.com." {
		t.Errorf("the list has %q now", hosts[0])
	}
	r := httptest.NewRequest("GET", "http://api.example.com/schema.graphql", nil)
	w := httptest.NewRecorder()
	if e.ServeHTTP(w, r); w.Code != http.StatusOK {
		t.Errorf("the name in another case: %d %s", w.Code, w.Body)
	}
}

// TestEmbeddedServerWithoutALogger logs where the program does.
func TestEmbeddedServerWithoutALogger(t *testing.T) {
	e, log, err := embed(t, t.Context(), func(c *EmbedConfig) { c.Logger = nil })
	if err != nil {
		t.Fatal(err)
	}
	log.End()
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/readyz", nil))
}

// TestAMisspeltTypeThatTheProgramAppendsIsLogged, also where the program has the log and asks no server.
func TestAMisspeltTypeThatTheProgramAppendsIsLogged(t *testing.T) {
	var logged output
	e, log, err := embed(t, t.Context(), func(c *EmbedConfig) {
		c.Logger = slog.New(slog.NewTextHandler(&logged, nil))
		misspelt := taskEvent("x", "misspelt")
		misspelt.Type = "TaskAded"
		if _, err := c.Source.(eventlog.Log).Append(t.Context(), []eventlog.Event{misspelt}); err != nil {
			t.Fatal(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	log.End()
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	if text := logged.String(); strings.Count(text, "type=TaskAded") != 1 || strings.Contains(text, "type=TaskAdded") {
		t.Errorf("the type is to be logged once, and no other: %s", text)
	}
}

// TestEmbeddedServerTakesASourceThatIsNoLog: it folds, and refuses events over HTTP.
func TestEmbeddedServerTakesASourceThatIsNoLog(t *testing.T) {
	e, log, err := embed(t, t.Context(), func(c *EmbedConfig) {
		c.Source, c.WriteAccess = struct{ eventlog.Source }{c.Source}, WriteAccessAll
	})
	if err != nil {
		t.Fatal(err)
	}
	log.End()
	if err := e.Wait(); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest("POST", "/events", strings.NewReader("{}")))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "no log") {
		t.Errorf("POST /events: %d %s", w.Code, w.Body)
	}
}

// TestEmbeddedServerHasTheSwitchesOfServe, and their zero values mean what serve does.
func TestEmbeddedServerHasTheSwitchesOfServe(t *testing.T) {
	for _, c := range []struct {
		path     string
		off      func(*EmbedConfig)
		on, want int
	}{
		{"/", func(c *EmbedConfig) { c.NoPlayground = true }, 200, 404},
		{"/schema.graphql", func(c *EmbedConfig) { c.NoIntrospection = true }, 200, 404},
	} {
		for _, off := range []bool{false, true} {
			e, _, err := embed(t, t.Context(), func(cfg *EmbedConfig) {
				if off {
					c.off(cfg)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			e.ServeHTTP(w, httptest.NewRequest("GET", c.path, nil))
			if want := map[bool]int{false: c.on, true: c.want}[off]; w.Code != want {
				t.Errorf("%s, off %v: %d, want %d", c.path, off, w.Code, want)
			}
		}
	}
	var cfg EmbedConfig
	c, err := cfg.command()
	if err != nil {
		t.Fatal(err)
	}
	all, err := defaults()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(all.Serve.Limits, c.Limits); d != "" || c.ReadyLag != 500 || !c.Playground || !c.Introspection ||
		!c.Accelerate {
		t.Errorf("the zero configuration is not that of serve: %s%+v", d, c)
	}
	cfg = EmbedConfig{Limits: Limits{MaxDepth: 3, Timeout: time.Second}, ReadyLag: 7, ResolversOnly: true}
	if c, err = cfg.command(); err != nil || c.MaxDepth != 3 || c.Timeout != time.Second || c.ReadyLag != 7 ||
		c.Accelerate {
		t.Errorf("what is given does not count: %+v, %v", c, err)
	}
}

// TestEmbedAdmitsWritersByTokenOrChoice: whoever embeds the server says who may write, and nobody may unless they do.
func TestEmbedAdmitsWritersByTokenOrChoice(t *testing.T) {
	const here, elsewhere = "127.0.0.1:1234", "192.0.2.1:1234"
	for _, c := range []struct {
		writes      WriteAccess
		peer, token string
		want        int
	}{
		{WriteAccessNone, here, "", 403},
		{WriteAccessLocal, here, "", 200},
		{WriteAccessLocal, elsewhere, "", 403},
		{WriteAccessAll, elsewhere, "", 200},
		{WriteAccessAll, here, "secret", 401}, // a token beats the decision
	} {
		e, _, err := embed(t, t.Context(), func(cfg *EmbedConfig) { cfg.WriteAccess, cfg.WriteToken = c.writes, c.token })
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/admin/projections", "/metrics", "/readyz"} {
			r := httptest.NewRequest("GET", "http://localhost"+path, nil)
			r.RemoteAddr = c.peer
			w := httptest.NewRecorder()
			e.ServeHTTP(w, r)
			shown := strings.Contains(w.Body.String(), "Tasks")
			if path == "/readyz" && shown != (c.want == 200) || path != "/readyz" && w.Code != c.want {
				t.Errorf("%d from %s, %s: status %d, want %d: %.200s", c.writes, c.peer, path, w.Code, c.want, w.Body)
			}
		}
		w := httptest.NewRecorder()
		e.AdminHandler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != 200 {
			t.Errorf("operators: status %d", w.Code)
		}
	}
}

// TestAnEmbeddedServerLeadsWhoAsksForItsPrefixAloneBelowIt, and not to the root of the host.
func TestAnEmbeddedServerLeadsWhoAsksForItsPrefixAloneBelowIt(t *testing.T) {
	e, _, err := embed(t, t.Context(), func(*EmbedConfig) {})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	http.StripPrefix("/app", e).ServeHTTP(w, httptest.NewRequest("GET", "/app", nil))
	if w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != "./app/" {
		t.Errorf("status %d leads to %q", w.Code, w.Header().Get("Location"))
	}
}
