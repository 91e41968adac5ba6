package projection

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/pace"
	"github.com/foldql/foldql/querydb"
)

// RunnerConfig tunes a Runner; the zero RunnerConfig means the defaults.
type RunnerConfig struct {
	// WindowEvents is how many events of the projection are folded at once, and covered by one commit, at most; 4096 by
	// default.
	WindowEvents int
	// WindowBytes bounds the data of the events of a window, 4 MiB by default. A window holds at least one event.
	WindowBytes int
	// MaxOpsPerEvent is how many ops a projector may return for one event, 10,000 by default; with more, the event
	// becomes a dead letter. A window that holds as many, or WindowEvents ops if that is more, takes no other event.
	MaxOpsPerEvent int
	// MaxRowBytesPerEvent is how many bytes of rows one event may write, 64 MiB by default; with more, the event
	// becomes a dead letter. A commit that has reached so many takes no other event.
	MaxRowBytesPerEvent int
	// MaxAggregateItems is how many items an aggregate may have, which are written in one commit: 95 by default, 1,000 at
	// most. With more, the event becomes a dead letter. On DynamoDB it is never more than a transaction holds, which is
	// about 95.
	MaxAggregateItems int
	// CommitTimeout bounds the time from the last check that no other process is ahead to the last write of a commit, on
	// a store that several processes write; 10 minutes by default. It must be far below the 30 days for which such a
	// store keeps the tombstones of deleted rows.
	CommitTimeout time.Duration
	// ParallelReads is how many partitions of rows are read at once for ops that need whole partitions, on a store that
	// several processes write; 64 by default.
	ParallelReads int
	// Attempts is how often an event is tried before it becomes a dead letter, 3 by default.
	Attempts int
	// MaxDeadLetterPercent is the share, in percent, of the last 1,000 events that the Runner came to in a partition, or
	// of fewer in a shorter log, that may be dead letters, blocked events included; 50 by default, 100 for no bound. With
	// more, and 100 at least, it stops with a StopError instead of making another. Events that need a row which is not
	// there do not count, nor do those that wait for one of them, nor dead letters that were retried or skipped.
	MaxDeadLetterPercent int
	// EventTimeout is how long the code of the projection may take for one event, 30 s by default. Beyond it the Runner
	// stops with a StopError: the clock decides when it folds, never what.
	EventTimeout time.Duration
	// MinBackoff and MaxBackoff bound the pause before something that failed is tried again: 50 ms and 5 s by default.
	// Pauses double, with jitter.
	MinBackoff, MaxBackoff time.Duration
	// Heartbeat is the longest time between two signs of life of an idle Runner, 5 s by default.
	Heartbeat time.Duration
	// StallAfter is how long a Runner that is behind may make no progress before its state is StateStalled, 30 s by
	// default.
	StallAfter time.Duration
	// KeepServing lets rows go on serving that are complete and not those that the projection folds, since its models had
	// another form when they were folded: [Runner.Run] and [Runner.LoadCheckpoint] then return [ErrOtherRows]. Rows of
	// which a rebuild was asked for are folded on until others are begun, see [BeginBuild]. Without it such rows are
	// dropped and begun again.
	KeepServing bool
	// EndWhenFull has Run end with the error where the store, or a copy of the events that it reads, has no space left.
	// Without it Run waits until there is some.
	EndWhenFull bool
	// Budget bounds how much of the processors the Runners take together that have it, and has their requests to the
	// store make way for others; nil for no bound.
	Budget *Budget
	// Now is the clock of Status, and of CommitTimeout, for which it must be that of the store's driver; time.Now by
	// default. No row depends on it.
	Now func() time.Time
	// Logger takes what an operator wants to know; none by default.
	Logger *slog.Logger
	// ExplainError returns an error as Status and the log show it, with what an operator can do about it, say: it knows
	// the commands of the program, and a Runner does not. By default errors stay as they are.
	ExplainError func(error) error
}

