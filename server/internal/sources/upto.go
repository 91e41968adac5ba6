package sources

import (
	"context"
	"io"

	"github.com/foldql/foldql/eventlog"
)

// UpTo is a source as it stood: it ends where its partitions ended when it was made.
type UpTo struct {
	eventlog.Source
	Ends eventlog.Offsets
}

// Unwrap implements eventlog.Wrapper.
func (s *UpTo) Unwrap() eventlog.Source { return s.Source }

// Read implements eventlog.Source.
func (s *UpTo) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	end := s.Ends[partition]
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
func (s *UpTo) Wait(ctx context.Context, after eventlog.Offsets) error {
	if after.Behind(s.Ends) {
		return s.Source.Wait(ctx, after)
	}
	return io.EOF
}

// Head implements eventlog.Source.
func (s *UpTo) Head(_ context.Context, partition string) (uint64, error) {
	return s.Ends[partition], nil
}
