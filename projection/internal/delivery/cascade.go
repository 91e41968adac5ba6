package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/querydb"
)

// mostRefreshed is how many copies one commit has follow their row at most, and no more than a window has events: it
// bounds memory, and how long events wait.
const mostRefreshed = 256

// refreshes reports whether copies are to follow their rows.
func (r *Runner) refreshes() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Tasks.Len() > 0
}

// FailedCascades are the rows of which some copies could not follow a change.
func (r *Runner) FailedCascades(ctx context.Context) (failed []cascade.Task, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.state.Open(ctx); err != nil {
		return nil, err
	}
	return r.state.Tasks.Failed(), nil
}

// RetryCascades has all copies follow those rows that can by now. It returns how many rows it has tried, and those of
// which some copies still cannot.
func (r *Runner) RetryCascades(ctx context.Context) (tried int, failed []cascade.Task, err error) {
	before, err := r.FailedCascades(ctx)
	if err != nil {
		return 0, nil, err
	}
	r.mu.Lock()
	r.state.Tasks.RetryFailed()
	r.mu.Unlock()
	if err := r.refreshAll(ctx); err != nil {
		return 0, nil, err
	}
	failed, err = r.FailedCascades(ctx)
	return len(before), failed, err
}

// refreshAll has all copies follow their rows.
func (r *Runner) refreshAll(ctx context.Context) error {
	for r.refreshes() {
		if err := r.refreshSome(ctx); err != nil {
			return err
		}
	}
	return nil
}

