package checkpoint

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// restarter drops the rows of a projection and begins at the first event.
type restarter struct {
	p         Projection
	db        *querydb.DB
	log       *slog.Logger
	readiness *readiness
}

// restartPlan is what a restart goes by.
type restartPlan struct {
	was     *location
	former  completion     // of the rows that were
	running bool           // this process has folded what was on record before
	why     string         // for the log
	origin  *Origin        // of the rows that are begun; nil: they are folded from the log
	more    []querydb.Note // to be written in the same commit
}

// restartFrom restarts rows that stand there.
func (r *restarter) restartFrom(ctx context.Context, p *standing, running bool) error {
	why, err := p.reason(ctx, r.db, r.p)
	if err != nil {
		return err
	}
	return r.restart(ctx, &restartPlan{was: &p.location, former: p.whole, running: running, why: why})
}

// restart begins the rows in another generation.
//
// What was decided about dead letters stays on record; those that there still are, tried again at their own place. What
// the former rows covered stays on record, as Replaced.
func (r *restarter) restart(ctx context.Context, plan *restartPlan) error {
	was := plan.was
	if was.lost() { // what is read now are no rows, though it may be long until others can be begun
		if err := r.readiness.unready(was); err != nil {
			return err
		}
	}
	if plan.running && was.isSuccessor() {
		return r.superseded(ctx, was)
	}
	fresh, err := r.header(ctx, plan)
	if err != nil {
		return err
	}
	whole, err := r.readiness.completionOf(ctx, fresh.Generation, plan.former)
	if err != nil {
		return err
	}
	whole.Done = whole.Done && plan.origin == nil
	whole.Claims = plan.former.Claims.with(was.Partitions)
	if err := r.readiness.unready(was); err != nil {
		return err
	}
	var left leftover
	left.leave(&was.Header, r.p.Name)
	if err := r.begin(ctx, was, r.notes(plan, &fresh, &whole, &left)); err != nil {
		return fmt.Errorf("start a rebuild of %s: %w", r.p.names(), err)
	}
	r.logRestart(ctx, plan)
	left.drop(r.db)
	return nil
}

// notes put the rows that are begun on record.
func (r *restarter) notes(plan *restartPlan, fresh *Header, whole *completion, left *leftover) []querydb.Note {
	was := plan.was
	notes := []querydb.Note{fresh.note(was.slot, r.p.Name, was.revision)}
	if was.revision == 0 && was.slot == serves {
		notes = append(notes, fence(r.p.Name, nil, 0))
	}
	notes = append(append(notes, whole.note(r.p.Name)), plan.more...)
	notes = append(notes, left.notes()...)
	if was.slot == builds && r.db.MultiWriter() { // no decision is being made that does not name these rows
		notes = append(notes, toldNote(r.p.Name))
	}
	return notes
}

// begin begins the generations that follow, in one commit with the notes.
func (r *restarter) begin(ctx context.Context, was *location, notes []querydb.Note) error {
	if begun := was.begun(); len(begun) > 0 {
		return r.db.Generations().BeginAll(ctx, begun, notes)
	}
	return r.db.Apply(ctx, querydb.Batch{Notes: notes})
}

func (r *restarter) logRestart(ctx context.Context, plan *restartPlan) {
	log := r.log.With("models", r.p.names())
	switch {
	case plan.origin != nil:
		log.InfoContext(ctx, "projection: copying the rows that serve, which differ in their indexes alone")
	case plan.was.fresh(), plan.why == firstFold:
		log.InfoContext(ctx, "projection: folding the whole log, it has no checkpoint yet")
	default:
		log.InfoContext(ctx, "projection: rebuilding from the whole log", "why", plan.why)
	}
}

// header is that of the next generations.
func (r *restarter) header(ctx context.Context, plan *restartPlan) (h Header, err error) {
	was := plan.was
	h.Code, h.Origin = r.p.Code, plan.origin
	if h.Origin != nil { // what is copied was folded by that code
		h.Code = h.Origin.Code
	}
	serving := was.Record
	if was.slot != serves {
		if serving, err = readRecordIn(ctx, r.db, serves, r.p.Name); err != nil {
			return h, err
		}
	}
	if h.Enums, err = enumsAfter(ctx, r.db, r.p, &serving.Header); err != nil {
		return h, err
	}
	for i := range was.tables {
		t := &was.tables[i]
		fresh := TableRecord{
			Model: r.p.recordName(t.model), Version: t.model.Version, Table: t.model.Table, Generation: was.next(t),
		}
		if fresh.TableID, err = r.tableID(ctx, t.model, fresh.Generation); err != nil {
			return h, err
		}
		if i == 0 {
			h.TableRecord = fresh
		} else {
			h.Others = append(h.Others, fresh)
		}
	}
	return h, nil
}

// tableID returns the ID of the table of a generation that is to be begun, "" where the store has no such thing.
func (r *restarter) tableID(ctx context.Context, m *querydb.Model, generation int) (string, error) {
	id, err := r.db.Tables().ID(ctx, m, generation)
	if err == nil && id == "" && r.db.Tables().HasIDs() {
		err = fmt.Errorf("%w: %s needs a rebuild, and the table for its generation %d does not exist",
			querydb.ErrTablesNotReady, m.Name, generation)
	}
	return id, err
}

