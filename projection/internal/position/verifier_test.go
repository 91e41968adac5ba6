package position

import (
	"context"
	"errors"
	"strconv"
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

// counted counts how often a log of 100 events is asked how far it is.
type counted struct {
	eventlog.Source
	asks int
}

func (c *counted) Partitions(context.Context) ([]string, error) {
	c.asks++
	return []string{"0"}, nil
}

func (c *counted) Head(context.Context, string) (uint64, error) {
	c.asks++
	return 100, nil
}

func (c *counted) Read(_ context.Context, partition string, after uint64, _ int) ([]eventlog.Event, error) {
	return []eventlog.Event{{Partition: partition, Offset: after + 1, ID: strconv.FormatUint(after+1, 10)}}, nil
}

// TestHowFarALogIsIsAskedOnceForAllRecords, of which there may be many thousands.
func TestHowFarALogIsIsAskedOnceForAllRecords(t *testing.T) {
	log := &counted{}
	v := Verifier{Source: log, Projection: "P"}
	once := 0
	for at := range uint64(99) {
		err := v.Holds(t.Context(), RecordDecision, "0", at+1, &Anchor{Offset: at + 1, ID: strconv.FormatUint(at+1, 10)})
		if err != nil {
			t.Fatal(err)
		}
		if once == 0 {
			once = log.asks
		}
	}
	if once == 0 || log.asks != once {
		t.Errorf("the log was asked %d times for 99 records, and %d times for the first", log.asks, once)
	}
	if err := v.Holds(t.Context(), RecordDecision, "0", 50, &Anchor{Offset: 50, ID: "other"}); !Mismatched(err) {
		t.Errorf("a record of another event: %v, want a mismatch", err)
	}
}
