package embeddedlog

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
)

// readBytes is how many bytes of events one Read returns at most, give or take the last one.
const readBytes = 16 << 20

// Partitions implements eventlog.Source.
func (l *Log) Partitions(ctx context.Context) ([]string, error) {
	if _, err := l.head(ctx); err != nil {
		return nil, err
	}
	return []string{Partition}, nil
}

// Head implements eventlog.Source.
func (l *Log) Head(ctx context.Context, partition string) (uint64, error) {
	if err := checkPartition(partition); err != nil {
		return 0, err
	}
	return l.head(ctx)
}

func checkPartition(name string) error {
	if name != Partition {
		return fmt.Errorf("read partition %q of the event log: it has %q only", name, Partition)
	}
	return nil
}

// head returns the offset of the last synced event.
func (l *Log) head(ctx context.Context) (uint64, error) {
	head, err := l.durability.head()
	if err != nil {
		return 0, err
	}
	return head, ctx.Err()
}

// Read implements eventlog.Source.
func (l *Log) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if err := checkPartition(partition); err != nil {
		return nil, err
	}
	end, err := l.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	head, err := l.head(ctx)
	if err != nil || after >= head || most <= 0 {
		return nil, err
	}
	upto := head
	if uint64(most) < head-after {
		upto = after + uint64(most)
	}
	events, err := l.records.scan(after, upto)
	if err != nil {
		return nil, fmt.Errorf("read the event log in %s after offset %d: %w", l.dir, after, err)
	}
	return events, nil
}

// Wait implements eventlog.Source.
func (l *Log) Wait(ctx context.Context, after eventlog.Offsets) error {
	return l.durability.next(ctx, after[Partition])
}
