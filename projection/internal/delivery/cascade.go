package delivery

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// How many copies one commit has follow their row at most, and no more than a window has events: it bounds memory, and
// how long events wait. They are fewer where ops evaluate them one by one, and where they are of several rows.
const (
	mostRefreshed = 256
	mostRecopied  = 512
	mostTogether  = 64
)

// How many tasks one commit takes off at most, and how many there may be before events wait for some to be done. A log
// that is folded from its beginning makes a task of every row that is copied, of most of which nobody has a copy yet.
const (
	mostDone  = 1000
	mostTasks = 10_000
)

// refreshes reports whether copies are to follow their rows.
func (r *Runner) refreshes() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Tasks.Len() > 0
}

// isCrowded reports whether events are to wait until copies have followed their rows.
func isCrowded(r *Runner) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Tasks.Len() > mostTasks
}

// Cascades are how many rows their copies have yet to follow, and the rows of which some copies could not follow a
// change.
func (r *Runner) Cascades(ctx context.Context) (pending int, failed []cascade.Task, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.state.Open(ctx); err != nil {
		return 0, nil, err
	}
	return r.state.Tasks.Len(), r.state.Tasks.Failed(), nil
}

// RetryCascades has all copies follow those rows that can by now. It returns how many rows it has tried, which includes
// those that are being tried again already, and those of which some copies still cannot.
func (r *Runner) RetryCascades(ctx context.Context) (tried int, failed []cascade.Task, err error) {
	pending, before, err := r.Cascades(ctx)
	if err != nil {
		return 0, nil, err
	}
	r.mu.Lock()
	r.state.Tasks.RetryFailed()
	r.mu.Unlock()
	if err := r.refreshAll(ctx); err != nil {
		return 0, nil, err
	}
	_, failed, err = r.Cascades(ctx)
	return pending + len(before), failed, err
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
	if err := r.turns.Begin(ctx); err != nil {
		return err
	}
	defer r.turns.End()
	c := refresher{r.batcher.committer}
	err := r.retrier.do(ctx, Folding, func(ctx context.Context) error {
		if err := r.state.Open(ctx); err != nil {
			return err
		}
		return c.once(ctx)
	})
	commits := uint64(0)
	if err == nil {
		commits = 1
	}
	r.Monitor.refreshing(r.state.Tasks, commits)
	if err != nil || r.state.Tasks.Len() > 0 || r.state.IsComplete() {
		return err
	}
	return completeRows(ctx, r, r.state.Done().Generation, false)
}

// refresher works at tasks: see package cascade.
type refresher struct{ *committer }

// once works at the first tasks, as far as one commit goes: at several of few copies, or at one.
func (c refresher) once(ctx context.Context) error {
	first, err := c.first(ctx)
	if err != nil || len(first) == 0 {
		return err
	}
	if done, err := c.together(ctx, slices.Clone(first)); done || err != nil {
		return err
	}
	t := first[0]
	p, err := c.next(ctx, &t)
	if err != nil {
		return err
	}
	if len(p.links) == 0 {
		return c.finish(ctx, querydb.Batch{}, []cascade.Task{t})
	}
	if t, err = c.follow(ctx, t, p); err != nil {
		return err
	}
	c.state.Tasks.Put(t)
	c.state.Tasks.Turn()
	return nil
}

// first are the first tasks as they are on record. Those that another process has done are taken off.
func (c refresher) first(ctx context.Context) ([]cascade.Task, error) {
	most := mostDone
	if c.evaluator.shared { // a commit holds few items
		most = mostTogether / 8
	}
	ids := c.state.Tasks.First(most)
	versions, err := c.taskVersions(ctx, ids) // before the tasks are read
	if err != nil {
		return nil, err
	}
	tasks, none, err := checkpoint.LookUpTasks(ctx, c.state, ids)
	if err != nil {
		return nil, err
	}
	c.state.Tasks.Drop(none...)
	for i := range tasks {
		tasks[i].RestOn(versions[cascade.TaskVersionID(tasks[i].ID())])
		if tasks[i].Done {
			tasks[i] = tasks[i].Again()
		}
	}
	return tasks, nil
}

