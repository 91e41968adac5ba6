package server

import (
	"log/slog"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/ingest"
	"github.com/foldql/foldql/graph"
	"github.com/foldql/foldql/graph/graphqlhttp"
	"github.com/foldql/foldql/graph/playground"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/admin"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/health"
	"github.com/foldql/foldql/server/internal/limits"
	"github.com/foldql/foldql/server/internal/metrics"
	"github.com/foldql/foldql/server/internal/middleware"
	"github.com/foldql/foldql/server/internal/persisted"
	"github.com/foldql/foldql/server/internal/positions"
	"github.com/foldql/foldql/server/internal/problem"
	"github.com/foldql/foldql/server/internal/projections"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/verify"
)

// routes answers every request: it holds what the handlers are made of.
type routes struct {
	app       *App
	cfg       *serveCommand
	writers   access.Admission
	verifier  *auth.Verifier
	tokenKey  keys.TokenKey
	db        *querydb.DB
	measured  []prometheus.Collector // what the driver of the store counts
	source    *sources.Source
	folds     *projections.Set
	storages  health.Directories
	backups   backup.Sender
	verifies  *verify.Verifier
	builds    *projection.Budget // what rows that are built beside those that serve are folded within
	positions *positions.Positions
	health    *health.Health
	deciding  *admin.Deciding
	inflight  limits.Inflight
	documents *persisted.Guard
	api       graphql.ExecutableSchema
	log       *slog.Logger
}

// handler routes every request that the server answers to everybody; operator those that only who runs it can send,
// with the guard of the names under which they come.
func (p *routes) handler(guardOperators guard) (handler, operator http.Handler) {
	measured := metrics.NewOperations(p.cfg.MetricOperations)
	p.inflight = limits.Inflight{MemoryBudget: graphqlhttp.NewMemoryBudget(p.cfg.MaxInflightBytes),
		ReadTimeout: p.cfg.ReadTimeout}
	p.measured = append(p.measured, metrics.Inflight{MemoryBudget: p.inflight.MemoryBudget})
	own := append([]prometheus.Collector{measured, &metrics.Projections{Set: p.folds, Log: p.log},
		p.documents.Collector(), &metrics.Store{DB: p.db}, metrics.Directories{Directories: p.storages}}, p.measured...)
	if p.verifier != nil {
		own = append(own, metrics.Auth{Verifier: p.verifier})
	}
	metrics := metrics.Handler(p.log, own...)
	return p.finish(p.public(measured, metrics), (*access.Hosts).Guard), p.finish(p.operator(metrics), guardOperators)
}

// guard refuses requests under names that the server does not know as its own.
type guard func(*access.Hosts, http.Handler) http.Handler

// finish wraps what every request passes through.
func (p *routes) finish(mux http.Handler, guarded guard) http.Handler {
	hosts := &access.Hosts{Names: p.cfg.AllowedHosts, Origins: p.cfg.CORSOrigins}
	return middleware.LogRequests(p.log, middleware.SecureHeaders(guarded(hosts, mux)))
}

// operator answers at --admin-listen: who can reach that may see everything, and writes as elsewhere.
func (p *routes) operator(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	anybody := access.Admission(access.Anybody)
	p.admin().Register(mux, anybody.Guard, p.writers.Guard)
	mux.HandleFunc("GET "+access.LivePath, p.health.Live)
	mux.HandleFunc("GET "+access.ReadyPath, p.health.Ready(anybody))
	mux.Handle("GET /metrics", metrics)
	return mux
}

func (p *routes) admin() *admin.API {
	return &admin.API{Folds: p.folds, Source: p.source.Source, Backups: &p.backups, Verifier: p.verifies,
		SharedStore: p.db.MultiWriter(), Stopping: p.health.Draining.Load, Deciding: p.deciding,
		Log: p.log}
}

// waitersShare is the share of the connections that may have queries which wait for a position: the rest is for all who
// can be answered.
const waitersShare = 4

func (p *routes) public(measured *metrics.Operations, metrics http.Handler) http.Handler {
	p.positions = positions.New(positions.Config{Folds: p.folds, Source: p.source.Source, DB: p.db, Catalog: p.app.Catalog,
		Key: p.tokenKey, Wait: p.cfg.PositionWait, Waiters: p.cfg.MaxConnections / waitersShare, Logger: p.log})
	mux := http.NewServeMux()
	cors := p.cors()
	api := middleware.HeadAsGet(p.identified(p.asked(p.graphql(measured))))
	queries := cors.Handler(access.RefuseCrossSiteQueries(p.cfg.CORSOrigins, api))
	mux.Handle(problem.GraphQLPath, queries)
	schema := http.NewServeMux() // of its own, for cors answers OPTIONS
	schema.Handle("GET "+schemaPath, p.schema())
	mux.Handle(schemaPath, cors.Handler(schema))
	bare := http.NotFoundHandler() // a prefix that is asked for alone, which mux would have led out of itself
	if p.cfg.Playground {
		page := p.playground()
		bare = page
		mux.Handle("/{$}", page)
		mux.Handle("/assets/", page)
	}
	shared := &httpsource.Handler{Source: p.source.Source, Logger: p.log, Stopping: p.health.Draining.Load,
		Decisions: &projections.DecisionFeed{Folds: p.folds, DB: p.db}}
	mux.Handle("GET "+httpsource.EventsPath, p.writers.Guard(http.HandlerFunc(shared.Events)))
	mux.Handle("GET "+httpsource.PartitionsPath, p.writers.Guard(http.HandlerFunc(shared.Partitions)))
	mux.Handle("GET "+httpsource.WaitPath, p.writers.Guard(http.HandlerFunc(shared.Wait)))
	mux.Handle("POST "+httpsource.WaitPath, p.writers.Guard(http.HandlerFunc(shared.Wait)))
	mux.Handle("GET "+httpsource.DecisionsPath, p.writers.Guard(http.HandlerFunc(shared.ListDecisions)))
	mux.Handle("GET "+httpsource.DecisionsWaitPath, p.writers.Guard(http.HandlerFunc(shared.WaitForDecisions)))
	mux.Handle("/events", p.writers.Guard(p.inflight.Events(p.cfg.MaxEventsBody, p.events())))
	p.admin().Register(mux, p.writers.Guard, p.writers.Guard)
	mux.HandleFunc("GET "+access.LivePath, p.health.Live)
	mux.HandleFunc("GET "+access.ReadyPath, p.health.Ready(p.writers))
	mux.Handle("GET /metrics", p.writers.Guard(metrics))
	return exactly(problem.GraphQLPath, queries, exactly("", bare, mux))
}

