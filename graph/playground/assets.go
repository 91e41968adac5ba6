package playground

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// asset is a file that the page loads.
type asset struct {
	name      string // of the file, which stands compressed in the folder assets
	integrity string // its hash; the browser checks that of styles and scripts
}

// The files are what build.sh makes of the packages that package-lock.json pins.
var (
	styles  = []asset{{"graphiql.css", "sha256-G8Wf3eHGbyxHzQ8WL5pR8EWZFhiSkDHFVu3CWYjrREI="}}
	scripts = []asset{{"graphiql.js", "sha256-iozSWl4RjSMzD/+brEY7+2HkrbTIwZxTqw8LkXaI4Ns="}}
	// workers are scripts that the editors run beside the page, under the names that Monaco calls them by.
	workers = map[string]asset{
		"editorWorkerService": {"editor.worker.js", "sha256-6n7YxFYo9wxUGpnUHNvUKXZGFWO1njPXklczDOLdRdw="},
		"json":                {"json.worker.js", "sha256-ARouJwpn42NUf5g8k3rPFo4edZFUGctEhbEJNV4ncVs="},
		"graphql":             {"graphql.worker.js", "sha256-emo+fu2F0C2tHQgqHkAhuHPnGkH1f5Tgi7iXW8Ueo9I="},
	}
)

// contentTypes are those of the files, by how their names end.
var contentTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8",
}

//go:embed assets/*.gz
var embedded embed.FS

// serveAsset answers with an embedded file, compressed where the client takes that. Its address holds its hash, so it
// may be kept for good.
func serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	packed, err := embedded.ReadFile("assets/" + name + ".gz")
	if err != nil {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", contentTypes[path.Ext(name)])
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Vary", "Accept-Encoding")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'") // of a worker, which the page's does not bind
	if takesGzip(r) {
		header.Set("Content-Encoding", "gzip")
		header.Set("Content-Length", strconv.Itoa(len(packed)))
		_, _ = w.Write(packed) // an error means that the client has gone
		return
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		http.Error(w, "the file cannot be read", http.StatusInternalServerError)
		return
	}
	_, _ = io.Copy(w, unpacked)
}

// takesGzip reports whether the client says that it takes gzip: by name or by *, the name first.
func takesGzip(r *http.Request) bool {
	takes := map[string]bool{}
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		coding, params, _ := strings.Cut(part, ";")
		takes[strings.ToLower(strings.TrimSpace(coding))] = weight(params) > 0
	}
	if named, ok := takes["gzip"]; ok {
		return named
	}
	return takes["*"]
}

// weight is the q of a coding, 1 where it has none and 0 where it cannot be read.
func weight(params string) float64 {
	text, given := strings.CutPrefix(strings.ToLower(strings.TrimSpace(params)), "q=")
	if !given {
		return 1
	}
	q, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return q
}
