package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/commands"
	"github.com/foldql/foldql/server/internal/projections"
	"github.com/foldql/foldql/server/internal/sources"
)

// EmbedConfig is how [Embed] runs a server inside another program. DB and Source are needed; every other field is
// useful as it is: its zero value means what `serve` does by default, and nobody writes over HTTP.
type EmbedConfig struct {
	// DB holds the rows of App.Models. The program closes it after [Embedded.Wait].
	DB *querydb.DB
	// Source is where events come from. POST /events appends where it is an [eventlog.Log]. The program closes it.
	Source eventlog.Source
	// Logger is slog.Default() where it is nil.
	Logger *slog.Logger

	// Verifier tells callers from their tokens; see [auth.NewVerifier]. A schema with rules needs one, unless AuthOff lets
	// everybody read everything.
	Verifier *auth.Verifier
	AuthOff  bool

	// WriteToken admits those who send it to append events, to retry or skip dead letters, and to see what the server
	// tells its operators. Without one, Writes says whom to admit.
	WriteToken string
	Writes     Writes

	// Fold configures the projections; zero fields have the defaults of [projection.RunnerConfig]. Its Logger is the one
	// above.
	Fold projection.RunnerConfig
	// Limits bound what one request may cost.
	Limits Limits
	// ReadyLag is how many events a projection may be behind while /readyz says yes; 500 where it is 0.
	ReadyLag uint64

	NoPlayground    bool // GraphiQL is not served at /
	NoIntrospection bool // questions about the schema are not answered
	ResolversOnly   bool // generated queries are answered without compiled plans

	CORSOrigins      []string // whose pages may query the API, "*" for any
	AllowedHosts     []string // names by which the server may be asked, beside localhost and addresses; "*" for any
	MetricOperations []string // names of operations that /metrics tells apart
}

// Writes says who may append events, retry or skip dead letters, and see what the server tells its operators, where
// there is no write token.
type Writes uint8

// Who may write without a token.
const (
	// WritesRefused admits nobody.
	WritesRefused Writes = iota
	// WritesLocal admits requests that this machine sends by itself, as `serve` does on loopback: their peer is a loopback
	// address, they name localhost as their host, and carry no header of a proxy. A proxy on this machine that adds none
	// is not noticed.
	WritesLocal
	// WritesOpen admits every request: the program lets through only those that may write.
	WritesOpen
)

// Embedded is the server of an App inside of another program. It is the handler of all that the server answers.
type Embedded struct {
	http.Handler
	// Operator is the handler of what `serve` answers at --admin-listen. It shows names of models, keys of rows and
	// addresses to whoever reaches it.
	Operator http.Handler
	serving  *serving
}

// Embed starts the projections of the app over a store and a source that the program has opened, and returns the
// handler of its requests. The end of the context ends the projections.
func Embed(ctx context.Context, app App, cfg EmbedConfig) (*Embedded, error) {
	if cfg.DB == nil {
		return nil, errors.New("embed a server: EmbedConfig.DB is nil; open one with querydb.Open")
	}
	if cfg.Source == nil {
		return nil, errors.New("embed a server: EmbedConfig.Source is nil; open one, such as that of eventlog/embeddedlog")
	}
	if cfg.Writes > WritesOpen {
		return nil, fmt.Errorf("embed a server: EmbedConfig.Writes is %d, which is none of its values", cfg.Writes)
	}
	p := newProgram(app, commands.Program{
		Log: cmp.Or(cfg.Logger, slog.Default()), Stdout: io.Discard, Stderr: io.Discard,
	})
	c, err := cfg.command()
	if err != nil {
		return nil, err
	}
	token, err := c.WriteAuth.Get()
	if err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	if err := projections.Check(app.Models, app.Projections); err != nil {
		return nil, err
	}
	if app.Catalog.Secured && cfg.Verifier == nil && !cfg.AuthOff {
		return nil, errors.New("embed a server: the schema says who may read what, and there is nothing to verify callers " +
			"with: set EmbedConfig.Verifier, or AuthOff to let everybody read everything")
	}
	s := c.serving(p, writers(token, cfg.Writes), cfg.Verifier)
	s.runner = cfg.Fold
	s.runner.Logger = p.Log
	log, _ := cfg.Source.(eventlog.Log)
	s.db, s.source = cfg.DB, &sources.Source{Source: cfg.Source, Log: log}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, s.stopFolds)
	handler, operator := s.handler()
	return &Embedded{Handler: handler, Operator: operator, serving: s}, nil
}

// Wait returns when the projections have come to the end of the source, or to that of their context, with why one of
// them has stopped before.
func (e *Embedded) Wait() error { return e.serving.folds.Wait() }

// command returns the options of `serve` that the configuration stands for: its flags have the defaults.
func (cfg *EmbedConfig) command() (*serveCommand, error) {
	all, err := defaults()
	if err != nil {
		return nil, err
	}
	c := &all.Serve
	c.Auth = "on"
	if cfg.AuthOff {
		c.Auth = "off"
	}
	c.WriteToken = cfg.WriteToken
	c.Playground, c.Introspection, c.Accelerate = !cfg.NoPlayground, !cfg.NoIntrospection, !cfg.ResolversOnly
	c.CORSOrigins, c.AllowedHosts, c.MetricOperations = cfg.CORSOrigins, cfg.AllowedHosts, cfg.MetricOperations
	c.ReadyLag = cmp.Or(cfg.ReadyLag, c.ReadyLag)
	cfg.Limits.apply(&c.Limits)
	return c, nil
}

// writers admits those who may append events and retry or skip dead letters: who has the token, or, where there is
// none, whom the configuration admits.
func writers(token string, without Writes) access.Admission {
	switch {
	case token != "":
		return access.Bearer(token)
	case without == WritesOpen:
		return access.Anybody
	case without == WritesLocal:
		return access.ThisMachine
	}
	return access.Nobody
}
