package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/access"
	"github.com/foldql/foldql/server/internal/sources"
)

// Opened is what another program has opened for a server, and closes after it.
type Opened struct {
	DB     *querydb.DB  // of App.Models
	Log    eventlog.Log // must know its Head
	Logger *slog.Logger
	// Options are those of the command serve, "--auth=off"; where it listens and what it opens mean nothing here.
	Options []string
	// Writes says who writes where the Options have no write token. One of the two is needed.
	Writes Writes
}

// Writes says who may append events and see to projections over HTTP, and see what the server tells its operators, where
// there is no write token.
type Writes uint8

// The choices of who writes.
const (
	// WritesUndecided is no choice: Embed refuses it.
	WritesUndecided Writes = iota
	// WritesRefused admits nobody.
	WritesRefused
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

// Embed starts the projections of the app over what is opened. The end of the context ends them.
func Embed(ctx context.Context, app App, o Opened) (*Embedded, error) {
	var c commands
	var said strings.Builder
	p := program{
		app: app, args: append([]string{"serve"}, o.Options...), env: func(string) (string, bool) { return "", false },
		stdout: io.Discard, stderr: &said, log: o.Logger,
	}
	if command, _ := p.parse(&c); command == nil {
		return nil, fmt.Errorf("the options of the server: %s", strings.TrimSpace(said.String()))
	}
	if token, err := c.Serve.WriteAuth.Get(); err == nil && token == "" && o.Writes == WritesUndecided {
		return nil, errors.New("nobody has said who may write to the server: give a write token in Options " +
			"(--write-token-file=FILE), or choose Writes: WritesRefused, WritesLocal or WritesOpen")
	}
	s, err := c.Serve.configure(ctx, &p, o.Writes)
	if err != nil {
		return nil, err
	}
	s.db, s.source = o.DB, &sources.Source{Source: o.Log, Log: o.Log}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, s.stopFolds)
	handler, operator := s.handler()
	return &Embedded{Handler: handler, Operator: operator, serving: s}, nil
}

// Wait returns when the projections have come to the end of the log, or to that of their context, with why one of them
// has stopped before.
func (e *Embedded) Wait() error { return e.serving.folds.Wait() }

// writers admits those who may append events and retry or skip dead letters: who has the token, or, where there is none,
// whom the configuration admits.
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
