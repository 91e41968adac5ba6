package playground

import (
	"bytes"
	"embed"
	"io/fs"
	"net/http"
	"strings"
	"time"
)

// asset is a file that the page loads: the same bytes from here or from the CDN, which the browser checks.
type asset struct {
	name      string // in the folder assets
	npm       string // package, version and path
	integrity string
}

const cdn = "https://cdn.jsdelivr.net/npm/"

// The versions are those of package-lock.json.
var (
	styles = []asset{
		{"graphiql.min.css", "graphiql@4.1.2/graphiql.min.css", "sha256-MEh+B2NdMSpj9kexQNN3QKc8UzMrCXW/Sx/phcpuyIU="},
		{"explorer.css", "@graphiql/plugin-explorer@4.0.6/dist/style.css", "sha256-aJCaSuI7+t/EWRrLTis8jU9EFTua5/o7fnwxnroxDvE="},
	}
	scripts = []asset{
		{"react.production.min.js", "react@18.2.0/umd/react.production.min.js", "sha256-S0lp+k7zWUMk2ixteM6HZvu8L9Eh//OVrt+ZfbCpmgY="},
		{"react-dom.production.min.js", "react-dom@18.2.0/umd/react-dom.production.min.js", "sha256-IXWO0ITNDjfnNXIu5POVfqlgYoop36bDzhodR6LW5Pc="},
		{"graphiql.min.js", "graphiql@4.1.2/graphiql.min.js", "sha256-hnImuor1znlJkD/FOTL3jayfS/xsyNoP04abi8bFJWs="},
		{"explorer.js", "@graphiql/plugin-explorer@4.0.6/dist/index.umd.js", "sha256-UM8sWOS0Xa9yLY85q6Clh0pF4qpxX+TOcJ41flECqBs="},
	}
)

//go:embed assets
var embedded embed.FS

// Embedded reports whether this program was built with the playground's files in it. Otherwise the page loads them from a
// CDN, which the server's log should say.
func Embedded() bool { return complete(embedded) }

func complete(files fs.FS) bool {
	for _, list := range [][]asset{styles, scripts} {
		for _, a := range list {
			if _, err := fs.Stat(files, "assets/"+a.name); err != nil {
				return false
			}
		}
	}
	return true
}

// serveAsset answers with an embedded file. Its address holds its hash, so it may be kept for good.
func serveAsset(w http.ResponseWriter, r *http.Request, files fs.FS, name string) {
	b, err := fs.ReadFile(files, "assets/"+name)
	if err != nil || !(strings.HasSuffix(name, ".js") || strings.HasSuffix(name, ".css")) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
}