// superseded is the error of a process whose rows another one has begun again, in another form.
func (r *restarter) superseded(ctx context.Context, was *location) error {
	n, err := r.db.Notes().Get(ctx, was.slot.header(), r.p.Name)
	if err == nil && n.Revision != was.revision {
		err = fmt.Errorf("%w: another process started a rebuild of %s between two reads", querydb.ErrStale, r.p.Name)
	}
	if err != nil {
		return err
	}
	for _, t := range was.tables {
		if t.unlike.Why != "" {
			return DamageError{fmt.Errorf("another process folds %s with other enums: %s: this process must stop",
				t.model.Name, t.unlike.Why)}
		}
		if !t.good() {
			return DamageError{fmt.Errorf("another process has rebuilt %s at version %s in table %s: "+
				"this process, which has version %s in table %s, must stop",
				t.model.Name, t.was.Version, t.was.Table, t.model.Version, t.model.Table)}
		}
	}
	return DamageError{fmt.Errorf("another process has rebuilt %s with other models: this process must stop", r.p.Name)}
}

// RequestRebuild has the projection drop its rows and rebuild from the whole log when it opens next, as Rebuild does,
// and passes over tables that hold rows of a fold that is not on record: see querydb.UnknownRowsError. It does not
// compare the log with what is on record; the start does, and folds nothing where Mismatches finds any.
func RequestRebuild(ctx context.Context, db *querydb.DB, p Projection) error {
	at, err := readLocation(ctx, db, p)
	if err != nil {
		return err
	}
	can, err := servable(ctx, db, []location{at})
	if err == nil {
		err = skipUnknownRows(ctx, db, p, &at, can[0])
	}
	if err != nil {
		return err
	}
	b := &at.Record
	var note querydb.Note
	switch {
	case b.former != nil:
		note = b.former.again(p.Name)
	case b.Table == "":
		note = NewResetNote(p.Name) // there are no checkpoints to keep
		if can[0] {                 // those of other projections go on serving
			asked := Header{Moved: true, Again: true}
			note = asked.note(serves, p.Name, b.revision)
		}
	default:
		note = b.again(p.Name, b.revision)
	}
	return db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{note}})
}

// skipUnknownRows passes over tables that hold rows of a fold that is not on record, where the next rows are to be:
// beside those that serve, where these can go on serving.
func skipUnknownRows(ctx context.Context, db *querydb.DB, p Projection, at *location, beside bool) error {
	if beside {
		build, err := db.Generations().ForBuild(ctx)
		if err != nil {
			return err
		}
		next, err := readLocation(ctx, build, p)
		if err != nil || next.good() {
			return err
		}
		db, at = build, &next
	}
	for _, s := range at.begun() {
		if err := db.Generations().SkipUnknownRows(ctx, s.Model, s.Former); err != nil {
			return err
		}
	}
	return nil
}

// Rebuild drops the rows and rebuilds from the whole log.
func (s *State) Rebuild(ctx context.Context) error {
	s.known = false
	if err := s.Open(ctx); err != nil {
		return err
	}
	again := s.done.again(s.p.Name, s.done.revision)
	if err := s.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{again}}); err != nil {
		s.known = false
		return err
	}
	s.known = false
	return s.Open(ctx)
}

// LookAround is for a projection that has nothing to fold: it returns ErrRewound where the rows have been begun again
// meanwhile.
func (s *State) LookAround(ctx context.Context, read int) error {
	notes, err := s.db.Notes().GetAll(ctx, []keys.Key{
		{PK: slotOf(s.db).header(), SK: s.p.Name}, {PK: kindTold, SK: s.p.Name},
	})
	if err != nil {
		return err
	}
	s.known = s.known && notes[0].Revision == s.done.revision && (!s.shared || notes[1].Revision == s.told)
	serving, err := querydb.RecordedAll(ctx, s.db, s.p.Models)
	if err != nil {
		return err
	}
	for i, m := range s.p.Models {
		s.known = s.known && serving[i].Number == s.generations[m.Table]
		// Another projection of the table may have begun its next generation: see querydb.Rebuilds.MarkAllRebuilding.
		for _, writer := range s.p.writers(m) {
			s.known = s.known && s.db.Rebuilds().Running(m, writer) == !s.readiness.completion.Done
		}
	}
	if err := s.Open(ctx); err != nil {
		return err
	}
	if s.done.Generation != read {
		return ErrRewound
	}
	return nil
}

// NewResetNote is the note that takes away what is on record about a projection's rows: with it applied, the
// projection's next start drops its rows and folds the whole log, and so does one that runs on a shared store. What
// was decided about dead letters is not forgotten. The checkpoints are: a log that has lost what they cover is not
// found then.
func NewResetNote(projection string) querydb.Note {
	// Not a deletion: the note's revisions go on, so that nobody who has read the former takes a later one for it.
	return querydb.Note{Kind: serves.header(), ID: projection, Value: encode(Header{})}
}
