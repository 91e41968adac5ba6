// Package sources opens the source of events that --events names. A new kind of source is a case of
// config.parseSource and of Open.
package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/eventlog/mirror"
	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/server/internal/backup"
	"github.com/foldql/foldql/server/internal/config"
)

// Source is where events come from: a log that can be appended to, or a file or a directory that cannot.
type Source struct {
	eventlog.Source
	Log      eventlog.Log       // nil for a file
	Mirror   *mirror.Mirror     // the copy on this machine that the source is read from; nil where it is read itself
	Upstream *httpsource.Source // the server whose log this one follows, nil where it follows none
	Dir      string             // of a log or a copy on this machine, "" for any other source
	Growing  bool               // it is standard input, which may not have come yet
}

// Options are how a source is opened.
type Options struct {
	Reserve       uint64 // bytes of free disk space that a log leaves alone
	MaxEventBytes int    // bytes of one event of a file
	Stdin         io.Reader
	Types         eventlog.Types // that are declared: a file may hold others
	Logger        *slog.Logger
}

// Open opens the source of events of a store.
func Open(at config.Source, store config.Store, o Options) (*Source, error) {
	if at.Kind == config.Log {
		return openLog(at, store, &o)
	}
	src, err := openCopied(&at, &o)
	if err != nil {
		return nil, err
	}
	s := &Source{Growing: at.Path == "-"}
	s.Upstream, _ = src.(*httpsource.Source)
	if at.Mirror != "" {
		s.Dir = at.Mirror
		if s.Mirror, err = openMirror(&at, src, &o); err != nil {
			return nil, errors.Join(err, src.Close())
		}
		src = s.Mirror
	}
	src = wanted(src, &at)
	s.Source = &undeclaredTypes{Source: src, types: o.Types, log: o.Logger}
	return s, nil
}

// wanted is the source without the first events of a stream, where these are not wanted. A copy has them: rows may be
// made of them one day.
func wanted(src eventlog.Source, at *config.Source) eventlog.Source {
	begin := at.NATS.EventsBegin
	_, stream, err := natssource.Parse(at.Path)
	if begin < 2 || err != nil {
		return src
	}
	return &eventlog.Tail{Source: src, After: eventlog.Offsets{stream: begin - 1}}
}

// openMirror opens the copy of a source.
func openMirror(at *config.Source, of eventlog.Source, o *Options) (*mirror.Mirror, error) {
	if err := backup.CheckRestored(filepath.Dir(at.Mirror)); err != nil {
		return nil, fmt.Errorf("open the copy of the events: %w", err)
	}
	return mirror.Open(mirror.Options{Dir: at.Mirror, Source: of, Reserve: o.Reserve, Logger: o.Logger,
		FromFirst: at.Kind == config.Stream && !at.NATS.EventsAllowRemoval})
}

// openLog opens a log on this machine.
func openLog(at config.Source, store config.Store, o *Options) (*Source, error) {
	if store.Kind == config.Memory && at.Path == "" {
		l := memlog.New(memlog.Options{})
		return &Source{Source: l, Log: l}, nil
	}
	dir := logDir(at, store)
	if err := backup.CheckRestored(filepath.Dir(dir)); err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	l, err := embeddedlog.Open(embeddedlog.Options{Dir: dir, Reserve: o.Reserve, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	return &Source{Source: l, Log: l, Dir: dir}, nil
}

// openForeign opens a source that is no log of this server.
func openForeign(at *config.Source, o *Options) (eventlog.Source, error) {
	switch at.Kind {
	case config.Remote:
		return openRemote(at, o.MaxEventBytes)
	case config.Stream:
		return openStream(at, o.MaxEventBytes)
	}
	return openFile(filesource.Options{
		Path: at.Path, Stdin: o.Stdin, MaxSize: o.MaxEventBytes, Mapping: at.Mapping,
	})
}

// openRemote opens the log of another server.
func openRemote(at *config.Source, maxEvent int) (eventlog.Source, error) {
	s, err := httpsource.Open(httpsource.Options{
		URL: at.Path, Token: at.Token, CA: at.EventsCA, Cert: at.EventsCert, Key: at.EventsKey, MaxEventBytes: maxEvent,
	})
	if err != nil {
		return nil, config.Wrong("events", "%w", err)
	}
	return s, nil
}

// openStream opens a stream of NATS JetStream.
func openStream(at *config.Source, maxEvent int) (eventlog.Source, error) {
	n := &at.NATS
	s, err := natssource.Open(natssource.Options{
		URL: at.Path, Token: at.Token, User: n.EventsUser, Password: n.EventsPassword, Credentials: n.EventsCredentials,
		CA: at.EventsCA, Cert: at.EventsCert, Key: at.EventsKey, AllowRemoval: n.EventsAllowRemoval,
		MaxEventBytes: maxEvent, Mapping: at.Mapping,
	})
	if err != nil {
		return nil, config.Wrong("events", "%w", err)
	}
	return s, nil
}

// Dir returns where the log of a store, or the copy of its source, is on this machine; "" where the source is read
// from elsewhere.
func Dir(at config.Source, store config.Store) string { return cmp.Or(at.Mirror, logDir(at, store)) }

// logDir returns where the log of a store is on this machine, "" where the source is none that is.
func logDir(at config.Source, store config.Store) string {
	switch {
	case at.Kind != config.Log || store.Kind == config.Memory && at.Path == "":
		return ""
	case at.Path != "":
		return config.LogIn(at.Path)
	}
	return store.Log()
}

// openFile opens a file of events, or a directory of such files.
func openFile(o filesource.Options) (eventlog.Source, error) {
	if at, err := os.Stat(o.Path); err == nil && at.IsDir() {
		return filesource.OpenDir(o)
	}
	return filesource.Open(o)
}

// Heads returns the end of every partition.
func Heads(ctx context.Context, src eventlog.Source) (eventlog.Offsets, error) {
	partitions, err := src.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the partitions of the events: %w", err)
	}
	ends := eventlog.Offsets{}
	for _, p := range partitions {
		if ends[p], err = src.Head(ctx, p); err != nil {
			return nil, fmt.Errorf("find the end of partition %q of the events: %w", p, err)
		}
	}
	return ends, nil
}

// Ended reports whether a source has said that nothing will follow.
func Ended(err error) bool { return errors.Is(err, io.EOF) }
