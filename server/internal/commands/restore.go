package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/mirror"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/plural"
	"github.com/foldql/foldql/server/internal/search"
)

// Restore puts a backup into a data directory.
type Restore struct {
	Dir  string `arg:"" help:"Directory of the backup."`
	Data string `arg:"" help:"Data directory, which has neither rows nor a log: it is DATA in --store embedded:DATA and --events log:DATA."`
}

// Run restores the backup. Before that is in place, it opens the copy, and holds the rows against the log.
func (c *Restore) Run(ctx context.Context, p *Program) error {
	if err := errors.Join(config.CheckDirectory("dir", c.Dir), config.CheckDirectory("data", c.Data)); err != nil {
		return err
	}
	has := &contents{p: p}
	m, err := backup.Restore(ctx, c.Dir, c.Data, func(m *backup.Manifest, copied string) error {
		return has.read(ctx, m, copied)
	})
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	fmt.Fprintf(p.Stdout, "%s has the %s as of %s", c.Data, partsOf(m), m.Taken.Format("2006-01-02T15:04:05Z"))
	if m.Has(backup.Log) {
		fmt.Fprintf(p.Stdout, ", with %s", plural.Count(has.events, "event"))
	}
	fmt.Fprintln(p.Stdout)
	if m.Has(backup.Mirror) { // which is compared with its source when a server starts
		fmt.Fprintf(p.Stdout, "the copy of the events goes up to %s\n", search.FormatPosition(has.copied))
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

// contents are what a data directory has that is restored.
type contents struct {
	p      *Program
	events uint64           // of the log
	copied eventlog.Offsets // up to which there is a copy of another source
}

// read opens what is there, and holds the rows against the log.
func (c *contents) read(ctx context.Context, m *backup.Manifest, data string) (err error) {
	switch {
	case m.Has(backup.Rows) && m.Has(backup.Log):
		err = c.compare(ctx, data)
	case m.Has(backup.Rows): // of a source that is elsewhere
		err = c.openRows(ctx, data)
	case m.Has(backup.Log):
		err = c.countEvents(ctx, data)
	}
	if err == nil && m.Has(backup.Mirror) {
		c.copied, err = mirror.CopiedThrough(mirror.Options{Dir: config.MirrorIn(data), Reserve: 1 << 20, Logger: c.p.Log})
	}
	return err
}

// compare fails where the log is not that of the rows.
func (c *contents) compare(ctx context.Context, data string) (err error) {
	at := StoreOptions{Store: config.Embedded + ":" + data, Events: config.Log + ":", CacheMB: 256, MaxEvent: 1 << 30}
	o, err := at.Open(ctx, c.p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	other, err := logcheck.First(ctx, o.DB, o.Source, c.p.Projections)
	if err != nil {
		return err
	}
	if other != nil {
		return fmt.Errorf("its log is not the one of its rows: %w; restore another one, or copy the directory log of this "+
			"one alone into a data directory, where a server folds it anew", other)
	}
	c.events, err = o.Source.Head(ctx, embeddedlog.Partition)
	return err
}

func (c *contents) openRows(ctx context.Context, data string) error {
	store, err := c.p.OpenStore(ctx, config.Store{Kind: config.Embedded, Dir: data}, &config.Data{CacheMB: 256,
		ReserveMB: 1})
	if err != nil {
		return err
	}
	return store.Close()
}

func (c *contents) countEvents(ctx context.Context, data string) (err error) {
	l, err := embeddedlog.Open(embeddedlog.Options{Dir: config.LogIn(data), Reserve: 1 << 20, Logger: c.p.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	c.events, err = l.Head(ctx, embeddedlog.Partition)
	return err
}
