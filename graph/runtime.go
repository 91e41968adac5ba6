package graph

import (
	"crypto/rand"
	"log/slog"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/allowance"
	"github.com/foldql/foldql/graph/internal/answercache"
	"github.com/foldql/foldql/graph/internal/execute"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/graph/internal/resolve"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// Config tunes a Runtime. Zero values mean the defaults.
type Config struct {
	// TokenKey encrypts and authenticates page tokens. Servers that share it accept each other's tokens. By default it is
	// random: then no other Runtime accepts the tokens of this one, and they end with the process.
	TokenKey keys.TokenKey
	// AuthOff lets everybody read everything: no rule of the schema holds.
	AuthOff bool
	// ResolversOnly leaves every operation to the generated resolvers.
	ResolversOnly bool
	// MaxJoinFanout is how many distinct rows one join may lead to, over all its parents; 10,000 by default.
	MaxJoinFanout int
	// MaxExamined is how many rows the filters of one request may look at; 10,000 by default. A row counts once more for
	// each 64 KiB that conditions look at in it.
	MaxExamined int
	// MaxHidden is how many rows one request may pass over that are hidden from the caller, as others own them, and how
	// many of its keys may lead to no row of a caller who may read own rows only; 10,000 by default.
	MaxHidden int
	// MaxAnswerBytes is how many bytes the data of an answer may have; 32 MiB by default. For every 256 of them there
	// may be one object, for every 2,048 one error.
	MaxAnswerBytes int
	// JoinParallelism is how many reads of one level of joins, or of several root fields, may be in flight; 8 by default.
	JoinParallelism int
	// PlanCacheBytes is about how much memory compiled operations may take, with the documents they belong to; 32 MB by
	// default.
	PlanCacheBytes int
	// Logger logs the causes of errors that clients see as internal; nothing is logged by default.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.TokenKey == (keys.TokenKey{}) {
		_, _ = rand.Read(c.TokenKey[:]) // it never fails
	}
	if c.MaxJoinFanout <= 0 {
		c.MaxJoinFanout = 10_000
	}
	if c.MaxExamined <= 0 {
		c.MaxExamined = 10_000
	}
	if c.MaxHidden <= 0 {
		c.MaxHidden = 10_000
	}
	if c.MaxAnswerBytes <= 0 {
		c.MaxAnswerBytes = 32 << 20
	}
	if c.JoinParallelism <= 0 {
		c.JoinParallelism = 8
	}
	if c.PlanCacheBytes <= 0 {
		c.PlanCacheBytes = 32 << 20
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Runtime answers the queries of one catalog from one DB. It is safe for concurrent use.
type Runtime struct {
	cfg      Config
	reader   *read.Reader
	resolver *resolve.Resolver
	answers  *answercache.Cache
}

// NewRuntime makes the runtime of a generated API. The DB stays the caller's to close.
func NewRuntime(db *querydb.DB, catalog *catalog.Catalog, cfg Config) *Runtime {
	cfg = cfg.withDefaults()
	rd := read.New(db, catalog, read.Config{
		TokenKey: cfg.TokenKey, AuthOff: cfg.AuthOff, MaxFanout: cfg.MaxJoinFanout,
		Allowance:   allowance.Most{Examined: cfg.MaxExamined, Hidden: cfg.MaxHidden},
		Parallelism: cfg.JoinParallelism, Logger: cfg.Logger,
	})
	resolver := &resolve.Resolver{Reader: rd, Limit: execute.Limit(cfg.MaxAnswerBytes)}
	return &Runtime{cfg: cfg, reader: rd, resolver: resolver, answers: answercache.New(db)}
}
