// Package persisted has a server answer the documents that it was given by their identifiers, and says what becomes of
// others.
package persisted

import (
	"context"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/graph/trusted"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/prometheus/client_golang/prometheus"
)

// BypassHeader carries the secret of those for whom every document is answered.
const BypassHeader = "Foldql-Documents-Bypass"

// Guard knows the documents that are trusted, and what becomes of others.
type Guard struct {
	files  *trusted.Files
	mode   string // off, log or enforce
	bypass string
	log    *slog.Logger
	others prometheus.Counter

	mu     sync.Mutex
	logged map[string]bool // hashes, of the last hour
	since  time.Time       // when that began
}

// Open reads the manifests of the configuration.
func Open(cfg *config.Documents, log *slog.Logger) (*Guard, error) {
	bypass, err := cfg.Bypass()
	if err != nil {
		return nil, err
	}
	files, err := trusted.Open(cfg.TrustedDocuments)
	if err != nil {
		return nil, config.Wrong("trusted-documents", "%w", err)
	}
	return &Guard{
		files: files, mode: cfg.TrustedDocumentsMode, bypass: bypass, log: log, logged: map[string]bool{},
		others: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "foldql_graphql_untrusted_documents_total",
			Help: "Requests whose document is none of the trusted ones, unless all are answered.",
		}),
	}, nil
}

// Configure has a handler ask.
func (g *Guard) Configure(cfg *graphqlhttp.Config) {
	cfg.Documents = g.files.Documents
	if g.mode != "off" {
		cfg.Untrusted = g.answered
	}
}

// Collector is what is counted.
func (g *Guard) Collector() prometheus.Collector { return g.others }

// mostLogged is how many documents are logged in an hour, at most: anybody can send as many as they like.
const mostLogged = 100

// MayAsk reports whether a request may ask what it likes, and so see what there is to ask.
func (g *Guard) MayAsk(r *http.Request) bool { return g.mode != "enforce" || g.bypassed(r) }

// bypassed reports whether a request has the secret of those for whom every document is answered.
func (g *Guard) bypassed(r *http.Request) bool {
	sent := []byte(r.Header.Get(BypassHeader))
	return g.bypass != "" && subtle.ConstantTimeCompare(sent, []byte(g.bypass)) == 1
}

// answered reports whether a request is answered whose document is not trusted.
func (g *Guard) answered(r *http.Request, operation, document string) bool {
	if g.bypassed(r) {
		return true
	}
	g.others.Inc()
	if hash := trusted.Hash(document); g.first(hash) { // not the text: what users have entered may stand in it
		g.log.WarnContext(r.Context(), "a document is asked that is not trusted", "document", hash,
			"operation", fmt.Sprintf("%.100s", operation), "refused", g.mode == "enforce")
	}
	return g.mode != "enforce"
}

// first reports whether a document is to be logged: it was not in this hour, nor were many others.
func (g *Guard) first(hash string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := time.Now(); now.Sub(g.since) > time.Hour {
		clear(g.logged)
		g.since = now
	}
	if g.logged[hash] || len(g.logged) >= mostLogged {
		return false
	}
	g.logged[hash] = true
	if len(g.logged) == mostLogged {
		g.log.Warn("no more documents that are not trusted are logged in this hour; the metrics count them")
	}
	return true
}

// reloadEvery is how often it is looked whether the manifests have changed.
const reloadEvery = 5 * time.Second

// Follow reads the manifests again when they change, until the context ends, and warns of documents that are wrong by
// a check, which is made where there are documents: frontends that ask them will get errors.
func (g *Guard) Follow(ctx context.Context, newCheck func() func(document string) error) {
	if g.files.Documents().Len() == 0 {
		return
	}
	check := newCheck()
	g.loaded(check)
	again := time.NewTicker(reloadEvery)
	defer again.Stop()
	failure := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		changed, err := g.files.Reload()
		switch {
		case err == nil:
			failure = ""
		case err.Error() != failure:
			failure = err.Error()
			g.log.Error("the trusted documents stay as they were: the manifests cannot be read again", "error", err)
		}
		if changed {
			g.loaded(check)
		}
	}
}

// loaded says how many documents there are, and which of them are wrong.
func (g *Guard) loaded(check func(document string) error) {
	all := g.files.Documents()
	g.log.Info("trusted documents are known", "documents", all.Len())
	for _, text := range all.Texts() {
		if err := check(text); err != nil {
			g.log.Warn("a trusted document does not fit the schema, or the limits: frontends that ask it get an error",
				"document", trusted.Hash(text), "text", fmt.Sprintf("%.1000s", text), "error", err)
		}
	}
}