// Budget is a part of the processors that several Runners share, so that the rest is left to others: all of them fold
// for no more than that part of the time of all processors, each for an equal part of that. Where the store is of this
// process alone, no more of them fold at once than the part is whole processors, or one, and none for much longer than
// a fifth of a millisecond without a rest. Where other processes write to the store too, they mostly wait for its
// answers, and each rests as if it were alone. Asked notes that somebody waits for something else, such as a query.
type Budget = pace.Budget

// NewBudget makes the Budget of a part, above 0 and up to 1, of the processors that the process may use; idle, which is
// no smaller, is the part while Asked was not called for a quarter of a second.
func NewBudget(busy, idle float64) (*Budget, error) { return pace.New(busy, idle) }

// MaxCommitTimeout bounds RunnerConfig.CommitTimeout: it is far below the time for which a store that several processes
// write keeps the tombstones of deleted rows.
const MaxCommitTimeout = 12 * time.Hour

// MaxAggregateItems bounds RunnerConfig.MaxAggregateItems: an aggregate is read with one page.
const MaxAggregateItems = querydb.MaxPageRows

// withDefaults returns a copy with every unset field filled in.
func (c RunnerConfig) withDefaults() RunnerConfig {
	orElse(&c.WindowEvents, 4096)
	orElse(&c.WindowBytes, 4<<20)
	orElse(&c.MaxOpsPerEvent, 10_000)
	orElse(&c.MaxRowBytesPerEvent, 64<<20)
	orElse(&c.MaxAggregateItems, 95)
	orElse(&c.CommitTimeout, 10*time.Minute)
	orElse(&c.ParallelReads, 64)
	orElse(&c.Attempts, 3)
	orElse(&c.MaxDeadLetterPercent, 50)
	orElse(&c.EventTimeout, 30*time.Second)
	orElse(&c.MinBackoff, 50*time.Millisecond)
	orElse(&c.MaxBackoff, max(5*time.Second, c.MinBackoff))
	orElse(&c.Heartbeat, 5*time.Second)
	orElse(&c.StallAfter, 30*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func orElse[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (c *RunnerConfig) validate() error {
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"WindowEvents", int64(c.WindowEvents)},
		{"WindowBytes", int64(c.WindowBytes)},
		{"MaxOpsPerEvent", int64(c.MaxOpsPerEvent)},
		{"MaxRowBytesPerEvent", int64(c.MaxRowBytesPerEvent)},
		{"MaxAggregateItems", int64(c.MaxAggregateItems)},
		{"CommitTimeout", int64(c.CommitTimeout)},
		{"ParallelReads", int64(c.ParallelReads)},
		{"Attempts", int64(c.Attempts)},
		{"MaxDeadLetterPercent", int64(c.MaxDeadLetterPercent)},
		{"EventTimeout", int64(c.EventTimeout)},
		{"MinBackoff", int64(c.MinBackoff)},
		{"MaxBackoff", int64(c.MaxBackoff)},
		{"Heartbeat", int64(c.Heartbeat)},
		{"StallAfter", int64(c.StallAfter)},
	} {
		if field.value < 0 {
			return fmt.Errorf("runner: %s is negative", field.name)
		}
	}
	if c.MaxDeadLetterPercent > deadletter.NoLimit {
		return fmt.Errorf("runner: MaxDeadLetterPercent %d is above 100: it is in percent", c.MaxDeadLetterPercent)
	}
	if c.MaxAggregateItems > MaxAggregateItems {
		return fmt.Errorf("runner: MaxAggregateItems %d is above %d, which is what one range of items is read with",
			c.MaxAggregateItems, MaxAggregateItems)
	}
	if c.CommitTimeout > MaxCommitTimeout {
		return fmt.Errorf("runner: CommitTimeout %s is above %s: a store may have forgotten deleted rows by then",
			c.CommitTimeout, MaxCommitTimeout)
	}
	if c.MinBackoff > c.MaxBackoff {
		return fmt.Errorf("runner: MinBackoff %s is above MaxBackoff %s", c.MinBackoff, c.MaxBackoff)
	}
	return nil
}