// taskVersions are the revisions of the versions of the tasks of those IDs, by the IDs of their notes. A store with one
// writer needs none.
func (c refresher) taskVersions(ctx context.Context, ids []string) (map[string]uint64, error) {
	if !c.evaluator.shared {
		return nil, nil
	}
	kind := c.state.Done().Kind(checkpoint.KindTaskVersion, c.projection.Name)
	held := make([]keys.Key, len(ids))
	for i, id := range ids {
		held[i] = keys.Key{PK: kind, SK: cascade.TaskVersionID(id)}
	}
	now, err := c.evaluator.db.Notes().GetAll(ctx, held)
	versions := make(map[string]uint64, len(now))
	for i := range now {
		versions[now[i].ID] = now[i].Revision
	}
	return versions, err
}

// together works at the first of the tasks, as many as are done within one commit, and reports whether there are such
// tasks. Where the store refuses the commit, each is left to a page of its own, which finds out whose row it is.
func (c refresher) together(ctx context.Context, tasks []cascade.Task) (done bool, err error) {
	tasks, steps, full, err := c.few(ctx, tasks)
	if err != nil || len(tasks) == 0 {
		return false, err
	}
	var b querydb.Batch
	began := c.evaluator.cfg.Now()
	if len(steps) > 0 {
		evaluated := 0
		b, evaluated, err = c.evaluate(ctx, steps)
		if evaluated < len(steps) { // the commit has had no room for the task of that step
			tasks = tasks[:slices.IndexFunc(tasks, func(t cascade.Task) bool { return t.ID() == steps[evaluated].task.ID() })]
		}
	}
	if err == nil && len(tasks) > 0 {
		err = c.finish(ctx, b, tasks)
	}
	c.ended(len(steps), full, began, err)
	if unfit(err) {
		return false, nil
	}
	return err == nil && len(tasks) > 0, err
}

// few are the first of the tasks with the links that they have yet to follow, as long as there are few of these: full
// where more would be too many after a commit that was too much.
func (c refresher) few(ctx context.Context, tasks []cascade.Task) (
	few []cascade.Task, steps []step, full bool, err error,
) {
	room := min(mostTogether, c.evaluator.cfg.WindowEvents)
	if c.evaluator.shared {
		room /= 2
	}
	room = min(room, c.links.most)
	for i := range tasks {
		t := &tasks[i]
		if t.After != "" { // it has more than a page
			return tasks[:i], steps, full, nil
		}
		before, refs := len(steps), c.evaluator.fold.Tracked().ReferencesTo(t)
		for _, ref := range refs[min(t.Reference, len(refs)):] {
			links, err := c.evaluator.listLinks(ctx, ref, t.Identifier, "", room+1-len(steps))
			if err != nil {
				return nil, nil, false, err
			}
			for _, l := range links {
				steps = append(steps, step{t, l})
			}
			full = len(steps) >= c.links.most
			if len(steps) > room {
				return tasks[:i], steps[:before], full, nil
			}
		}
	}
	return tasks, steps, full, nil
}

// step is a link that a task follows.
type step struct {
	task *cascade.Task
	link link
}

// fold makes the batch in which the copies of a page follow their row, of as many as one commit holds, and has the task
// come so far.
func (c refresher) fold(ctx context.Context, t *cascade.Task, p *page) (b querydb.Batch, err error) {
	if p.recopies {
		if b, done, err := c.recopy(ctx, t, p); done || err != nil {
			return b, err
		}
		p.leaveToOps()
	}
	steps := make([]step, len(p.links))
	for i, l := range p.links {
		steps[i] = step{t, l}
	}
	b, done, err := c.evaluate(ctx, steps)
	if done > 0 {
		t.After = p.links[done-1].id
	}
	return b, err
}

