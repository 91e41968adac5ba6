package logcheck

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/server/internal/plural"
	"github.com/foldql/foldql/server/internal/sources"
)

// Losses are what would be lost with a log that is accepted, by partition.
type Losses map[string]*loss

type loss struct {
	covered uint64 // offset of the last event that is on record
	end     uint64 // of the log
	agreed  uint64 // up to which the log is known to hold the events on record
	differs bool   // the log holds another event behind that, or was recreated
	// decisions count those that are dropped.
	decisions uint64
}

// Add takes in what the log contradicts of a projection.
func (l Losses) Add(
	ctx context.Context, db *querydb.DB, src *sources.Source, one projection.Projection, list []*projection.MismatchError,
) error {
	agreed, err := projection.LastMatchingOffsets(ctx, db, src.Source, one)
	if err != nil {
		return err
	}
	for _, m := range list {
		at := l[m.Partition]
		if at == nil {
			at = &loss{}
			l[m.Partition] = at
		}
		at.covered, at.end = max(at.covered, m.Offset), max(at.end, m.End)
		at.agreed = max(at.agreed, agreed[m.Partition])
		at.differs = at.differs || m.Found != "" || m.Recreated
		if m.Record == projection.RecordDecision {
			at.decisions++
		}
	}
	return nil
}

// Print says in lines of text what would be lost: events by their offsets, and decisions by their number.
func (l Losses) Print(to io.Writer) {
	for _, partition := range slices.Sorted(maps.Keys(l)) {
		at := l[partition]
		if at.covered > at.end {
			fmt.Fprintf(to, "lost in partition %q: %s, at offsets %d to %d, which the log does not have\n",
				partition, plural.Count(at.covered-at.end, "event"), at.end+1, at.covered)
		}
		if last := min(at.covered, at.end); at.differs && last > at.agreed {
			fmt.Fprintf(to, "lost in partition %q: up to %s, at offsets %d to %d, where the log has others\n",
				partition, plural.Count(last-at.agreed, "event"), at.agreed+1, last)
		}
		if at.differs && at.agreed >= at.covered {
			fmt.Fprintf(to, "lost in partition %q: no event; the log has another identity\n", partition)
		}
		if at.decisions > 0 {
			fmt.Fprintf(to, "lost in partition %q: %s to retry or skip events that the log does not have\n",
				partition, plural.Count(at.decisions, "decision"))
		}
	}
}
