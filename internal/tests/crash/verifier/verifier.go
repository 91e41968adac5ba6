// Package verifier says whether what a store holds is what its events say: it folds them again in memory, event by
// event, and compares every row, every entry of every index, the dead letters and the checkpoints. Rows of one
// projection it compares besides with a fold that is the project's own.
//
// It imports public packages alone, so that it can be compiled into a project that is a module of its own.
package verifier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// Project is what is folded.
type Project struct {
	Models      []*querydb.Model
	Projections []projection.Projection
	Plain       *Plain // nil for none
}

// Verdict is what was compared, and how it differs.
type Verdict struct {
	// Counts are the rows that each table must have, by its physical name without the prefix, and the entries of each
	// index, by table/index.
	Counts  map[string]int
	Answers int // that were verified
	Plain   int // rows, or where one was, that were compared with those of a plain fold
	// DeadLetters are how many there are, over all projections.
	DeadLetters int
	// Differences are in words; those beyond the first few are only counted, in More.
	Differences []string
	More        int
}

// tableName is the name of a physical table, without the prefix.
func tableName(table string, generation int) string {
	if generation == 0 {
		return table
	}
	return fmt.Sprintf("%s.g%d", table, generation)
}

// Verify compares what the store holds with what the events of the file fold into. It closes the store. Nobody may
// write to it meanwhile. It verifies also what servers answered before. It takes it that rows do not hang on how the
// partitions of a directory of events take turns: these are compared but for where they stand.
func (p Project) Verify(ctx context.Context, events string, store driver.Driver, answers []Answer) (v *Verdict,
	err error) {
	got, err := openQuietly(ctx, store, p.Models)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	defer func() { err = errors.Join(err, got.Close()) }()
	memory := newRecorder()
	want, err := openQuietly(ctx, memory, p.Models)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, want.Close()) }()
	c := &comparison{got: got.ForFold(""), want: want.ForFold(""), recorded: memory,
		verdict: Verdict{Counts: map[string]int{}}}
	if parted(events) {
		dir, err := os.MkdirTemp("", "merged-")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		if events, c.parted, err = merge(ctx, events, dir); err != nil {
			return nil, fmt.Errorf("merge the partitions: %w", err)
		}
	} else if err := p.decided(ctx, got, want); err != nil {
		return nil, fmt.Errorf("what was decided about events: %w", err)
	}
	if err := fold(ctx, events, want, projection.Group(p.Projections)); err != nil {
		return nil, fmt.Errorf("fold in memory: %w", err)
	}
	for _, m := range p.Models {
		if err := c.model(ctx, m); err != nil {
			return nil, fmt.Errorf("compare %s: %w", m.Name, err)
		}
	}
	for _, one := range projection.Group(p.Projections) {
		if err := errors.Join(c.notes(ctx, one.Name), c.copies(ctx, one.Name)); err != nil {
			return nil, fmt.Errorf("compare the notes of %s: %w", one.Name, err)
		}
	}
	if p.Plain != nil {
		if err := c.plain(ctx, p.Plain, events); err != nil {
			return nil, fmt.Errorf("compare with a plain fold: %w", err)
		}
	}
	if err := c.answers(ctx, p, events, answers); err != nil {
		return nil, fmt.Errorf("verify what servers answered: %w", err)
	}
	return &c.verdict, nil
}

func openQuietly(ctx context.Context, store driver.Driver, models []*querydb.Model) (*querydb.DB, error) {
	return querydb.Open(ctx, store, models, querydb.Config{Logger: slog.New(slog.DiscardHandler)})
}

// fold folds one event at a time, so that nothing hangs on where a window ends.
func fold(ctx context.Context, events string, db *querydb.DB, groups []projection.Projection) (err error) {
	source, err := filesource.Open(filesource.Options{Path: events})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	var running sync.WaitGroup
	errs := make([]error, len(groups))
	for i, one := range groups {
		running.Go(func() {
			runner, err := projection.NewRunner(one, source, db, projection.RunnerConfig{WindowEvents: 1, Attempts: 1})
			if err == nil {
				err = runner.Run(ctx)
			}
			if err != nil && !errors.Is(err, io.EOF) {
				errs[i] = fmt.Errorf("projection %s: %w", one.Name, err)
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}
