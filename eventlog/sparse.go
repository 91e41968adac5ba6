package eventlog

import "context"

// SparseSource is a source with offsets that no event has: what stood there was deleted, or never was an event. Its
// head may be such an offset, so that no event ever brings a reader there.
type SparseSource interface {
	// EmptyThrough returns the offset up to which the partition has no event after the given one, nor ever will: the
	// given one itself where an event follows it, or may come next.
	EmptyThrough(ctx context.Context, partition string, after uint64) (uint64, error)
}

// EmptyThrough returns how far a reader has come that is told of no event after the offset: further than the offset
// only if the source, or a source that it wraps, is a SparseSource.
func EmptyThrough(ctx context.Context, src Source, partition string, after uint64) (uint64, error) {
	for {
		if s, is := src.(SparseSource); is {
			return s.EmptyThrough(ctx, partition, after)
		}
		w, is := src.(Wrapper)
		if !is {
			return after, nil
		}
		src = w.Unwrap()
	}
}
