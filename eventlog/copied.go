package eventlog

import "context"

// CopiedSource is a source that goes on while what it copies cannot be read: its partitions and their heads are the
// last ones that it knows then. Ask it before you conclude from them that the log has lost events.
type CopiedSource interface {
	// Current fails, with the reason, where the source cannot say how far the partition is now.
	Current(ctx context.Context, partition string) error
}

// Current fails, with the reason, where what the source says of a partition, or that there is none, is only the last
// that it knows: it, or a source that it wraps, is a [CopiedSource] that cannot say how far the log is now.
func Current(ctx context.Context, src Source, partition string) error {
	for {
		if c, is := src.(CopiedSource); is {
			return c.Current(ctx, partition)
		}
		w, is := src.(Wrapper)
		if !is {
			return nil
		}
		src = w.Unwrap()
	}
}

// EndsBefore reports whether the log itself has no event of the partition at the offset or behind it, and where it
// ends. It fails where that cannot be told now.
func EndsBefore(ctx context.Context, src Source, partition string, offset uint64) (head uint64, ends bool, err error) {
	for known := false; ; known = true { // what is asked in between is current only if it is before and after
		head, err = src.Head(ctx, partition)
		if err != nil || head >= offset {
			return head, false, err
		}
		if err = Current(ctx, src, partition); err != nil || known {
			return head, err == nil, err
		}
	}
}
