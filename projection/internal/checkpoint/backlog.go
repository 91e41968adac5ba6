package checkpoint

import (
	"context"
	"time"

	"github.com/foldql/foldql/keys"
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
			letters.Wait(at, l.Missing)
			letters.Unchecked = true
		}
		return nil
	})
	letters.WakeLeftBehind(blocked)
	return letters, err
}

// letterTally is how many dead letters there are that others add and remove. Whether there are any is known at each
// look; they are counted a page at a time, so that nobody waits for the end of a count, and less and less often as long
// as there are as many: a person decides about them, which can take weeks, and each is read for a count.
type letterTally struct {
	kind  string // of their notes
	known int    // by the last count; 1 where there are some and they are yet to be counted

	counted int           // so far, by the count that is under way
	after   string        // where that one goes on; "" where none is under way
	took    time.Duration // so far
	again   time.Time     // the next one begins no sooner
	wait    time.Duration // until then, where a count takes little time
}

const (
	tallyPage   = 1000        // dead letters that are read at once
	tallyPauses = 20          // times as long as a count takes none is under way
	tallyLatest = time.Minute // a count begins that follows one which has found as many
)

// look finds out whether there are dead letters of the kind.
func (t *letterTally) look(ctx context.Context, db *querydb.DB, kind string) error {
	some, err := db.Notes().List(ctx, kind, "", 1)
	switch {
	case err != nil:
		return err
	case kind != t.kind || len(some) == 0:
		*t = letterTally{kind: kind, known: len(some)}
	default:
		t.known = max(t.known, 1)
	}
	return nil
}

// countOn reads another page, where a count is due, and reports whether that has ended one.
func (t *letterTally) countOn(ctx context.Context, db *querydb.DB, now func() time.Time) (ended bool, err error) {
	began := now()
	if t.known == 0 || t.after == "" && began.Before(t.again) {
		return false, nil
	}
	page, err := db.Notes().List(ctx, t.kind, t.after, tallyPage)
	if err != nil {
		return false, err
	}
	t.counted, t.took = t.counted+len(page), t.took+now().Sub(began)
	if len(page) == tallyPage {
		t.after = page[tallyPage-1].ID
		return false, nil
	}
	wait := reviewEvery
	if t.counted == t.known {
		wait = min(max(2*t.wait, reviewEvery), tallyLatest)
	}
	*t = letterTally{kind: t.kind, known: t.counted, wait: wait, again: now().Add(max(wait, tallyPauses*t.took))}
	return true, nil
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

// LookUpTasks reads the tasks of those IDs as they are on record by now, and tells of which IDs there is none.
func LookUpTasks(ctx context.Context, s *State, ids []string) (tasks []cascade.Task, none []string, err error) {
	kind := s.done.Kind(KindCascade, s.p.Name)
	wanted := make([]keys.Key, len(ids))
	for i, id := range ids {
		wanted[i] = keys.Key{PK: kind, SK: id}
	}
	notes, err := s.db.Notes().GetAll(ctx, wanted)
	if err != nil {
		return nil, nil, err
	}
	for i := range notes {
		if notes[i].Value == nil {
			none = append(none, notes[i].ID)
			continue
		}
		t, err := cascade.ParseTask(&notes[i])
		if err != nil {
			return nil, nil, Damaged(err)
		}
		tasks = append(tasks, t)
	}
	return tasks, none, nil
}

// IsLetterElsewhere reports whether the event is a dead letter of other rows of the projection.
func IsLetterElsewhere(ctx context.Context, s *State, at position.Ref) (is bool, err error) {
	err = eachOther(ctx, s, func(h *Header) error {
		n, err := s.db.Notes().Get(ctx, h.Kind(KindDeadLetter, s.p.Name), at.ID())
		is = is || n.Value != nil
		return err
	})
	return is, err
}

// CountNewLetters counts the dead letters of the rows that are being built which are none of the rows that serve, as
// far as these have come: an event that they have not folded yet they cannot lose. Where it is not on record how far
// they are, all count.
func CountNewLetters(ctx context.Context, db *querydb.DB, p Projection) (n int, err error) {
	h, err := readHeader(ctx, db, builds, p.Name)
	if err != nil {
		return 0, err
	}
	built, err := lettersOf(ctx, db, &h, p.Name)
	if err != nil || len(built) == 0 {
		return 0, err
	}
	onRecord, lost := false, map[position.Ref]bool{}
	err = eachServing(ctx, db, p, func(name string, b *Record) error {
		if !b.holds(p, name) {
			return nil
		}
		onRecord = true
		known, err := lettersOf(ctx, db, &b.Header, name)
		for at := range built {
			lost[at] = lost[at] || !known[at] && at.Offset <= b.Partitions[at.Partition].Offset
		}
		return err
	})
	for _, is := range lost {
		if is {
			n++
		}
	}
	if !onRecord {
		n = len(built)
	}
	return n, err
}

// CountDeadLetters counts the dead letters of rows.
func CountDeadLetters(ctx context.Context, db *querydb.DB, of *Rows) (n int, err error) {
	err = eachNote(ctx, db, of.letters, func(querydb.Note) error { n++; return nil })
	return n, err
}

// Backlog is what rows lack of the events up to which they are folded.
type Backlog struct {
	DeadLetters    int
	Cascades       int            // rows that their copies are yet to follow
	FailedCascades []cascade.Task // those of which some copies cannot
}

// ServingBacklog reads the backlog of the rows that serve of the models, of whoever folds them: another version, maybe,
// whose tasks count also where this one cannot read them.
func ServingBacklog(ctx context.Context, db *querydb.DB, p Projection) (all Backlog, err error) {
	err = eachServing(ctx, db, p, func(name string, b *Record) error {
		count := func(querydb.Note) error { all.DeadLetters++; return nil }
		if err := eachNote(ctx, db, b.letterKind(name), count); err != nil {
			return err
		}
		tasks := cascade.NewTasks()
		err := eachNote(ctx, db, b.Kind(KindCascade, name), func(n querydb.Note) error {
			if t, err := cascade.ParseTask(&n); err == nil {
				tasks.Put(t)
			} else {
				all.Cascades++
			}
			return nil
		})
		all.Cascades += tasks.Len()
		all.FailedCascades = append(all.FailedCascades, tasks.Failed()...)
		return err
	})
	return all, err
}

// ReadTasks reads which rows their copies have yet to follow: other processes may have changed rows.
func ReadTasks(ctx context.Context, s *State) error {
	tasks, err := readTasks(ctx, s.db, s.done.Kind(KindCascade, s.p.Name))
	if err != nil {
		return err
	}
	tasks.RetryAgain(s.Tasks)
	s.Tasks = tasks
	return nil
}

// lettersOf are the dead letters of the rows of a projection.
func lettersOf(ctx context.Context, db *querydb.DB, h *Header, projection string) (map[position.Ref]bool, error) {
	all := map[position.Ref]bool{}
	return all, eachNote(ctx, db, h.Kind(KindDeadLetter, projection), func(n querydb.Note) error {
		at, err := position.ParseRef(n.ID)
		all[at] = true
		return err
	})
}
