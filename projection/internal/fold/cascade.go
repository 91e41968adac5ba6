package fold

import (
	"context"
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
)

// A copy whose cascade is transactional follows its row in the commit that changes the row. Which rows hold such copies
// is known of two things: the links, as they were when the window was read, and the rows that the window has changed
// since. Where an event changes a row whose links were not read, it begins another commit, which reads them: see
// missing.

// Links finds the rows that hold copies of the one with the identifier: the keys of some of them, most of them at most,
// and how many there are.
type Links func(ctx context.Context, ref cascade.Reference, identifier string, most int) (Linked, error)

// Linked is the rows that hold copies of another.
type Linked struct {
	Keys     []keys.Key // of some
	Count    int
	Gone     []GoneLink // some of those that were passed over
	Revision uint64     // of the note of their version, as it was before: see cascade.LinkVersion
}

// mostTargets is how many copies may follow their row in one commit where the store has no limit.
const mostTargets = 10_000

// CascadeOverflowError is of an event that changes a row of which more copies are to follow in its commit than one
// holds.
type CascadeOverflowError struct {
	Model string `json:"model"` // of the row that is copied
	Count int    `json:"count"` // what the commit would have, at least
	Limit int    `json:"limit"` // and what one holds
	// Unit is of what: items, of which a row is one and an aggregate several, and links too; bytes; or, where the store
	// bounds no commit, rows that hold copies.
	Unit string `json:"unit"`
}

const (
	unitItems = "items"
	unitBytes = "bytes"
	unitRows  = "rows"
)

// Error implements error.
func (e *CascadeOverflowError) Error() string {
	return fmt.Sprintf("change a row of %s: with the copies of it that follow in the same commit, that has %d %s at "+
		"least, and one commit holds %d: declare the references with cascade: EVENTUAL, or change less in one event",
		e.Model, e.Count, e.Unit, e.Limit)
}

// Is makes it an error of what is too large.
func (e *CascadeOverflowError) Is(target error) bool { return target == querydb.ErrTooLarge }

// followers are the references by which rows of other models hold copies that follow, and what is known of who does.
type followers struct {
	*tracking
	by    []follower
	links map[linkQuery]Linked // as they were read
	found map[linkQuery]bool   // those on which the commit rests
	how   *Cascade             // of the op in hand, nil where it leaves that to the schema
	rules map[keys.Key]followRule
}

// follower is such a reference.
type follower struct {
	rows member
	ref  int // its number there
	cascade.Reference
	transactional bool // by the schema
}

// linkQuery asks which rows hold copies of the row with the identifier.
type linkQuery struct {
	cascade.Reference
	identifier string
}

// addFollower adds a reference.
func (ws *followers) addFollower(w follower) { ws.by = append(ws.by, w) }

