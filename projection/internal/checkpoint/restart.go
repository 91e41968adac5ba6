package checkpoint

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/querydb"
)

// restart drops the rows and begins at the first event. What was decided about dead letters stays on record; those
// that there still are, tried again at their own place. What the former rows covered stays on record, as Replaced.
func (s *State) restart(ctx context.Context, was location, former completion) error {
	if s.done.Table != "" && was.Table != "" && !was.Again && !was.joins() && !was.lost() {
		return s.succeeded(ctx, &was)
	}
	fresh := Header{Version: was.model.Version, Table: was.model.Table, Generation: was.next()}
	var err error
	if fresh.TableID, err = s.db.Tables().ID(ctx, was.model, fresh.Generation); err != nil {
		return err
	}
	if fresh.TableID == "" && s.db.Tables().HasIDs() {
		return fmt.Errorf("%w: the rows of %s are to be begun anew, and the table for its generation %d is not there: "+
			"run 'server tables apply'", querydb.ErrUnavailable, was.model.Name, fresh.Generation)
	}
	notes := []querydb.Note{fresh.note(s.p.Name, was.revision)}
	if was.revision == 0 {
		notes = append(notes, fence(s.p.Name, nil, 0))
	}
	whole, err := s.serving.completionOf(ctx, fresh.Generation, former)
	whole.Claims = former.Claims.with(was.Partitions)
	if err == nil {
		err = s.serving.unready(fresh.Generation)
	}
	if err != nil {
		return err
	}
	notes = append(notes, whole.note(s.p.Name))
	if was.joins() {
		err = s.db.Apply(ctx, querydb.Batch{Notes: notes})
	} else {
		err = s.db.Generations().Begin(ctx, was.model, was.serving, notes)
	}
	if err != nil {
		return fmt.Errorf("begin the rows of %s anew: %w", was.model.Name, err)
	}
	if was.fresh() {
		s.log.InfoContext(ctx, "projection: folding the whole log, it has no checkpoint yet", "model", was.model.Name)
	} else {
		s.log.InfoContext(ctx, "projection: rebuilding from the whole log", "model", was.model.Name, "why", was.why())
	}
	s.dropNotes(ctx, &was.Header)
	return nil
}

// succeeded is the error of a process whose rows another one has begun anew, in another form.
func (s *State) succeeded(ctx context.Context, was *location) error {
	n, err := s.db.Notes().Get(ctx, kindHeader, s.p.Name)
	if err == nil && n.Revision != was.revision {
		err = fmt.Errorf("%w: another process began %s anew between two reads", querydb.ErrStale, s.p.Name)
	}
	if err != nil {
		return err
	}
	return DamageError{fmt.Errorf("another process has begun the rows of %s anew, of version %s in table %s: "+
		"this one, of "+
		"version %s in table %s, must end",
		was.model.Name, was.Version, was.Table, was.model.Version, was.model.Table)}
}

// dropNotes removes what is on record about a generation that was followed by another. It is in nobody's way where that
// fails.
func (s *State) dropNotes(ctx context.Context, of *Header) {
	if of.Table == "" {
		return
	}
	for _, kind := range [...]string{KindCheckpoint, KindDeadLetter} {
		if err := dropKind(ctx, s.db, of.Kind(kind, s.p.Name)); err != nil {
			s.log.DebugContext(ctx, "projection: notes of a former generation stay", "generation", of.Generation, "error", err)
		}
	}
}
