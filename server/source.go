package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

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

func openSource(at sourcePlace, store storePlace, reserve uint64, maxEvent int, p *program, log *slog.Logger) (*source, error) {
	switch {
	case at.kind == fileSource:
		f, err := filesource.Open(filesource.Options{Path: at.path, Stdin: p.stdin, MaxSize: maxEvent})
		if err != nil {
			return nil, err
		}
		return &source{Source: &fileOfEvents{Source: f, types: p.app.Events, log: log}, growing: at.path == "-"}, nil
	case store.kind == memoryStore && at.path == "":
		l := memlog.New(memlog.Options{})
		return &source{Source: l, log: l}, nil
	}
	dir := store.log()
	if at.path != "" {
		dir = logIn(at.path)
	}
	l, err := embeddedlog.Open(embeddedlog.Options{Dir: dir, Reserve: reserve, Logger: log})
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

// appendSample appends the sample to a log that is empty, all of it or nothing, and returns how many events that were.
func appendSample(ctx context.Context, log eventlog.Log, app *App) (int, error) {
	ends, err := heads(ctx, log)
	if err != nil {
		return 0, fmt.Errorf("append the sample events: %w", err)
	}
	for _, end := range ends {
		if end > 0 {
			return 0, nil
		}
	}
	events := slices.Collect(app.Sample)
	if err := app.checkSample(events); err != nil {
		return 0, err
	}
	if _, err := log.Append(ctx, events); err != nil {
		return 0, fmt.Errorf("append the sample events: %w", err)
	}
	return len(events), nil
}

// upTo is a source as it stood: it ends where its partitions ended when it was made.
type upTo struct {
	eventlog.Source
	ends eventlog.Positions
}

// Unwrap implements eventlog.Wrapper.
func (s *upTo) Unwrap() eventlog.Source { return s.Source }

// Read implements eventlog.Source.
func (s *upTo) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	end := s.ends[partition]
	if after >= end {
		return nil, nil
	}
	events, err := s.Source.Read(ctx, partition, after, most)
	for len(events) > 0 && events[len(events)-1].Offset > end {
		events = events[:len(events)-1]
	}
	return events, err
}

// Wait implements eventlog.Source.
func (s *upTo) Wait(ctx context.Context, after eventlog.Positions) error {
	for partition, end := range s.ends {
		if after[partition] < end {
			return s.Source.Wait(ctx, after)
		}
	}
	return io.EOF
}

// Head implements eventlog.Head.
func (s *upTo) Head(_ context.Context, partition string) (uint64, error) {
	return s.ends[partition], nil
}