// loadLinks reads the links that were missed: all without which the commit cannot go on, and others as long as they
// lead to no more rows than one commit may change.
func (ws *followers) loadLinks(ctx context.Context, find Links) error {
	ws.links, ws.found = map[linkQuery]Linked{}, map[linkQuery]bool{}
	holders := 0
	for _, now := range [...]bool{true, false} {
		for q, urgent := range ws.of.given.links {
			switch {
			case urgent != now:
			case !urgent && holders >= mostTargets:
				ws.of.bounds.crowded = true
			default:
				n, err := ws.loadHolders(ctx, find, q)
				if holders += n; err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// loadHolders reads links, has the rows read to which they lead, and returns how many these are.
func (ws *followers) loadHolders(ctx context.Context, find Links, q linkQuery) (n int, err error) {
	most, _ := ws.of.bounds.targets()
	i := slices.IndexFunc(ws.by, func(w follower) bool { return w.Reference == q.Reference })
	held, err := find(ctx, q.Reference, q.identifier, most)
	if err != nil {
		return 0, err
	}
	ws.links[q] = held
	for _, key := range held.Keys {
		if err := ws.by[i].rows.needKey(key); err != nil {
			return 0, err
		}
	}
	return len(held.Keys), nil
}

// check refuses a Cascade to models or fields that there are none of.
func (ws *followers) check(how *Cascade) error {
	if how.Mode == none {
		return nil
	}
	if len(ws.by) == 0 {
		return fmt.Errorf("cascade of %s: no reference to it keeps on record who holds copies: declare one with a cascade",
			ws.of.desc.Name)
	}
	for _, target := range how.Targets {
		if !slices.ContainsFunc(ws.by, func(w follower) bool { return w.Model == target }) {
			return fmt.Errorf("cascade of %s to %s: its rows hold no copies of it on record: declare the reference with a "+
				"cascade", ws.of.desc.Name, target)
		}
	}
	scope := cascade.Scope{Targets: how.Targets}
	for _, w := range ws.by {
		if scope.Names(w.Model) {
			if err := cascade.CheckFilter(w.rows.model(), how.Filter); err != nil {
				return fmt.Errorf("cascade of %s: %w", ws.of.desc.Name, err)
			}
		}
	}
	return nil
}

// cascade has the copies of the rows that the event in hand has changed follow them, or notes that they are to. Where a
// row has expired since an event of the commit changed it, the event in hand begins another: a commit as a whole would
// take what becomes of that row for a change of what is there.
func (ws *followers) cascade(at ApplyPoint) error {
	if len(ws.by) == 0 {
		return nil
	}
	for _, u := range ws.of.journal {
		rule, written := ws.rules[u.entry.key]
		if (written || !u.entry.present) && u.was.event != 0 && u.was.present && !ws.of.lasts(u.was.row, at) {
			return ErrNextCommit
		}
		if !written { // only copies in it have changed, and no copy holds those; or what had expired is deleted
			continue
		}
		if err := ws.noteEnd(&u, at); err != nil {
			return err
		}
		ws.noteTaken(&u, &rule, at)
		if follows, err := ws.judgeFollowing(&u, &rule, at); err != nil || !follows {
			if err != nil {
				return err
			}
			continue
		}
		if err := ws.cascadeOf(&u, &rule, at); err != nil {
			return err
		}
	}
	return nil
}

// judgeFollowing notes which copies are to follow what the event has made of a row after the commit, and reports
// whether some follow it in the commit. Where all ops of the commit leave that to the schema, the commit as a whole
// tells whether there is anything to follow; else each event does by itself, as it would in a commit of its own.
func (ws *followers) judgeFollowing(u *undo, rule *followRule, at ApplyPoint) (follows bool, err error) {
	e, follows := u.entry, ws.followsNow(rule)
	unasked, copied := rule.bySchema() && !e.asked && !follows, e.tracked().isCopiedBefore(at.Event)
	if unasked {
		e.announceTo(rule)
		if !copied {
			return false, nil
		}
	}
	if !rule.bySchema() {
		ws.judgeEach(u, at)
	}
	changed, err := ws.changes(u, at)
	if err != nil || !changed {
		return false, err
	}
	if !unasked {
		e.announceTo(rule)
	}
	if (copied || e.asked) && rule.followsAfter(ws.copied) {
		e.outdated = true
		for _, identifier := range ws.identifiersOf(u) { // the row may be there for events of the commit alone
			e.tracked().isCopiedBy(identifier)
		}
	}
	return follows, nil
}

// judgeEach has each event that changes the row from now on be judged by itself.
func (ws *followers) judgeEach(u *undo, at ApplyPoint) {
	e := u.entry
	if e.asked {
		return
	}
	e.asked = true
	if u.was.event != 0 && !u.was.outdated && !differ(ws.copiedBefore(u, at), e.tracked().copiedBy(e.time)) {
		e.scopes = nil // what events before this one have changed is in no copy
	}
	e.outdated = e.outdated || len(e.scopes) > 0 // and else is to follow, also where this one takes it back
}

// followsNow reports whether copies follow a change in its commit.
func (ws *followers) followsNow(rule *followRule) bool {
	return slices.ContainsFunc(ws.by, func(w follower) bool { return w.followsNow(rule) })
}

func (w *follower) followsNow(rule *followRule) bool {
	return rule.schema && w.transactional ||
		slices.ContainsFunc(rule.now, func(s cascade.Scope) bool { return s.Names(w.Model) })
}

// changes reports whether the event changes what copies of the row hold. A row that it writes as expired is none: see
// noteEnd.
func (ws *followers) changes(u *undo, at ApplyPoint) (bool, error) {
	var now []byte
	before := ws.copiedBefore(u, at)
	if u.entry.present && !u.entry.ended {
		row, err := ws.of.codec.EncodeWithKey(&ws.of.builder, u.entry.row, u.entry.key)
		if err != nil {
			return false, err
		}
		now = ws.copiedText(&row)
	}
	return differ(now, before), nil
}

// noteEnd notes whether the event has written the row as expired, and has changed more of it than the end. It is judged
// at each event, as a commit may have another that changed the row before.
func (ws *followers) noteEnd(u *undo, at ApplyPoint) error {
	u.entry.ended = false
	if !u.entry.present || ws.of.visible(u.entry, at) {
		return nil
	}
	row, err := ws.of.codec.EncodeWithKey(&ws.of.builder, u.entry.row, u.entry.key)
	u.entry.ended = err == nil && differ(ws.copiedText(&row), ws.copiedBefore(u, at))
	return err
}

// noteTaken notes whether the event takes the row away, and copies follow that after the commit.
func (ws *followers) noteTaken(u *undo, rule *followRule, at ApplyPoint) {
	if gone := !u.entry.present || u.entry.ended; gone && rule.followsAfter(ws.copied) && ws.copiedBefore(u, at) != nil {
		u.entry.taken = true
	}
}

// copiedBefore is what copies of the row hold of it as it was before the event; nil where there was none.
func (ws *followers) copiedBefore(u *undo, at ApplyPoint) []byte {
	switch {
	case u.was.event == 0:
		return u.entry.tracked().copiedBy(at.Watermark)
	case u.was.present: // it has not expired: see cascade
		return ws.copiedText(&u.was.stored)
	}
	return nil
}

// cascadeOf has the copies of one row follow it.
func (ws *followers) cascadeOf(u *undo, rule *followRule, at ApplyPoint) error {
	count, b := 0, ws.of.bounds
	most, unit := b.targets()
	for _, w := range ws.by {
		if !w.followsNow(rule) {
			continue
		}
		for _, identifier := range ws.identifiersOf(u) {
			n, err := ws.refreshBy(w, identifier, rule, at)
			if err != nil {
				return err
			}
			if count += n; count > most {
				return &CascadeOverflowError{ws.of.desc.Name, count, most, unit}
			}
		}
	}
	if count > b.cascaded.copies {
		b.cascaded = cascadedRow{ws.of.desc.Name, count}
	}
	return nil
}

// identifiersOf are those of the row before the event and of the one after it, which may differ in casing.
func (ws *followers) identifiersOf(u *undo) (all []string) {
	if u.was.present {
		all = with(all, ws.identifier(u.was.row))
	}
	if u.entry.present {
		all = with(all, ws.identifier(u.entry.row))
	}
	if all == nil {
		return u.entry.tracked().identifiers
	}
	return all
}

// refreshBy has the copies of the row follow it that a model has by the identifier, and counts them, unless there are
// more than one commit holds.
func (ws *followers) refreshBy(w follower, identifier string, rule *followRule, at ApplyPoint) (n int, err error) {
	q := linkQuery{w.Reference, identifier}
	known, read := ws.links[q]
	if !read {
		return 0, ws.missLinks(q)
	}
	ws.found[q] = true
	if most, _ := ws.of.bounds.targets(); known.Count > most {
		if at.Event > 1 { // events before it in the commit may have taken some away
			return 0, ErrNextCommit
		}
		return known.Count, nil
	}
	return w.rows.refreshHolders(copied{w.ref, identifier}, known.Keys, w.transactional, rule, at)
}

// unlink takes away links that lead to no row any more, as far as the commit surely has room for that.
func (ws *followers) unlink(c *Copies) {
	for q := range ws.found {
		known := ws.links[q]
		if ws.of.bounds.shared {
			known.Gone = known.Gone[:min(len(known.Gone), max(0, ws.of.bounds.most.writes/2-known.Count)/8)]
		}
		c.Gone = append(c.Gone, known.Gone...)
	}
}

// versions adds those of the links on which the commit rests, on a store where another process may add some.
func (ws *followers) versions(c *Copies) {
	if !ws.of.bounds.shared {
		return
	}
	for q := range ws.found {
		v := c.version(q)
		v.Found, v.Revision = true, ws.links[q].Revision
	}
}
