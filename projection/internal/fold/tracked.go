package fold

import (
	"context"
	"slices"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
)

// What changes with the rows that it is of is tracked: see querydb.AnyReference.Tracked. Which rows hold such copies is
// on record in links, and a change of a row that is copied, in a task. Both come of what rows were when they were read
// and are now, so rows of these models are read before anything is written over them.

// Copies is what a commit changes about tracked copies beside rows.
type Copies struct {
	Linked, Unlinked []cascade.Link
	Tasks            []cascade.Task // of rows that have changed
	Restated         []Restated     // of rows written as expired with nothing to follow
	Versions         []cascade.LinkVersion
	Read             []querydb.ReadRow // rows that were copied as they were read
	Gone             []GoneLink
}

// Restated is what an unfinished task of a row that is written as expired is to know: see cascade.Tasks.Restated.
type Restated struct {
	cascade.Task
	was    *tracked
	shared bool
}

// Passed reports whether the row cannot be any more, or cannot be again, as the event at that position has left it. On
// a store with one writer it becomes another in the very commit that has the task.
func (r *Restated) Passed(p querydb.Position) bool { return !r.shared || r.was.passed(p) }

// GoneLink is a link that led to no row when it was read. Where another process may write, it is taken away only if
// both are as they were.
type GoneLink struct {
	cascade.Link
	Revision uint64 // of the note of the link
	Row      querydb.ReadRow
}

// items is how many items of a commit that is: those that are Restated are on record by then where a commit holds few.
func (c *Copies) items() int {
	return len(c.Linked) + len(c.Unlinked) + len(c.Tasks) + len(c.Versions) + len(c.Read) + 2*len(c.Gone)
}

// tracked is what a row was as it was read, as far as tracked copies hang on it.
type tracked struct {
	ids         []copied // of the tracked references, the identifiers that it gave
	identifiers []string // its own, where its row is copied, and those by which events have copied it since
	copied      []byte   // what copies of it held; nil where there was no row
	expires     time.Time
	filledIn    int                // the first event of the commit that has copied it since
	position    querydb.Position   // of the last event that wrote it
	applied     []querydb.Position // of a shared store: see querydb.Row
}

// isCopiedBy notes that copies have the row by the identifier.
func (t *tracked) isCopiedBy(identifier string) { t.identifiers = with(t.identifiers, identifier) }

// with is the identifiers and another, each once.
func with(identifiers []string, another string) []string {
	if slices.Contains(identifiers, another) {
		return identifiers
	}
	return append(slices.Clip(identifiers), another)
}

// copiedBy is what copies held of the row as it was read; nil where there was none, or it has expired by then.
func (t *tracked) copiedBy(watermark time.Time) []byte {
	if !t.expires.IsZero() && !t.expires.After(watermark) {
		return nil
	}
	return t.copied
}

// passed reports whether an event later than the one at that position had been applied to the row, of its partition or
// of another after it.
func (t *tracked) passed(p querydb.Position) bool {
	return p != t.position && slices.ContainsFunc(t.applied, func(a querydb.Position) bool {
		return a.Partition == p.Partition && !a.Before(p)
	})
}

// isCopiedBefore reports whether an event of the commit before the one of that number has copied the row.
func (t *tracked) isCopiedBefore(event int) bool { return t.filledIn > 0 && t.filledIn < event }

// tracked is what the entry of a row with tracked copies was; the entries of other rows have no room for it.
func (e *entry) tracked() *tracked {
	if e.was == nil {
		e.was = &tracked{}
	}
	return e.was
}

// tracking is what a commit changes about the tracked copies of a model: those that its rows hold, and those of them.
type tracking struct {
	*references
	followers *followers
	copied    bool       // other rows hold copies of them that follow after the commit
	read      []keys.Key // rows that are copied as they were read; of a shared store
	filled    []*tracked // rows that the event in hand is the first to copy
}

// tracks reports whether the rows hold tracked copies, or are copied so.
func (tr *tracking) tracks() bool { return tr.isFollowed() || tr.holdsTracked() }

// isFollowed reports whether other rows hold tracked copies of them.
func (tr *tracking) isFollowed() bool { return tr.copied || len(tr.followers.by) > 0 }

func (tr *tracking) holdsTracked() bool {
	return slices.ContainsFunc(tr.all, func(r querydb.AnyReference) bool { return r.Tracked() })
}

// isCopied notes that other rows hold tracked copies that follow after the commit.
func (tr *tracking) isCopied() { tr.copied = true }

