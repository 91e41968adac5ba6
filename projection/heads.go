package projection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/eventlog"
)

// Heads are where the partitions of a source end, each asked of the source once: the statuses of many Runners then take
// as many requests to it as that of one. They are for statuses that are asked for together, by one goroutine.
type Heads struct {
	src        eventlog.Source
	asked      bool // the source has named its partitions, or why it cannot
	partitions []string
	err        error
	known      map[string]head
}

// head is where a partition ends.
type head struct {
	offset  uint64
	err     error // why that is not known
	current error // why the offset may be too low: see eventlog.Current
}

// NewHeads makes the heads of a source, of which nothing is asked yet.
func NewHeads(src eventlog.Source) *Heads { return &Heads{src: src, known: map[string]head{}} }

// ErrEndUnknown says that a source does not tell where it ends, so that nobody knows how far behind rows are.
var ErrEndUnknown = errors.New("the source of events does not say where it ends")

// Status is [Runner.Status] of a Runner of the source.
func (h *Heads) Status(ctx context.Context, r *Runner) (Status, error) {
	now := r.engine.Monitor.Snapshot()
	s := statusOf(&now)
	s.Projection, s.Models, s.AbandonedCalls = r.projection.Name, r.projection.modelNames(), r.engine.Abandoned()
	if err := h.add(ctx, &s); err != nil {
		err = fmt.Errorf("status of projection %s: %w: %w", r.projection.Name, ErrEndUnknown, err)
		judgeUnknown(&s, &now, err)
		return s, err
	}
	r.progress.judge(&s, &now, r.cfg.StallAfter)
	return s, nil
}

// Current is [eventlog.Current] of a partition of the source.
func (h *Heads) Current(ctx context.Context, partition string) error {
	return h.of(ctx, partition, 0).current
}

// add adds how far the rows are behind.
func (h *Heads) add(ctx context.Context, s *Status) error {
	if err := h.addPartitions(ctx, s); err != nil {
		return err
	}
	known := true
	for i := range s.Partitions {
		p := &s.Partitions[i]
		end := h.of(ctx, p.Partition, p.Checkpoint)
		if end.err != nil {
			return fmt.Errorf("head of partition %q: %w", p.Partition, end.err)
		}
		p.Head, p.HeadKnown = end.offset, true
		if p.Head > p.Checkpoint {
			p.Lag = p.Head - p.Checkpoint
		}
		s.Lag += p.Lag
		known = known && end.current == nil
	}
	s.LagKnown = known
	return nil
}

// addPartitions adds the partitions of which the Runner has read nothing yet.
func (h *Heads) addPartitions(ctx context.Context, s *Status) error {
	if !h.asked {
		h.partitions, h.err = ask(ctx, h.src.Partitions)
		h.asked = true
	}
	if h.err != nil {
		return fmt.Errorf("list the partitions: %w", h.err)
	}
	for _, name := range h.partitions {
		at, known := slices.BinarySearchFunc(s.Partitions, name, func(p PartitionStatus, name string) int {
			return cmp.Compare(p.Partition, name)
		})
		if !known {
			s.Partitions = slices.Insert(s.Partitions, at, PartitionStatus{Partition: name})
		}
	}
	return nil
}

// of is the head of a partition. One before the checkpoint of rows is asked for again: they may have been folded since,
// and must not seem to be of another log.
func (h *Heads) of(ctx context.Context, partition string, checkpoint uint64) head {
	end, known := h.known[partition]
	if !known || end.err == nil && end.offset < checkpoint {
		end, end.err = ask(ctx, func(ctx context.Context) (head, error) {
			offset, err := h.src.Head(ctx, partition)
			return head{offset: offset, current: eventlog.Current(ctx, h.src, partition)}, err
		})
		h.known[partition] = end
	}
	return end
}

// ask makes a request to the source. It makes it once more where it fails, and beside it where it has no answer within
// half of the time: the source may have lost that one alone.
func ask[T any](ctx context.Context, request func(context.Context) (T, error)) (T, error) {
	type answer struct {
		is  T
		err error
	}
	answers := make(chan answer, 2)
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	send := func() {
		is, err := request(asking)
		answers <- answer{is, err}
	}
	go send()
	var half <-chan time.Time // never comes where the time has no end
	if end, bounded := ctx.Deadline(); bounded {
		half = time.After(time.Until(end) / 2)
	}
	var last answer
	for pending, again := 1, false; pending > 0; {
		select {
		case last = <-answers:
			pending--
			if last.err == nil {
				return last.is, nil
			}
		case <-half:
		}
		if !again && ctx.Err() == nil {
			again = true
			pending++
			go send()
		}
	}
	return last.is, last.err
}
