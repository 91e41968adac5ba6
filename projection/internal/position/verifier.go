package position

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/foldql/foldql/eventlog"
)

// Verifier asks a source whether it holds what is on record about one projection. It is used once, by one goroutine:
// how far a partition reaches, it asks for no more often than the records go further.
type Verifier struct {
	Source     eventlog.Source
	Projection string

	ends map[string]uint64 // by partition, as far as they are known
}

// Holds returns a *MismatchError where the partition does not reach the offset, or holds another event than the
// anchor's; a nil anchor fits any. An event that the source has forgotten, with all before it, is no contradiction.
func (v *Verifier) Holds(ctx context.Context, record, partition string, offset uint64, a *Anchor) error {
	if a != nil {
		offset = max(offset, a.Offset)
	}
	if offset == 0 {
		return nil
	}
	wrong := &MismatchError{Projection: v.Projection, Partition: partition, Record: record, Offset: offset,
		Event: a.String()}
	if err := v.reaches(ctx, wrong); err != nil {
		return err
	}
	if a == nil {
		return nil
	}
	wrong.Offset = a.Offset
	events, err := v.Source.Read(ctx, partition, a.Offset-1, 1)
	if eventlog.ForgottenIn(err) != nil {
		return nil
	}
	if err != nil {
		return unread(wrong, err)
	}
	switch {
	case len(events) == 0:
		return nil // it ends further on, and has forgotten all its events
	case events[0].Offset > a.Offset:
		return v.forgot(ctx, wrong)
	case a.Contradicts(&events[0]):
		wrong.Found = AnchorOf(&events[0]).String()
		return wrong
	}
	return nil
}

// reaches returns the mismatch where the partition does not reach the offset that it names.
func (v *Verifier) reaches(ctx context.Context, wrong *MismatchError) error {
	if wrong.End = v.ends[wrong.Partition]; wrong.End >= wrong.Offset {
		return nil
	}
	// A copy whose source is away knows an earlier end only. So it must say before a look and after it that it is not.
	for known := false; ; known = true {
		there, err := v.reachesNow(ctx, wrong)
		if err != nil {
			return err
		}
		if there {
			if v.ends == nil {
				v.ends = map[string]uint64{}
			}
			v.ends[wrong.Partition] = max(wrong.End, wrong.Offset)
			return nil
		}
		switch err := eventlog.Current(ctx, v.Source, wrong.Partition); {
		case err != nil:
			return unread(wrong, err)
		case known:
			return wrong
		}
	}
}

// reachesNow looks whether the partition reaches the offset, as far as the source knows.
func (v *Verifier) reachesNow(ctx context.Context, wrong *MismatchError) (there bool, err error) {
	if wrong.End, err = EndOf(ctx, v.Source, wrong.Partition); err != nil || wrong.End == 0 {
		return false, err
	}
	if wrong.End >= wrong.Offset {
		return true, nil
	}
	events, err := v.Source.Read(ctx, wrong.Partition, wrong.Offset-1, 1)
	if err != nil && eventlog.ForgottenIn(err) == nil {
		return false, unread(wrong, err)
	}
	return len(events) > 0, nil
}

// unread is the error of a read that failed: the mismatch, where the source says that the partition is another.
func unread(wrong *MismatchError, err error) error {
	var replaced *eventlog.ReplacedError
	if errors.As(err, &replaced) {
		wrong.Recreated, wrong.Replaced = true, replaced.Reason
		return wrong
	}
	return fmt.Errorf("read event %d of partition %q: %w", wrong.Offset, wrong.Partition, err)
}

// forgot returns the mismatch, unless the source begins behind the event, which it has forgotten then, or says that
// there is none at that place, since it was deleted. One that has events before and behind, and not the event, is
// another.
func (v *Verifier) forgot(ctx context.Context, wrong *MismatchError) error {
	empty, err := eventlog.EmptyThrough(ctx, v.Source, wrong.Partition, wrong.Offset-1)
	if eventlog.ForgottenIn(err) != nil || err == nil && empty >= wrong.Offset {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find what follows %d in partition %q: %w", wrong.Offset-1, wrong.Partition, err)
	}
	events, err := v.Source.Read(ctx, wrong.Partition, 0, 1)
	if eventlog.ForgottenIn(err) != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the first event of partition %q: %w", wrong.Partition, err)
	}
	if len(events) > 0 && events[0].Offset > wrong.Offset {
		return nil
	}
	wrong.Found = "no event"
	return wrong
}

// EndOf is the offset of the last event of a partition. A partition that is not there ends at 0.
func EndOf(ctx context.Context, src eventlog.Source, partition string) (end uint64, err error) {
	partitions, err := src.Partitions(ctx)
	if err != nil {
		return 0, fmt.Errorf("list the partitions: %w", err)
	}
	if !slices.Contains(partitions, partition) {
		return 0, nil
	}
	if end, err = src.Head(ctx, partition); err != nil {
		return 0, fmt.Errorf("find the end of partition %q: %w", partition, err)
	}
	return end, nil
}

// EndsAt reports whether the log itself ends at the offset, or before it, though the partition has been known to reach
// another that is further on: what was there is deleted, or the partition is gone. It fails where that cannot be told
// now.
func EndsAt(ctx context.Context, src eventlog.Source, partition string, offset, reached uint64) (bool, error) {
	for known := false; ; known = true { // what is asked in between is current only if it is before and after
		end, err := EndOf(ctx, src, partition)
		if err != nil || end > offset {
			return false, err
		}
		if err := eventlog.Current(ctx, src, partition); err != nil {
			return false, err
		}
		if end > 0 { // a copy at another server does not say whether it is current: behind its end it asks the log
			if events, err := src.Read(ctx, partition, reached, 1); len(events) > 0 || err != nil {
				return false, err
			}
		}
		if known {
			return true, nil
		}
	}
}

// ErrGone says that a source has an event no more; with it is the eventlog.ForgottenError of one that forgets.
var ErrGone = errors.New("the source does not have it any more")

// Fetch reads one event that a source has delivered before. A copy that has not come to it, and whose source is away,
// finds none there either: it must say before a look and after it that it is not.
func Fetch(ctx context.Context, src eventlog.Source, partition string, offset uint64) (*eventlog.Event, error) {
	for known := false; ; known = true {
		e, err := fetch(ctx, src, partition, offset)
		if !errors.Is(err, ErrGone) || eventlog.ForgottenIn(err) != nil {
			return e, err
		}
		switch away := eventlog.Current(ctx, src, partition); {
		case away != nil:
			return nil, fmt.Errorf("read event %d of partition %q: %w", offset, partition, away)
		case known:
			return nil, err
		}
	}
}

// fetch reads the event from what the source has now.
func fetch(ctx context.Context, src eventlog.Source, partition string, offset uint64) (*eventlog.Event, error) {
	events, err := src.Read(ctx, partition, offset-1, 1)
	if err != nil && eventlog.ForgottenIn(err) == nil {
		return nil, fmt.Errorf("read event %d of partition %q: %w", offset, partition, err)
	}
	if len(events) == 0 || events[0].Offset != offset {
		gone := ErrGone
		if err != nil {
			gone = fmt.Errorf("%w: %w", ErrGone, err)
		}
		return nil, fmt.Errorf("read event %d of partition %q: %w", offset, partition, gone)
	}
	return &events[0], nil
}
