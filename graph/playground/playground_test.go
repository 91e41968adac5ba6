package playground

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// built are files as make puts them there.
func built() fstest.MapFS {
	files := fstest.MapFS{"assets/README.md": {Data: []byte("placeholder")}}
	for _, a := range append(append([]asset{}, styles...), scripts...) {
		files["assets/"+a.name] = &fstest.MapFile{Data: []byte("content of " + a.name)}
	}
	return files
}

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

func TestWithItsFilesBuiltInThePageAsksNobodyElse(t *testing.T) {
	for _, path := range []string{"/", "/graphiql/"} {
		h := newHandler(Config{Path: path}, built())
		page := get(t, h, path)
		if page.Code != http.StatusOK || strings.Contains(page.Body.String(), "//cdn.") || strings.Contains(page.Body.String(), "https:") {
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
			if file := get(t, h, address); file.Code != http.StatusOK || !strings.HasPrefix(file.Body.String(), "content of ") {
				t.Errorf("%s: status %d, %q", address, file.Code, file.Body)
			}
		}
	}
}

func TestWithoutItsFilesThePageLoadsThemCheckedFromTheCDN(t *testing.T) {
	files := built()
	delete(files, "assets/explorer.css") // one missing file is enough
	page := get(t, newHandler(Config{}, files), "/")
	for _, a := range append(append([]asset{}, styles...), scripts...) {
		link := regexp.MustCompile(`="` + regexp.QuoteMeta(cdn+a.npm) + `" integrity="` + regexp.QuoteMeta(strings.ReplaceAll(a.integrity, "+", "&#43;")) + `"`)
		if !link.MatchString(page.Body.String()) {
			t.Errorf("the page does not load %s with its hash:\n%s", a.npm, page.Body)
		}
	}
	if policy := page.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "style-src "+cdn+" ") {
		t.Errorf("the policy is %s", policy)
	}
}

// TestFilesAndVersionsAreThoseOfTheLockfile: what is embedded, what the CDN serves and what npm installs are the same.
func TestFilesAndVersionsAreThoseOfTheLockfile(t *testing.T) {
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
	for _, a := range append(append([]asset{}, styles...), scripts...) {
		at := strings.LastIndex(a.npm, "@")
		version, _, _ := strings.Cut(a.npm[at+1:], "/")
		if locked := lock.Packages["node_modules/"+a.npm[:at]].Version; locked != version {
			t.Errorf("%s: the lockfile has version %s", a.npm, locked)
		}
	}
	if !Embedded() {
		t.Log("built without Node.js: there are no embedded files to compare")
		return
	}
	for _, a := range append(append([]asset{}, styles...), scripts...) {
		content, err := fs.ReadFile(embedded, "assets/"+a.name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if got := "sha256-" + base64.StdEncoding.EncodeToString(sum[:]); got != a.integrity {
			t.Errorf("assets/%s has the hash %s, want %s", a.name, got, a.integrity)
		}
	}
}

func TestOnlyThePagesOwnScriptsRun(t *testing.T) {
	h := newHandler(Config{}, built())
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
	page := get(t, newHandler(Config{Examples: examples, Title: "<i>", Endpoint: "/api"}, built()), "/").Body.String()
	config := regexp.MustCompile(`const config = (.*);`).FindStringSubmatch(page)
	if config == nil || strings.Contains(page, "alert(1)</script>") || strings.Contains(page, "<title><i>") {
		t.Fatalf("page:\n%s", page)
	}
	var got pageConfig
	if err := json.Unmarshal([]byte(config[1]), &got); err != nil || got.Examples != examples || got.Endpoint != "/api" {
		t.Errorf("the page is told %s: %v", config[1], err)
	}
}

func TestOtherRequestsAreRefused(t *testing.T) {
	h := newHandler(Config{Path: "/graphiql"}, built())
	for path, want := range map[string]int{
		"/graphiql": 200, "/graphiql/": 200, "/": 404, "/graphiql/other": 404, "/graphiql/assets/": 404,
		"/graphiql/assets/README.md": 404, "/graphiql/assets/../playground.go": 404, "/graphiql/assets/none.js": 404,
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

func TestHandlerServesThePageHoweverItWasBuilt(t *testing.T) {
	page := get(t, Handler(Config{Examples: "{ orders }"}), "/")
	if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "{ orders }") {
		t.Errorf("status %d:\n%s", page.Code, page.Body)
	}
	if offline := !strings.Contains(page.Body.String(), cdn); offline != Embedded() {
		t.Errorf("embedded: %v, but the page is for offline use: %v", Embedded(), offline)
	}
}
