package playground

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

var addresses = regexp.MustCompile(`(?:src|href)="([^"]+)"`)

func addressesOf(page string) (all []string) {
	for _, m := range addresses.FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "data:") {
			all = append(all, m[1])
		}
	}
	return all
}

// seenFrom is the path that a browser asks whose page is at a path, for an address on the page.
func seenFrom(t *testing.T, page, address string) string {
	t.Helper()
	at, err := (&url.URL{Path: page}).Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return at.String()
}

// TestThePageWorksBehindAPrefix that is stripped from the paths of requests, also without the slash in its end.
func TestThePageWorksBehindAPrefix(t *testing.T) {
	for _, path := range []string{"/", "/graphiql/", "/graphiql", "/tools/graphiql/", "/tools/graphiql"} {
		h, at := http.StripPrefix("/app", Handler(Config{Path: path})), "/app"+path
		page := get(t, h, at).Body.String()
		told := configOf(t, page)
		if api := seenFrom(t, at, told.Endpoint); api != "/app/graphql" {
			t.Errorf("%s asks the API at %s", at, api)
		}
		files := slices.Concat(addressesOf(page), slices.Collect(maps.Values(told.Workers)))
		if len(files) != len(styles)+len(scripts)+len(workers) {
			t.Errorf("%s loads %v", at, files)
		}
		for _, file := range files {
			if got := get(t, h, seenFrom(t, at, file)); got.Code != http.StatusOK {
				t.Errorf("%s: status %d of %s", at, got.Code, file)
			}
		}
	}
}

// TestAPrefixAskedForAloneLeadsBelowIt, and to no other host.
func TestAPrefixAskedForAloneLeadsBelowIt(t *testing.T) {
	for asked, want := range map[string]string{
		"/app": "/app/", "/outer/app": "/outer/app/", "//evil.example": "/evil.example/", "http://localhost/app": "/app/",
		"/a%2Fb:c": "/a%2Fb:c/",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RequestURI, r.URL.Path, r.URL.RawQuery = asked, "", "query=%7Ba%7D"
		w := httptest.NewRecorder()
		Handler(Config{}).ServeHTTP(w, r)
		to := w.Header().Get("Location")
		at, err := url.Parse("http://localhost" + strings.TrimPrefix(asked, "http://localhost"))
		if err != nil {
			t.Fatal(err)
		}
		led, err := at.Parse(to)
		if err != nil || w.Code != http.StatusTemporaryRedirect || led.Host != "localhost" ||
			led.RawQuery != "query=%7Ba%7D" || !strings.HasSuffix(led.EscapedPath(), want) {
			t.Errorf("%s: status %d leads to %q, want %s", asked, w.Code, to, want)
		}
	}
}

func TestThePageAsksNobodyElse(t *testing.T) {
	for _, path := range []string{"/", "/graphiql/"} {
		h := Handler(Config{Path: path})
		page := get(t, h, path)
		if page.Code != http.StatusOK || strings.Contains(page.Body.String(), "//cdn.") ||
			strings.Contains(page.Body.String(), "https:") {
			t.Fatalf("status %d, page\n%s", page.Code, page.Body)
		}
		if policy := page.Header().Get("Content-Security-Policy"); strings.Contains(policy, "http") {
			t.Errorf("the policy lets other hosts in: %s", policy)
		}
		found := addressesOf(page.Body.String())
		if len(found) != len(styles)+len(scripts) {
			t.Errorf("the page loads %v", found)
		}
		for _, address := range found {
			if file := get(t, h, seenFrom(t, path, address)); file.Code != http.StatusOK || file.Body.Len() == 0 {
				t.Errorf("%s: status %d, %d bytes", address, file.Code, file.Body.Len())
			}
		}
	}
}

// TestFilesAreWhatTheirHashesSay whether they come compressed or not.
func TestFilesAreWhatTheirHashesSay(t *testing.T) {
	h := Handler(Config{})
	for _, a := range slices.Concat(styles, scripts, slices.Collect(maps.Values(workers))) {
		plain := get(t, h, "/assets/"+a.name)
		r := httptest.NewRequest(http.MethodGet, "/assets/"+a.name, nil)
		r.Header.Set("Accept-Encoding", "br, gzip")
		packed := httptest.NewRecorder()
		h.ServeHTTP(packed, r)
		if plain.Header().Get("Content-Encoding") != "" || packed.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: the codings are %q and %q", a.name, plain.Header().Get("Content-Encoding"),
				packed.Header().Get("Content-Encoding"))
		}
		for _, content := range [][]byte{plain.Body.Bytes(), unpack(t, packed.Body.Bytes())} {
			sum := sha256.Sum256(content)
			if got := "sha256-" + base64.StdEncoding.EncodeToString(sum[:]); got != a.integrity {
				t.Errorf("%s has the hash %s, want %s", a.name, got, a.integrity)
			}
		}
		for _, w := range []*httptest.ResponseRecorder{plain, packed} {
			if typ := w.Header().Get("Content-Type"); !strings.HasPrefix(typ, "text/javascript") && !strings.HasPrefix(typ,
				"text/css") {
				t.Errorf("%s has the type %q", a.name, typ)
			}
			if vary := w.Header().Get("Vary"); vary != "Accept-Encoding" {
				t.Errorf("%s: Vary is %q", a.name, vary)
			}
		}
	}
}

