package commands

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/plural"
	"github.com/foldql/foldql/server/internal/upload"
)

// Append sends the events of a file to a running server, in order.
type Append struct {
	File string `arg:"" help:"CloudEvents, one a line: .jsonl, .jsonl.gz, or - for standard input."`
	client.Server
	upload.Options
	MaxEvent int `help:"Bytes of one event." default:"262144"`
}

// Run sends all events. Those that the server has already change nothing, so that it may be run again at any time.
func (c *Append) Run(ctx context.Context, p *Program) error {
	to, err := c.Server.Client()
	if err != nil {
		return err
	}
	u := &upload.Upload{Options: c.Options, File: c.File, MaxEvent: c.MaxEvent, Stdin: p.Stdin, Stderr: p.Stderr,
		To: to, Verb: "append", Done: "appended"}
	if err := u.Run(ctx); err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "%s appended, %d there already\n", plural.Count(u.New, "event"), u.Duplicates)
	return nil
}
