package projection

import (
	"context"
	"fmt"
	"time"

	"github.com/foldql/foldql/querydb"
)

// open reads what is on record about the projection, unless that is known, and begins anew where the rows are of another
// version, or elsewhere. On a Shared store it also reads it where it has been known for long: so a process that was held
// up for days does not go on from there, with rows deleted since that the store has forgotten by now.
func (r *Runner) open(ctx context.Context) error {
	now := r.now()
	if r.known && !(r.shared && now.Sub(r.seen) > r.cfg.CommitWithin/2) {
		return nil
	}
	r.known = false
	r.fold.forget()
	p, err := readPlace(ctx, r.db, &r.projection)
	if err != nil {
		return err
	}
	if !p.good() {
		if err := r.restart(ctx, p); err != nil {
			return err
		}
		return r.open(ctx)
	}
	if err := r.db.Serve(p.model, p.generation); err != nil {
		return err
	}
	if err := r.readAsides(ctx); err != nil {
		return err
	}
	if err := r.readReplays(ctx); err != nil {
		return err
	}
	r.done, r.revision, r.seen = p.checkpoint, p.revision, now
	if r.known, err = r.current(ctx); err != nil {
		return err
	}
	if !r.known {
		return fmt.Errorf("%w: another process has gone on with %s", querydb.ErrStale, r.projection.Name)
	}
	r.progress.opened(r.done, len(r.asides.all))
	return nil
}

// now is the time as it has gone on while the process was held up, or the machine slept.
func (r *Runner) now() time.Time { return r.cfg.Now().Round(0) }

// current reports whether the checkpoint is still the one that was read or written last.
func (r *Runner) current(ctx context.Context) (bool, error) {
	if !r.shared {
		return true, nil
	}
	n, err := r.db.Note(ctx, kindCheckpoint, r.projection.Name)
	return err == nil && n.Revision == r.revision, err
}

// restart drops the rows and begins at the first event. What was decided about set-aside events stays on record; those
// that are still aside are tried again at their own place.
func (r *Runner) restart(ctx context.Context, was place) error {
	if r.done.Table != "" && was.checkpoint.Table != "" && !was.joins() {
		n, err := r.db.Note(ctx, kindCheckpoint, r.projection.Name)
		if err == nil && n.Revision != was.revision {
			err = fmt.Errorf("%w: another process began %s anew between two reads", querydb.ErrStale, r.projection.Name)
		}
		if err != nil {
			return err
		}
		return damage{fmt.Errorf("another process has begun the rows of %s anew, of version %s in table %s: this one, of version %s in table %s, must end",
			was.model.Name, was.checkpoint.Version, was.checkpoint.Table, was.model.Version, was.model.Table)}
	}
	asides, err := r.dropAsides(ctx, &was)
	if err != nil {
		return err
	}
	fresh := checkpoint{
		Version: was.model.Version, Table: was.model.Table, Generation: was.next(),
		Partitions: map[string]cursor{},
	}
	notes := append(asides, fresh.note(r.projection.Name, was.revision))
	if was.joins() {
		err = r.db.Apply(ctx, querydb.Batch{Notes: notes})
	} else {
		err = r.db.Restart(ctx, was.model, was.generation, notes)
	}
	if err != nil {
		return fmt.Errorf("begin the rows of %s anew: %w", was.model.Name, err)
	}
	if was.fresh() {
		r.log.InfoContext(ctx, "projection: folding the whole log, it has no checkpoint yet", "model", was.model.Name)
	} else {
		r.log.InfoContext(ctx, "projection: folding the whole log anew", "model", was.model.Name, "why", was.why())
	}
	return nil
}

// restartNotes is how many notes a restart writes beside those of set-aside events.
const restartNotes = 3

// dropAsides returns the notes that delete what is aside. Those that one commit cannot hold it deletes before, each time
// with the checkpoint, so that it takes nothing from a process that has begun anew already.
func (r *Runner) dropAsides(ctx context.Context, was *place) (notes []querydb.Note, err error) {
	most, _ := r.db.MostAtomic()
	err = eachNote(ctx, r.db, kindAside+r.projection.Name, func(n querydb.Note) error {
		if r.shared && len(notes) == most-restartNotes {
			forget := Forget(r.projection.Name)
			forget.Read, forget.Revision = true, was.revision
			if err := r.db.Apply(ctx, querydb.Batch{Notes: append(notes, forget)}); err != nil {
				return err
			}
			was.revision++
			notes = notes[:0]
		}
		notes = append(notes, querydb.Note{Kind: n.Kind, ID: n.ID})
		return nil
	})
	return notes, err
}

func (r *Runner) readAsides(ctx context.Context) error {
	r.asides = newAsides()
	return eachNote(ctx, r.db, kindAside+r.projection.Name, func(n querydb.Note) error {
		a, at, err := parseAside(n)
		if err != nil {
			return damage{err}
		}
		r.asides.add(subject{at.partition, a.Source, a.Subject}, at.offset)
		return nil
	})
}

func (r *Runner) readReplays(ctx context.Context) error {
	r.replays = map[ref]replay{}
	return eachNote(ctx, r.db, kindReplay+r.projection.Name, func(n querydb.Note) error {
		p, err := parseReplay(n)
		if err != nil {
			return damage{err}
		}
		r.replays[p.ref] = p
		return nil
	})
}
