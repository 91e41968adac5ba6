package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
)

// How many copies one commit has follow their row at most, and no more than a window has events: it bounds memory, and
// how long events wait. They are fewer where ops evaluate them one by one.
const (
	mostRefreshed = 256
	mostRecopied  = 512
)

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
	r.Monitor.refreshing(r.state.Tasks)
	if err != nil || r.state.Tasks.Len() > 0 || r.state.IsComplete() {
		return err
	}
	return completeRows(ctx, r, r.state.Done().Generation, false)
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
	p, err := c.next(ctx, &t)
	if err != nil {
		return err
	}
	if len(p.links) == 0 {
		return c.finish(ctx, kind, &t)
	}
	if t, err = c.follow(ctx, kind, t, p); err != nil {
		return err
	}
	c.state.Tasks.Put(t)
	c.state.Tasks.Turn()
	return nil
}

// follow has the copies of a page follow their row, of as many as one commit holds, and returns the task as it is then.
// A store may find a row too large that the fold has not, or one that has expired and lost a unique key to another, and
// refuses its commit as a whole: so half of the page is tried, and half of that, down to the one row that has to keep
// its copy. Nobody reads one that has expired.
func (c refresher) follow(ctx context.Context, kind string, t cascade.Task, p *page) (cascade.Task, error) {
	next := t
	b, err := c.fold(ctx, &next, p)
	if err != nil {
		return t, err
	}
	b.Notes = append(b.Notes, next.Progress(kind))
	err = c.commit(ctx, b, next, p)
	lost := errors.Is(err, querydb.ErrConflict)
	switch {
	case !lost && !errors.Is(err, querydb.ErrTooLarge):
		return next, err
	case len(p.links) > 1:
		return c.follow(ctx, kind, t, p.half())
	}
	if !lost {
		c.fail(ctx, &t, &p.links[0], err)
	}
	t.After = p.links[0].id
	return t, c.apply(ctx, querydb.Batch{Notes: []querydb.Note{t.Progress(kind)}})
}

// page is what one commit works at: links of one reference, and the rows that they lead to where these are recopied.
// Else ops read them.
type page struct {
	from     place
	links    []link
	rows     []querydb.Row
	recopies bool
}

func (p *page) half() *page {
	n := len(p.links) / 2
	return &page{from: p.from, links: p.links[:n], rows: p.rows[:min(n, len(p.rows))], recopies: p.recopies}
}

// leaveToOps has ops evaluate the rows.
func (p *page) leaveToOps() {
	p.links, p.rows, p.recopies = p.links[:min(mostRefreshed, len(p.links))], nil, false
}

// place is where a task has come to.
type place struct {
	links     string // kind of their notes: it names the generation of the rows
	task      string
	reference int
	after     string
}

func (c refresher) placeOf(t *cascade.Task) place {
	return place{c.state.Done().Kind(checkpoint.KindLink, c.projection.Name), t.ID(), t.Reference, t.After}
}

// next is the next page of the task, without links where the task is done.
func (c refresher) next(ctx context.Context, t *cascade.Task) (*page, error) {
	p := c.ahead
	if c.ahead = nil; p != nil && p.from == c.placeOf(t) {
		return p, nil
	}
	for refs := c.evaluator.fold.Tracked().ReferencesTo(t); t.Reference < len(refs); t.Reference++ {
		p, err := c.read(ctx, t, refs[t.Reference])
		if err != nil || len(p.links) > 0 {
			return p, err
		}
		t.After = ""
	}
	return &page{}, nil
}

// read reads the page at which the task stands.
func (c refresher) read(ctx context.Context, t *cascade.Task, ref cascade.Reference) (p *page, err error) {
	tracked, most := c.evaluator.fold.Tracked(), mostRefreshed
	p = &page{from: c.placeOf(t), recopies: tracked.Recopies(ref, t)}
	if p.recopies {
		most = mostRecopied
	}
	p.links, err = c.evaluator.listLinks(ctx, ref, t.Identifier, t.After, min(most, c.evaluator.cfg.WindowEvents))
	if err != nil || !p.recopies {
		return p, err
	}
	held := make([]keys.Key, len(p.links))
	for i := range p.links {
		held[i] = p.links[i].Key
	}
	p.rows, err = tracked.Stored(ctx, ref, held)
	p.links = p.links[:len(p.rows)]
	return p, err
}

// commit applies the batch that a page has made, and reads the next page meanwhile.
func (c refresher) commit(ctx context.Context, b querydb.Batch, t cascade.Task, p *page) error {
	if !p.recopies || c.state.Tasks.Len() > 1 {
		return c.apply(ctx, b)
	}
	read := make(chan *page, 1)
	go func() {
		defer close(read)
		read <- c.readAhead(ctx, &t, p.links[0].Reference)
	}()
	defer func() { c.ahead = <-read }()
	return c.apply(ctx, b)
}

// readAhead reads the page at which the task stands, while the one before is committed; nil where it cannot, and where
// there is none of the reference. That commit does not change its rows: as long as the reference is the same, they are
// others. Any other commit of the projection throws the page away, and so does whoever reads anew what is on record.
func (c refresher) readAhead(ctx context.Context, t *cascade.Task, ref cascade.Reference) (p *page) {
	var err error
	defer func() {
		if err != nil || p != nil && len(p.links) == 0 {
			p = nil
		}
	}()
	defer usercode.Recovered(&err)
	p, err = c.read(ctx, t, ref)
	return p
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
	return c.evaluate(ctx, t, p.links)
}

// evaluate is fold by an op for each row.
func (c refresher) evaluate(ctx context.Context, t *cascade.Task, links []link) (b querydb.Batch, err error) {
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

// recopy is fold by replacing the copies in rows as they are stored; done is false where that is left to ops.
func (c refresher) recopy(ctx context.Context, t *cascade.Task, p *page) (b querydb.Batch, done bool, err error) {
	f := c.evaluator.fold
	f.Reset(false)
	out, err := f.Tracked().Recopy(ctx, p.links[0].Reference, p.rows, t)
	if err != nil || out.Done == 0 {
		return b, false, err
	}
	t.After = p.links[out.Done-1].id
	t.Succeeded += len(out.Writes)
	return querydb.Batch{Writes: out.Writes}, true, nil
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
