package verifier

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/filesource"
)

// merge writes the events of a directory, each file of which is a partition, into one file: in the order of their
// times, which is one of those that partitions side by side may be folded in. It returns the file, and how many events
// it has.
func merge(ctx context.Context, dir, to string) (file string, n uint64, err error) {
	source, err := filesource.OpenDir(filesource.Options{Path: dir})
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	partitions, err := source.Partitions(ctx)
	if err != nil {
		return "", 0, err
	}
	var all []eventlog.Event
	for _, p := range partitions {
		if all, err = appendEvents(ctx, all, source, p); err != nil {
			return "", 0, err
		}
	}
	slices.SortStableFunc(all, func(a, b eventlog.Event) int { return a.Time.Compare(b.Time) })
	var text []byte
	for i := range all {
		if all[i].Malformed != nil {
			return "", 0, fmt.Errorf("an event has no time to be sorted by: %w", all[i].Malformed)
		}
		text = append(cloudevents.Append(text, &all[i]), '\n')
	}
	file = filepath.Join(to, "merged.jsonl")
	return file, uint64(len(all)), os.WriteFile(file, text, 0o600)
}

// appendEvents adds the events of a partition.
func appendEvents(ctx context.Context, all []eventlog.Event, source eventlog.Source,
	partition string) ([]eventlog.Event, error) {
	for after := uint64(0); ; {
		some, err := source.Read(ctx, partition, after, 1000)
		if err != nil || len(some) == 0 {
			return all, err
		}
		all, after = append(all, some...), some[len(some)-1].Offset
	}
}

// parted reports whether the events are in several partitions.
func parted(events string) bool {
	at, err := os.Stat(events)
	return err == nil && at.IsDir()
}
