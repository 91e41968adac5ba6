package projection

import (
	"context"
	"fmt"

	"github.com/foldql/foldql/querydb"
)

// open reads what the projection has noted, and begins anew where the rows are of another version, or
// elsewhere. Later calls only
// settle what the last run left in doubt.
func (r *Runner) open(ctx context.Context) error {
	if r.opened {
		_, err := r.settle(ctx)
		return err
	}
	done, found, err := readCheckpoint(ctx, r.db, r.projection.Name)
	if err != nil {
		return err
	}
	if err := r.readReplays(ctx); err != nil {
		return err
	}
	generation, err := r.db.Generation(ctx, r.projection.Model)
	if err != nil {
		return err
	}
	if !found || !done.covers(r.projection.Model, generation.Number) || r.restarting {
		if done, err = r.restart(ctx, done, found, generation); err != nil {
			return err
		}
	}
	if err := r.readAsides(ctx); err != nil {
		return err
	}
	r.done, r.opened = done, true
	r.progress.opened(done, r.asides.count)
	return nil
}

// restart drops the rows and begins at the first event. What was decided about set-aside events stays on record; those
// that are still aside are tried again at their own place.
func (r *Runner) restart(ctx context.Context, was checkpoint, found bool, generation querydb.Generation) (checkpoint, error) {
	model := r.projection.Model
	fresh := checkpoint{
		Version: model.Version, Table: model.Table, Generation: generation.Next(), Partitions: map[string]cursor{},
	}
	notes := []querydb.Note{fresh.note(r.projection.Name)}
	err := eachNote(ctx, r.db, kindAside+r.projection.Name, func(n querydb.Note) error {
		notes = append(notes, querydb.Note{Kind: n.Kind, ID: n.ID})
		return nil
	})
	if err != nil {
		return fresh, err
	}
	r.restarting = true // where the answer is lost, beginning anew once more is always right
	if err := r.db.Restart(ctx, model, generation, notes); err != nil {
		return fresh, fmt.Errorf("begin the rows of %s anew: %w", model.Name, err)
	}
	r.restarting = false
	if found {
		r.log.InfoContext(ctx, "projection: folding the whole log anew, the model has another version or another table",
			"model", model.Name, "was", was.Version, "is", model.Version, "wasIn", was.Table, "isIn", model.Table)
	} else {
		r.log.InfoContext(ctx, "projection: folding the whole log, it has no checkpoint yet", "model", model.Name)
	}
	return fresh, nil
}

func (r *Runner) readAsides(ctx context.Context) error {
	r.asides = asides{held: map[subject][]uint64{}}
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
