package position

import (
	"context"
	"errors"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// behind is the copy of a log that has one event. The copy has none, and gets it when it has been asked so many times
// how far the log is; the log is away until then.
type behind struct {
	eventlog.Source
	asks  int
	empty bool // the log has no event
}

var errAway = errors.New("the log is away")

func (b *behind) Current(context.Context, string) error {
	if b.asks--; b.asks < 0 {
		return nil
	}
	return errAway
}

func (b *behind) Read(_ context.Context, partition string, after uint64, _ int) ([]eventlog.Event, error) {
	if b.asks >= 0 || b.empty {
		return nil, nil
	}
	return []eventlog.Event{{Partition: partition, Offset: after + 1}}, nil
}

// TestAnEventThatACopyHasNotComeToIsNotGone while the log is away, nor where that comes back after the copy was read.
func TestAnEventThatACopyHasNotComeToIsNotGone(t *testing.T) {
	if e, err := Fetch(t.Context(), &behind{asks: 1}, "0", 7); !errors.Is(err, errAway) || errors.Is(err, ErrGone) {
		t.Errorf("while the log is away: %v, %v; want that it is", e, err)
	}
	if e, err := Fetch(t.Context(), &behind{}, "0", 7); err != nil || e.Offset != 7 {
		t.Errorf("where the log comes back: %v, %v; want the event", e, err)
	}
	if e, err := Fetch(t.Context(), &behind{empty: true}, "0", 7); !errors.Is(err, ErrGone) {
		t.Errorf("where the log has it no more: %v, %v; want that it is gone", e, err)
	}
}
