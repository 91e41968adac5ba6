package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/deadletter"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/loglimit"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// committer writes rows, dead letters, decisions and the checkpoint, in one commit or, on a shared store, so that the
// checkpoint follows the rows.
type committer struct {
	projection *Projection
	src        eventlog.Source
	state      *checkpoint.State
	evaluator  *evaluator
	monitor    *Monitor
	log        *slog.Logger
	shared     bool

	inWrite bool // a store is writing a batch
	writes  []querydb.Write
	ahead   *page // the next of copies that follow their row; nil after any other commit
	links   limit // of copies that follow their rows

	failedLines, waitingLines, failedCopyLines, unreadLines loglimit.Limit
}

// commit is what has been committed.
type commit struct {
	tried, took int             // items
	end         position.Cursor // where the projection stands now
}

// commit evaluates the items, with which the batch begins, as far as one commit goes, and writes what they make. It
// is nil where the batch is to be tried again, with what is on record by then, or with all that the first item needs.
func (c *committer) commit(ctx context.Context, s *batch, items []item) (*commit, error) {
	out, tried, took, err := c.evaluator.prepare(ctx, func() (*outcome, error) { return c.newOutcome(ctx, s) }, items)
	if err != nil || out == nil || took == 0 && len(items) > 0 {
		return nil, err
	}
	if !s.released {
		part := *s
		if took < len(s.items) {
			part = s.upTo(took)
		}
		out.end, out.last, out.watermark = part.end, part.last, part.watermark
	}
	if err := c.write(ctx, out); err != nil {
		return nil, err
	}
	return &commit{tried, took, out.end}, nil
}

func (c *committer) newOutcome(ctx context.Context, s *batch) (*outcome, error) {
	done := c.state.Done()
	out := &outcome{
		projection: c.projection.Name, generation: done.Generation, fold: c.evaluator.fold, partition: s.partition,
		released: s.released, settles: s.settles, tells: s.tells, failing: map[deadletter.Subject]failure{},
		gone: map[position.Ref]bool{},
	}
	if s.released && !s.settles {
		var err error
		if out.others, err = checkpoint.LookAtOthers(ctx, c.state); err != nil {
			return nil, err
		}
		if !out.others.IsKnownTo(c.state) { // what was decided may have the place that this would have
			c.state.Invalidate()
			return nil, fmt.Errorf("%w: something was decided about other events meanwhile", querydb.ErrStale)
		}
	}
	out.was, out.kind = done.Partitions[s.partition], done.Kind(checkpoint.KindDeadLetter, c.projection.Name)
	out.tried = out.was.Tried
	// where released items take effect; others take it along
	out.end, out.watermark = out.was.Cursor, out.was.ExpiryWatermark()
	for i := range s.items {
		if s.released {
			s.items[i].watermark = out.watermark
		}
	}
	if out.was.Anchor == nil && out.was.Offset == 0 {
		var err error
		if out.was.Incarnation, err = eventlog.IncarnationOf(ctx, c.src, s.partition); err != nil {
			return nil, err
		}
	}
	out.slot = position.SlotOf(s.partition, out.was.Incarnation)
	return out, nil
}

// write commits what the fold and the outcome have.
func (c *committer) write(ctx context.Context, out *outcome) error {
	var whole, several bool
	c.writes, whole, several = out.fold.Writes(c.writes[:0])
	c.state.Expire(out.partition)
	if out.released && len(c.writes)+len(out.notes) == 0 {
		return nil // all of them wait for another
	}
	told := len(out.decisions) == 0 || out.fold.HasRoom(1)
	if told && len(out.decisions) > 0 {
		out.notes = append(out.notes, out.others.Notes(c.state, out.tells)...)
	}
	copies := out.fold.Tracked().Copies()
	err := c.widen(ctx, out, &copies)
	if err == nil {
		err = c.restate(ctx, &copies)
	}
	if err == nil {
		err = c.announce(ctx, out, whole)
	}
	if err == nil {
		unchanged := c.addCopies(out, &copies)
		b := querydb.Batch{Writes: c.writes, Notes: out.notes, Atomic: whole, MultiRow: several, Unchanged: unchanged}
		next := out.checkpoint()
		b.Notes = append(b.Notes, c.state.Done().Notes(c.projection.Name, out.partition, next)...)
		err = c.apply(ctx, b, out, next)
	}
	if err != nil {
		out.fold.Forget()
		return err
	}
	out.fold.Committed(out.end.Position(out.slot))
	c.state.Expire(out.partition)
	c.remember(ctx, out)
	if told && out.tells && len(out.decisions) > 0 {
		out.others.HasTold(c.state)
	}
	if len(out.tasks) > 0 { // before the checkpoint is seen: who sees that must see what is yet to follow
		c.monitor.refreshing(c.state.Tasks, 0)
	}
	if !told && out.tells {
		c.tell(ctx, out)
	}
	c.monitor.committed(out.partition, out.end.Offset, len(c.writes), c.state.Letters.Len())
	return nil
}

