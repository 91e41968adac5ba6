package projection

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/querydb"
)

// RebuildReason tells, without a change of anything, why a projection will fold the whole log anew when it opens; "" where it
// will not, or has never folded anything.
func RebuildReason(ctx context.Context, db *querydb.DB, p Projection) (why string, err error) {
	at, err := readPlace(ctx, db, &p)
	if err != nil || at.good() || at.fresh() {
		return "", err
	}
	return at.why(), nil
}

// CheckTarget returns a *querydb.UnrecordedError, without a change of anything, where the projection is to begin a
// table that holds rows of a fold that is not on record.
func CheckTarget(ctx context.Context, db *querydb.DB, p Projection) error {
	at, err := readPlace(ctx, db, &p)
	if err != nil {
		return err
	}
	return at.checkDestination(ctx, db)
}

func (p *place) checkDestination(ctx context.Context, db *querydb.DB) error {
	if p.good() || p.joins() {
		return nil
	}
	return db.CheckUnrecorded(ctx, p.model, p.next())
}

// fresh reports whether nothing is on record of the rows or of how far they are.
func (p *place) fresh() bool {
	return p.Table == "" && !p.forgotten && !p.serving.Noted
}

// why says what is not as it was when the header was written, where it is not good.
func (p *place) why() string {
	was := &p.build
	switch {
	case was.forgotten || was.Again:
		return "a rebuild was asked for"
	case was.Table == "":
		return "it has no checkpoint, and the table has rows"
	case was.Table != p.model.Table:
		return fmt.Sprintf("%s is in table %s, and its rows are in table %s", p.model.Name, p.model.Table, was.Table)
	case was.Version != p.model.Version:
		return fmt.Sprintf("%s has version %s, and its rows have version %s", p.model.Name, p.model.Version, was.Version)
	case p.gone:
		return fmt.Sprintf("table %s, which has its rows, is gone", was.Table)
	case p.here() && p.TableID != p.tableID:
		return fmt.Sprintf("table %s is another than the one that its rows were written to: it was made anew, or restored", was.Table)
	case p.here() && p.owner == querydb.MarkLost:
		return fmt.Sprintf("table %s has lost its rows", was.Table)
	case p.here() && p.owner == querydb.MarkUnrecorded:
		return fmt.Sprintf("table %s holds the rows of another fold", was.Table)
	case p.here() && p.owner == querydb.MarkNotesReplaced:
		return "the table of notes was restored or made anew, so that the rows may be newer than what is on record of them"
	}
	return fmt.Sprintf("table %s has generation %d, and the checkpoint is of generation %d", p.model.Table,
		p.serving.Number, was.Generation)
}

// Rebuild drops the rows and has the whole log folded anew, with what was decided about set-aside events. It returns when
// that is on record; the fold is Run's. Projections that write to the same table begin anew too. Where the source is not
// the one that the rows were folded from, it is a *MismatchError, and nothing changes.
func (r *Runner) Rebuild(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.persist(ctx, opening, r.rebuild)
	if err != nil {
		return fmt.Errorf("rebuild %s: %w", r.projection.Name, err)
	}
	return nil
}

// RequestRebuild has the projection drop its rows and fold the whole log anew when it opens next, as Rebuild does, and
// passes over tables that hold rows of a fold that is not on record: see querydb.UnrecordedError. It does not compare the
// log with what is on record; the start does, and folds nothing where Mismatches finds any.
func RequestRebuild(ctx context.Context, db *querydb.DB, p Projection) error {
	at, err := readPlace(ctx, db, &p)
	if err == nil && !at.joins() {
		err = db.SkipUnrecorded(ctx, p.Model, at.serving)
	}
	if err != nil {
		return err
	}
	b := &at.build
	var note querydb.Note
	switch {
	case b.former != nil:
		note = b.former.again(p.Name)
	case b.Table == "":
		note = ResetNote(p.Name) // there are no checkpoints to keep
	default:
		note = b.again(p.Name, b.revision)
	}
	return db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{note}})
}

func (r *Runner) rebuild(ctx context.Context) error {
	r.known = false
	if err := r.open(ctx); err != nil {
		return err
	}
	again := r.done.again(r.projection.Name, r.done.revision)
	if err := r.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{again}}); err != nil {
		r.known = false
		return err
	}
	r.known = false
	return r.open(ctx)
}

// lookAround is for a Runner that has nothing to fold: it is errRewound where the rows have been begun anew meanwhile.
func (r *Runner) lookAround(ctx context.Context, read int) error {
	n, err := r.db.Note(ctx, kindHeader, r.projection.Name)
	if err != nil {
		return err
	}
	g, err := r.db.Generation(ctx, r.projection.Model)
	if err != nil {
		return err
	}
	r.known = r.known && n.Revision == r.done.revision && g.Number == r.done.Generation
	// Another projection of the table may have begun it anew: see querydb.DB.Begin.
	r.known = r.known && r.db.IsBuilding(r.projection.Model, r.projection.writer()) == !r.completion.Done
	if err := r.open(ctx); err != nil {
		return err
	}
	if r.done.Generation != read {
		return errRewound
	}
	return nil
}
