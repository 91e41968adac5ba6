package server

import (
	"errors"
	"net"
	"time"

	"github.com/foldql/foldql/auth"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/projections"
)

// serveCommand is the configuration of `serve`.
type serveCommand struct {
	Listen string `help:"Address to listen on." default:"127.0.0.1:8080"`
	config.Data
	config.RowCache
	config.Fold
	Folding string `name:"fold" help:"on: fold events into rows; off: only answer, from rows in DynamoDB that other servers fold." enum:"on,off" default:"on" group:"Data"`
	Sample  bool   `help:"Append the sample events of the project to an empty log." group:"Data"`

	Playground    bool `help:"Serve GraphiQL at /." default:"true" negatable:"" group:"API"`
	Introspection bool `help:"Let clients query the schema (introspection)." default:"true" negatable:"" group:"API"`
	Accelerate    bool `help:"Answer generated queries with compiled plans; --no-accelerate uses resolvers only." default:"true" negatable:"" group:"API"`

	config.CORS
	config.Documents
	config.Callers
	config.WriteAuth
	config.Exposure
	config.Limits
	config.Generations

	DrainDelay   time.Duration `help:"Time from reporting not ready to closing the listener, for load balancers to notice." default:"0s" group:"Lifecycle"`
	DrainTimeout time.Duration `help:"Time that requests in flight and projections have to finish." default:"30s" group:"Lifecycle"`
	ReadyLag     uint64        `help:"Number of events that a projection may be behind while /readyz says yes." default:"500" group:"Lifecycle"`
}

// check refuses options that do not fit together, of which those that are given stand on the command line, and an app
// that cannot be served. It returns the token of those who may write, "" for none.
func (c *serveCommand) check(app *App, given []string) (token string, err error) {
	if err := errors.Join(c.validate(), c.checkFoldsNothing(given)); err != nil {
		return "", err
	}
	if err := app.check(); err != nil {
		return "", err
	}
	if err := projections.Check(app.Models, app.Projections); err != nil {
		return "", err
	}
	return c.WriteAuth.Get()
}

// validate checks all that can be checked before anything is opened.
func (c *serveCommand) validate() error {
	if c.DrainDelay < 0 || c.DrainTimeout < 0 {
		return config.Wrong("drain-delay, drain-timeout", "a time must not be negative")
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return config.Wrong("listen", "%w; write host:port, such as 127.0.0.1:8080", err)
	}
	if err := c.CORS.Validate(); err != nil {
		return err
	}
	if err := c.Exposure.Validate(); err != nil {
		return err
	}
	if err := c.Documents.Validate(); err != nil {
		return err
	}
	if err := c.Generations.Validate(); err != nil {
		return err
	}
	return c.Limits.Validate()
}

// undecidedWriters refuses to let everybody write.
func undecidedWriters(listen string) error {
	return config.Wrong("write-token", "listening at %s, anybody could append events: set a write token "+
		"(FOLDQL_WRITE_TOKEN, or --write-token-file), or listen on loopback only (--listen 127.0.0.1:8080)", listen)
}

// unverified reports whether the schema says who may read what, and nothing verifies callers, though all are to be.
func (c *serveCommand) unverified(app *App, verifier *auth.Verifier) bool {
	return app.Catalog.Secured && verifier == nil && c.Auth != "off"
}
