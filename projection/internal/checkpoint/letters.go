package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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

// Beside is which rows of the projection there are beside those of a State, for a decision to name them.
type Beside struct {
	Generations []int
	told        uint64   // revision of the note of kindTold
	records     []Record // that LookAtAll has found
}

// LookBeside reads it. The note is first: rows that are begun later change it, and the decision is not put on record.
func LookBeside(ctx context.Context, s *State) (b Beside, err error) {
	if s.shared {
		n, err := s.db.Notes().Get(ctx, kindTold, s.p.Name)
		if err != nil {
			return b, err
		}
		b.told = n.Revision
	}
	err = eachOther(ctx, s, func(h *Header) error {
		b.Generations = append(b.Generations, h.Generation)
		return nil
	})
	slices.Sort(b.Generations)
	return b, err
}

// IsKnownTo reports whether the State has read all decisions that it had been told of when it was looked up.
func (b *Beside) IsKnownTo(s *State) bool { return !s.shared || b.told == s.told }

// HasTold is called when a commit with Notes of a decision that tells has succeeded: the State knows what it tells of.
func (b *Beside) HasTold(s *State) {
	if len(b.Generations) > 0 {
		s.told = b.told + 1
	}
}

// LookAtAll reads which rows of the projection there are, those of the State among them, for decisions that are taken
// over from elsewhere. The caller keeps this process from folding those of the State meanwhile.
func LookAtAll(ctx context.Context, s *State) (all []deadletter.Rows, b Beside, err error) {
	if b, err = LookBeside(ctx, s); err != nil {
		return nil, b, err
	}
	b.Generations = nil
	for _, in := range []slot{serves, builds, keeps} {
		at, err := readRecordIn(ctx, s.db, in, s.p.Name)
		if err != nil {
			return nil, b, err
		}
		if at.former != nil {
			return nil, b, fmt.Errorf("%w: its records are those of an earlier version yet", querydb.ErrStale)
		}
		b.records = append(b.records, at)
		if at.Table == "" {
			continue
		}
		rows := at.rows()
		rows.Before = func(e position.Ref) bool {
			if s.shared {
				return at.canFence(e)
			}
			c := at.Partitions[e.Partition]
			return in == slotOf(s.db) && c.Reach() < e.Offset
		}
		all, b.Generations = append(all, rows), append(b.Generations, at.Generation)
	}
	return all, b, nil
}

// rows are those of the record.
func (b *Record) rows() deadletter.Rows {
	r := deadletter.Rows{Generation: b.Generation, Version: b.version(), Done: map[string]position.Cursor{}}
	for name, c := range b.Partitions {
		r.Done[name] = c.Cursor
	}
	return r
}

// otherRows are those that are folded beside those of the State: not those that are kept alone.
func otherRows(ctx context.Context, s *State) ([]deadletter.Rows, error) {
	others := []deadletter.Rows{}
	for _, in := range []slot{serves, builds} {
		if in == slotOf(s.db) {
			continue
		}
		at, err := readRecordIn(ctx, s.db, in, s.p.Name)
		if err != nil {
			return nil, err
		}
		if at.Table == "" || at.former != nil {
			continue
		}
		rows := at.rows()
		rows.Before = func(position.Ref) bool { return false } // whoever folds them may be about to pass the event over
		others = append(others, rows)
	}
	return others, nil
}

// Notes are what is in the commit of a decision, so that no rows have been begun that it does not name. Where it tells,
// whoever folds the others, in whichever process, is to read it. That is no condition of their commits: one that failed
// for it would leave rows behind of events that are folded otherwise then.
func (b *Beside) Notes(s *State, tells bool) []querydb.Note {
	if !s.shared {
		return nil // there is no other process, and this one knows whom to tell
	}
	n := toldNote(s.p.Name)
	n.IfRevision, n.Revision, n.CheckOnly = true, b.told, !tells || len(b.Generations) == 0
	return []querydb.Note{n}
}

// Tell is for a decision with which no note can be committed.
func (b *Beside) Tell(ctx context.Context, s *State) error {
	if !s.shared || len(b.Generations) == 0 {
		return nil
	}
	return s.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{toldNote(s.p.Name)}})
}

// toldNote has whoever folds the projection on a shared store read what was decided: see Listen.
func toldNote(projection string) querydb.Note {
	return querydb.Note{Kind: kindTold, ID: projection, Value: []byte("{}")}
}

// Listen has the next Open read what is on record where somebody has told of a decision since.
func Listen(ctx context.Context, s *State) error {
	if !s.shared || !s.known {
		return nil
	}
	n, err := s.db.Notes().Get(ctx, kindTold, s.p.Name)
	s.known = err == nil && n.Revision == s.told
	return err
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

// readHeader reads the header in a slot, which is the zero Header where there is none.
func readHeader(ctx context.Context, db *querydb.DB, in slot, projection string) (h Header, err error) {
	n, err := db.Notes().Get(ctx, in.header(), projection)
	if err != nil || n.Value == nil {
		return h, err
	}
	if err := json.Unmarshal(n.Value, &h); err != nil {
		return h, DamageError{err}
	}
	return h, nil
}

// eachOther visits the headers of the projection's rows in other slots than that of the State.
func eachOther(ctx context.Context, s *State, visit func(*Header) error) error {
	for _, in := range []slot{serves, builds, keeps} {
		if in == slotOf(s.db) {
			continue
		}
		h, err := readHeader(ctx, s.db, in, s.p.Name)
		if err != nil {
			return err
		}
		if h.Table == "" {
			continue
		}
		if err := visit(&h); err != nil {
			return err
		}
	}
	return nil
}