// tell tells of a decision whose commit has had no room for that.
func (c *committer) tell(ctx context.Context, out *outcome) {
	if err := out.others.Tell(ctx, c.state); err != nil {
		c.log.WarnContext(ctx, "projection: the runners of other generations could not be notified of the decision; "+
			"they read it when they start or have nothing to fold", "error", err)
	}
}

// addCopies adds what the commit changes about copies to its notes, and returns the rows that must be as they were
// read.
func (c *committer) addCopies(out *outcome, copies *fold.Copies) []querydb.ReadRow {
	done := c.state.Done()
	links := done.Kind(checkpoint.KindLink, out.projection)
	tasks := done.Kind(checkpoint.KindCascade, out.projection)
	for _, l := range copies.Linked {
		out.notes = append(out.notes, l.Note(links))
	}
	for _, l := range copies.Unlinked {
		out.notes = append(out.notes, l.Removal(links))
	}
	versions := done.Kind(checkpoint.KindLinkVersion, out.projection)
	for i := range copies.Versions {
		out.notes = append(out.notes, copies.Versions[i].Note(versions))
	}
	for i := range copies.Tasks {
		out.notes = append(out.notes, copies.Tasks[i].Note(tasks))
	}
	for _, id := range out.formerTasks {
		out.notes = append(out.notes, querydb.Note{Kind: tasks, ID: id})
	}
	out.tasks = copies.Tasks
	b := querydb.Batch{Notes: out.notes, Unchanged: copies.Read}
	c.unlink(&b, copies.Gone)
	out.notes = b.Notes
	return b.Unchanged
}

// widen has tasks also be about what unfinished ones of their rows are about, whose notes they replace. Another process
// may have recorded one that is not known here. It does so in a commit that changes the row, so what is looked up once
// the row has been read holds for as long as the row may be written. Those that an earlier version recorded under other
// IDs are taken off, as far as the commit holds that beside a note that tells of a decision: one that stays does no
// harm until the row changes again.
func (c *committer) widen(ctx context.Context, out *outcome, copies *fold.Copies) error {
	pending, err := c.pendingTasks(ctx, copies.Tasks)
	if err != nil {
		return err
	}
	for i, t := range copies.Tasks {
		wider, former := c.state.Tasks.ReplacingFormer(pending.Widened(t))
		if copies.Tasks[i] = wider; former != "" && out.fold.HasRoom(len(out.formerTasks)+2) {
			out.formerTasks = append(out.formerTasks, former)
		}
	}
	return nil
}

// mostRestated is how many tasks one commit restates on a store whose commits hold few items.
const mostRestated = 20

// restate has unfinished tasks of rows that the commit writes as expired, and of which no copy is to follow, take them
// for none. On a shared store that is on record before the rows: the commit may have no room for it, or be seen in
// parts. It holds by the position of the event, so until the row has come to that it says nothing.
func (c *committer) restate(ctx context.Context, copies *fold.Copies) error {
	var about, all []cascade.Task
	for i := range copies.Restated {
		about = append(about, copies.Restated[i].Task)
	}
	pending, err := c.pendingTasks(ctx, about)
	if err != nil {
		return err
	}
	for i, t := range about {
		restated, there := pending.Restated(t, copies.Restated[i].Passed)
		if !there {
			continue
		}
		if restated.Done && c.state.Tasks.Pends(restated.ID()) { // it has begun again, which is not on record
			restated = restated.Again()
		}
		all = append(all, restated)
	}
	if !c.shared {
		copies.Tasks = append(copies.Tasks, all...)
		return nil
	}
	kind := c.state.Done().Kind(checkpoint.KindCascade, c.projection.Name)
	for part := range slices.Chunk(all, mostRestated) {
		var b querydb.Batch
		for i := range part {
			b.Notes = append(b.Notes, part[i].Restatement(kind))
		}
		c.inWrite, c.ahead = true, nil
		err := c.state.ApplyRows(ctx, b)
		c.inWrite = false
		if err != nil {
			c.state.Invalidate()
			return err
		}
	}
	return nil
}

