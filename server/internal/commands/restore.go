package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/mirror"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/search"
)

// Restore puts a backup into a data directory.
type Restore struct {
	Dir  string `arg:"" help:"Directory of the backup."`
	Data string `arg:"" help:"Data directory, which has neither rows nor a log: it is DATA in --store embedded:DATA and --events log:DATA."`
}

// Run restores the backup, opens what it has restored, and holds the rows against the log.
func (c *Restore) Run(ctx context.Context, p *Program) error {
	if err := errors.Join(config.CheckDirectory("dir", c.Dir), config.CheckDirectory("data", c.Data)); err != nil {
		return err
	}
	m, err := backup.Restore(ctx, c.Dir, c.Data)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	events, err := c.verify(ctx, p, m)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("interrupted: all of the backup is restored to %s, and was not verified; a server that starts "+
			"there compares the rows with the log", c.Data)
	}
	if err != nil {
		return fmt.Errorf("the backup is restored to %s, and cannot be used: %w", c.Data, err)
	}
	fmt.Fprintf(p.Stdout, "%s has the %s as of %s", c.Data, partsOf(m), m.Taken.Format("2006-01-02T15:04:05Z"))
	if m.Has(backup.Log) {
		fmt.Fprintf(p.Stdout, ", with %d events", events)
	}
	fmt.Fprintln(p.Stdout)
	if m.Has(backup.Mirror) {
		if err := c.verifyCopy(p); err != nil {
			return err
		}
	}
	return c.remindOfOwner(p)
}

// remindOfOwner says what to do where the directory belongs to another user, as that of a service: whoever restores is
// the only one who can read what is restored.
func (c *Restore) remindOfOwner(p *Program) error {
	other, err := backup.OtherOwner(c.Data)
	if err == nil && other != "" {
		fmt.Fprintf(p.Stderr, "%[1]s belongs to another user, who cannot read what is restored: "+
			"run 'chown -R %[2]s %[1]s/' before a server of that user starts\n", c.Data, other)
	}
	return err
}

// verifyCopy opens the copy of the events of another source, and says how far it goes. It is compared with its source
// when a server starts.
func (c *Restore) verifyCopy(p *Program) error {
	at, err := mirror.CopiedThrough(mirror.Options{Dir: config.MirrorIn(c.Data), Reserve: 1 << 20, Logger: p.Log})
	if err != nil {
		return fmt.Errorf("the backup is restored to %s, and cannot be used: %w", c.Data, err)
	}
	fmt.Fprintf(p.Stdout, "the copy of the events goes up to %s\n", search.FormatPosition(at))
	return nil
}

// verify returns how many events the log has.
func (c *Restore) verify(ctx context.Context, p *Program, m *backup.Manifest) (events uint64, err error) {
	switch {
	case m.Has(backup.Rows):
	case m.Has(backup.Log):
		return c.countEvents(ctx, p)
	default:
		return 0, nil
	}
	at := StoreOptions{Store: config.Embedded + ":" + c.Data, Events: config.Log + ":", CacheMB: 256, MaxEvent: 1 << 30}
	if !m.Has(backup.Log) { // the rows are of a source that is elsewhere
		store, err := p.OpenStore(ctx, config.Store{Kind: config.Embedded, Dir: c.Data}, &config.Data{CacheMB: at.CacheMB,
			ReserveMB: 1})
		if err != nil {
			return 0, err
		}
		return 0, store.Close()
	}
	o, err := at.Open(ctx, p)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	if err := logcheck.Check(ctx, o.DB, o.Source, p.Projections); err != nil {
		return 0, err
	}
	return o.Source.Head(ctx, embeddedlog.Partition)
}

func (c *Restore) countEvents(ctx context.Context, p *Program) (events uint64, err error) {
	l, err := embeddedlog.Open(embeddedlog.Options{Dir: config.LogIn(c.Data), Reserve: 1 << 20, Logger: p.Log})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return l.Head(ctx, embeddedlog.Partition)
}
