package graphqlhttp

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/foldql/foldql/graph/trusted"
)

// Config tunes a handler; the zero value of every field means its default, and every default is a safe one.
type Config struct {
	// MaxBodyBytes is how many bytes the body, or the query string, of a request may have; 1 MB by default. A query string
	// counts for MaxHeaderBytes of the http.Server too, together with the header; that of package server is 128 KiB.
	MaxBodyBytes int64
	// MaxTokens is how many tokens a document may have; 5,000 by default.
	MaxTokens int
	// MaxDepth is how deep fields may nest, fragments followed; 20 by default.
	MaxDepth int
	// MaxAliases is how many aliases an operation may have, counted wherever its fragments are spread; 100 by default.
	MaxAliases int
	// MaxRootFields is how many queries one operation may ask; 20 by default.
	MaxRootFields int
	// MaxFields is how many fields an operation may have, counted wherever its fragments are spread; 2,000 by default.
	MaxFields int
	// MaxValues is how many values the variables of a request may have, those in lists and objects counted; 10,000 by
	// default.
	MaxValues int
	// MaxReadBytes is how many bytes of rows may be read for one request; 32 MiB by default.
	MaxReadBytes int64
	// Memory is what all requests share; one of 100 MiB by default.
	Memory *MemoryBudget
	// ReadTimeout is how long a client may take to send 64 KiB of a body, or the rest of it; 10 seconds by default. No
	// body is read for longer than a minute after its first part.
	ReadTimeout time.Duration
	// WriteTimeout is how long a client may take to receive 64 KiB of an answer; 10 seconds by default. No answer is sent
	// for longer than a minute.
	WriteTimeout time.Duration
	// Timeout is how long a request may take; 30 seconds by default.
	Timeout time.Duration
	// Introspection lets clients read the schema. Without it, error messages do not suggest names either.
	Introspection bool
	// CacheBytes is about how much memory parsed documents may take; 32 MB by default.
	CacheBytes int
	// CompressMinBytes is from how many bytes on an answer is compressed, for clients that accept gzip; 1,400 by default,
	// about what one packet holds. Less than none means never.
	CompressMinBytes int
	// Documents returns the documents that clients may ask by an identifier (documentId, or extensions.persistedQuery);
	// nil for none. What it returns may change from request to request, as trusted.Files.Documents does.
	Documents func() *trusted.Documents
	// Untrusted is asked whether a request is answered whose document is none of Documents; nil for all being answered.
	Untrusted func(r *http.Request, operationName, document string) bool
	// Interceptors wrap how operations are answered, for metrics and the like; the first is the outermost.
	Interceptors []Interceptor
	// Extensions are gqlgen's hooks into operations and responses. With any of them, gqlgen's executor answers all
	// operations, since it alone calls them: those that plans are compiled for take about a tenth more time.
	Extensions []graphql.HandlerExtension
	// Logger logs the causes of errors that clients see as internal; nothing is logged by default.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	orDefault(&c.MaxBodyBytes, 1<<20)
	orDefault(&c.MaxTokens, 5_000)
	orDefault(&c.MaxDepth, 20)
	orDefault(&c.MaxAliases, 100)
	orDefault(&c.MaxRootFields, 20)
	orDefault(&c.MaxFields, 2_000)
	orDefault(&c.MaxValues, 10_000)
	orDefault(&c.MaxReadBytes, 32<<20)
	orDefault(&c.ReadTimeout, 10*time.Second)
	orDefault(&c.WriteTimeout, 10*time.Second)
	if c.Memory == nil {
		c.Memory = NewMemoryBudget(100 << 20)
	}
	orDefault(&c.Timeout, 30*time.Second)
	orDefault(&c.CacheBytes, 32<<20)
	if c.CompressMinBytes == 0 {
		c.CompressMinBytes = 1_400
	}
	if c.Documents == nil {
		none := &trusted.Documents{}
		c.Documents = func() *trusted.Documents { return none }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func orDefault[T int | int64 | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}
