package projection

import (
	"context"
	"fmt"
	"time"

	"github.com/foldql/foldql/querydb"
)

// open reads what is on record about the projection, unless that is known, compares it with the source, and begins anew
// where the rows are of another version, or elsewhere. On a Shared store it also reads it where it has been known for long:
// so a process that was held up for days does not go on from there, with rows deleted since that the store has forgotten by
// now.
func (r *Runner) open(ctx context.Context) error {
	now := r.now()
	if r.known && !(r.shared && now.Sub(r.seen) > r.cfg.CommitWithin/2) {
		if same, err := r.sameTable(ctx, now); err != nil || same {
			return err
		}
	}
	r.known = false
	r.fold.Forget()
	p, err := readPlace(ctx, r.db, &r.projection)
	if err != nil {
		return err
	}
	whole, err := readCompletion(ctx, r.db, r.projection.Name)
	if err != nil {
		return err
	}
	if err := r.fits(ctx, &p.build, whole.Claims); err != nil {
		return err
	}
	if p.former != nil {
		if err := r.takeOver(ctx, &p); err != nil {
			return err
		}
		return r.open(ctx)
	}
	if p.lost() { // what is read now are no rows, though it may be long until others can be begun
		if err := r.unready(p.next()); err != nil {
			return err
		}
	}
	if !p.good() {
		if err := r.restart(ctx, p, whole); err != nil {
			return err
		}
		return r.open(ctx)
	}
	if p.owner == querydb.MarkAbsent {
		if err := r.db.MarkTable(ctx, p.model, p.serving.Number); err != nil {
			return err
		}
	}
	if whole, err = r.completionOf(ctx, p.serving.Number, whole); err != nil {
		return err
	}
	if !whole.Done {
		if err := r.judge(whole); err != nil {
			return err
		}
	}
	if r.db.ServingGeneration(p.model) != p.serving.Number {
		if err := r.db.ExpectBuild(p.model, p.serving.Number); err != nil {
			return err
		}
	}
	if err := r.db.UseGeneration(p.model, p.serving); err != nil {
		return err
	}
	if err := r.judge(whole); err != nil {
		return err
	}
	if err := r.readAsides(ctx, &p.header); err != nil {
		return err
	}
	if err := r.readReplays(ctx); err != nil {
		return err
	}
	r.done, r.seen, r.identified = p.build, now, now
	if r.known, err = r.current(ctx); err != nil {
		return err
	}
	if !r.known {
		return fmt.Errorf("%w: another process has gone on with %s", querydb.ErrStale, r.projection.Name)
	}
	r.db.SetExpiryWatermark(p.model, r.done.watermark())
	r.progress.opened(r.done, len(r.asides.all))
	return nil
}

// identifyEvery is how often, at most, a Runner looks whether the table of its rows is the one that it was.
const identifyEvery = 30 * time.Second

// sameTable reports whether the rows are still in the table, and the notes beside them, that they were in. It looks only
// now and then.
func (r *Runner) sameTable(ctx context.Context, now time.Time) (bool, error) {
	if now.Sub(r.identified) < identifyEvery || !r.db.HasTableIDs() {
		return true, nil
	}
	id, err := r.db.TableID(ctx, r.projection.Model, r.done.Generation)
	if err != nil || id != r.done.TableID {
		return false, err
	}
	owner, err := r.db.MarkState(ctx, r.projection.Model, r.done.Generation)
	if err != nil || owner != querydb.MarkRecorded {
		return false, err
	}
	r.identified = now
	return true, nil
}

// now is the time as it has gone on while the process was held up, or the machine slept.
func (r *Runner) now() time.Time { return r.cfg.Now().Round(0) }

// fits returns a *MismatchError where the source is not the one that the rows were folded from, or those that they
// replace, whose claims are kept. Events are looked up one by one for dead letters and decisions too, when the Runner
// starts; later on each is where it is used.
func (r *Runner) fits(ctx context.Context, b *build, kept claims) error {
	w := witness{src: r.src, projection: r.projection.Name}
	first := func(err error) error { return err }
	if err := w.checkpoints(ctx, b, kept, first); err != nil {
		return err
	}
	if r.running {
		return nil
	}
	return w.events(ctx, r.db, b, first)
}

// current reports whether what is on record is still what was read or written last.
func (r *Runner) current(ctx context.Context) (bool, error) {
	if !r.shared {
		return true, nil
	}
	n, err := r.db.Note(ctx, kindHeader, r.projection.Name)
	if err != nil || n.Revision != r.done.revision {
		return false, err
	}
	now := build{revision: n.Revision}
	now.Partitions, err = readCheckpoints(ctx, r.db, &r.done.header, r.projection.Name)
	return err == nil && now.same(&r.done), err
}

