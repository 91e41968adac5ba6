package eventlog

import "context"

// Incarnated is a source whose partitions have an identity of their own: a log that is recreated has another, although
// its name, and the names of its partitions, are the former's. A copy of a log has that of the log.
type Incarnated interface {
	// Incarnation names the partition's present one, "" where it has none.
	Incarnation(ctx context.Context, partition string) (string, error)
}

// Wrapper is a source that adds something to another.
type Wrapper interface{ Unwrap() Source }

// IncarnationOf returns the incarnation of a partition, "" where the source, and none that it wraps, is Incarnated.
func IncarnationOf(ctx context.Context, src Source, partition string) (string, error) {
	for {
		if i, is := src.(Incarnated); is {
			return i.Incarnation(ctx, partition)
		}
		w, is := src.(Wrapper)
		if !is {
			return "", nil
		}
		src = w.Unwrap()
	}
}