// refreshSome has some copies follow their row, in one commit, if there are any that do not.
func (r *Runner) refreshSome(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Tasks.Len() == 0 {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c := refresher{r.batcher.committer}
	err := r.retrier.do(ctx, Folding, func(ctx context.Context) error {
		if err := r.state.Open(ctx); err != nil {
			return err
		}
		return c.once(ctx)
	})
	r.Monitor.refreshing(r.state.Tasks)
	if err != nil || r.state.Tasks.Len() > 0 || r.state.IsComplete() {
		return err
	}
	return r.retrier.do(ctx, Folding, func(ctx context.Context) error {
		return r.state.Complete(ctx, r.state.Done().Generation, false)
	})
}

// refresher works at tasks: see package cascade.
type refresher struct{ *committer }

// once works at the first task, as far as one commit goes.
func (c refresher) once(ctx context.Context) error {
	t, ok := c.state.Tasks.First()
	if !ok {
		return nil
	}
	kind := c.state.Done().Kind(checkpoint.KindCascade, c.projection.Name)
	n, err := c.evaluator.db.Notes().Get(ctx, kind, t.ID())
	if err != nil {
		return err
	}
	if n.Value == nil { // another process has done it
		c.state.Tasks.Drop()
		return nil
	}
	if t, err = cascade.ParseTask(&n); err != nil {
		return checkpoint.Damaged(err)
	}
	if t.Done {
		t = t.Again()
	}
	links, err := c.links(ctx, &t)
	if err != nil {
		return err
	}
	if len(links) == 0 {
		return c.finish(ctx, kind, &t)
	}
	if t, err = c.follow(ctx, kind, t, links); err != nil {
		return err
	}
	c.state.Tasks.Put(t)
	c.state.Tasks.Turn()
	return nil
}

// follow has the copies of links follow their row, of as many as one commit holds, and returns the task as it is then.
// A store may find a row too large that the fold has not, and refuses its commit as a whole: so half of the links are
// tried, and half of these, down to the one that has to keep its copy.
func (c refresher) follow(ctx context.Context, kind string, t cascade.Task, links []link) (cascade.Task, error) {
	next := t
	b, err := c.fold(ctx, &next, links)
	if err != nil {
		return t, err
	}
	b.Notes = append(b.Notes, next.Progress(kind))
	err = c.apply(ctx, b)
	switch {
	case !errors.Is(err, querydb.ErrTooLarge):
		return next, err
	case len(links) > 1:
		return c.follow(ctx, kind, t, links[:len(links)/2])
	}
	c.fail(ctx, &t, &links[0], err)
	t.After = links[0].id
	return t, c.apply(ctx, querydb.Batch{Notes: []querydb.Note{t.Progress(kind)}})
}

// links are the next that the task comes to, of one reference; none where it is done.
func (c refresher) links(ctx context.Context, t *cascade.Task) (found []link, err error) {
	refs, most := c.evaluator.fold.Tracked().ReferencesTo(t), min(mostRefreshed, c.evaluator.cfg.WindowEvents)
	for ; t.Reference < len(refs); t.Reference, t.After = t.Reference+1, "" {
		found, err = c.evaluator.listLinks(ctx, refs[t.Reference], t.Identifier, t.After, most)
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, nil
}

// fold makes the batch in which the copies of links follow their row, of as many as one commit holds, and has the task
// come so far.
func (c refresher) fold(ctx context.Context, t *cascade.Task, links []link) (b querydb.Batch, err error) {
	f := c.evaluator.fold
	f.Reset(false)
	// It is no event's place: no row has come so far.
	at := fold.ApplyPoint{Pos: querydb.Position{Offset: math.MaxUint64}}
	ops := make([]fold.Op, len(links))
	for i, l := range links {
		ops[i] = f.Tracked().Refresh(l.Link, t)
		if err := f.Need(ops[i:i+1], at); err != nil {
			return b, err
		}
	}
	if err := f.Load(ctx, at, c.evaluator.findLinks); err != nil {
		return b, err
	}
	for i := range ops {
		at.Event = i + 1
		err := f.Eval(ops[i:i+1], at)
		if err == fold.ErrNextCommit {
			break
		}
		switch {
		case err != nil:
			c.fail(ctx, t, &links[i], err)
		case hasWritten(f):
			t.Succeeded++
		}
		t.After = links[i].id
	}
	var whole, several bool
	b.Writes, whole, several = f.Writes(nil)
	b.Atomic, b.MultiRow, b.Unchanged = whole, several, f.Tracked().Copies().Read
	return b, nil
}

// hasWritten reports whether the last op has changed a row: the copy that it was to refresh may be gone by now.
func hasWritten(f *fold.Fold) bool {
	for range f.Written() {
		return true
	}
	return false
}

// fail notes that a row cannot hold the new copy.
func (c refresher) fail(ctx context.Context, t *cascade.Task, l *link, err error) {
	if t.Failed++; t.Failed == 1 {
		t.Reason = fmt.Sprintf("%s row %q: %v", l.Model, l.Key, err)
	}
	c.log.LogAttrs(ctx, slog.LevelError, "projection: a copy cannot follow the row that it is of",
		slog.String("model", l.Model), slog.String("field", l.Field), slog.String("key", l.Key.PK),
		slog.String("of", t.Model), slog.String("id", t.Identifier), slog.Any("error", err))
}

// finish takes a task off that is done. It stays on record where some rows cannot hold the new copy.
func (c refresher) finish(ctx context.Context, kind string, t *cascade.Task) error {
	n := t.Removal(kind)
	if t.Done = true; t.Failed > 0 {
		n = t.Progress(kind)
	}
	if err := c.apply(ctx, querydb.Batch{Notes: []querydb.Note{n}}); err != nil {
		return err
	}
	c.state.Tasks.Drop()
	if t.Failed > 0 {
		c.state.Tasks.Put(*t)
	}
	return nil
}

func (c refresher) apply(ctx context.Context, b querydb.Batch) error {
	c.inWrite = true
	err := c.state.ApplyRows(ctx, b)
	c.inWrite = false
	c.evaluator.fold.Forget()
	if err != nil && !errors.Is(err, querydb.ErrTooLarge) {
		c.state.Invalidate()
	}
	return err
}
