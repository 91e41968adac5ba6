package checkpoint

import (
	"context"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// takeDecisions reads what was decided, also in other rows of the projection.
func takeDecisions(ctx context.Context, s *State, p *location) error {
	told, err := s.db.Notes().Get(ctx, kindTold, s.p.Name)
	if err != nil {
		return err
	}
	s.told = told.Revision
	now, err := readDecisions(ctx, s.db, s.p.Name)
	if err != nil {
		return err
	}
	done := func(partition string) position.Cursor { return p.Partitions[partition].Cursor }
	if deadletter.Ahead(s.Decisions, now, done) {
		s.Decided++
	}
	s.Decisions, s.Places, s.Unsettled = now, deadletter.PlacesOf(now), deadletter.Unsettled(s.Letters, now)
	return nil
}

// AwaitedElsewhere finds the first of the events that other rows of the projection pass over, since they are yet to try
// it where a former decision has it: another decision would have them never try it.
func AwaitedElsewhere(ctx context.Context, s *State, partition string, offsets []uint64) (d deadletter.Decision,
	awaited bool, err error) {
	all := make([]keys.Key, len(offsets))
	for i, offset := range offsets {
		ref := position.Ref{Partition: partition, Offset: offset}
		all[i] = keys.Key{PK: deadletter.KindDecision + s.p.Name, SK: ref.ID()}
	}
	notes, err := s.db.Notes().GetAll(ctx, all)
	if err != nil {
		return d, false, err
	}
	var others []deadletter.Rows
	for i := range notes {
		if notes[i].Value == nil {
			continue
		}
		if d, err = deadletter.ParseDecision(notes[i]); err != nil {
			return d, false, fmt.Errorf("decision %s of %s: %w", notes[i].ID, s.p.Name, err)
		}
		if others == nil {
			if others, err = otherRows(ctx, s); err != nil {
				return d, false, err
			}
		}
		if !d.Skip && d.Awaited(others) {
			return d, true, nil
		}
	}
	return d, false, nil
}

// canFence reports whether fence can keep all processes from folding the event before they have read a decision about
// it: rows show none behind the anchor, since that is put on record before them.
func (b *Record) canFence(e position.Ref) bool {
	c, begun := b.Partitions[e.Partition]
	return begun && c.Reach() < e.Offset
}

// fence are notes that have the commits fail, before they write a row of those events, of all who have read what is on
// record: the checkpoints as they are.
func (b *Record) fence(projection string, decisions []deadletter.Decision) (notes []querydb.Note) {
	met := map[string]bool{}
	for i := range decisions {
		name := decisions[i].Partition
		if b.Table == "" || met[name] || !b.canFence(decisions[i].Ref) {
			continue
		}
		met[name] = true
		notes = append(notes, b.Notes(projection, name, b.Partitions[name])[1])
	}
	return notes
}

// TakeOver puts decisions on record that were made elsewhere, for the rows that LookAtAll has found, in place of
// those that there are in former. It is querydb.ErrStale where somebody has decided meanwhile.
func (b *Beside) TakeOver(ctx context.Context, s *State, decisions []deadletter.Decision,
	former map[position.Ref]deadletter.Decision) error {
	notes := b.Notes(s, true)
	for i := range b.records {
		if r := &b.records[i]; s.shared {
			notes = append(append(notes, r.unchanged(s.p.Name)), r.fence(s.p.Name, decisions)...)
		}
	}
	for _, d := range decisions {
		n := d.Note(s.p.Name)
		was, err := s.db.Notes().Get(ctx, n.Kind, n.ID)
		if err != nil {
			return err
		}
		old, there := former[d.Ref]
		if there != (was.Value != nil) {
			return decidedMeanwhile(d.Ref)
		}
		if there {
			now, err := deadletter.ParseDecision(was)
			if err != nil {
				return DamageError{err}
			}
			if !old.IsAsRecorded(&now) {
				return decidedMeanwhile(d.Ref)
			}
		}
		n.IfRevision, n.Revision = true, was.Revision
		notes = append(notes, n)
	}
	return s.db.Apply(ctx, querydb.Batch{Notes: notes})
}

func decidedMeanwhile(at position.Ref) error {
	return fmt.Errorf("%w: somebody has decided about event %s meanwhile", querydb.ErrStale, at)
}

// RecordedDecisions calls visit with up to limit decisions about events of the projection, in order of partition and
// offset, after the one that the ID names.
func RecordedDecisions(ctx context.Context, db *querydb.DB, projection, after string, limit int,
	visit func(deadletter.Decision)) error {
	notes, err := db.Notes().List(ctx, deadletter.KindDecision+projection, after, limit)
	if err != nil {
		return err
	}
	for _, n := range notes {
		d, err := deadletter.ParseDecision(n)
		if err != nil {
			return DamageError{fmt.Errorf("note %s %s: %w", n.Kind, n.ID, err)}
		}
		visit(d)
	}
	return nil
}

// ReadDecisions reads what was decided about events of the projection.
func ReadDecisions(ctx context.Context, s *State) (map[position.Ref]deadletter.Decision, error) {
	return readDecisions(ctx, s.db, s.p.Name)
}

// FormerDecisions counts the events that were retried or skipped under names of projections that there are no more,
// which have folded rows that serve and that p folds now. Rows that p builds know nothing of that, unless it was
// decided under the name of p too.
func FormerDecisions(ctx context.Context, db *querydb.DB, p Projection, isCurrent func(name string) bool) (int,
	error) {
	own, err := readDecisions(ctx, db, p.Name)
	if err != nil {
		return 0, err
	}
	unknown := map[position.Ref]bool{}
	err = eachServing(ctx, db, p, func(name string, b *Record) error {
		if isCurrent(name) || !b.holds(p, name) {
			return nil
		}
		decided, err := readDecisions(ctx, db, name)
		for at, d := range decided {
			if _, known := own[at]; !known && d.Failed == "" {
				unknown[at] = true
			}
		}
		return err
	})
	return len(unknown), err
}

// holds reports whether the record, of the projection of that name, is of rows that p folds now: of the same
// projection, or of one that has folded one of its models before. Records of others that write to its tables are not.
func (b *Record) holds(p Projection, name string) bool {
	return name == p.Name || slices.ContainsFunc(b.tables(), func(t TableRecord) bool {
		return slices.ContainsFunc(p.Models, func(m *querydb.Model) bool {
			return t.Table == m.Table && (!m.MultiProjection() || t.mayBeOf(name, m, p))
		})
	})
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

// CopyDecisions puts what was decided on record in another DB, in which nothing is folded yet.
func CopyDecisions(ctx context.Context, from, to *querydb.DB, p Projection) error {
	all, err := readDecisions(ctx, from, p.Name)
	if err != nil {
		return err
	}
	for _, d := range all {
		d.Beside = nil // there are no other rows there
		if err := to.Apply(ctx, querydb.Batch{Notes: []querydb.Note{d.Note(p.Name)}}); err != nil {
			return err
		}
	}
	return nil
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
