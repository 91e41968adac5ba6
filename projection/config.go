package projection

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/foldql/foldql/projection/internal/deadletter"
)

// RunnerConfig tunes a Runner; the zero RunnerConfig means the defaults.
type RunnerConfig struct {
	// Window is how many events of the projection one commit covers at most, 4096 by default.
	Window int
	// WindowBytes bounds the data of the events of a window, 4 MiB by default. A window holds at least one event.
	WindowBytes int
	// MaxOps is how many ops a projector may return for one event, 10,000 by default; with more, the event becomes a
	// dead letter. A window holds few more.
	MaxOps int
	// MaxRowBytes is how many bytes of rows one event may write, 64 MiB by default; with more, it becomes a dead
	// letter. A commit that has reached so many takes no other event.
	MaxRowBytes int
	// CommitWithin is, on a store that several processes write, how long after the Runner has last seen that nobody
	// else is ahead of it a commit may take, 10 minutes by default. It must be far below the 30 days for which such a
	// store remembers deleted rows.
	CommitWithin time.Duration
	// Readers is how many partitions are read at once, on such a store, for the ops that ask for whole ones; 64 by
	// default.
	Readers int
	// Attempts is how often an event is tried before it becomes a dead letter, 3 by default.
	Attempts int
	// MaxDeadLetters is the share, in percent, of the last 1,000 events that the Runner came to in a partition, or of
	// fewer in a shorter log, that may be dead letters, blocked events included; 50 by default, 100 for no bound.
	// With more, and 100 at least, it stops with a StopError instead of making another. Events that need a row which
	// is not there do not count, nor do those that wait for one of them, nor dead letters that were retried or
	// skipped.
	MaxDeadLetters int
	// EventTimeout is how long the code of the projection may take for one event, 30 s by default. Beyond it the Runner
	// stops with a StopError: the clock decides when it folds, never what.
	EventTimeout time.Duration
	// MinBackoff and MaxBackoff bound the pause before something that failed is tried again: 50 ms and 5 s by default.
	// Pauses double, with jitter.
	MinBackoff, MaxBackoff time.Duration
	// Heartbeat is the longest time between two signs of life of an idle Runner, 5 s by default.
	Heartbeat time.Duration
	// StallAfter is how long a Runner that is behind may make no progress before its state is Stalled, 30 s by default.
	StallAfter time.Duration
	// Now is the clock of Status, and of CommitWithin, for which it must be that of the store's driver; time.Now by
	// default. No row depends on it.
	Now func() time.Time
	// Logger takes what an operator wants to know; none by default.
	Logger *slog.Logger
}

// MaxCommitWithin bounds RunnerConfig.CommitWithin: it is far below the time for which a store that several processes
// write remembers deleted rows.
const MaxCommitWithin = 12 * time.Hour

// withDefaults returns a copy with every unset field filled in.
func (c RunnerConfig) withDefaults() RunnerConfig {
	orElse(&c.Window, 4096)
	orElse(&c.WindowBytes, 4<<20)
	orElse(&c.MaxOps, 10_000)
	orElse(&c.MaxRowBytes, 64<<20)
	orElse(&c.CommitWithin, 10*time.Minute)
	orElse(&c.Readers, 64)
	orElse(&c.Attempts, 3)
	orElse(&c.MaxDeadLetters, 50)
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
		{"Window", int64(c.Window)},
		{"WindowBytes", int64(c.WindowBytes)},
		{"MaxOps", int64(c.MaxOps)},
		{"MaxRowBytes", int64(c.MaxRowBytes)},
		{"CommitWithin", int64(c.CommitWithin)},
		{"Readers", int64(c.Readers)},
		{"Attempts", int64(c.Attempts)},
		{"MaxDeadLetters", int64(c.MaxDeadLetters)},
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
	if c.MaxDeadLetters > deadletter.NoLimit {
		return fmt.Errorf("runner: MaxDeadLetters %d is above 100: it is in percent", c.MaxDeadLetters)
	}
	if c.CommitWithin > MaxCommitWithin {
		return fmt.Errorf("runner: CommitWithin %s is above %s: a store may have forgotten deleted rows by then",
			c.CommitWithin, MaxCommitWithin)
	}
	if c.MinBackoff > c.MaxBackoff {
		return fmt.Errorf("runner: MinBackoff %s is above MaxBackoff %s", c.MinBackoff, c.MaxBackoff)
	}
	return nil
}