// exactly answers requests of a path, as a mux of all would, without looking for it among the others.
func exactly(path string, here, elsewhere http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			here.ServeHTTP(w, r)
			return
		}
		elsewhere.ServeHTTP(w, r)
	})
}

// schemaPath is where clients ask for the schema.
const schemaPath = "/schema.graphql"

// cors lets pages of the listed origins ask the API.
func (p *routes) cors() *middleware.CORS {
	return &middleware.CORS{
		Origins: p.cfg.CORSOrigins,
		Send: append([]string{positions.MinHeader, positions.ConsistencyHeader, persisted.BypassHeader},
			p.cfg.CORSHeaders...),
		Read: []string{positions.Header, positions.ConsistencyHeader},
	}
}

// starting answers before the store is open. What pages of the listed origins ask has the same headers as later:
// without these a browser tells them of a failure of the network, and not when to ask again.
func (p *routes) starting() http.Handler {
	starts := http.HandlerFunc(health.Starting)
	api := p.cors().Handler(starts)
	mux := http.NewServeMux()
	mux.Handle("/", starts)
	mux.Handle(problem.GraphQLPath, api)
	mux.Handle(schemaPath, api)
	return mux
}

// newAPI makes the executable schema. The project's resolvers are made with it, which may register and open what there
// can be once only.
func (p *routes) newAPI() graphql.ExecutableSchema {
	rt := graph.NewRuntime(p.db, p.app.Catalog, graph.Config{
		TokenKey: p.tokenKey, AuthOff: p.cfg.Auth == "off", ResolversOnly: !p.cfg.Accelerate,
		MaxAnswerBytes: p.cfg.MaxAnswer, MaxExamined: p.cfg.MaxExamined, MaxHidden: p.cfg.MaxHidden,
		Logger: p.log,
	})
	return graph.WithCompiledPlans(p.app.Schema(rt), rt)
}

// graphql answers queries.
func (p *routes) graphql(measured *metrics.Operations) http.Handler {
	cfg := documentLimits(p.cfg)
	cfg.Memory, cfg.Logger = p.inflight.MemoryBudget, p.log
	cfg.Interceptors = []graphqlhttp.Interceptor{measured, p.positions}
	p.documents.Configure(&cfg)
	return graphqlhttp.New(p.api, cfg)
}

// documentLimits are those of what clients ask.
func documentLimits(c *serveCommand) graphqlhttp.Config {
	return graphqlhttp.Config{
		MaxBodyBytes: c.MaxBody, MaxTokens: c.MaxTokens, MaxDepth: c.MaxDepth, MaxAliases: c.MaxAliases,
		MaxRootFields: c.MaxRootFields, MaxFields: c.MaxFields, MaxValues: c.MaxValues, Timeout: c.Timeout,
		MaxReadBytes: c.MaxRead, ReadTimeout: c.ReadTimeout, WriteTimeout: c.WriteTimeout, Introspection: c.Introspection,
	}
}

// documentCheck makes a function that says what is wrong with a document that a client may ask.
func (p *routes) documentCheck() func(document string) error {
	return graphqlhttp.DocumentCheck(p.api, documentLimits(p.cfg))
}

// asked has rebuilds leave more of the processors to queries while there are any.
func (p *routes) asked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.builds.Asked()
		next.ServeHTTP(w, r)
	})
}

// identified knows the caller where callers are verified.
func (p *routes) identified(next http.Handler) http.Handler {
	if p.verifier == nil {
		return next
	}
	return p.verifier.Middleware(next)
}

// events takes events in, where there is a log to append them to.
func (p *routes) events() http.Handler {
	if p.source.Log == nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { problem.NoLog().Write(w) })
	}
	return ingest.Handler(p.source.Log, p.app.Events, ingest.Config{
		MaxBodyBytes: p.cfg.MaxEventsBody, MaxEventBytes: p.cfg.MaxEvent, Position: p.positions.Of, Logger: p.log,
	})
}

// schema serves the printed schema, unless nobody is to know it.
func (p *routes) schema() http.Handler {
	if !p.cfg.Introspection {
		return http.NotFoundHandler()
	}
	sdl := []byte(p.app.SDL)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.documents.MayAsk(r) {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store") // who may have it depends on the request
		_, _ = w.Write(sdl)                         // a client that is gone needs no answer
	})
}

// playground serves GraphiQL. It has examples where everybody may know the schema, whose names stand in them.
func (p *routes) playground() http.Handler {
	cfg := playground.Config{}
	if p.cfg.Introspection && p.cfg.TrustedDocumentsMode != "enforce" {
		cfg.Examples = p.app.Examples
	}
	return playground.Handler(cfg)
}
