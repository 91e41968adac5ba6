package delivery

import (
	"cmp"
	"context"
	"errors"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/projection/internal/checkpoint"
	"github.com/foldql/foldql/projection/internal/fold"
	"github.com/foldql/foldql/projection/internal/pace"
	"github.com/foldql/foldql/projection/internal/usercode"
	"github.com/foldql/foldql/querydb"
)

// What a window needs is read in one batch before it is evaluated, and for a few ops it is not known before what that
// is: which row a Follow replaces hangs on the row that it follows, and that may be one which an event before it makes.
// So where an event lacks something, the rest of the window is surveyed: evaluated for the sake of what else it lacks,
// with that taken for absent. Then all is evaluated again, of rows that were read with that too. What a survey makes is
// dropped; it may lead user code astray, whose panics and errors count for nothing there.

// mostRounds bounds how often a commit reads and evaluates. What lacks something then begins another commit.
const mostRounds = 8

// evaluator folds items, each into rows or into a dead letter.
type evaluator struct {
	projection *Projection
	db         *querydb.DB
	cfg        *Config
	state      *checkpoint.State
	calls      *usercode.Supervisor
	turns      *pace.Turns
	shared     bool
	fold       *fold.Fold
}

// prepare reads what the items need and evaluates them, as far as one commit goes. It reports how many it has tried,
// and how many of these it took. There is no outcome where what is on record is to be read again first.
func (v *evaluator) prepare(
	ctx context.Context, begin func() (*outcome, error), items []item,
) (out *outcome, tried, took int, err error) {
	for round := 1; ; round++ {
		if out, err = begin(); err != nil {
			return nil, 0, 0, err
		}
		if err := v.load(ctx, out, items); err != nil {
			return nil, 0, 0, err
		}
		if v.fold.Ahead() {
			if current, err := v.state.Recheck(ctx); err != nil || !current {
				return nil, 0, 0, err
			}
			if out.released {
				return nil, 0, 0, errOvertaken
			}
		}
		if took, err = v.evaluate(out, items); err != nil {
			return nil, 0, 0, v.abandon(items, took, err)
		}
		// Where released items take effect is known one by one, when they are taken.
		missing := v.fold.Missing()
		if missing.None() || round >= mostRounds || out.released || took > 0 && fold.IsCrowded(v.fold) {
			return out, len(items), took, nil
		}
		surveyed, err := v.survey(out, items, took)
		if err == nil {
			continue
		}
		// Whether the event takes too long in truth is for its evaluation to say, in a commit that it begins.
		v.fold = v.projection.newFold(v.db, v.cfg)
		v.fold.AddMissing(missing)
		if items = items[:max(surveyed, 1)]; surveyed == 0 {
			round = mostRounds - 1
		}
	}
}

// load reads the rows that the items need, once for all of them.
func (v *evaluator) load(ctx context.Context, out *outcome, items []item) error {
	out.fold.Reset(out.released)
	if i, err := v.needs(out, items); err != nil {
		return v.abandon(items, i, err)
	}
	first := fold.ApplyPoint{Pos: querydb.Position{Partition: out.slot}, Watermark: out.was.ExpiryWatermark()}
	switch {
	case out.released:
		first.Pos = v.next(out).Position(out.slot)
	case len(items) > 0:
		first.Pos, first.Watermark = items[0].at.Position(out.slot), items[0].watermark
	}
	return out.fold.Load(ctx, first, v.findLinks)
}

// needs collects what the items need, as far as it gets.
func (v *evaluator) needs(out *outcome, items []item) (done int, err error) {
	return v.calls.Each(&usercode.Calls{
		N: len(items), Between: v.turns.Rest,
		Of: func(i int) *eventlog.Event { return items[i].event },
		Do: func(c *usercode.Calls, i int, failed error) (bool, error) {
			it := &items[i]
			if it.needErr = failed; failed == nil && it.err == nil && !it.skip {
				c.Enter()
				err := out.fold.Need(it.ops, it.applyPoint(i, out.slot))
				c.Leave()
				it.needErr = err
			}
			return true, nil
		},
	})
}

