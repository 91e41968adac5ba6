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

// isAmong reports whether a reader has come to an offset before events that are not wanted here: it has read some like
// these. Who has read nothing begins behind them.
func (h *Handler) isAmong(partition string, after uint64) bool {
	return after > 0 && after < h.unwanted(partition)
}

// goesOn fails where such a reader would miss an event without a trace. Who is at the end misses none yet.
func (h *Handler) goesOn(ctx context.Context, partition string, after uint64) error {
	if !h.isAmong(partition, after) {
		return nil
	}
	if _, atEnd, err := eventlog.EndsBefore(ctx, h.Source, partition, after+1); err != nil || atEnd {
		return err
	}
	return &eventlog.ForgottenError{Partition: partition, After: after, First: h.unwanted(partition) + 1}
}

// read reads for whoever can go on there, and gives nothing to one who has come among what is not wanted: it is at the
// end, and more may have come since that was found.
func (h *Handler) read(ctx context.Context, partition string, after uint64, limit int) ([]eventlog.Event, error) {
	if err := h.goesOn(ctx, partition, after); err != nil || h.isAmong(partition, after) {
		return nil, err
	}
	return h.Source.Read(ctx, partition, after, limit)
}

// emptyThrough is how far no event is after the offset, and no further than the head. It stays at the offset as long as
// all that follows is not wanted: a reader that came to a place among such events would look like one that has read
// them.
func (h *Handler) emptyThrough(ctx context.Context, partition string, after uint64) (uint64, error) {
	through, err := eventlog.EmptyThrough(ctx, h.Source, partition, after)
	if through < h.unwanted(partition) || h.isAmong(partition, after) {
		through = after
	}
	return through, err
}
