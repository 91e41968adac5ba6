package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
)

// Opened is what another program has opened for a server, and closes after it.
type Opened struct {
	DB     *querydb.DB  // of App.Models
	Log    eventlog.Log // must know its Head
	Logger *slog.Logger
	// Options are those of the command serve, "--auth=off"; where it listens and what it opens mean nothing here.
	Options []string
}

// Embedded is the server of an App inside of another program. It is the handler of all that the server answers.
type Embedded struct {
	http.Handler
	serving *serving
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
	s, err := c.Serve.configure(ctx, &p)
	if err != nil {
		return nil, err
	}
	s.db, s.source = o.DB, &source{Source: o.Log, log: o.Log}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, s.stopFolds)
	return &Embedded{Handler: s.handler(), serving: s}, nil
}

// Wait returns when the projections have come to the end of the log, or to that of their context, with why one of them
// has stopped before.
func (e *Embedded) Wait() error { return e.serving.folds.wait() }
