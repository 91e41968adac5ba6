package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/mirror"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/progress"
	"github.com/foldql/foldql/server/internal/sources"
)

// Log groups the commands of the log. No server may have the log open.
type Log struct {
	Accept acceptCommand `cmd:"" help:"Accept a log that the rows were not folded from: show what would be lost, and rebuild all models from it."`
}

type acceptCommand struct {
	config.Data
	Yes      bool `help:"Do not ask for confirmation."`
	MaxEvent int  `help:"Bytes of one event." default:"262144" group:"Data"`
}

// Run shows what the log contradicts and, where that is confirmed, has everything rebuilt: first the log gets another
// identity, then each projection forgets how far it has come. Where it is interrupted, what is left contradicts the
// log's new identity, and it may be run again.
func (c *acceptCommand) Run(ctx context.Context, p *Program) (err error) {
	defer c.Data.TuneMemory(p.Env)()
	store, from, err := c.Data.Parse()
	if err != nil {
		return err
	}
	if err := rowsExist(store); err != nil {
		return err
	}
	// A copy that is set aside and has no successor was left by a run that was interrupted there.
	if from.Mirror == "" || !mirror.IsSetAside(sources.Dir(from, store)) {
		if err := eventsExist(from, store); err != nil {
			return err
		}
	}
	o, err := open(ctx, p, &c.Data, store, from, c.MaxEvent)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	wrong, err := c.show(ctx, p, o.DB, o.Source)
	if err != nil || !wrong {
		return err
	}
	if err := c.confirm(p); err != nil {
		return err
	}
	if l, is := o.Source.Source.(*embeddedlog.Log); is {
		if err := l.Renew(ctx); err != nil {
			return err
		}
	}
	other, err := replaced(ctx, o.Source)
	if err != nil {
		return err
	}
	if other != nil {
		if o.Source, err = c.copyAnew(p, o.Source, from, store); err != nil {
			return err
		}
	}
	for _, one := range p.Projections {
		if err := projection.AdoptSource(ctx, o.DB, o.Source.Source, one); err != nil {
			return fmt.Errorf("accept the log for projection %s: %w; run the command again", one.Name, err)
		}
	}
	if err := logcheck.DropFormerFirst(ctx, o.DB); err != nil {
		return err
	}
	fmt.Fprintln(p.Stdout, "the log is accepted: the next start rebuilds every model from it")
	p.remindOfTables(o.DB)
	return nil
}

// show prints what the log contradicts and what would be lost, and reports whether that is anything.
func (c *acceptCommand) show(ctx context.Context, p *Program, db *querydb.DB, src *sources.Source) (wrong bool,
	err error) {
	other, err := replaced(ctx, src)
	if err != nil {
		return false, err
	}
	if other != nil {
		fmt.Fprintln(p.Stdout, other)
		wrong = true
	}
	all := logcheck.Losses{}
	first, err := logcheck.Former(ctx, db, src, p.Projections)
	if err != nil {
		return false, err
	}
	if first != nil {
		fmt.Fprintf(p.Stdout, "%s\nlost: every event that the rows were folded from, unless the log has it too\n", first)
		wrong = true
	}
	for _, one := range p.Projections {
		list, err := projection.FindMismatches(ctx, db, src.Source, one)
		if err == nil && len(list) > 0 {
			wrong = true
			err = all.Add(ctx, db, src, one, list)
		}
		if err != nil {
			return false, fmt.Errorf("compare the log with what is on record of %s: %w", one.Name, err)
		}
		for _, m := range list {
			fmt.Fprintln(p.Stdout, m)
		}
	}
	if !wrong {
		fmt.Fprintln(p.Stdout, "there is nothing to accept: the log holds what the rows were folded from")
	}
	all.Print(p.Stdout)
	return wrong, nil
}

// replaced is why the source is another than the one that the copy of it is of, nil where it is not, or there is no
// copy.
func replaced(ctx context.Context, src *sources.Source) (other, err error) {
	if src.Mirror == nil {
		return nil, nil
	}
	if other, err = src.Mirror.Replaced(ctx); err != nil {
		return nil, fmt.Errorf("compare the copy of the events with their source: %w", err)
	}
	return other, nil
}

// copyAnew sets the copy of the former log aside, and opens the source with another. It returns a source that is to be
// closed in either case.
func (c *acceptCommand) copyAnew(p *Program, src *sources.Source, from config.Source, store config.Store) (
	*sources.Source, error) {
	if err := src.Close(); err != nil {
		return src, err
	}
	aside, err := mirror.SetAside(src.Dir)
	if err != nil {
		return src, err
	}
	fmt.Fprintf(p.Stdout, "the copy of the former log is kept as %s: remove that when nobody needs its events\n", aside)
	anew, err := p.OpenSource(from, store, c.Data.Reserve(), c.MaxEvent)
	if err != nil {
		return src, err
	}
	return anew, nil
}

// confirm wants the word of the operator.
func (c *acceptCommand) confirm(p *Program) error {
	if c.Yes {
		return nil
	}
	refused := config.Wrong("yes", "nothing was changed; to drop all rows and fold the log as it is, give --yes")
	if progress.Terminal(p.Stderr) == nil {
		return refused
	}
	fmt.Fprint(p.Stderr, "Every row that the log does not give again is lost for good. Type yes to go on: ")
	answer, err := bufio.NewReader(p.Stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if strings.TrimSpace(answer) != "yes" {
		return refused
	}
	return nil
}
