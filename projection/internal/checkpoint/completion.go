package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection/internal/position"
	"github.com/foldql/foldql/querydb"
)

// completion is a note that says whether a projection has folded a generation so far that its rows can be served. It is
// begun with the generation, in the same commit, and stays when it is done: rows
// that have been complete once are served from then on, however far they are behind.
type completion struct {
	Table      string `json:"table"`
	Generation int    `json:"generation"`
	// Goal is where the log ended when the generation was begun; nil where an earlier version has begun it and the source
	// did not say.
	Goal map[string]uint64 `json:"goal,omitempty"`
	Done bool              `json:"done"`
	// Claims are of the rows that the generation replaces.
	Claims Replaced `json:"claims,omitempty"`

	slot     slot
	revision uint64 // of the note
}

func (c completion) note(projection string) querydb.Note {
	return querydb.Note{Kind: c.slot.completion(), ID: projection, Value: encode(c), IfRevision: true,
		Revision: c.revision}
}

// readCompletion reads what is on record, about whichever generation; the zero completion where that is nothing.
func readCompletion(ctx context.Context, db *querydb.DB, projection string) (c completion, err error) {
	return readCompletionIn(ctx, db, slotOf(db), projection)
}

func readCompletionIn(ctx context.Context, db *querydb.DB, in slot, projection string) (c completion, err error) {
	n, err := db.Notes().Get(ctx, in.completion(), projection)
	if err == nil {
		c, err = completionIn(in, &n)
	}
	if err != nil {
		return c, fmt.Errorf("read whether the rows of %s are complete: %w", projection, err)
	}
	return c, nil
}

// completionIn is what the note says; the zero completion where there is none.
func completionIn(in slot, n *querydb.Note) (c completion, err error) {
	if n.Value != nil {
		err = json.Unmarshal(n.Value, &c)
	}
	c.slot, c.revision = in, n.Revision
	return c, err
}

// Replaced are the furthest checkpoints, by partition, of rows that are being replaced. The log must go on holding
// the events that they cover, though the new rows do not show them yet: where an older log were taken meanwhile,
// events that were acknowledged would be lost, and others would take their offsets.
type Replaced map[string]Checkpoint

// open are those that checkpoints have not come up to. The others are held by the checkpoints themselves.
func (r Replaced) open(checkpoints map[string]Checkpoint) Replaced {
	left := maps.Clone(r)
	maps.DeleteFunc(left, func(partition string, claim Checkpoint) bool {
		return checkpoints[partition].Offset >= claim.Reach()
	})
	return left
}

// with are those when rows that have come to the checkpoints are replaced too.
func (r Replaced) with(checkpoints map[string]Checkpoint) Replaced {
	all := Replaced{}
	maps.Copy(all, r)
	for partition, at := range checkpoints {
		if claim := all[partition]; at.Reach() > 0 && at.Reach() >= claim.Reach() {
			all[partition] = at
		}
	}
	return all
}

// readiness is whether the rows of the generation that a projection folds can be served.
type readiness struct {
	p          Projection
	src        eventlog.Source
	db         *querydb.DB
	watch      Watch
	completion completion // what is on record
}

// completionOf is what is on record where that is about the generation. Where it is not, since an earlier version has
// folded the generation or it is begun now, or where it has no goal, its rows are complete when they have come to where
// the log ends now.
func (r *readiness) completionOf(ctx context.Context, generation int, was completion) (completion, error) {
	if was.of(r.p, generation) && (was.Done || was.Goal != nil) {
		return was, nil
	}
	c, err := r.newCompletion(ctx, generation)
	c.Claims, c.slot, c.revision = was.Claims, was.slot, was.revision
	return c, err
}

// of reports whether the record is about a generation of the rows of a projection.
func (c *completion) of(p Projection, generation int) bool {
	return c.Table == p.Models[0].Table && c.Generation == generation
}

// newCompletion is that of a generation which is begun now.
func (r *readiness) newCompletion(ctx context.Context, generation int) (completion, error) {
	c := completion{Table: r.p.Models[0].Table, Generation: generation}
	partitions, err := r.src.Partitions(ctx)
	if err != nil {
		return c, fmt.Errorf("list the partitions: %w", err)
	}
	c.Goal, c.Done = map[string]uint64{}, true
	for _, p := range partitions {
		if c.Goal[p], err = r.src.Head(ctx, p); err != nil {
			return c, fmt.Errorf("head of partition %q: %w", p, err)
		}
		c.Done = c.Done && c.Goal[p] == 0
	}
	return c, nil
}

// unready says that the next generations are begun.
func (r *readiness) unready(p *location) error {
	for i := range p.tables {
		if err := r.db.Rebuilds().MarkAllRebuilding(p.tables[i].model, p.next(&p.tables[i])); err != nil {
			return err
		}
	}
	return r.judge(completion{Generation: p.next(&p.tables[0])})
}

// use has the DB read and write the generations that are on record, which another process may have begun since the DB
// was opened, and says whether their rows can be served. Never are those of former generations served in their place.
func (r *readiness) use(ctx context.Context, p *standing) error {
	c, err := r.completionOf(ctx, p.Generation, p.whole)
	if err != nil {
		return err
	}
	if !c.Done {
		if err := r.judge(c); err != nil {
			return err
		}
	}
	for _, t := range p.tables {
		if r.db.Generations().InUse(t.model) != t.serving.Number {
			if err := r.db.Rebuilds().MarkAllRebuilding(t.model, t.serving.Number); err != nil {
				return err
			}
		}
		if err := r.db.Generations().Use(t.model, t.serving); err != nil {
			return err
		}
	}
	return r.judge(c)
}