// survey collects what the items lack from the one on at which evaluation has ended. An error is of the calls: they
// have ended at the item of that number, and the fold may still be in the hands of their goroutine.
func (v *evaluator) survey(out *outcome, items []item, from int) (surveyed int, err error) {
	rest := items[from:]
	done, err := v.calls.Each(&usercode.Calls{
		N: len(rest), Between: v.turns.Rest,
		Of: func(i int) *eventlog.Event { return rest[i].event },
		Do: func(c *usercode.Calls, i int, failed error) (bool, error) {
			it := &rest[i]
			if _, blocked := v.blockedBy(out, &items[0], it); blocked || cmp.Or(it.err, it.needErr, failed) != nil {
				return true, nil
			}
			c.Enter()
			err := out.fold.Survey(it.ops, it.applyPoint(from+i, out.slot), i == 0)
			c.Leave()
			return err != fold.ErrNextCommit, nil
		},
	})
	return from + done, err
}

// abandon gives up a commit. What was evaluated for it may still be in the hands of the goroutine that was given up.
func (v *evaluator) abandon(items []item, took int, err error) error {
	if s := (stuckError{}); errors.As(err, &s) {
		return err
	}
	v.fold = v.projection.newFold(v.db, v.cfg)
	return &abandonedError{took, stopped(v.calls, v.projection.Name, &items[took], err)}
}

// linksAtOnce is how many links are in memory before they are counted.
const linksAtOnce = 1000

// findLinks finds the rows that hold copies of another: see fold.Links.
func (v *evaluator) findLinks(ctx context.Context, ref cascade.Reference, identifier string, most int) (
	held fold.Linked, err error,
) {
	if v.shared {
		kind := v.state.Done().Kind(checkpoint.KindLinkVersion, v.projection.Name)
		version, err := v.db.Notes().Get(ctx, kind, cascade.VersionID(ref, identifier))
		if err != nil {
			return held, err
		}
		held.Revision = version.Revision
	}
	for after := ""; ; {
		found, err := v.listLinks(ctx, ref, identifier, after, linksAtOnce)
		if err != nil {
			return held, err
		}
		for _, l := range found {
			if held.Count++; len(held.Keys) < most {
				held.Keys = append(held.Keys, l.Key)
			}
		}
		if len(found) < linksAtOnce || held.Count > most { // there may be a million, and they are too many already
			break
		}
		after = found[len(found)-1].id
	}
	if held.Count > most {
		return v.standing(ctx, held, ref, identifier, most)
	}
	return held, nil
}

// mostGone is how many links a commit takes away at most of rows that are gone.
const mostGone = 1000

// standing is what findLinks finds of rows that are there. It is asked for where there are too many links: those of
// rows that have expired stay, since the store removes such rows and knows of no links. A row that has expired counts
// until it is removed.
func (v *evaluator) standing(
	ctx context.Context, held fold.Linked, ref cascade.Reference, identifier string, most int,
) (fold.Linked, error) {
	held.Keys, held.Count = nil, 0
	for after := ""; held.Count <= most; {
		found, err := v.listLinks(ctx, ref, identifier, after, linksAtOnce)
		if err != nil || len(found) == 0 {
			return held, err
		}
		all := make([]keys.Key, len(found))
		for i := range found {
			all[i] = found[i].Key
		}
		rows, err := v.fold.Tracked().FirstRows(ctx, ref, all)
		if err != nil {
			return held, err
		}
		for i := range rows {
			switch l := &found[i]; {
			case rows[i].Record != nil:
				held.Keys, held.Count = append(held.Keys, l.Key), held.Count+1
			case len(held.Gone) < mostGone:
				row := querydb.ReadRow{Model: v.fold.Tracked().Model(ref.Model), Key: l.Key, Revision: rows[i].Revision}
				held.Gone = append(held.Gone, fold.GoneLink{Link: l.Link, Revision: l.revision, Row: row})
			}
		}
		after = found[len(rows)-1].id
	}
	return held, nil
}

// link is a link and the ID of its note.
type link struct {
	cascade.Link
	id       string
	revision uint64
}

// listLinks lists links of a row by one reference, in the order of their IDs, after that one.
func (v *evaluator) listLinks(ctx context.Context, ref cascade.Reference, identifier, after string, most int) (
	found []link, err error,
) {
	kind, prefix := v.state.Done().Kind(checkpoint.KindLink, v.projection.Name), cascade.Prefix(ref, identifier)
	notes, err := v.db.Notes().List(ctx, kind, max(prefix, after), most)
	if err != nil {
		return nil, err
	}
	found = make([]link, 0, len(notes))
	for i := range notes {
		if !cascade.IsLink(&notes[i], prefix) {
			break
		}
		key, err := cascade.ParseLink(&notes[i])
		if err != nil {
			return nil, checkpoint.Damaged(err)
		}
		l := cascade.Link{Reference: ref, Identifier: identifier, Key: key}
		found = append(found, link{l, notes[i].ID, notes[i].Revision})
	}
	return found, nil
}