// remember notes how the row of an entry was when it was read.
func (tr *tracking) remember(e *entry, rec querydb.Row, row any) {
	if !tr.tracks() {
		return
	}
	e.tracked().ids = tr.identifiers(row)
	if tr.isFollowed() {
		e.tracked().isCopiedBy(tr.identifier(row))
		e.tracked().copied = tr.copiedText(&rec)
		e.tracked().expires = rec.Expires
	}
}

// identifiers are those that a row gives of tracked references, each once.
func (tr *tracking) identifiers(row any) (ids []copied) {
	for i := range tr.all {
		ref := &tr.all[i]
		if !ref.Tracked() {
			continue
		}
		for place := range ref.Places(row) {
			c := copied{i, ref.Identifier(row, place)}
			if c.id != "" && !slices.Contains(ids, c) {
				ids = append(ids, c)
			}
		}
	}
	return ids
}

func (tr *tracking) identifier(row any) string {
	return tr.of.codec.Value(row, tr.of.desc.Identifier()).AsString()
}

// copiedText is what copies hold of a stored row: all but the times that the engine keeps, and its own copies.
func (tr *tracking) copiedText(row *querydb.Row) []byte {
	m := tr.of.desc
	text := []byte{}
	for i := range m.Fields {
		isCopy := slices.ContainsFunc(tr.all, func(r querydb.AnyReference) bool { return r.Field == i })
		if i != m.CreatedAt && i != m.UpdatedAt && i != m.TTL && !isCopy {
			text = append(append(text, row.Record.JSON(i)...), ',')
		}
	}
	return text
}

// copies adds what the commit in hand changes.
func (tr *tracking) copies(c *Copies) {
	if !tr.tracks() {
		return
	}
	for _, e := range tr.of.dirty {
		if e.event != 0 {
			tr.relink(e, c)
			tr.announce(e, c)
		}
	}
	tr.followers.unlink(c)
	tr.followers.versions(c)
	for _, key := range tr.read {
		if e := tr.of.entries[key]; e != nil && e.event == 0 && e.asRead != nil {
			c.Read = append(c.Read, querydb.ReadRow{Model: tr.of.desc, Key: key, Revision: e.asRead.revision})
		}
	}
}

// relink adds the links that a changed row has got and lost.
func (tr *tracking) relink(e *entry, c *Copies) {
	var now []copied
	if e.present {
		now = tr.identifiers(e.row)
	}
	for _, id := range e.tracked().ids {
		if !slices.Contains(now, id) {
			c.Unlinked = append(c.Unlinked, tr.link(e, id))
		}
	}
	for _, id := range now {
		if !slices.Contains(e.tracked().ids, id) {
			c.Linked = append(c.Linked, tr.link(e, id))
			if tr.of.bounds.shared {
				c.version(linkQuery{tr.link(e, id).Reference, id.id}).Adds = true
			}
		}
	}
}

// version is what the commit says of the version of links.
func (c *Copies) version(of linkQuery) *cascade.LinkVersion {
	i := slices.IndexFunc(c.Versions, func(v cascade.LinkVersion) bool {
		return v.Reference == of.Reference && v.Identifier == of.identifier
	})
	if i < 0 {
		i = len(c.Versions)
		c.Versions = append(c.Versions, cascade.LinkVersion{Reference: of.Reference, Identifier: of.identifier})
	}
	return &c.Versions[i]
}

func (tr *tracking) link(e *entry, id copied) cascade.Link {
	return cascade.Link{
		Reference:  cascade.Reference{Model: tr.of.desc.Name, Field: tr.all[id.ref].Path},
		Identifier: id.id, Key: e.key,
	}
}

// announce adds the tasks to have copies of a changed row follow it, and those that had a row before it of another
// identifier, which differs in casing. Where the row is written as expired, and no copy is to follow, a task that is
// yet to be done takes it for one that is there: it is restated.
func (tr *tracking) announce(e *entry, c *Copies) {
	scopes := e.scopes
	if !tr.copied { // no copy follows after the commit unless an op asks for it
		scopes = slices.DeleteFunc(slices.Clone(scopes), func(s cascade.Scope) bool { return !s.Asked })
	}
	var now []byte
	was := e.tracked().copiedBy(e.time)
	if len(scopes) == 0 && !e.ended {
		return
	}
	own, identifiers := "", e.tracked().identifiers
	if e.present {
		own = tr.identifier(e.row)
		identifiers = with(identifiers, own)
	}
	if e.present && !e.ended {
		now = tr.copiedText(&e.stored)
	}
	follow := len(scopes) > 0 && (e.outdated || differ(now, was))
	if !follow && !e.ended {
		return
	}
	for _, identifier := range identifiers {
		t := cascade.NewTask(tr.of.desc.Name, identifier, e.key)
		t.Scopes, t.Existed = cascade.ForTask(scopes), !e.taken && (!e.present || identifier == own)
		if e.ended {
			t.Ended = []querydb.Position{e.pos}
		}
		if follow {
			c.Tasks = append(c.Tasks, t)
		} else {
			c.Restated = append(c.Restated, Restated{t, e.tracked(), tr.of.bounds.shared})
		}
	}
}

