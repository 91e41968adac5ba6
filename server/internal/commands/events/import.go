package events

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/ingest"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/commands"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/plural"
	"github.com/foldql/foldql/server/internal/upload"
)

type importEvents struct {
	File string `arg:"" help:"CloudEvents, one a line: .jsonl, .jsonl.gz, or - for standard input."`
	place
	upload.Options
	TakeNewer bool `help:"With --store: take events of types, and of versions of data, that only a newer version of this program declares."`

	unknown map[string]int // events that the program does not know, by type and version
}

// Run appends the events as POST /events does, with what it checks. Those that the log has already change nothing.
func (c *importEvents) Run(ctx context.Context, p *commands.Program) error {
	if c.File != "-" {
		if _, err := os.Stat(c.File); err != nil { // before a log is made for it
			return fmt.Errorf("import events: %w", err)
		}
	}
	return c.write(ctx, p, func(to *client.Client) error {
		defer c.warnOfUnknown(p.Stderr) // also where a later line is wrong: the log has those before it
		u := &upload.Upload{Options: c.Options, File: c.File, MaxEvent: c.MaxEvent, Stdin: p.Stdin, Stderr: p.Stderr,
			To: to, Verb: "import", Done: "imported"}
		if err := u.Run(ctx); err != nil {
			return err
		}
		fmt.Fprintf(p.Stdout, "%s imported, %d there already\n", plural.Count(u.New, "event"), u.Duplicates)
		return nil
	})
}

// count counts an event that the program does not know.
func (c *importEvents) count(e *eventlog.Event) {
	what := e.Type
	if version := e.Extensions[eventlog.VersionAttribute]; version != "" {
		what += " of version " + version
	}
	if c.unknown == nil {
		c.unknown = map[string]int{}
	}
	c.unknown[what]++
}

// warnOfUnknown says which events are in the log that this program makes nothing of.
func (c *importEvents) warnOfUnknown(to io.Writer) {
	total, named := 0, []string{}
	for _, what := range slices.Sorted(maps.Keys(c.unknown)) {
		total += c.unknown[what]
		named = append(named, fmt.Sprintf("%d %s", c.unknown[what], what))
	}
	if total == 0 {
		return
	}
	if more := len(named) - mostNamed; more > 0 {
		named = append(named[:mostNamed], fmt.Sprintf("and %d more", more))
	}
	fmt.Fprintf(to, "warning: %s with a type, or a version of data, that this program does not declare: %s. Folds of "+
		"this program pass such a type over, and a newer program that goes on with their rows does not come back to it: "+
		"run 'server rebuild start MODEL' there for each model that folds it. At such a version of a type that it folds, "+
		"a projection stops\n",
		plural.Count(total, "event"), strings.Join(named, ", "))
}

// unbounded is more than any batch has: what bounds it here is the number and the size of events.
const unbounded = 1 << 40

// write calls f with a client of the server or, where a store is given, of one that answers this client alone and
// folds nothing.
func (c *importEvents) write(ctx context.Context, p *commands.Program, f func(*client.Client) error) (err error) {
	if c.Store == "" {
		others := func(name string) bool { return name == "max-event" } // which bounds what is read of the file
		return c.remote(p, f, append(slices.DeleteFunc(commands.StoreFlags(), others), "take-newer")...)
	}
	o, err := c.StoreOptions.OpenLog(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	if err := logcheck.Check(ctx, o.DB, o.Source, p.Projections); err != nil {
		return err
	}
	cfg := ingest.Config{MaxBodyBytes: unbounded, MaxEventBytes: c.MaxEvent, TakeRetired: true, Logger: p.Log,
		UnknownFix: "fix: if a newer version of this program has written it, give --take-newer"}
	if c.TakeNewer {
		cfg.TakeUnknown = c.count
	}
	return f(client.InProcess("the store", ingest.Handler(o.Source.Log, p.Events, cfg)))
}
