package sources

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/server/internal/config"
)

// AppendSample appends the sample to a log that is empty, all of it or nothing, and returns how many events that were.
func AppendSample(ctx context.Context, log eventlog.Log, sample iter.Seq[eventlog.Event], types eventlog.Types) (int,
	error) {
	ends, err := Heads(ctx, log)
	if err != nil {
		return 0, fmt.Errorf("append the sample events: %w", err)
	}
	for _, end := range ends {
		if end > 0 {
			return 0, nil
		}
	}
	events := slices.Collect(sample)
	if err := checkSample(events, types); err != nil {
		return 0, err
	}
	if _, err := log.Append(ctx, events); err != nil {
		return 0, fmt.Errorf("append the sample events: %w", err)
	}
	return len(events), nil
}

// checkSample refuses sample events that POST /events would refuse.
func checkSample(events []eventlog.Event, types eventlog.Types) error {
	for i := range events {
		e := &events[i]
		declared := types[e.Type]
		if declared == nil {
			return config.Wrong("sample", "sample event %d (id %q) is of type %q, which no schema of events declares%s: "+
				"declare it, or correct the sample (cmd/server/sample.json in a project that init made)", i+1, e.ID, e.Type,
				meant(e.Type, types))
		}
		if declared.Retired {
			return config.Wrong("sample", "sample event %d (id %q) is of type %q, which is retired: leave it out", i+1, e.ID,
				e.Type)
		}
		if _, err := declared.CheckEvent(e); err != nil {
			return config.Wrong("sample", "sample event %d (id %q) of type %s: %w: correct the event", i+1, e.ID, e.Type, err)
		}
	}
	return nil
}

// meant proposes the declared type that is most like the given one.
func meant(name string, declared eventlog.Types) string {
	names := slices.Sorted(maps.Keys(declared))
	if best, changes := config.Nearest(name, names); best != "" && changes <= len(name)/3 {
		return fmt.Sprintf(" (is %s meant?)", best)
	}
	return ""
}
