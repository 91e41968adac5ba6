package httpsource

import (
	"context"

	"github.com/foldql/foldql/eventlog"
)

// unwanted is the offset up to which events are not wanted here, and given to nobody; 0 where all are wanted.
func (h *Handler) unwanted(partition string) uint64 {
	if t := eventlog.TailIn(h.Source); t != nil {
		return t.After[partition]
	}
	return 0
}

// goesOn fails where a reader has come to an offset before events that are not wanted here: it has read some like
// these, and would miss them without a trace. Who has read nothing begins behind them, and who is at the end misses
// nothing yet.
func (h *Handler) goesOn(ctx context.Context, partition string, after uint64) error {
	begin := h.unwanted(partition)
	if after == 0 || after >= begin {
		return nil
	}
	if _, atEnd, err := eventlog.EndsBefore(ctx, h.Source, partition, after+1); err != nil || atEnd {
		return err
	}
	return &eventlog.ForgottenError{Partition: partition, After: after, First: begin + 1}
}

// read reads for whoever can go on there.
func (h *Handler) read(ctx context.Context, partition string, after uint64, limit int) ([]eventlog.Event, error) {
	if err := h.goesOn(ctx, partition, after); err != nil {
		return nil, err
	}
	return h.Source.Read(ctx, partition, after, limit)
}

// emptyThrough is how far no event is after the offset, and no further than the head. It stays at the offset as long as
// all that follows is not wanted: a reader that came to a place among such events would look like one that has read
// them.
func (h *Handler) emptyThrough(ctx context.Context, partition string, after uint64) (uint64, error) {
	through, err := eventlog.EmptyThrough(ctx, h.Source, partition, after)
	if through < h.unwanted(partition) {
		through = after
	}
	return through, err
}
