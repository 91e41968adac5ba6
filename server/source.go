package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/eventlog/memlog"
)

// source is where events come from: a log that can be appended to, or a file that cannot.
type source struct {
	eventlog.Source
	log     eventlog.Log // nil for a file
	growing bool         // it is standard input, which may not have come yet
}

// sourceOptions are how a source is opened.
type sourceOptions struct {
	Reserve  uint64 // bytes of free disk space that a log leaves alone
	MaxEvent int    // bytes of one event of a file
	Stdin    io.Reader
	Types    eventlog.Types // that are declared: a file may hold others
	Logger   *slog.Logger
}

// openSource opens the source of events of a store.
func openSource(at sourcePlace, store storePlace, o sourceOptions) (*source, error) {
	switch {
	case at.kind == fileSource:
		f, err := filesource.Open(filesource.Options{Path: at.path, Stdin: o.Stdin, MaxSize: o.MaxEvent})
		if err != nil {
			return nil, err
		}
		return &source{Source: &fileOfEvents{Source: f, types: o.Types, log: o.Logger}, growing: at.path == "-"}, nil
	case store.kind == memoryStore && at.path == "":
		l := memlog.New(memlog.Options{})
		return &source{Source: l, log: l}, nil
	}
	dir := store.log()
	if at.path != "" {
		dir = logIn(at.path)
	}
	l, err := embeddedlog.Open(embeddedlog.Options{Dir: dir, Reserve: o.Reserve, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	return &source{Source: l, log: l}, nil
}

// heads returns the end of every partition, as far as the source knows it.
func heads(ctx context.Context, src eventlog.Source) (eventlog.Positions, error) {
	partitions, err := src.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the partitions of the events: %w", err)
	}
	ends := eventlog.Positions{}
	for _, p := range partitions {
		if ends[p], err = head(ctx, src, p); err != nil {
			return nil, fmt.Errorf("find the end of partition %q of the events: %w", p, err)
		}
	}
	return ends, nil
}

func head(ctx context.Context, src eventlog.Source, partition string) (uint64, error) {
	knows, ok := src.(eventlog.Head)
	if !ok {
		return 0, errors.New("the source of events does not know its end")
	}
	return knows.Head(ctx, partition)
}

// ended reports whether a source has said that nothing will follow.
func ended(err error) bool { return errors.Is(err, io.EOF) }
