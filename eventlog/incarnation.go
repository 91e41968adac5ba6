package eventlog

import "context"

// RecreatableSource is a source that can be deleted and recreated under its old name. The incarnation of a partition
// tells the two apart: a log that is recreated has another one, a copy of a log has the same.
type RecreatableSource interface {
	// Incarnation returns the identity that the partition got when it was last created or renewed, "" where it has none.
	Incarnation(ctx context.Context, partition string) (string, error)
}

// Wrapper is a source that wraps another and adds to it.
type Wrapper interface{ Unwrap() Source }

// IncarnationOf returns the identity that a partition got when it was last created or renewed, "" if the source has
// none: neither it nor any source that it wraps is a RecreatableSource.
func IncarnationOf(ctx context.Context, src Source, partition string) (string, error) {
	for {
		if i, is := src.(RecreatableSource); is {
			return i.Incarnation(ctx, partition)
		}
		w, is := src.(Wrapper)
		if !is {
			return "", nil
		}
		src = w.Unwrap()
	}
}