// evaluate makes the batch of an op for each row, of as many as one commit holds. The tasks count them.
func (c refresher) evaluate(ctx context.Context, steps []step) (b querydb.Batch, done int, err error) {
	f := c.evaluator.fold
	f.Reset(false)
	// It is no event's place: no row has come so far.
	at := fold.ApplyPoint{Pos: querydb.Position{Offset: math.MaxUint64}}
	var gone []fold.GoneLink
	ops := make([]fold.Op, len(steps))
	for i, s := range steps {
		ops[i] = f.Tracked().Refresh(s.link.Link, s.task)
		if err := f.Need(ops[i:i+1], at); err != nil {
			return b, 0, err
		}
	}
	if err := f.Load(ctx, at, c.evaluator.findLinks); err != nil {
		return b, 0, err
	}
	for done < len(ops) {
		at.Event = done + 1
		err := f.Eval(ops[done:done+1], at)
		if err == fold.ErrNextCommit {
			break
		}
		switch s := &steps[done]; {
		case err != nil:
			c.fail(ctx, s.task, &s.link, err)
		case hasWritten(f):
			s.task.Succeeded++
		default:
			if row, none := f.Tracked().Gone(&s.link.Link); none {
				gone = append(gone, fold.GoneLink{Link: s.link.Link, Revision: s.link.revision, Row: row})
			}
		}
		done++
	}
	var whole, several bool
	b.Writes, whole, several = f.Writes(nil)
	b.Atomic, b.MultiRow, b.Unchanged = whole, several, f.Tracked().Copies().Read
	if c.evaluator.shared {
		gone = gone[:min(mostUnlinked, len(gone))]
	}
	c.unlink(&b, gone)
	return b, done, nil
}

// mostUnlinked is how many links one commit takes away at most on a store whose commits hold few items.
const mostUnlinked = 10

// hasWritten reports whether the last op has changed a row: the copy that it was to refresh may be gone by now.
func hasWritten(f *fold.Fold) bool {
	for range f.Written() {
		return true
	}
	return false
}

// fail notes that a row cannot hold the new copy.
func (c refresher) fail(ctx context.Context, t *cascade.Task, l *link, err error) {
	t.Fails(cascade.Failure{Model: l.Model, Field: l.Field, Key: driver.PrintableKey(l.Key), Reason: err.Error()})
	c.failedCopyLines.Log(ctx, c.log, c.evaluator.cfg.Now(), slog.LevelError,
		"projection: a copy cannot follow the row that it is of",
		slog.String("model", l.Model), slog.String("field", l.Field), slog.String("key", driver.PrintableKey(l.Key)),
		slog.String("of", t.Model), slog.String("id", t.Identifier), slog.Any("error", err))
}

// finish commits the batch with which tasks are done, and takes them off. One stays on record where some rows cannot
// hold the new copy.
func (c refresher) finish(ctx context.Context, b querydb.Batch, tasks []cascade.Task) error {
	done := make([]string, len(tasks))
	for i := range tasks {
		tasks[i].Done, done[i] = true, tasks[i].ID()
	}
	b.Notes = append(b.Notes, c.progress(tasks...)...)
	if err := c.apply(ctx, b); err != nil {
		return err
	}
	c.state.Tasks.Drop(done...)
	for i := range tasks {
		if tasks[i].Failed > 0 {
			c.state.Tasks.Put(tasks[i])
		}
	}
	return nil
}

// progress are the notes of a commit that works at the tasks.
func (c refresher) progress(tasks ...cascade.Task) (notes []querydb.Note) {
	kind := c.state.Done().Kind(checkpoint.KindCascade, c.projection.Name)
	for i := range tasks {
		notes = append(notes, tasks[i].Progress(kind))
	}
	if c.evaluator.shared {
		kind = c.state.Done().Kind(checkpoint.KindTaskVersion, c.projection.Name)
		notes = append(notes, cascade.TaskVersions(kind, tasks...)...)
	}
	return notes
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
