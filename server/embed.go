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
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/commands"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/stores"
)

// EmbedConfig configures [Embed]. DB and Source are required. The zero value of every other field means the default of
// `serve`, except that nobody may write over HTTP.
type EmbedConfig struct {
	// DB holds the rows of App.Models. The program closes it when requests have ended, by the Shutdown of its
	// [http.Server], then the context, and [Embedded.Wait] has returned. It embeds another server over it when the
	// context has ended and Wait has returned: two that fold into one store apply events twice, unless several
	// processes may write it ([querydb.DB.MultiWriter]). Embed refuses a second server, but knows nothing of a
	// [projection.Runner] that the program runs itself.
	DB *querydb.DB
	// Source is where events come from. POST /events appends to it if it is an [eventlog.Log]. If it is the log of another
	// server (package eventlog/httpsource), a copy of that (eventlog/mirror) or an [eventlog.Wrapper] of either, what is
	// decided there about dead letters holds here too. The program closes it.
	Source eventlog.Source
	// Logger is slog.Default() by default.
	Logger *slog.Logger

	// Verifier verifies the tokens of callers; see [auth.NewVerifier]. A schema with rules needs one, unless AuthOff
	// lets everybody read everything. What it tolerates is its own: serve gives it a leeway of 30 seconds, and its
	// logger. Where the program alone says who asks (see [Embedded]), give one with a random secret, which accepts no
	// token.
	Verifier *auth.Verifier
	AuthOff  bool

	// WriteToken is the bearer token with which clients append events and use the operators' endpoints: /admin/,
	// /metrics and the details of /readyz. Without one, WriteAccess says who may.
	WriteToken  string
	WriteAccess WriteAccess

	// Runner configures the projections. Its Logger is replaced by the one above.
	Runner projection.RunnerConfig
	// Limits bound what one request may cost.
	Limits Limits
	// ReadyLag is how many events a projection may be behind while /readyz says yes; 500 by default.
	ReadyLag uint64

	// TrustedDocuments are files: manifests of documents that clients may ask by an identifier, see package graph/trusted.
	// TrustedDocumentsMode says what becomes of other documents: "off", which is the default, answers them, "log" answers
	// and logs them, "enforce" refuses them, but for requests with TrustedDocumentsBypass in the header
	// Foldql-Documents-Bypass; "" for no such secret.
	TrustedDocuments       []string
	TrustedDocumentsMode   string
	TrustedDocumentsBypass string

	NoPlayground    bool // GraphiQL is not served at /
	NoIntrospection bool // clients cannot query the schema
	ResolversOnly   bool // resolvers answer generated queries, in place of compiled plans

	CORSOrigins     []string // whose pages may query the API, "*" for any
	CORSHeaders     []string // that requests of these pages may have beside those of the API, "*" for any
	AllowedHosts    []string // host names that requests may use, beside localhost and addresses; "*" for any
	NamedOperations []string // names of GraphQL operations that have series of their own in /metrics
}

// WriteAccess says who may append events, and use the operators' endpoints, if there is no write token.
type WriteAccess uint8

// Who may write without a token.
const (
	// WriteAccessNone admits nobody.
	WriteAccessNone WriteAccess = iota
	// WriteAccessLocal admits requests that originate on this machine, as `serve` does on loopback: they come from a
	// loopback address, to localhost, and carry no header of a proxy. A proxy on this machine that adds no header goes
	// unnoticed.
	WriteAccessLocal
	// WriteAccessAll admits every request: the embedding program decides which requests reach the server.
	WriteAccessAll
)

// Embedded is a server inside another program. It handles every request of clients. Behind a prefix, serve it through
// [http.StripPrefix].
//
// It makes no backups: the program copies what it has opened, by Snapshot of a pebblestore.Store first and then of an
// embeddedlog.Log.
//
// A program with sessions of its own puts the caller into the context of a request, by [auth.NewContext], before the
// handler gets it. That is who asks, unless the request has an Authorization header, which the Verifier answers for.
//
// Rows follow events a moment later, in the same program too. To read what it has written, the program awaits that by
// Await. Or it gives its caller the Position of what it has appended, or the Foldql-Position of the answer of /events,
// for the caller to ask with as Foldql-Min-Position, as docs/clients.md has clients do.
//
// What becomes of dead letters, the program decides by DeadLetters and RetryDeadLetter. For all else that operators do,
// as to skip one or to rebuild rows, it sends requests to /admin/, with the write token.
type Embedded struct {
	http.Handler
	// AdminHandler serves /admin/, /metrics, /livez, and /readyz with its details. It is what `serve` has at
	// --admin-listen: reads need no write token, so it shows names of models, keys of rows and addresses to whoever
	// reaches it, and of dead letters the ids, sources and subjects, and reasons that may quote their data. Under which
	// names it is reached, the program has to check, but on loopback.
	AdminHandler http.Handler
	server       *runningServer
	stopped      <-chan struct{} // closed when the context has ended
	ended        chan struct{}   // closed after that, when nothing is written any more, and another server may
}

