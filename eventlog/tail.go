package eventlog

import (
	"context"
	"maps"
)

// Tail is a source without its first events, which nobody wants, whether the source has forgotten them or not. A copy
// is one of the source, read by a Tail: a copy of a Tail would lack events without a trace.
type Tail struct {
	Source
	After Offsets // by partition, the offset up to which no event is wanted
}

// TailIn returns the Tail that the source is, or wraps; nil where there is none.
func TailIn(src Source) *Tail {
	for {
		if t, is := src.(*Tail); is {
			return t
		}
		w, is := src.(Wrapper)
		if !is {
			return nil
		}
		src = w.Unwrap()
	}
}

// Unwrap implements Wrapper.
func (t *Tail) Unwrap() Source { return t.Source }

// Read implements Source.
func (t *Tail) Read(ctx context.Context, partition string, after uint64, most int) ([]Event, error) {
	return t.Source.Read(ctx, partition, max(after, t.After[partition]), most)
}

// Wait implements Source.
func (t *Tail) Wait(ctx context.Context, after Offsets) error {
	from := maps.Clone(after)
	if from == nil {
		from = Offsets{}
	}
	for partition, first := range t.After {
		from[partition] = max(from[partition], first)
	}
	return t.Source.Wait(ctx, from)
}

// EmptyThrough implements SparseSource. No reader comes further than the source, though the Tail may begin there: a
// position behind its end would be one of another source.
func (t *Tail) EmptyThrough(ctx context.Context, partition string, after uint64) (uint64, error) {
	first := t.After[partition]
	if after >= first {
		return EmptyThrough(ctx, t.Source, partition, after)
	}
	head, err := t.Head(ctx, partition)
	if err != nil || head < first {
		return max(after, head), err
	}
	return EmptyThrough(ctx, t.Source, partition, first)
}