// judge says whether the rows can be served: to the watch first where they cannot, and last where they can, so that
// nobody whom a status sends to them is refused.
func (r *readiness) judge(c completion) error {
	r.completion = c
	if !c.Done {
		r.watch.Building(true, c.Goal)
	}
	for _, m := range r.p.Models {
		for _, writer := range r.p.writers(m) {
			if err := r.mark(m, writer, c.Done); err != nil {
				return err
			}
		}
	}
	if c.Done {
		r.watch.Building(false, c.Goal)
	}
	return nil
}

// mark says of the rows of a model that a projection writes whether they can be read.
func (r *readiness) mark(m *querydb.Model, writer string, done bool) error {
	if done {
		return r.db.Rebuilds().MarkComplete(m, writer)
	}
	return r.db.Rebuilds().MarkRebuilding(m, writer, r.watch.Rebuild)
}

// reached reports whether the rows have come to the goal.
func (r *Record) reached(goal map[string]uint64) bool {
	for partition, end := range goal {
		if r.Partitions[partition].Offset < end {
			return false
		}
	}
	return goal != nil
}

// Prepare reads what is on record, so that rows which are not complete are not served: see querydb.Rebuilds. It
// is to be called before the rows are read by others, and Open does the same.
func (s *State) Prepare(ctx context.Context) (err error) {
	for range readsOfStanding {
		if err = prepare(ctx, s); !errors.Is(err, querydb.ErrStale) {
			return err
		}
		s.found = nil // others have begun another generation meanwhile
	}
	return err
}

func prepare(ctx context.Context, s *State) error {
	p, err := standingOf(ctx, s)
	if err != nil {
		return err
	}
	s.found = p
	if p.good() {
		return s.readiness.use(ctx, p)
	}
	if s.db.Generations().Build() {
		return ErrNotBuilt
	}
	if err := s.readiness.keeps(ctx, &p.location, s.cfg.KeepServing); err != nil {
		return err
	}
	if err := p.checkTarget(ctx, s.db); err != nil {
		return err
	}
	return s.readiness.unready(&p.location)
}

// PrepareFound is Prepare of who has surveyed the rows a moment ago: what still holds is not read again.
func (s *State) PrepareFound(ctx context.Context, found *Generations) error {
	standing := *found.standing // which others may share
	s.found = &standing
	return s.Prepare(ctx)
}

// keeps is ErrOtherRows where rows are to go on serving that are not those that are folded.
func (r *readiness) keeps(ctx context.Context, p *location, keep bool) error {
	if !keep || p.former != nil {
		return nil
	}
	are, err := servable(ctx, r.db, []location{*p})
	if err == nil && are[0] {
		err = ErrOtherRows
	}
	return err
}

// describe puts on record how complete rows are laid out: a program whose models have another form can then serve them
// while it builds its own.
func (r *readiness) describe(ctx context.Context, h *Header) error {
	for i, t := range h.tables() {
		m := r.p.Models[i]
		if r.incomplete(m) {
			continue
		}
		known, err := r.db.Generations().Layout(ctx, m, t.Generation)
		if err == nil && (known == nil || !known.Covers(m)) {
			err = r.db.Generations().SaveLayout(ctx, m, t.Generation)
		}
		if err != nil {
			return fmt.Errorf("record how the rows of %s are laid out: %w", m.Name, err)
		}
	}
	return nil
}

// incomplete reports whether somebody has yet to fold rows of the model that belong to its generation.
func (r *readiness) incomplete(m *querydb.Model) bool {
	writers := []string{""}
	for _, w := range m.Writers {
		writers = append(writers, w.Name)
	}
	return slices.ContainsFunc(writers, func(w string) bool { return r.db.Rebuilds().Running(m, w) })
}

// Complete notes that the rows of the generation are complete, once they are: they have come to their goal or, where
// ended is set, to the end of the log before it.
func (s *State) Complete(ctx context.Context, generation int, ended bool) error {
	if err := s.Open(ctx); err != nil {
		return err
	}
	c := s.readiness.completion
	if generation != s.done.Generation {
		return ErrRewound
	}
	if c.Done || !ended && !s.done.reached(c.Goal) {
		return nil
	}
	c.Done, c.Claims = true, c.Claims.open(s.done.Partitions)
	if err := s.db.Apply(ctx, querydb.Batch{Notes: []querydb.Note{c.note(s.p.Name)}}); err != nil {
		s.known = false
		return err
	}
	c.revision++
	message := "projection: the rows are complete, and served from now on"
	if s.db.Generations().Build() {
		message = "projection: the rows that are built beside those that serve are complete"
	}
	s.log.InfoContext(ctx, message, "models", s.p.names())
	if err := s.readiness.judge(c); err != nil {
		return err
	}
	if err := s.readiness.describe(ctx, &s.done.Header); err != nil {
		s.known = false // so the next Open does it
		return err
	}
	return nil
}

// IsComplete reports whether the rows are known to be complete.
func (s *State) IsComplete() bool { return s.readiness.completion.Done }

// EndsBeforeGoal reports whether the log itself ends where the rows are, where that is before their goal: nothing
// brings them there any more. It fails where that cannot be told now: that a source has nothing to read may mean that
// it is a copy, of a log that is away.
func EndsBeforeGoal(ctx context.Context, s *State) (bool, error) {
	for partition, goal := range s.readiness.completion.Goal {
		done := s.done.Partitions[partition].Offset
		if done >= goal {
			continue
		}
		if ends, err := position.EndsAt(ctx, s.src, partition, done, goal); !ends || err != nil {
			return false, err
		}
	}
	return true, nil
}