// Embed starts the projections of the app over a store and a source that the program has opened, and returns the
// handler of its requests. The end of the context ends the projections: /readyz says no from then on, and requests that
// wait for events are answered.
//
// Each server has resolvers of its own. So a NewResolver of a program that embeds one after the other registers a
// collector of Prometheus once only.
func Embed(ctx context.Context, app App, cfg EmbedConfig) (*Embedded, error) {
	if cfg.DB == nil {
		return nil, errors.New("embed a server: EmbedConfig.DB is nil; open one with querydb.Open")
	}
	if cfg.Source == nil {
		return nil, errors.New("embed a server: EmbedConfig.Source is nil; open one, such as that of eventlog/embeddedlog")
	}
	if cfg.WriteAccess > WriteAccessAll {
		return nil, fmt.Errorf("embed a server: EmbedConfig.WriteAccess is %d, which is none of its values", cfg.WriteAccess)
	}
	p := newProgram(app, commands.Program{
		Log: cmp.Or(cfg.Logger, slog.Default()), Stdout: io.Discard, Stderr: io.Discard,
	})
	c, err := cfg.command()
	if err != nil {
		return nil, err
	}
	token, err := c.check(&app, p.Given)
	if err != nil {
		return nil, err
	}
	if c.unverified(&app, cfg.Verifier) {
		return nil, errors.New("embed a server: the schema says who may read what, and there is nothing to verify callers " +
			"with: set EmbedConfig.Verifier, or AuthOff to let everybody read everything")
	}
	cfg.Runner.Logger = p.Log
	s, err := c.newServer(p, writers(token, cfg.WriteAccess), cfg.Verifier, cfg.Runner)
	if err != nil {
		return nil, err
	}
	s.db, s.source = cfg.DB, sources.Opened(cfg.Source, app.Events, p.Log)
	s.observe(stores.Opened(cfg.DB))
	s.backups.WhyNone = backup.ErrEmbedded
	release, err := claim(cfg.DB)
	if err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun {
			release()
		}
	}()
	other, err := s.prepare(ctx)
	if err != nil {
		return nil, err
	}
	e := &Embedded{server: s, stopped: ctx.Done(), ended: make(chan struct{})}
	e.Handler, e.AdminHandler = s.handler((*access.Hosts).Guard)
	if err := s.start(ctx, other); err != nil {
		return nil, err
	}
	begun = true
	context.AfterFunc(ctx, func() { e.end(release) })
	return e, nil
}

// end ends what writes to the store, and releases that.
func (e *Embedded) end(release func()) {
	defer close(e.ended)
	e.server.turnAway()
	decided := e.server.deciding.Finish()
	e.server.stopFolds()
	_ = e.server.folds.Wait() // the caller of Wait gets what it returns
	e.server.following.end()
	<-decided
	release()
}

// Wait waits until the projections end, because the source or their context has ended, and returns why any of them
// stopped early. Where the log is not the one that the rows are folded from, it says so: the server answers from the
// rows as they are. After the end of the context it also waits for what operators have begun to decide, though not for
// long where the store takes nothing, and nothing is written to the store any more. As long as the source alone has
// ended, operators decide about its dead letters.
//
// Wait does not wait for requests, which read the store: the program shuts its HTTP server down first.
func (e *Embedded) Wait() error {
	err := e.server.folds.Wait()
	select {
	case <-e.stopped:
		<-e.ended
	default:
	}
	return err
}

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
	c.CORSOrigins, c.CORSHeaders = cfg.CORSOrigins, cfg.CORSHeaders
	c.AllowedHosts, c.MetricOperations = cfg.AllowedHosts, cfg.NamedOperations
	c.TrustedDocuments, c.TrustedDocumentsBypass = cfg.TrustedDocuments, cfg.TrustedDocumentsBypass
	c.TrustedDocumentsMode = cmp.Or(cfg.TrustedDocumentsMode, c.TrustedDocumentsMode)
	c.ReadyLag = cmp.Or(cfg.ReadyLag, c.ReadyLag)
	cfg.Limits.apply(&c.Limits)
	return c, nil
}

// writers admits those who may append events and retry or skip dead letters: who has the token, or, where there is
// none, whom the configuration admits.
func writers(token string, without WriteAccess) access.Admission {
	switch {
	case token != "":
		return access.Bearer(token)
	case without == WriteAccessAll:
		return access.Anybody
	case without == WriteAccessLocal:
		return access.ThisMachine
	}
	return access.Nobody
}
