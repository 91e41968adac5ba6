package events

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/server/internal/client"
	"github.com/foldql/foldql/server/internal/commands"
	"github.com/foldql/foldql/server/internal/plural"
	"github.com/foldql/foldql/server/internal/progress"
	"github.com/foldql/foldql/server/internal/search"
)

type export struct {
	File string `arg:"" help:"File that is made, and has its name once all events are in it: .jsonl.gz, .jsonl, or - for standard output."`
	place
	filter
}

// Run writes the events that the log has now.
func (c *export) Run(ctx context.Context, p *commands.Program) error {
	q, err := c.query()
	if err != nil {
		return err
	}
	return c.read(p, func(from *client.Client) error {
		x := &exporting{reading: reading{from: from, query: q, whole: c.File != "-"}, p: p}
		if c.File == "-" {
			err = x.write(ctx, p.Stdout)
		} else {
			err = writeFile(c.File, func(to io.Writer) error { return x.write(ctx, to) })
		}
		if err != nil {
			return fmt.Errorf("export events to %s: %w", c.File, err)
		}
		x.summary(c.File)
		return nil
	})
}

// exporting is a run of the command.
type exporting struct {
	reading
	p       *commands.Program
	meter   progress.Meter
	start   eventlog.Offsets // --from
	begin   uint64
	left    []string // out: where no event stands
	leftOut int
	lost    []search.Gap // before the first event of a partition, one of each
}

// mostNamed is how many places are named at which no event stands, and how many types that are not declared.
const mostNamed = 10

func (x *exporting) write(ctx context.Context, to io.Writer) error {
	x.start, x.begin = x.query.From, sum(x.query.From)
	started := false
	err := x.each(ctx, func(page *search.Page) error {
		if !started {
			started, x.meter.Total = true, sum(page.UpTo)-min(x.begin, sum(page.UpTo))
			x.meter.Start(x.p.Stderr, "read")
		}
		if err := x.checkForgotten(page.Forgotten); err != nil {
			return err
		}
		for i := range page.Events {
			if err := x.line(to, &page.Events[i]); err != nil {
				return err
			}
		}
		x.meter.At(sum(page.Next) - x.begin)
		return nil
	})
	if started {
		x.meter.Stop()
	}
	return err
}

// checkForgotten fails where the source has forgotten events that the file would have to have: such as come behind the
// position of an earlier export, or between two that are in the file. Where a partition is exported from its beginning,
// what it begins with is told in the end.
func (x *exporting) checkForgotten(gaps []search.Gap) error {
	for _, g := range gaps {
		if _, continued := x.start[g.Partition]; continued {
			return fmt.Errorf("%w: take them from where else they are kept, and to export all that it still has, name "+
				"another file and leave --from out", forgotten(g))
		}
		if !x.begins(g) {
			return fmt.Errorf("%w while it was exported: repeat the command, which begins where the source does by then, or "+
				"have the source keep its events longer", forgotten(g))
		}
	}
	return nil
}

func forgotten(g search.Gap) error {
	return fmt.Errorf("the source of the events has forgotten those of partition %q behind offset %d, up to %d",
		g.Partition, g.After, g.UpTo)
}

// begins reports whether no event of the partition stands before the gap, and notes it then. The source may have
// forgotten more since it said what it begins with.
func (x *exporting) begins(g search.Gap) bool {
	at := slices.IndexFunc(x.lost, func(lost search.Gap) bool { return lost.Partition == g.Partition })
	switch {
	case at < 0 && g.After == 0:
		x.lost = append(x.lost, g)
	case at >= 0 && x.lost[at].UpTo == g.After:
		x.lost[at].UpTo = g.UpTo
	default:
		return false
	}
	return true
}

// line writes an event. What is none has no form that could be imported: it is left out, and told.
func (x *exporting) line(to io.Writer, f *search.Found) error {
	if f.Event == nil {
		if x.leftOut++; x.leftOut <= mostNamed {
			x.left = append(x.left, fmt.Sprintf("%s is no event, and left out: %.200q", f.Ref(), f.Malformed))
		}
		return nil
	}
	_, err := to.Write(append(f.Event, '\n'))
	return err
}

// summary says what was written: on standard error where the events are on standard output.
func (x *exporting) summary(file string) {
	to := x.p.Stdout
	if file == "-" {
		file, to = "standard output", x.p.Stderr
	}
	for _, g := range x.lost {
		fmt.Fprintf(x.p.Stderr, "the source of the events has forgotten those of partition %q up to offset %d, and %s does "+
			"not have them\n", g.Partition, g.UpTo, file)
	}
	for _, one := range x.left {
		fmt.Fprintln(x.p.Stderr, one)
	}
	if x.leftOut > 0 {
		fmt.Fprintf(x.p.Stderr, "no event is at %s in all, and these are left out\n", plural.Count(x.leftOut, "place"))
	}
	at := search.FormatPosition(x.query.From)
	fmt.Fprintf(to, "%s has %s, up to %s; for later ones, export to another file with --from %s\n", file,
		plural.Count(x.found-x.leftOut, "event"), at, at)
}

// sum is how many offsets there are up to a position.
func sum(at eventlog.Offsets) (n uint64) {
	for _, offset := range at {
		n += offset
	}
	return n
}
