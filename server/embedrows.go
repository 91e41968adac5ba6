package server

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/projections"
)

// Await returns when the rows of the named projections, of all where none is named, have the events that the program
// has appended to its log: then a query shows them, and so does a read of EmbedConfig.DB, but for indexes of DynamoDB,
// which follow later, and for copies that follow their rows after the commit. Events that became dead letters count as
// well; see DeadLetters. It is an error where nobody folds the rows on, and when the context ends.
func (e *Embedded) Await(ctx context.Context, appended []eventlog.AppendResult, names ...string) error {
	of, err := e.named(names)
	if err != nil {
		return err
	}
	at := eventlog.Offsets{}
	for _, a := range appended {
		at[a.Partition] = max(at[a.Partition], a.Offset)
	}
	for _, one := range of {
		if err := one.Await(ctx, at); err != nil {
			return fmt.Errorf("await the rows of projection %s: %w", one.Name, err)
		}
	}
	return nil
}

// Position is what the answer of POST /events has as Foldql-Position, of events that the program has appended to its
// log. A client that asks with it as Foldql-Min-Position sees them. It is "" where the log does not say at once which
// one it is.
func (e *Embedded) Position(ctx context.Context, appended []eventlog.AppendResult) string {
	return e.server.positions.Of(ctx, appended)
}

// DeadLetters lists up to limit dead letters of a projection, in the order of the log, after the one with the given
// Ref, from the first where that is "".
func (e *Embedded) DeadLetters(ctx context.Context, name, after string, limit int) ([]projection.DeadLetter, error) {
	of, err := e.named([]string{name})
	if err != nil {
		return nil, err
	}
	return of[0].DeadLetters(ctx, after, limit)
}

// RetryDeadLetter folds a dead letter of a projection again, and those that it blocks, as 'server deadletters retry'
// does. It is the reason where it fails again, and [projection.ErrNoDeadLetter] where there is no such dead letter. A
// retry that has begun goes on when its context ends.
func (e *Embedded) RetryDeadLetter(ctx context.Context, name, ref string) error {
	of, err := e.named([]string{name})
	if err != nil {
		return err
	}
	decisions := of[0].Decisions()
	return e.server.deciding.Do(ctx, func(ctx context.Context) error {
		if err := decisions.Resolve(ctx, ref, (*projection.Runner).Retry); err != nil {
			return fmt.Errorf("retry dead letter %s of projection %s: %w", ref, name, err)
		}
		decisions.Follow(ctx, ref)
		return nil
	})
}

// named are the projections of these names, all where none is given.
func (e *Embedded) named(names []string) (of []*projections.Running, err error) {
	if len(names) == 0 {
		return e.server.folds.All, nil
	}
	for _, name := range names {
		one := e.server.folds.Find(name)
		if one == nil {
			return nil, fmt.Errorf("there is no projection %q: name one of App.Projections", name)
		}
		of = append(of, one)
	}
	return of, nil
}
