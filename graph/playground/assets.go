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

// asset is a file that the page loads; the browser checks that it is the one that is meant.
type asset struct {
	name      string // of the file, which stands compressed in the folder assets
	npm       string // package, version and path
	integrity string
}

// The versions are those of package-lock.json, from which build.sh makes the files.
var (
	styles = []asset{
		{"graphiql.min.css", "graphiql@4.1.2/graphiql.min.css", "sha256-MEh+B2NdMSpj9kexQNN3QKc8UzMrCXW/Sx/phcpuyIU="},
		{"explorer.css", "@graphiql/plugin-explorer@4.0.6/dist/style.css",
			"sha256-aJCaSuI7+t/EWRrLTis8jU9EFTua5/o7fnwxnroxDvE="},
	}
	scripts = []asset{
		{"react.production.min.js", "react@18.2.0/umd/react.production.min.js",
			"sha256-S0lp+k7zWUMk2ixteM6HZvu8L9Eh//OVrt+ZfbCpmgY="},
		{"react-dom.production.min.js", "react-dom@18.2.0/umd/react-dom.production.min.js",
			"sha256-IXWO0ITNDjfnNXIu5POVfqlgYoop36bDzhodR6LW5Pc="},
		{"graphiql.min.js", "graphiql@4.1.2/graphiql.min.js", "sha256-hnImuor1znlJkD/FOTL3jayfS/xsyNoP04abi8bFJWs="},
		{"explorer.js", "@graphiql/plugin-explorer@4.0.6/dist/index.umd.js",
			"sha256-UM8sWOS0Xa9yLY85q6Clh0pF4qpxX+TOcJ41flECqBs="},
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