// pendingTasks are those of the rows that tasks are about, at least.
func (c *committer) pendingTasks(ctx context.Context, about []cascade.Task) (*cascade.Tasks, error) {
	if !c.shared || len(about) == 0 {
		return c.state.Tasks, nil
	}
	ids := make([]string, len(about))
	for i := range about {
		ids[i] = about[i].ID()
	}
	stored, _, err := checkpoint.LookUpTasks(ctx, c.state, ids)
	if err != nil {
		return nil, err
	}
	pending := cascade.NewTasks()
	for _, t := range stored {
		pending.Put(t)
	}
	return pending, nil
}

// unlink takes away links that lead to no row any more, unless the row or the link is made meanwhile.
func (c *committer) unlink(b *querydb.Batch, gone []fold.GoneLink) {
	kind := c.state.Done().Kind(checkpoint.KindLink, c.projection.Name)
	for i := range gone {
		n := gone[i].Removal(kind)
		n.IfRevision, n.Revision = true, gone[i].Revision
		b.Notes = append(b.Notes, n)
		if !slices.Contains(b.Unchanged, gone[i].Row) { // two links may lead there
			b.Unchanged = append(b.Unchanged, gone[i].Row)
		}
	}
}

// announce puts on record which events the rows of a commit may show, before the first of them is written, where rows
// and checkpoint are not one commit. A process that ends between them leaves rows ahead of the checkpoint: a log that
// has lost those events since, or another that a process began with at the same time, is found out by that.
func (c *committer) announce(ctx context.Context, out *outcome, whole bool) error {
	if !c.shared || whole || out.released || len(c.writes) == 0 {
		return nil
	}
	ahead := out.was
	ahead.Watermark = ahead.ExpiryWatermark() // which may hang on the anchor
	if ahead.Anchor = position.Furthest(ahead.Anchor, out.last); ahead.Anchor == out.was.Anchor {
		return nil
	}
	// The note alone, without a look at the header: one about a generation that another has followed is in nobody's
	// way.
	note := c.state.Done().Notes(c.projection.Name, out.partition, ahead)[1:]
	return c.apply(ctx, querydb.Batch{Notes: note}, out, ahead)
}

// reread forgets what was read of rows: others may have written since.
func (c *committer) reread() {
	c.evaluator.fold.Forget()
	c.ahead = nil
}

// apply commits a batch that has the checkpoint among its notes.
func (c *committer) apply(ctx context.Context, b querydb.Batch, out *outcome, next checkpoint.Checkpoint) error {
	c.inWrite, c.ahead = true, nil
	err := c.state.Apply(ctx, b, out.partition, next)
	c.inWrite = false
	if err != nil {
		if !refused(err) {
			c.state.Invalidate()
		}
		return err
	}
	out.was = c.state.Done().Partitions[out.partition]
	return nil
}

// remember takes the outcome of a commit into memory.
func (c *committer) remember(ctx context.Context, out *outcome) {
	for _, l := range out.letters {
		c.state.Letters.Add(deadletter.SubjectOf(l.event), l.event.Offset, l.number)
		attrs := []slog.Attr{slog.String("event", position.RefOf(l.event).String()), slog.String("id", l.event.ID),
			slog.String("source", l.event.Source), slog.String("subject", l.event.Subject),
			slog.String("reason", l.reason)}
		lines := &c.failedLines
		if l.waits { // as many as a sender likes: they are not to hide the first line of another fault
			lines = &c.waitingLines
		} else {
			attrs = append(attrs, slog.String("next", "later events of its subject wait until it is retried or skipped: see "+
				"'server deadletters --help'"))
		}
		lines.Log(ctx, c.log, c.evaluator.cfg.Now(), slog.LevelWarn, "projection: event became a dead letter", attrs...)
	}
	for _, e := range out.resolved {
		c.state.Letters.Remove(deadletter.SubjectOf(e), e.Offset)
	}
	for _, l := range out.waiting {
		c.state.Letters.Wait(l.Ref, l.missing)
		if c.shared {
			c.state.Letters.MayHaveAppeared(l.missing.RowOf())
		}
	}
	for _, row := range out.appeared {
		c.state.Letters.Wake(row)
	}
	c.state.Letters.WakeFirst(out.left)
	c.state.Unsettled = append(c.state.Unsettled, out.postponed...)
	c.state.Tasks.Drop(out.formerTasks...)
	for _, t := range out.tasks {
		c.state.Tasks.Put(t)
	}
	for _, d := range out.decisions {
		c.state.Decisions[d.Ref] = d
		c.state.ApplyPoints.Add(&d)
	}
}
