package projection

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/querydb"
)

// kindCompletion is the kind of the notes that say whether a projection has folded a generation so far that its rows can be
// served; the ID is the projection's name.
const kindCompletion = "completion"

// completion is such a note. It is begun with the generation, in the same commit, and stays when it is done: rows that have
// been complete once are served from then on, however far they are behind.
type completion struct {
	Table      string `json:"table"`
	Generation int    `json:"generation"`
	// Goal is where the log ended when the generation was begun; nil where the source does not know its end: then the rows
	// are complete when the source has nothing more.
	Goal map[string]uint64 `json:"goal,omitempty"`
	Done bool              `json:"done"`
	// Claims are of the rows that the generation replaces.
	Claims claims `json:"claims,omitempty"`

	revision uint64 // of the note
}

func (c completion) note(projection string) querydb.Note {
	return querydb.Note{Kind: kindCompletion, ID: projection, Value: encode(c), Read: true, Revision: c.revision}
}

// readCompletion reads what is on record, about whichever generation; the zero completion where that is nothing.
func readCompletion(ctx context.Context, db *querydb.DB, projection string) (c completion, err error) {
	n, err := db.Note(ctx, kindCompletion, projection)
	if err == nil && n.Value != nil {
		err = json.Unmarshal(n.Value, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read whether the rows of %s are complete: %w", projection, err)
	}
	c.revision = n.Revision
	return c, nil
}

// completionOf is what is on record where that is about the generation. Where it is not, since an earlier version has
// folded the generation or it is begun now, its rows are complete when they have come to where the log ends now.
func (r *Runner) completionOf(ctx context.Context, generation int, was completion) (completion, error) {
	if was.Table == r.projection.Model.Table && was.Generation == generation {
		return was, nil
	}
	c, err := r.newCompletion(ctx, generation)
	c.Claims, c.revision = was.Claims, was.revision
	return c, err
}

// newCompletion is that of a generation which is begun now.
func (r *Runner) newCompletion(ctx context.Context, generation int) (completion, error) {
	c := completion{Table: r.projection.Model.Table, Generation: generation}
	source, knows := r.src.(eventlog.Head)
	if !knows {
		return c, nil
	}
	partitions, err := r.src.Partitions(ctx)
	if err != nil {
		return c, fmt.Errorf("list the partitions: %w", err)
	}
	c.Goal, c.Done = map[string]uint64{}, true
	for _, p := range partitions {
		if c.Goal[p], err = source.Head(ctx, p); err != nil {
			return c, fmt.Errorf("head of partition %q: %w", p, err)
		}
		c.Done = c.Done && c.Goal[p] == 0
	}
	return c, nil
}

// Prepare reads what is on record, so that rows which are not complete are not served: see querydb.DB.SetBuilding. It is to be
// called before the rows are read by others, and Run does the same before it folds.
func (r *Runner) Prepare(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := readPlace(ctx, r.db, &r.projection)
	if err != nil {
		return err
	}
	if p.good() {
		c, err := readCompletion(ctx, r.db, r.projection.Name)
		if err == nil {
			c, err = r.completionOf(ctx, p.serving.Number, c)
		}
		if err != nil {
			return err
		}
		return r.judge(c)
	}
	if err := p.checkDestination(ctx, r.db); err != nil {
		return err
	}
	return r.unready(p.next())
}

// unready says that a generation is begun.
func (r *Runner) unready(generation int) error {
	if err := r.db.ExpectBuild(r.projection.Model, generation); err != nil {
		return err
	}
	return r.judge(completion{Generation: generation})
}

// judge says whether the rows can be served.
func (r *Runner) judge(c completion) error {
	r.completion = c
	r.progress.building(!c.Done, c.Goal)
	if c.Done {
		return r.db.SetBuilt(r.projection.Model, r.projection.writer())
	}
	return r.db.SetBuilding(r.projection.Model, r.projection.writer(), r.progress.rebuild)
}

// complete notes that the rows are complete, once they are: after a window or, where idle is set, when nothing more is to be
// read.
func (r *Runner) complete(ctx context.Context, w *window, idle bool) error {
	if r.completion.Done {
		return nil
	}
	return r.persist(ctx, folding, func(ctx context.Context) error {
		if err := r.open(ctx); err != nil {
			return err
		}
		c := r.completion
		if w.generation != r.done.Generation {
			return errRewound
		}
		if c.Done || !idle && !r.atGoal(c.Goal) {
			return nil
		}
		c.Done, c.Claims = true, c.Claims.open(r.done.Partitions)
		if err := r.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{c.note(r.projection.Name)}}); err != nil {
			r.known = false
			return err
		}
		c.revision++
		r.log.InfoContext(ctx, "projection: the rows are complete, and served from now on", "model", r.projection.Model.Name)
		return r.judge(c)
	})
}

func (r *Runner) atGoal(goal map[string]uint64) bool {
	for partition, end := range goal {
		if r.done.Partitions[partition].Offset < end {
			return false
		}
	}
	return goal != nil
}
