package delivery

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/backoff"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/pace"
	"github.com/foldql/foldql/querydb"
)

// Config is a projection.RunnerConfig with every field set but ExplainError.
type Config struct {
	WindowEvents           int
	WindowBytes            int
	MaxOpsPerEvent         int
	MaxRowBytesPerEvent    int
	MaxAggregateItems      int
	CommitTimeout          time.Duration
	ParallelReads          int
	Attempts               int
	MaxDeadLetterPercent   int
	EventTimeout           time.Duration
	MinBackoff, MaxBackoff time.Duration
	Heartbeat              time.Duration
	StallAfter             time.Duration
	KeepServing            bool
	EndWhenFull            bool
	Budget                 *pace.Budget
	Now                    func() time.Time
	Logger                 *slog.Logger
	ExplainError           func(error) error
}

// explained is the error as an operator is to see it.
func (c *Config) explained(err error) error {
	if err == nil || c.ExplainError == nil {
		return err
	}
	return c.ExplainError(err)
}

// mostOps is how many ops a window holds, but for those of its last event.
func (c *Config) mostOps() int { return max(c.WindowEvents, c.MaxOpsPerEvent) }

// pause waits before attempt n+1, n counted from 0.
func (c *Config) pause(ctx context.Context, n int) error {
	return backoff.Wait(ctx, backoff.Delay(c.MinBackoff, c.MaxBackoff, n))
}

// Projection is what is delivered to.
type Projection struct {
	Name   string
	Models []fold.Model // whose rows it folds, at least one
	Code   Code
	// CodeHash is that of the packages that the code is in, "" where the program knows none.
	CodeHash string
}

// Code is what a projection makes of events.
type Code interface {
	// Wants reports whether the event may be the projection's, by what is known without user code.
	Wants(e *eventlog.Event) bool
	// Unknown says which version the data of an event that the projection wants are of, if it does not know it.
	Unknown(e *eventlog.Event) *eventlog.UnknownVersionError
	// Ops calls the user's code about an event that the projection wants; others is set where its tags say that it is
	// not the projection's. An error says why one that may be cannot be folded.
	Ops(e *eventlog.Event, attempts int) (others bool, ops []fold.Op, err error)
}

func (p *Projection) newFold(db *querydb.DB, cfg *Config) *fold.Fold {
	return fold.New(db, fold.Limits{RowBytes: cfg.MaxRowBytesPerEvent, ParallelReads: cfg.ParallelReads,
		AggregateItems: cfg.MaxAggregateItems}, p.Models...)
}

// version is that of all models together.
func (p *Projection) version() string {
	all := make([]string, len(p.Models))
	for i, m := range p.Models {
		all[i] = m.Model.Version
	}
	return strings.Join(all, "+")
}

func (p *Projection) record() checkpoint.Projection {
	of := checkpoint.Projection{Name: p.Name, Code: p.CodeHash}
	for _, m := range p.Models {
		of.Models = append(of.Models, m.Model)
	}
	if len(p.Models) == 1 {
		of.Reindex = p.Models[0].Reindex
	}
	return of
}
