package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/logcheck"
	"github.com/foldql/foldql/server/internal/sources"
	"github.com/foldql/foldql/server/internal/stores"
)

// StoreOptions are those of commands that work on a store themselves, while no server runs.
type StoreOptions struct {
	Store  string `help:"Work on this store instead of a running server: embedded:DIR, which no server may have open, or dynamodb:PREFIX." linealone:"" group:"Data"`
	Events string `help:"Where events come from, with --store." default:"log:" group:"Data"`
	config.SourceAccess
	Mirror   bool  `help:"The server keeps a copy of the events beside the rows (--mirror): work on that." group:"Data"`
	CacheMB  int64 `help:"Memory for the cache of an embedded store, in MiB." default:"256" group:"Data"`
	MaxEvent int   `help:"Bytes of one event." default:"262144" group:"Data"`
}

// either calls offline where a store is given. Else it refuses the flags, which would have no effect on a running
// server, and calls remote.
func (o *StoreOptions) either(ctx context.Context, p *Program, flags []string,
	remote, offline func(context.Context, *Program) error) error {
	if o.Store != "" {
		return offline(ctx, p)
	}
	if err := p.RefuseWithoutStore(flags...); err != nil {
		return err
	}
	return remote(ctx, p)
}

// RefuseWithoutStore refuses flags on the command line that would have no effect on a running server.
func (p *Program) RefuseWithoutStore(flags ...string) error {
	for _, name := range flags {
		if slices.Contains(p.Given, name) {
			return config.Wrong(name, "it has no effect on a running server; give --store too, or set it where the "+
				"server is started")
		}
	}
	return nil
}

// StoreFlags are those of StoreOptions that most commands refuse without --store.
func StoreFlags() []string {
	return slices.DeleteFunc(config.FlagsOf(&StoreOptions{}), func(name string) bool { return name == "store" })
}

// FoldFlags are those of config.Fold.
func FoldFlags() []string { return config.FlagsOf(&config.Fold{}) }

// Opened is a store, and the source that belongs to it.
type Opened struct {
	DB     *querydb.DB
	Rows   *stores.Rows // that DB is of
	Source *sources.Source
}

// Open opens both, and makes what is not there.
func (o *StoreOptions) Open(ctx context.Context, p *Program) (*Opened, error) {
	at, store, from, err := o.parse()
	if err != nil {
		return nil, err
	}
	return open(ctx, p, at, store, from, o.MaxEvent)
}

// open opens a store and the source, and binds the rows to that.
func open(ctx context.Context, p *Program, how *config.Data, store config.Store, from config.Source,
	maxEvent int) (*Opened, error) {
	rows, err := p.OpenStore(ctx, store, how)
	if err != nil {
		return nil, err
	}
	if err := stores.BindSource(ctx, rows.DB, store, from); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	src, err := p.OpenSource(from, store, how.Reserve(), maxEvent)
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return &Opened{rows.DB, rows, src}, nil
}

// OpenLog is Open where events are to be appended. What is no log is refused before a store is bound to it.
func (o *StoreOptions) OpenLog(ctx context.Context, p *Program) (*Opened, error) {
	_, _, from, err := o.parse()
	if err != nil {
		return nil, err
	}
	if from.Kind != config.Log {
		return nil, config.Wrong("events", "%.200s is no log on this machine, and nothing is appended to it; give log: or "+
			"log:DIR, or, for the log of a running server, --url in place of --store", o.Events)
	}
	return o.Open(ctx, p)
}

// OpenSource opens the source alone, to read what is there: it makes no log where there is none.
func (o *StoreOptions) OpenSource(p *Program) (*sources.Source, error) {
	at, store, from, err := o.parse()
	if err != nil {
		return nil, err
	}
	if err := eventsExist(from, store); err != nil {
		return nil, err
	}
	return p.OpenSource(from, store, at.Reserve(), o.MaxEvent)
}

// openExisting is Open of what is there: it makes neither rows nor a log.
func (o *StoreOptions) openExisting(ctx context.Context, p *Program) (*Opened, error) {
	_, store, from, err := o.parse()
	if err != nil {
		return nil, err
	}
	if err := storeExists(store, from); err != nil {
		return nil, err
	}
	return o.Open(ctx, p)
}

// OpenMatching is openExisting, and where rows and events are both on this machine, the events are those of the rows.
func (o *StoreOptions) OpenMatching(ctx context.Context, p *Program) (*Opened, error) {
	opened, err := o.openExisting(ctx, p)
	if err != nil || opened.Source.Dir == "" || opened.Rows.Dir == "" {
		return opened, err
	}
	other, err := logcheck.Look(ctx, opened.DB, opened.Source, p.Projections)
	if err == nil && other != nil {
		err = fmt.Errorf("the rows are not of the log that --events names: %w", logcheck.Error(other))
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// storeExists fails where the rows or the events are to be in a directory of this machine, and it is not there: to open
// them would make them, and find an empty store where a name is mistyped.
func storeExists(store config.Store, from config.Source) error {
	if err := rowsExist(store); err != nil {
		return err
	}
	return eventsExist(from, store)
}

// rowsExist is storeExists for the rows alone.
func rowsExist(store config.Store) error {
	if store.Kind != config.Embedded {
		return nil
	}
	if err := checkPart(store.Rows(), nameByStore); err != nil {
		return fmt.Errorf("open the rows: %w", err)
	}
	return nil
}

// eventsExist fails where the events are to be in a directory of this machine, and there is none.
func eventsExist(from config.Source, store config.Store) error {
	dir := sources.Dir(from, store)
	if dir == "" {
		return nil
	}
	fix := "name the data directory by --store or --events"
	if from.Mirror != "" {
		fix = nameByStore + ", or, if the copy was moved away, start the server once: it makes the copy anew"
	}
	if err := checkPart(dir, fix); err != nil {
		return fmt.Errorf("open the events: %w", err)
	}
	return nil
}

// nameByStore is the fix where a data directory may be mistyped.
const nameByStore = "name the data directory by --store"

// checkPart fails where a part of a data directory is not there, and says what fixes that. It may be missing because a
// restore has not come to its end.
func checkPart(part, fix string) error {
	if err := backup.CheckRestored(filepath.Dir(part)); err != nil {
		return err
	}
	if _, err := os.Stat(part); err != nil {
		return fmt.Errorf("%w; %s", err, fix)
	}
	return nil
}

func (o *StoreOptions) parse() (*config.Data, config.Store, config.Source, error) {
	at := &config.Data{Store: o.Store, Events: o.Events, SourceAccess: o.SourceAccess, Mirror: o.Mirror,
		CacheMB: o.CacheMB, ReserveMB: 1}
	store, from, err := at.Parse()
	return at, store, from, err
}

// Close closes both.
func (o *Opened) Close() error { return errors.Join(o.Source.Close(), o.DB.Close()) }
