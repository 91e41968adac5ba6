package server

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/health"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/projections"
)

// TestWritingWithoutATokenIsForThisMachineAlone: the peer, the host, the origin and the headers all say so.
func TestWritingWithoutATokenIsForThisMachineAlone(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*http.Request)
		want   string // type of the problem, "" for none
	}{
		{"of this machine", func(*http.Request) {}, ""},
		{"by IPv6", func(r *http.Request) { r.RemoteAddr, r.Host = "[::1]:5", "[::1]:8080" }, ""},
		{"by IPv4 in IPv6", func(r *http.Request) { r.RemoteAddr = "[::ffff:127.0.0.1]:5" }, ""},
		{"by a page of its own", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:8080") }, ""},
		{"another peer", func(r *http.Request) { r.RemoteAddr = "192.0.2.7:5" }, "not-local"},
		{"a peer without address", func(r *http.Request) { r.RemoteAddr = "@" }, "not-local"},
		{"HTTP/1.0", func(r *http.Request) { r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.0", 1, 0 }, "not-local"},
		{"another host", func(r *http.Request) { r.Host = "evil.example:8080" }, "foreign-host"},
		{"a name that begins like ours", func(r *http.Request) { r.Host = "localhost.evil.example" }, "foreign-host"},
		{"no host", func(r *http.Request) { r.Host = "" }, "foreign-host"},
		{"another origin", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, "foreign-origin"},
		{"a sandboxed page", func(r *http.Request) { r.Header.Set("Origin", "null") }, "foreign-origin"},
		{"another port", func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") }, "foreign-origin"},
		{"an image there", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, "foreign-origin"},
		{"typed into a browser", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, ""},
		{"a page of this machine at another name of it", func(r *http.Request) {
			r.Header.Set("Origin", "http://127.0.0.1:3000")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, "foreign-origin"},
		{"passed on by the development server of a page", func(r *http.Request) {
			r.Header.Set("Origin", "http://localhost:3000")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}, ""},
		{"a page of the name of a stranger", func(r *http.Request) {
			r.Header.Set("Origin", "http://evil.example:8080")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}, "foreign-origin"},
		{"an image elsewhere", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, "foreign-origin"},
	} {
		r := httptest.NewRequest("POST", "/events", nil)
		r.RemoteAddr, r.Host = "127.0.0.1:1234", "localhost:8080"
		tc.change(r)
		got := ""
		if bad := access.ThisMachine(r); bad != nil {
			got = strings.TrimPrefix(bad.Type, problem.Prefix)
		}
		if got != tc.want {
			t.Errorf("%s: problem %q, want %q", tc.name, got, tc.want)
		}
	}
	for _, header := range []string{
		"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Anything", "X-Real-Ip",
		"x-real-ip",
		"True-Client-IP", "CF-Connecting-IP", "X-Envoy-External-Address", "X-Original-Forwarded-For",
	} {
		r := httptest.NewRequest("POST", "/events", nil)
		r.RemoteAddr, r.Host = "127.0.0.1:1234", "localhost:8080"
		r.Header[header] = []string{""}
		if bad := access.ThisMachine(r); bad == nil || bad.Type != problem.Prefix+"not-local" {
			t.Errorf("with the header %s: %v, want it refused", header, bad)
		}
	}
}

// TestWritingBehindAProxyWantsAToken: a proxy on this machine that hands the requests of strangers on.
func TestWritingBehindAProxyWantsAToken(t *testing.T) {
	one := string(cloudevents.Append(nil, new(taskEvent("1", "x"))))
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(httputil.NewSingleHostReverseProxy(target))
	t.Cleanup(proxy.Close)
	behind := &server{url: proxy.URL}
	for _, path := range []string{"/admin/projections", "/admin/dead-letters", "/metrics"} {
		if status, body := behind.request(t, "GET", path, ""); status != http.StatusForbidden ||
			strings.Contains(body, "Tasks") {
			t.Errorf("GET %s: status %d: %.200s", path, status, body)
		}
	}
	if status, body := behind.request(t, "GET", "/readyz", ""); strings.Contains(body, "Tasks") {
		t.Errorf("/readyz: status %d: %s", status, body)
	}
	if status, _ := behind.request(t, "POST", "/events", one, "Content-Type", eventType); status != http.StatusForbidden {
		t.Errorf("POST /events: status %d, want 403", status)
	}
	if status, _ := s.request(t, "POST", "/events", one, "Content-Type", eventType); status != http.StatusCreated {
		t.Errorf("without the proxy: status %d, want 201", status)
	}
}

// TestReadinessAndMetricsTellStrangersNothing of tables, keys and addresses: only who has the write token, or reaches
// the admin listener, is told.
func TestReadinessAndMetricsTellStrangersNothing(t *testing.T) {
	s := serve(t, newProject(false).App, start{
		args: []string{"--store", "memory:", "--sample", "--admin-listen", "127.0.0.1:0"},
		env:  map[string]string{"FOLDQL_WRITE_TOKEN": "let me in"},
	})
	s.ready(t)
	operators := &server{url: "http://" + adminAddress(t, s)}
	token := []string{"Authorization", "Bearer let me in"}
	for _, tc := range []struct {
		who     string
		s       *server
		path    string
		headers []string
		status  int
		tells   bool
	}{
		{"anybody", s, "/readyz", nil, 200, false},
		{"anybody", s, "/metrics", nil, 401, false},
		{"anybody", s, "/admin/projections", nil, 401, false},
		{"who has another token", s, "/readyz", []string{"Authorization", "Bearer x"}, 200, false},
		{"who has the token", s, "/readyz", token, 200, true},
		{"who has the token", s, "/metrics", token, 200, true},
		{"an operator", operators, "/readyz", nil, 200, true},
		{"an operator", operators, "/metrics", nil, 200, true},
		{"an operator", operators, "/admin/projections", nil, 200, true},
		{"an operator", operators, "/admin/dead-letters?projection=Tasks", nil, 200, false},
		{"an operator", operators, "/livez", nil, 200, false},
		{"an operator", operators, "/graphql?query={__typename}", nil, 404, false},
		{"an operator whose browser was led here", operators, "/metrics", []string{"Host", "evil.example"}, 403, false},
		{"an operator whose browser was led here", operators, "/readyz", []string{"Host", "evil.example"}, 403, false},
	} {
		status, body := tc.s.request(t, "GET", tc.path, "", tc.headers...)
		if tells := strings.Contains(body, "Task"); status != tc.status || tells != tc.tells {
			t.Errorf("%s at %s: status %d, want %d; it tells of the models: %v, want %v:\n%.300s",
				tc.who, tc.path, status, tc.status, tells, tc.tells, body)
		}
	}
	skip := `{"projection":"Tasks","event":"0@1"}`
	if status, _ := operators.request(t, "POST", "/admin/dead-letters/skip", skip, "Content-Type",
		"application/json"); status != 401 {
		t.Errorf("skip at the admin listener without the token: status %d, want 401", status)
	}
}

// TestTheAdminListenerWarnsOfAllThatItShows without the token.
func TestTheAdminListenerWarnsOfAllThatItShows(t *testing.T) {
	s := serve(t, newProject(false).App, start{
		args: []string{"--store", "memory:", "--admin-listen", "0.0.0.0:0"},
		env:  map[string]string{"FOLDQL_WRITE_TOKEN": "t"},
	})
	s.ready(t)
	one := string(cloudevents.Append(nil, new(taskEvent("a", "poison"))))
	if status, body := s.request(t, "POST", "/events", one, "Content-Type", eventType, "Authorization",
		"Bearer t"); status != http.StatusCreated {
		t.Fatal(status, body)
	}
	operators := &server{url: "http://" + adminAddress(t, s)}
	var shown string
	s.until(t, "dead letter", func() bool {
		_, shown = operators.request(t, "GET", "/admin/dead-letters", "")
		return strings.Contains(shown, "reason")
	})
	_, warning, _ := strings.Cut(s.stderr.String(), "whoever reaches the admin listener")
	warning, _, _ = strings.Cut(warning, "\n")
	for _, what := range []string{"id", "source", "subject", "reason"} {
		if !strings.Contains(shown, `"`+what+`"`) || !strings.Contains(warning, " "+what+"s") {
			t.Errorf("the %s of a dead letter: shown, or warned of, alone:\n%s\n%s", what, shown, warning)
		}
	}
}

// adminAddress is where a server answers operators.
func adminAddress(t *testing.T, s *server) string {
	t.Helper()
	for line := range strings.Lines(s.stderr.String()) {
		var entry struct{ Msg, Admin string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Admin != "" {
			return entry.Admin
		}
	}
	t.Fatalf("no admin listener:\n%s", &s.stderr)
	return ""
}

// TestReasonForNotBeingReadyIsCoarse: strangers get one of few words.
func TestReasonForNotBeingReadyIsCoarse(t *testing.T) {
	secret := errors.New("projection Salaries stopped: row emp-7 of shop-Salary at 10.0.0.5")
	behind := projection.Status{State: projection.StateCatchingUp, Lag: 7}
	frozen := projection.Status{State: projection.StateFrozen, Frozen: true}
	stuck := frozen
	stuck.Build = &projection.BuildStatus{Stop: &projection.StopError{}}
	for _, tc := range []struct {
		want string
		err  error
		list []projection.Status
	}{
		{"draining", health.ErrDraining, []projection.Status{{State: projection.StateStalled}}},
		{"stopped", secret, []projection.Status{behind, {State: projection.StateStopped, LastError: "x"}}},
		{"stopped", secret, []projection.Status{behind, stuck}},
		{"catching up", secret, []projection.Status{{State: projection.StateStopped}, behind}},
		{"catching up", secret, []projection.Status{behind, frozen}},
		{"stopped", errors.Join(secret, projections.StoppedError("x")), []projection.Status{behind, frozen}},
		{"rebuilding", errors.Join(projections.RebuildingError("x")), []projection.Status{frozen}},
		{"rebuilding", projections.RebuildingError("x"), []projection.Status{frozen, behind}},
		{"unavailable", secret, []projection.Status{frozen}},
		{"unavailable", projection.ErrEndUnknown, []projection.Status{{State: projection.StateStalled, LastError: "x"}}},
		{"unavailable", secret, []projection.Status{{State: projection.StateLive}}},
	} {
		if got := health.Coarse(tc.err, tc.list); got != tc.want {
			t.Errorf("the reason is %q, want %q", got, tc.want)
		}
	}
	s := serve(t, newProject(false).App, start{
		args: []string{"--store", "memory:", "--drain-delay", "2s"}, env: map[string]string{"FOLDQL_WRITE_TOKEN": "t"},
	})
	s.ready(t)
	s.stop()
	s.until(t, "draining", func() bool {
		status, body := s.request(t, "GET", "/readyz", "")
		return status == http.StatusServiceUnavailable && strings.TrimSpace(body) == `{"ready":false,"why":"draining"}`
	})
}

// TestForeignNamesCannotRead: a page whose name was made to lead to this machine reads nothing, where nobody has said
// that the name is the server's.
func TestForeignNamesCannotRead(t *testing.T) {
	app := newProject(false).App
	plain := serve(t, app, start{args: []string{"--store", "memory:"}})
	named := serve(t, app, start{args: []string{
		"--store", "memory:", "--allowed-hosts", "API.example.com,other.example", "--cors-origins", "https://app.example.com",
	}})
	any := serve(t, app, start{args: []string{"--store", "memory:", "--allowed-hosts", "*"}})
	for _, tc := range []struct {
		s      *server
		header string
		value  string
		want   bool
	}{
		{plain, "Host", "localhost:8080", true},
		{plain, "Host", "LOCALHOST", true},
		{plain, "Host", "app.localhost:8080", true},
		{plain, "Host", "127.0.0.1", true},
		{plain, "Host", "[::1]:8080", true},
		{plain, "Host", "192.0.2.1:8080", true}, // an address leads nowhere else
		{plain, "Host", "evil.example:8080", false},
		{plain, "Host", "127.0.0.1.evil.example", false},
		{plain, "Host", "api.example.com", false},
		{plain, "Origin", "http://localhost:3000", true},
		{plain, "Origin", "https://evil.example", false},
		{plain, "Origin", "null", false},
		{named, "Host", "api.example.com:8080", true},
		{named, "Host", "Other.Example.", true},
		{named, "Host", "localhost", true},
		{named, "Host", "evil.example", false},
		{named, "Host", "x.api.example.com", false},
		{named, "Origin", "https://app.example.com", true},
		{named, "Origin", "https://api.example.com", true},
		{named, "Origin", "https://evil.example", false},
		{any, "Host", "evil.example", true},
		{any, "Origin", "https://evil.example", true},
	} {
		for _, path := range []string{"/graphql?query={__typename}", "/schema.graphql", "/"} {
			status, body := tc.s.request(t, "GET", path, "", tc.header, tc.value)
			refusal := "urn:foldql:problem:foreign-"
			if strings.HasPrefix(path, "/graphql") {
				refusal = "FORBIDDEN"
			}
			if served := status == http.StatusOK; served != tc.want || !served && !strings.Contains(body, refusal) {
				t.Errorf("%s %s, %s: status %d, want it served: %v\n%.200s", tc.header, tc.value, path, status, tc.want, body)
			}
		}
		if status, _ := tc.s.request(t, "GET", "/livez", "", tc.header, tc.value); status != http.StatusOK {
			t.Errorf("%s %s: /livez has status %d", tc.header, tc.value, status)
		}
	}
}

// TestPagesOfOtherSitesAskNothingByGET: browsers send what they load as an image without an origin, and what they fetch
// without asking first, to an address or any name, and often.
func TestPagesOfOtherSitesAskNothingByGET(t *testing.T) {
	app := newProject(false).App
	const query = "/graphql?query={__typename}"
	plain := serve(t, app, start{args: []string{"--store", "memory:"}})
	any := serve(t, app, start{args: []string{"--store", "memory:", "--allowed-hosts", "*"}}) // as one that networks reach
	listing := serve(t, app, start{args: []string{"--store", "memory:", "--allowed-hosts", "*",
		"--cors-origins", "https://app.example"}})
	open := serve(t, app, start{args: []string{"--store", "memory:", "--allowed-hosts", "*", "--cors-origins", "*"}})
	for _, tc := range []struct {
		s      *server
		path   string
		site   string
		origin string
		want   int
	}{
		{plain, query, "cross-site", "", 403},
		{plain, query, "cross-site", "https://evil.example", 403},
		{plain, query, "same-site", "", 200},
		{plain, query, "same-origin", "", 200},
		{plain, query, "none", "", 200}, // somebody has typed the address
		{plain, query, "", "", 200},     // no browser
		{plain, "/?query={__typename}", "cross-site", "", 200},
		{any, query, "cross-site", "", 403},
		{any, query, "cross-site", "https://evil.example", 403},
		{any, query, "cross-site", "null", 403},
		{any, query, "", "https://evil.example", 200}, // no browser
		{listing, query, "cross-site", "", 403},
		{listing, query, "cross-site", "https://evil.example", 403},
		{listing, query, "cross-site", "https://app.example", 200},
		{open, query, "cross-site", "", 403},
		{open, query, "cross-site", "https://app.example", 200},
	} {
		headers := []string{"Sec-Fetch-Site", tc.site}
		if tc.origin != "" {
			headers = append(headers, "Origin", tc.origin)
		}
		status, body := tc.s.request(t, "GET", tc.path, "", headers...)
		if status != tc.want || tc.want == 403 && !strings.Contains(body, "FORBIDDEN") {
			t.Errorf("%s from %q, origin %q: status %d, want %d: %.200s", tc.path, tc.site, tc.origin, status, tc.want, body)
		}
	}
}

// TestAServerThatForwardsTheHeadersOfAVisitorIsAnsweredByPOST: the visitor came by a link of another site, and the
// server asks for them with JSON, which no page sends blindly. By GET it is told what to do.
func TestAServerThatForwardsTheHeadersOfAVisitorIsAnsweredByPOST(t *testing.T) {
	s := serve(t, newProject(false).App, start{args: []string{"--store", "memory:"}})
	visitor := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}
	status, body := s.request(t, "POST", "/graphql", `{"query":"{__typename}"}`,
		append(visitor, "Content-Type", "application/json")...)
	if status != http.StatusOK {
		t.Errorf("POST: status %d: %.200s", status, body)
	}
	status, body = s.request(t, "GET", "/graphql?query={__typename}", "", visitor...)
	for _, way := range []string{"/?query=", "no Sec-Fetch-* headers"} {
		if status != http.StatusForbidden || !strings.Contains(body, way) {
			t.Errorf("GET: status %d, and the answer lacks %q: %s", status, way, body)
		}
	}
	if status, _ := s.request(t, "HEAD", "/graphql?query={__typename}", "", visitor...); status != http.StatusForbidden {
		t.Errorf("HEAD: status %d, want 403", status)
	}
}

// TestForeignNamesReadNothingOfOperatorsAtAnyAddress: a network is as near to a browser in it as its machine.
func TestForeignNamesReadNothingOfOperatorsAtAnyAddress(t *testing.T) {
	hosts := &access.Hosts{Names: []string{"metrics.internal"}}
	shows := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	served := hosts.GuardOperators(shows)
	bare := (&access.Hosts{}).GuardOperators(shows)
	any := (&access.Hosts{Names: []string{"*"}}).GuardOperators(shows)
	for _, tc := range []struct {
		guarded http.Handler
		url     string
		want    int
	}{
		{bare, "http://evil.example:9090/metrics", 403},
		{bare, "http://evil.example:9090/readyz", 403}, // it has details there
		{bare, "http://evil.example:9090/livez", 200},
		{bare, "http://192.0.2.1:9090/metrics", 200},
		{bare, "http://localhost:9090/metrics", 200},
		{bare, "http://metrics.internal:9090/metrics", 403},
		{served, "http://metrics.internal:9090/metrics", 200},
		{served, "http://evil.example:9090/metrics", 403},
		{any, "http://evil.example:9090/metrics", 200},
	} {
		r := httptest.NewRequest("GET", tc.url, nil)
		at := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9090}
		w := httptest.NewRecorder()
		tc.guarded.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, at)))
		if w.Code != tc.want {
			t.Errorf("%s: status %d, want %d", tc.url, w.Code, tc.want)
		}
	}
}

// TestForeignNamesAreKnownByWhereTheyArrive: a server at all addresses is asked by any name, but on loopback.
func TestForeignNamesAreKnownByWhereTheyArrive(t *testing.T) {
	served := (&access.Hosts{}).Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for at, want := range map[string]int{"192.0.2.1:8080": 200, "127.0.0.1:8080": 403, "[::1]:8080": 403} {
		addr, err := net.ResolveTCPAddr("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "http://some.example/graphql", nil)
		w := httptest.NewRecorder()
		served.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr)))
		if w.Code != want {
			t.Errorf("at %s: status %d, want %d", at, w.Code, want)
		}
	}
}