// restart drops the rows and begins at the first event. What was decided about set-aside events stays on record; those
// that are still aside are tried again at their own place. What the former rows covered stays on record as claims.
func (r *Runner) restart(ctx context.Context, was place, former completion) error {
	if r.done.Table != "" && was.Table != "" && !was.Again && !was.joins() && !was.lost() {
		return r.succeeded(ctx, &was)
	}
	fresh := header{Version: was.model.Version, Table: was.model.Table, Generation: was.next()}
	var err error
	if fresh.TableID, err = r.db.TableID(ctx, was.model, fresh.Generation); err != nil {
		return err
	}
	if fresh.TableID == "" && r.db.HasTableIDs() {
		return fmt.Errorf("%w: the rows of %s are to be begun anew, and the table for its generation %d is not there: "+
			"run 'server tables apply'", querydb.ErrUnavailable, was.model.Name, fresh.Generation)
	}
	notes := []querydb.Note{fresh.note(r.projection.Name, was.revision)}
	if was.revision == 0 {
		notes = append(notes, fence(r.projection.Name, nil, 0))
	}
	whole, err := r.completionOf(ctx, fresh.Generation, former)
	whole.Claims = former.Claims.with(was.Partitions)
	if err == nil {
		err = r.unready(fresh.Generation)
	}
	if err != nil {
		return err
	}
	notes = append(notes, whole.note(r.projection.Name))
	if was.joins() {
		err = r.db.Apply(ctx, querydb.Batch{Notes: notes})
	} else {
		err = r.db.BeginGeneration(ctx, was.model, was.serving, notes)
	}
	if err != nil {
		return fmt.Errorf("begin the rows of %s anew: %w", was.model.Name, err)
	}
	if was.fresh() {
		r.log.InfoContext(ctx, "projection: folding the whole log, it has no checkpoint yet", "model", was.model.Name)
	} else {
		r.log.InfoContext(ctx, "projection: folding the whole log anew", "model", was.model.Name, "why", was.why())
	}
	r.dropNotes(ctx, &was.header)
	return nil
}

// succeeded is the error of a process whose rows another one has begun anew, in another form.
func (r *Runner) succeeded(ctx context.Context, was *place) error {
	n, err := r.db.Note(ctx, kindHeader, r.projection.Name)
	if err == nil && n.Revision != was.revision {
		err = fmt.Errorf("%w: another process began %s anew between two reads", querydb.ErrStale, r.projection.Name)
	}
	if err != nil {
		return err
	}
	return damage{fmt.Errorf("another process has begun the rows of %s anew, of version %s in table %s: this one, of version %s in table %s, must end",
		was.model.Name, was.Version, was.Table, was.model.Version, was.model.Table)}
}

// dropNotes removes what is on record about a generation that was followed by another. It is in nobody's way where that
// fails.
func (r *Runner) dropNotes(ctx context.Context, of *header) {
	if of.Table == "" {
		return
	}
	for _, kind := range [...]string{kindCheckpoint, kindDeadLetter} {
		if err := dropKind(ctx, r.db, of.kind(kind, r.projection.Name)); err != nil {
			r.log.DebugContext(ctx, "projection: notes of a former generation stay", "generation", of.Generation, "error", err)
		}
	}
}

// dropKind deletes all notes of a kind, as many at once as a commit holds.
func dropKind(ctx context.Context, db *querydb.DB, kind string) error {
	most, _ := db.TxLimits()
	if most == 0 {
		most = querydb.MaxLimit
	}
	for {
		notes, err := db.Notes(ctx, kind, "", most)
		if err != nil || len(notes) == 0 {
			return err
		}
		for i, n := range notes {
			notes[i] = querydb.Note{Kind: n.Kind, ID: n.ID}
		}
		if err := db.Apply(ctx, querydb.Batch{Notes: notes}); err != nil {
			return err
		}
	}
}

func (r *Runner) readAsides(ctx context.Context, of *header) error {
	r.asides = newAsides()
	return eachNote(ctx, r.db, of.kind(kindDeadLetter, r.projection.Name), func(n querydb.Note) error {
		a, at, err := parseAside(n)
		if err != nil {
			return damage{err}
		}
		r.asides.add(subject{at.partition, a.Source, a.Subject}, at.offset, a.Number)
		return nil
	})
}

func (r *Runner) readReplays(ctx context.Context) error {
	r.replays = map[ref]replay{}
	return eachNote(ctx, r.db, kindDecision+r.projection.Name, func(n querydb.Note) error {
		p, err := parseReplay(n)
		if err != nil {
			return damage{err}
		}
		r.replays[p.ref] = p
		return nil
	})
}
