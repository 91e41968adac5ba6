// Package graphqlhttp serves a GraphQL schema over HTTP, as the GraphQL-over-HTTP specification has it.
//
// [New] makes the handler of any schema that gqlgen generates. For a schema of foldql, pass what
// graph.WithCompiledPlans returns. Every limit of [Config] has a safe default.
//
// The package is a transport of its own, in front of gqlgen's executor or of a schema that answers operations by
// itself, as that of graph.WithCompiledPlans does with most. It parses a document, measures it against the limits and
// then validates it, in that order, because validation takes time in the square of a hostile document's size. It keeps
// documents that passed, so a known query costs a look-up. It writes answers as they were made, without encoding them
// again.
package graphqlhttp

import (
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/graphqlhttp/internal/compressed"
)

// New returns a handler that answers GET and POST requests from the schema. It refuses subscriptions, since a request
// has one answer.
func New(es graphql.ExecutableSchema, cfg Config) http.Handler {
	cfg = cfg.withDefaults()
	in := inputsOf(es)
	errors := &presenter{logger: cfg.Logger}
	h := &handler{
		cfg:       cfg,
		exec:      executor.New(es),
		docs:      newDocuments(in, cfg),
		texts:     queryTexts{limit: cfg.CacheBytes / 8},
		persisted: newPersisted(cfg),
		inputs:    in,
		present:   errors.present,
		recovered: errors.recovered,
	}
	if len(cfg.Extensions) == 0 {
		h.direct, _ = es.(direct)
	}
	h.exec.SetQueryCache(fromContext{})
	h.exec.SetParserTokenLimit(cfg.MaxTokens)
	h.exec.SetErrorPresenter(h.present)
	h.exec.SetRecoverFunc(h.recovered)
	if cfg.Introspection {
		h.exec.Use(extension.Introspection{})
	}
	for _, e := range cfg.Extensions {
		h.exec.Use(e)
	}
	if cfg.CompressMinBytes < 0 {
		return h
	}
	return compressed.Handler(h, cfg.CompressMinBytes, jsonType, responseType)
}

type handler struct {
	cfg       Config
	exec      *executor.Executor
	docs      *documents
	texts     queryTexts
	persisted *persisted
	inputs    *inputs
	present   graphql.ErrorPresenterFunc
	recovered graphql.RecoverFunc
	direct    direct // nil where gqlgen's executor answers everything
}

var _ graphql.Transport = (*handler)(nil)

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.Do(w, r, h.exec) }

// Supports reports that every request is answered here, if only with what is wrong with it.
func (h *handler) Supports(*http.Request) bool { return true }

// Do answers one request with an executor.
func (h *handler) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	out := &answer{w: w, request: r, mediaType: jsonType, budget: newBudget(h.cfg.Memory, h.cfg.MaxReadBytes),
		patience: h.cfg.WriteTimeout}
	defer out.budget.end()
	defer h.recover(out)
	mediaType, ok := negotiate(r.Header["Accept"])
	if !ok {
		out.refuse(http.StatusNotAcceptable, graphqlerr.New(graphqlerr.BadUserInput,
			"answers are %s or %s in UTF-8; accept one of them, among the first %d types of the Accept header",
			responseType, jsonType, maxRanges))
		return
	}
	out.mediaType = mediaType
	params, refused := h.read(w, r, out.budget)
	defer params.end()
	if out.budget.refused.Load() {
		out.busy()
		return
	}
	if refused != nil {
		out.refuse(refused.status, refused.err)
		return
	}
	h.answer(out, params, exec)
}

// recover answers a request that panicked outside of every field.
func (h *handler) recover(out *answer) {
	switch r := recover(); r {
	case nil:
	case http.ErrAbortHandler:
		panic(r)
	default:
		ctx := out.request.Context()
		out.refuse(http.StatusInternalServerError, h.present(ctx, h.recovered(ctx, r)))
	}
}