func TestOnlyWhoTakesGzipIsSentIt(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br": false, "gzip;q=0": false, "br;q=1, gzip;q=0.1": true, "*": true,
		"*;q=1, gzip;q=0": false, "gzip; q=nonsense": false, "identity": false, "x-gzip-no": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accept)
		if got := takesGzip(r); got != want {
			t.Errorf("Accept-Encoding %q: %v, want %v", accept, got, want)
		}
	}
}

// TestTheLockfileHasGraphiQL5AndNamesNoHost: the page is written for that version.
func TestTheLockfileHasGraphiQL5AndNamesNoHost(t *testing.T) {
	b, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Resolved string }
	}
	if err := json.Unmarshal(b, &lock); err != nil {
		t.Fatal(err)
	}
	for name, p := range lock.Packages {
		if p.Resolved != "" {
			t.Errorf("the lockfile names the host that %s came from", name)
		}
	}
	if version := lock.Packages["node_modules/graphiql"].Version; !strings.HasPrefix(version, "5.") {
		t.Errorf("the lockfile has version %s of GraphiQL", version)
	}
}

// TestThePageIsToldWhereItsWorkersAre, and may run them; they may load nothing themselves.
func TestThePageIsToldWhereItsWorkersAre(t *testing.T) {
	h := Handler(Config{Path: "/graphiql/"})
	page := get(t, h, "/graphiql/")
	if policy := page.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "worker-src 'self'") {
		t.Errorf("the policy is %s", policy)
	}
	told := configOf(t, page.Body.String()).Workers
	for _, label := range []string{"editorWorkerService", "json", "graphql"} {
		file := get(t, h, seenFrom(t, "/graphiql/", told[label]))
		if file.Code != http.StatusOK || file.Header().Get("Content-Security-Policy") != "default-src 'none'" {
			t.Errorf("%s, at %q: status %d, header %v", label, told[label], file.Code, file.Header())
		}
	}
}

// TestThePageFitsAPhone: what is told of the screen, and the width up to which panes are below each other, which the
// script of the page knows too.
func TestThePageFitsAPhone(t *testing.T) {
	page := get(t, Handler(Config{}), "/").Body.String()
	for _, want := range []string{
		`<meta name="viewport" content="width=device-width, initial-scale=1">`, "@media (max-width: 700px) {",
		"matchMedia('(max-width: 700px)')", "#status { overflow-wrap: anywhere;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// configOf is what a page tells its script.
func configOf(t *testing.T, page string) (told pageConfig) {
	t.Helper()
	config := regexp.MustCompile(`const config = (.*);`).FindStringSubmatch(page)
	if config == nil {
		t.Fatalf("page:\n%s", page)
	}
	if err := json.Unmarshal([]byte(config[1]), &told); err != nil {
		t.Fatalf("the page is told %s: %v", config[1], err)
	}
	return told
}

func TestOnlyThePagesOwnScriptsRun(t *testing.T) {
	h := Handler(Config{})
	page := get(t, h, "/")
	nonce := regexp.MustCompile(`'nonce-([A-Z0-9]+)'`).FindStringSubmatch(page.Header().Get("Content-Security-Policy"))
	if nonce == nil {
		t.Fatalf("the policy is %s", page.Header().Get("Content-Security-Policy"))
	}
	for _, tag := range regexp.MustCompile(`<script[^>]*>`).FindAllString(page.Body.String(), -1) {
		if !strings.Contains(tag, `nonce="`+nonce[1]+`"`) {
			t.Errorf("%s has no nonce %s", tag, nonce[1])
		}
	}
	if again := get(t, h, "/"); strings.Contains(again.Body.String(), nonce[1]) {
		t.Error("the nonce is used twice")
	}
}

func TestExamplesCannotBreakOutOfThePage(t *testing.T) {
	examples := "# </script><script>alert(1)</script>\n{ a(b: \"\u2028`${1}\") }"
	page := get(t, Handler(Config{Examples: examples, Title: "<i>", Endpoint: "/api"}), "/").Body.String()
	if strings.Contains(page, "alert(1)</script>") || strings.Contains(page, "<title><i>") {
		t.Fatalf("page:\n%s", page)
	}
	if got := configOf(t, page); got.Examples != examples || got.Endpoint != "./api" {
		t.Errorf("the page is told %+v", got)
	}
}

func TestOtherRequestsAreRefused(t *testing.T) {
	h := Handler(Config{Path: "/graphiql"})
	for path, want := range map[string]int{
		"/graphiql": 200, "/graphiql/": 200, "/": 404, "/graphiql/other": 404, "/graphiql/assets/": 404,
		"/graphiql/assets/graphiql.js.gz": 404, "/graphiql/assets/../playground.go": 404, "/graphiql/assets/none.js": 404,
	} {
		if got := get(t, h, path); got.Code != want {
			t.Errorf("%s: status %d, want %d", path, got.Code, want)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/graphiql", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("POST: status %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}
