// Package playground serves GraphiQL with its explorer: a page in which queries are written and tried.
//
// Its files are embedded into every program that imports the package: no request leaves the machine.
package playground

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
)

// Config tunes a playground; zero values mean the defaults.
type Config struct {
	// Path is where the page is served; "/" by default. A prefix that [http.StripPrefix] takes off is no part of it.
	Path string
	// Endpoint is where the API is served, on the same host; "/graphql" by default. It is behind the same prefix.
	Endpoint string
	// Title is the title of the page; "GraphiQL" by default.
	Title string
	// Examples is what the first tab holds: GraphQL text of one or more operations.
	Examples string
}

func (c Config) withDefaults() Config {
	if c.Path == "" {
		c.Path = "/"
	}
	if !strings.HasSuffix(c.Path, "/") {
		c.Path += "/"
	}
	if c.Endpoint == "" {
		c.Endpoint = "/graphql"
	}
	if c.Title == "" {
		c.Title = "GraphiQL"
	}
	return c
}

// Handler returns the handler of the page, and of the files under it, in the folder assets.
func Handler(cfg Config) http.Handler {
	cfg = cfg.withDefaults()
	state := sha256.Sum256([]byte(cfg.Endpoint + "\n" + cfg.Examples))
	return &handler{cfg, "foldql-" + hex.EncodeToString(state[:6])}
}

type handler struct {
	cfg     Config
	storage string
}

// seenFrom returns the addresses of the folder of the files, and of the API, relative to that of the page: the page may
// be served behind a prefix, which is stripped from what comes here.
func (c *Config) seenFrom(page string) (assets, endpoint string) {
	folder := page[:strings.LastIndex(page, "/")+1]
	assets, endpoint = "./"+strings.TrimPrefix(c.Path, folder)+"assets/", c.Endpoint
	if below, ok := strings.CutPrefix(endpoint, "/"); ok {
		endpoint = "./" + strings.Repeat("../", max(strings.Count(folder, "/")-1, 0)) + below
	}
	return assets, endpoint
}

// told is what the script of a page is told that sees the files and the API at these addresses.
func (h *handler) told(assets, endpoint string) pageConfig {
	told := pageConfig{endpoint, h.cfg.Examples, h.storage, map[string]string{}}
	for label, worker := range workers {
		told.Workers[label] = worker.link(assets).URL
	}
	return told
}

// link is how the page names an asset.
type link struct {
	URL       string
	Integrity string
}

func links(assets []asset, base string) []link {
	out := make([]link, len(assets))
	for i, a := range assets {
		out[i] = a.link(base)
	}
	return out
}

func (a asset) link(base string) link {
	return link{base + a.name + "?v=" + url.QueryEscape(a.integrity[len("sha256-"):][:12]), a.integrity}
}

// pageConfig configures the page's script.
type pageConfig struct {
	Endpoint string `json:"endpoint"`
	Examples string `json:"examples"`
	Storage  string `json:"storage"`
	// Workers are the addresses of what the editors run beside the page.
	Workers map[string]string `json:"workers"`
}

//go:embed ui/page.html
var pageHTML string

//go:embed ui/status.js
var statusJS string

//go:embed ui/page.js
var pageJS string

var page = template.Must(template.New("page").Parse(pageHTML))

// ServeHTTP answers with the page or one of its files. A prefix that is asked for alone, of which nothing is left, is
// asked for with a slash instead: addresses on the page are relative to what is below the prefix.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, h.cfg.Path)
	asset, isAsset := strings.CutPrefix(rest, "assets/")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the playground is read with GET", http.StatusMethodNotAllowed)
	case r.URL.Path == "" && lastSegment(r) != "":
		below := "./" + lastSegment(r) + "/" // never another host's, whatever the segment is
		if r.URL.RawQuery != "" {
			below += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", below)
		w.WriteHeader(http.StatusTemporaryRedirect)
	case ok && isAsset:
		serveAsset(w, r, asset)
	case ok && rest == "", r.URL.Path+"/" == h.cfg.Path:
		h.servePage(w, r.URL.Path)
	default:
		http.NotFound(w, r)
	}
}

// lastSegment is that of the path which the client has asked for, before a prefix was stripped from it.
func lastSegment(r *http.Request) string {
	asked, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return ""
	}
	path := asked.EscapedPath()
	return path[strings.LastIndex(path, "/")+1:]
}

func (h *handler) servePage(w http.ResponseWriter, at string) {
	nonce := rand.Text()
	assets, endpoint := h.cfg.seenFrom(at)
	var b bytes.Buffer
	err := page.Execute(&b, map[string]any{
		"Title": h.cfg.Title, "Nonce": nonce, "Styles": links(styles, assets),
		"Scripts": links(scripts, assets), "Page": h.told(assets, endpoint), "Script": template.JS(statusJS + "\n" + pageJS),
	})
	if err != nil {
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", policy(nonce))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	// An error means that the client has gone.
	_, _ = w.Write(b.Bytes())
}

// policy lets the page run its own scripts and speak to its own host, and nothing else. Styles are also written by
// GraphiQL's own code, which knows of no nonce.
func policy(nonce string) string {
	return fmt.Sprintf("default-src 'none'; script-src 'nonce-%s'; worker-src 'self'; style-src 'self' 'unsafe-inline'; "+
		"connect-src 'self'; img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; "+
		"frame-ancestors 'none'", nonce)
}