// differ reports whether copies hold another text than they did; nil is that of no row.
func differ(now, was []byte) bool { return (now == nil) != (was == nil) || !slices.Equal(now, was) }

// isFilledIn notes that the row of the identifier is copied as it is now, for the event of that number.
func (tr *tracking) isFilledIn(key keys.Key, identifier string, event int) {
	e := tr.of.entry(key)
	if e.tracked().filledIn == 0 {
		e.tracked().filledIn = event
		tr.filled = append(tr.filled, e.was)
	}
	e.tracked().isCopiedBy(identifier) // a later event may make the row, and delete it
	if tr.of.bounds.shared && !slices.Contains(tr.read, key) {
		tr.read = append(tr.read, key)
	}
}

// rollback forgets the copies that the event in hand has made.
func (tr *tracking) rollback() {
	for _, t := range tr.filled {
		t.filledIn = 0
	}
}

// Tracked are the tracked copies of the models of a Fold.
type Tracked []member

// Tracked gives access to what a Fold tracks.
func (f *Fold) Tracked() Tracked { return f.members }

// Copies is what the commit in hand changes about tracked copies beside rows.
func (t Tracked) Copies() (c Copies) {
	for _, m := range t {
		m.copies(&c)
	}
	if len(c.Gone) > 0 {
		linked := map[cascade.Link]bool{}
		for _, l := range c.Linked {
			linked[l] = true
		}
		c.Gone = slices.DeleteFunc(c.Gone, func(l GoneLink) bool {
			return linked[l.Link] || len(l.Row.Model.Writers) > 1 || t.of(l.Model).isChanged(l.Key)
		})
	}
	return c
}

// Gone reports whether there is no row any more to which the link leads: one that has expired is removed by the store,
// which knows of no links. It returns what was read in its place.
func (t Tracked) Gone(l *cascade.Link) (read querydb.ReadRow, gone bool) {
	m := t.of(l.Model)
	revision, gone := m.gone(l.Key)
	return querydb.ReadRow{Model: m.model(), Key: l.Key, Revision: revision}, gone && len(m.model().Writers) < 2
}

func (rf *references) gone(key keys.Key) (revision uint64, gone bool) {
	e := rf.of.entry(key)
	if e.asRead != nil {
		revision = e.asRead.revision
	}
	return revision, e.read && !e.present && e.others == nil && e.event == 0
}

// isChanged reports whether an event of the commit has changed the row.
func (rf *references) isChanged(key keys.Key) bool {
	e := rf.of.entries[key]
	return e != nil && e.event != 0
}

// Model is the model of that name.
func (t Tracked) Model(name string) *querydb.Model { return t.of(name).model() }

// How many rows FirstRows reads at most: few enough for memory, however large they are.
const (
	fewRows       = 100
	fewAggregates = 10
)

// FirstRows reads the rows of the first keys, at least one. Rows that have expired are among them, as long as they are
// there: an event of another partition, or of another writer, may give them a later end.
func (t Tracked) FirstRows(ctx context.Context, ref cascade.Reference, held []keys.Key) ([]querydb.Row, error) {
	m, most := t.of(ref.Model), fewRows
	if m.model().Aggregate != nil {
		most = fewAggregates
	}
	return m.stored(ctx, held[:min(most, len(held))])
}

// Any reports whether rows hold tracked copies.
func (t Tracked) Any() bool {
	return slices.ContainsFunc(t, func(m member) bool { return m.tracks() })
}

// ReferencesTo are the tracked references whose copies follow by the task, in a fixed order.
func (t Tracked) ReferencesTo(task *cascade.Task) (all []cascade.Reference) {
	for _, m := range t {
		all = m.referencesTo(all, task)
	}
	return all
}

func (tr *tracking) referencesTo(all []cascade.Reference, t *cascade.Task) []cascade.Reference {
	filters, every, schema := t.Filters(tr.of.desc.Name)
	for i := range tr.all {
		ref := &tr.all[i]
		follows := every || len(filters) > 0 || schema && ref.FollowsAfter()
		if ref.Tracked() && follows && ref.Source.Name == t.Model {
			all = append(all, cascade.Reference{Model: tr.of.desc.Name, Field: ref.Path})
		}
	}
	return all
}
