package checkpoint

import (
	"context"

	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// readLetters reads the dead letters of a kind.
func readLetters(ctx context.Context, db *querydb.DB, kind string) (*deadletter.Index, error) {
	letters, blocked := deadletter.NewIndex(), map[position.Ref]bool{}
	err := eachNote(ctx, db, kind, func(n querydb.Note) error {
		l, at, err := deadletter.Parse(n)
		if err != nil {
			return DamageError{err}
		}
		letters.Add(deadletter.Subject{Partition: at.Partition, Source: l.Source, Name: l.Subject}, at.Offset, l.Number)
		if l.BlockedBy != "" {
			blocked[at] = true
		}
		if l.Missing != nil {
			letters.Wait(at, l.Missing.RowOf())
			letters.Unchecked = true
		}
		return nil
	})
	letters.WakeLeftBehind(blocked)
	return letters, err
}

// readTasks reads which rows their copies have yet to follow.
func readTasks(ctx context.Context, db *querydb.DB, kind string) (*cascade.Tasks, error) {
	tasks := cascade.NewTasks()
	return tasks, eachNote(ctx, db, kind, func(n querydb.Note) error {
		t, err := cascade.ParseTask(&n)
		if err != nil {
			return DamageError{err}
		}
		tasks.Put(t)
		return nil
	})
}

// readDecisions reads what was decided about the dead letters of the projection.
func readDecisions(ctx context.Context, db *querydb.DB, projection string) (map[position.Ref]deadletter.Decision,
	error) {
	decisions := map[position.Ref]deadletter.Decision{}
	return decisions, eachNote(ctx, db, deadletter.KindDecision+projection, func(n querydb.Note) error {
		d, err := deadletter.ParseDecision(n)
		if err != nil {
			return DamageError{err}
		}
		decisions[d.Ref] = d
		return nil
	})
}
