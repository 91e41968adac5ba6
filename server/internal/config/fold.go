package config

import (
	"log/slog"
	"time"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// Fold are the options of every command that folds.
type Fold struct {
	MaxOps         int           `help:"Maximum number of ops that a projector may return for one event; an event with more becomes a dead letter." default:"10000" group:"Data"`
	MaxRowBytes    int           `help:"Maximum bytes of rows that one event may write; an event that writes more becomes a dead letter." default:"67108864" group:"Data"`
	MaxAggregate   int           `help:"Maximum number of items of an aggregate, which are one commit; an event that makes it larger becomes a dead letter. On DynamoDB no more than a transaction holds." default:"95" group:"Data"`
	MaxDeadLetters int           `help:"Percentage of the last 1,000 events of a projection that may become dead letters, 1 to 100; a projection with more, and with at least 100, stops. 100 sets no bound." default:"50" group:"Data"`
	Window         int           `help:"Maximum number of events that a projection commits at once: more are faster, fewer leave less to repeat after a crash." default:"4096" group:"Data"`
	ProjectTimeout time.Duration `help:"Time that the code of a projection may take for one event; the projection stops at an event that takes longer." default:"30s" group:"Data"`
	CommitTimeout  time.Duration `help:"Time after which a commit to DynamoDB is given up, and its events folded again; 12 hours at most." default:"10m" group:"Data"`
}

// Runner is the configuration of a Runner that the options ask for.
func (f *Fold) Runner(log *slog.Logger) (projection.RunnerConfig, error) {
	if f.Window < 1 {
		return projection.RunnerConfig{}, Wrong("window", "%d is too little; give 1 at least", f.Window)
	}
	if f.MaxOps < 1 {
		return projection.RunnerConfig{}, Wrong("max-ops", "%d is too little; give 1 at least", f.MaxOps)
	}
	if f.MaxRowBytes < querydb.MaxRowSize {
		return projection.RunnerConfig{}, Wrong("max-row-bytes", "%d is less than a single row may have; give %d at least",
			f.MaxRowBytes, querydb.MaxRowSize)
	}
	if f.MaxAggregate < 1 || f.MaxAggregate > projection.MaxAggregateItems {
		return projection.RunnerConfig{}, Wrong("max-aggregate", "%d is out of bounds; give 1 to %d", f.MaxAggregate,
			projection.MaxAggregateItems)
	}
	if f.MaxDeadLetters < 1 || f.MaxDeadLetters > 100 {
		return projection.RunnerConfig{}, Wrong("max-dead-letters", "%d is no share; give 1 to 100 percent, 100 for no bound",
			f.MaxDeadLetters)
	}
	if f.CommitTimeout <= 0 || f.CommitTimeout > projection.MaxCommitTimeout {
		return projection.RunnerConfig{}, Wrong("commit-timeout", "%s is out of bounds; give more than 0s, and %s at most",
			f.CommitTimeout, projection.MaxCommitTimeout)
	}
	if f.ProjectTimeout <= 0 {
		return projection.RunnerConfig{}, Wrong("project-timeout", "%s is too little; give more than 0s", f.ProjectTimeout)
	}
	return projection.RunnerConfig{
		WindowEvents: f.Window, EventTimeout: f.ProjectTimeout, CommitTimeout: f.CommitTimeout, MaxOpsPerEvent: f.MaxOps,
		MaxRowBytesPerEvent:  f.MaxRowBytes,
		MaxAggregateItems:    f.MaxAggregate,
		MaxDeadLetterPercent: f.MaxDeadLetters, Logger: log,
	}, nil
}
