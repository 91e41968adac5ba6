package positions

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/projections"
)

// source gives the incarnations of the partitions of the source of events. The rows that serve are of one log: of
// another only once others serve, which servers that fold may have made of it.
type source struct {
	eventlog.Source
	epoch func() uint64 // of the rows that serve: see querydb.Epoch
	known sync.Map      // of incarnation, by partition
	log   *slog.Logger

	mu     sync.Mutex
	asked  map[string]*inquiry // those that are on their way, by partition
	silent error               // of the last that has ended; nil where that was answered
	again  time.Time           // the source is not to be asked before
}

func newSource(src eventlog.Source, epoch func() uint64, log *slog.Logger) *source {
	return &source{Source: src, epoch: epoch, log: log, asked: map[string]*inquiry{}}
}

// places are those of offsets, in order.
func (s *source) places(ctx context.Context, at eventlog.Offsets) ([]Place, error) {
	all := make([]Place, 0, len(at))
	for partition, offset := range at {
		if offset == 0 {
			continue
		}
		incarnation, err := s.incarnation(ctx, partition)
		if err != nil {
			return nil, err
		}
		all = append(all, Place{partition, incarnation, offset})
	}
	return all, nil
}

// check refuses places in partitions of another incarnation, or of none, with ErrInvalid. Any other error is that the
// source does not say which it has.
func (s *source) check(ctx context.Context, places []Place) error {
	for _, p := range places {
		incarnation, err := s.incarnation(ctx, p.Partition)
		if err != nil {
			return err
		}
		if incarnation != p.Incarnation {
			return ErrInvalid
		}
	}
	return nil
}

// unknown is the error of a partition of which the source does not say what it is: ErrInvalid where it has none of the
// name.
func (s *source) unknown(ctx context.Context, partition string, err error) error {
	all, listErr := s.Partitions(ctx)
	if listErr == nil && !slices.Contains(all, partition) {
		return ErrInvalid
	}
	return errors.Join(err, listErr)
}

// folds are the projections that fold the rows of models.
type folds struct {
	all []*projections.Running
	of  map[*querydb.Model][]*projections.Running
}

func foldsOf(set *projections.Set) *folds {
	f := &folds{all: set.All, of: map[*querydb.Model][]*projections.Running{}}
	for i, p := range set.Projections {
		for _, m := range p.Models() {
			f.of[m] = append(f.of[m], set.All[i])
		}
	}
	return f
}

// those are the projections that what is read depends on.
func (f *folds) those(r *reads) []*projections.Running {
	if r.all {
		return f.all
	}
	var some []*projections.Running
	for _, m := range r.models {
		for _, one := range f.of[m] {
			if !slices.Contains(some, one) {
				some = append(some, one)
			}
		}
	}
	return some
}

// reached is how far the rows of all of the projections have come: of each, at least so far. It has what any of them
// has of dead letters and of copies that are yet to follow.
func reached(those []*projections.Running) (all projection.Reached) {
	for i, one := range those {
		own := one.Reached()
		all.DeadLetters += own.DeadLetters
		all.Cascades += own.Cascades
		switch i {
		case 0:
			all.Offsets = own.Offsets
			continue
		case 1:
			all.Offsets = maps.Clone(all.Offsets)
		}
		for partition, offset := range all.Offsets {
			all.Offsets[partition] = min(offset, own.Offsets[partition])
		}
	}
	return all
}
