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
	s.Decisions, s.ApplyPoints, s.Unsettled = now, deadletter.ApplyPointsOf(now), deadletter.Unsettled(s.Letters, now)
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
			if others, err = OtherRows(ctx, s); err != nil {
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
func (r *Record) canFence(e position.Ref) bool {
	c, begun := r.Partitions[e.Partition]
	return begun && c.Reach() < e.Offset
}

// fence are notes that have the commits fail, before they write a row of those events, of all who have read what is on
// record: the checkpoints as they are.
func (r *Record) fence(projection string, decisions []deadletter.Decision) (notes []querydb.Note) {
	met := map[string]bool{}
	for i := range decisions {
		name := decisions[i].Partition
		if r.Table == "" || met[name] || !r.canFence(decisions[i].Ref) {
			continue
		}
		met[name] = true
		notes = append(notes, r.Notes(projection, name, r.Partitions[name])[1])
	}
	return notes
}

// TakeOver puts decisions on record that were made elsewhere, for the rows that LookAtAll has found, in place of
// those that there are in former. It is querydb.ErrStale where somebody has decided meanwhile.
func (o *OtherGenerations) TakeOver(ctx context.Context, s *State, decisions []deadletter.Decision,
	former map[position.Ref]deadletter.Decision) error {
	notes := o.Notes(s, true)
	for i := range o.records {
		if r := &o.records[i]; s.shared {
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
func (r *Record) holds(p Projection, name string) bool {
	return name == p.Name || slices.ContainsFunc(r.tables(), func(t TableRecord) bool {
		return slices.ContainsFunc(p.Models, func(m *querydb.Model) bool {
			return t.Table == m.Table && (!m.MultiProjection() || t.mayBeOf(name, m, p))
		})
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

// OtherGenerations is which rows of the projection there are beside those of a State, for a decision to name them.
type OtherGenerations struct {
	Numbers []int
	told    uint64   // revision of the note of kindTold
	records []Record // that LookAtAll has found
}

// LookAtOthers reads it. The note is first: rows that are begun later change it, and the decision is not put on record.
func LookAtOthers(ctx context.Context, s *State) (b OtherGenerations, err error) {
	if s.shared {
		n, err := s.db.Notes().Get(ctx, kindTold, s.p.Name)
		if err != nil {
			return b, err
		}
		b.told = n.Revision
	}
	err = eachOther(ctx, s, func(h *Header) error {
		b.Numbers = append(b.Numbers, h.Generation)
		return nil
	})
	slices.Sort(b.Numbers)
	return b, err
}

// IsKnownTo reports whether the State has read all decisions that it had been told of when it was looked up.
func (o *OtherGenerations) IsKnownTo(s *State) bool { return !s.shared || o.told == s.told }

// HasTold is called when a commit with Notes of a decision that tells has succeeded: the State knows what it tells of.
func (o *OtherGenerations) HasTold(s *State) {
	if len(o.Numbers) > 0 {
		s.told = o.told + 1
	}
}

// LookAtAll reads which rows of the projection there are, those of the State among them, for decisions that are taken
// over from elsewhere. The caller keeps this process from folding those of the State meanwhile.
func LookAtAll(ctx context.Context, s *State) (all []deadletter.Rows, b OtherGenerations, err error) {
	if b, err = LookAtOthers(ctx, s); err != nil {
		return nil, b, err
	}
	b.Numbers = nil
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
		all, b.Numbers = append(all, rows), append(b.Numbers, at.Generation)
	}
	return all, b, nil
}

// rows are those of the record.
func (r *Record) rows() deadletter.Rows {
	rows := deadletter.Rows{Generation: r.Generation, Version: r.version(), Done: map[string]position.Cursor{}}
	for name, c := range r.Partitions {
		rows.Done[name] = c.Cursor
	}
	return rows
}

// OtherRows are those that are folded beside those of the State: not those that are kept alone.
func OtherRows(ctx context.Context, s *State) ([]deadletter.Rows, error) {
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
func (o *OtherGenerations) Notes(s *State, tells bool) []querydb.Note {
	if !s.shared {
		return nil // there is no other process, and this one knows whom to tell
	}
	n := toldNote(s.p.Name)
	n.IfRevision, n.Revision, n.CheckOnly = true, o.told, !tells || len(o.Numbers) == 0
	return []querydb.Note{n}
}

// Tell is for a decision with which no note can be committed.
func (o *OtherGenerations) Tell(ctx context.Context, s *State) error {
	if !s.shared || len(o.Numbers) == 0 {
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
