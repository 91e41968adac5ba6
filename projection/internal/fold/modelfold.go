package fold

import (
	"context"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
)

// member is a Fold's rows of one model, whose type the Fold need not know.
type member interface {
	model() *querydb.Model
	reset()
	gather(at ApplyPoint) error // what several projections write of the rows, of the event in hand
	bind(all []member)          // before the first event
	setMembers(all []member)    // likewise
	isCopied()
	tracks() bool
	isFilledIn(key keys.Key, identifier string, event int)
	copies(c *Copies)
	referencesTo(all []cascade.Reference, t *cascade.Task) []cascade.Reference
	refresh(l cascade.Link, t *cascade.Task) Op
	gone(key keys.Key) (revision uint64, gone bool)
	isChanged(key keys.Key) bool // by an event of the commit
	recopies(path string, t *cascade.Task) bool
	stored(ctx context.Context, held []keys.Key) ([]querydb.Row, error)
	recopy(ctx context.Context, path string, stored []querydb.Row, t *cascade.Task) (Recopied, error)
	addFollower(w follower)
	loadLinks(ctx context.Context, find Links) error
	need(op Op, at ApplyPoint) error
	needKey(key keys.Key) error
	needPartition(t PartitionTarget) error // to delete it
	load(ctx context.Context) error

	begin() // of an event
	eval(op Op, at ApplyPoint) error
	deletePartition(t PartitionTarget, at ApplyPoint) error
	fill(at ApplyPoint) error    // in the copies of rows that the event in hand has changed
	cascade(at ApplyPoint) error // to copies that follow in the same commit
	refreshHolders(c copied, held []keys.Key, bySchema bool, rule *followRule, at ApplyPoint) (n int, err error)
	written(yield func(*querydb.Model, keys.Key) bool) bool
	entry(key keys.Key) *entry
	visibleIdentifier(e *entry, at ApplyPoint) string
	sourceRow(key keys.Key, identifier string, by *cascade.Task, at ApplyPoint) (any, error)
	encode() error // what the event in hand has changed
	changed() int  // rows, by the event in hand
	size() (writes, bytes int)
	changesFollowed() bool
	judgeUniqueKeys(at ApplyPoint) (cut bool)
	takeUniqueKeys()
	rollback()

	missed() missing
	miss(what missing)

	writes(dst []querydb.Write) []querydb.Write
	committed(end querydb.Position)
	forget()
}

// modelFold is a Fold's rows of one model: the rows by their keys, what is known of partitions, and the keys that are
// unique.
type modelFold struct {
	*rows
	*references
	*tracking
	*followers
	*neighbours
	unique *uniqueKeys
}

func newModelFold(codec querydb.AnyCodec, db *querydb.DB, w *querydb.Writer, b *bounds,
	readers int) *modelFold {
	rm := newRowModel(codec, w)
	r := &rows{indexer: indexer{rowModel: rm, slots: len(rm.desc.Indexes)}, db: db.ForFold(rm.traits.writer),
		bounds: b}
	if rm.desc.Entity != nil {
		r.slots = len(rm.desc.Entity.Table.Indexes)
	}
	r.partitions = &partitions{rows: r, readers: readers}
	r.unique = &uniqueKeys{rows: r}
	r.views = &views{}
	r.refs = &references{of: r, all: codec.References(), bound: &bound{}}
	r.tracking = &tracking{references: r.refs}
	r.tracking.followers = &followers{tracking: r.tracking, rules: map[keys.Key]followRule{}}
	m := &modelFold{r, r.refs, r.tracking, r.tracking.followers, &neighbours{}, r.unique}
	m.neighbours.rows, m.views.of = m, m
	return m
}

func (m *modelFold) model() *querydb.Model { return m.desc }

// keptJournal is how many changes of one event the journal keeps memory for. Few events change more rows.
const keptJournal = 1024

func (m *modelFold) reset() {
	m.entries = m.spare.keep(m.entries)
	clear(m.dirty)
	clear(m.journal[:min(cap(m.journal), keptJournal)])
	m.wanted, m.dirty = m.wanted[:0], m.dirty[:0]
	if m.journal = m.journal[:0]; cap(m.journal) > keptJournal {
		m.journal = nil
	}
	clear(m.followed)
	m.follows = m.follows[:0]
	m.partitions.reset()
	m.tracking.read = nil
	m.unique.reset()
	m.give()
}

func (m *modelFold) need(op Op, at ApplyPoint) error {
	on, what, err := m.views.evaluator(op)
	if err != nil {
		return err
	}
	return what.need(on, at)
}

func (m *modelFold) eval(op Op, at ApplyPoint) error {
	on, what, err := m.views.evaluator(op)
	if err != nil {
		return err
	}
	return what.eval(on, at)
}

func (m *modelFold) load(ctx context.Context) error {
	if len(m.wanted) > 0 {
		stored, err := m.db.Get(ctx, m.desc, m.wanted, true)
		if err != nil {
			return err
		}
		for i := range stored {
			if err := m.loaded(m.entry(m.wanted[i]), &stored[i]); err != nil {
				return err
			}
		}
	}
	return m.partitions.load(ctx)
}

func (m *modelFold) begin() {
	m.journal, m.follows = m.journal[:0], m.follows[:0]
	m.followers.begin()
	m.tracking.filled = m.tracking.filled[:0]
	m.partitions.begin()
	m.views.begin()
}

func (m *modelFold) changed() int { return len(m.journal) }

// encode makes what is to be written of the rows that the event in hand has changed, as far as it may write so much.
func (m *modelFold) encode() error {
	for i := range m.journal {
		u := &m.journal[i]
		if err := m.encodeEntry(u.entry, &u.was); err != nil {
			return err
		}
		if err := m.bounds.grow(u.was.size(), u.entry.size()); err != nil {
			return err
		}
	}
	return nil
}

// size is what is to be written now of rows.
func (m *modelFold) size() (writes, bytes int) {
	perRow := 1 + 2*len(m.traits.unique) // a unique key is given up, and another taken
	for _, e := range m.dirty {
		if e.event != 0 {
			writes += max(perRow, e.changes.Items)
			bytes += e.size()
		}
	}
	return writes, bytes
}

// follow notes that the event goes on from a row that it does not write.
func (m *modelFold) follow(row keys.Key, at ApplyPoint) {
	if !m.bounds.shared {
		return
	}
	if m.followed == nil {
		m.followed = map[keys.Key]int{}
	}
	if m.followed[row] == 0 {
		m.followed[row] = at.Event
		m.follows = append(m.follows, row)
	}
}

// changesFollowed reports whether the event in hand changes a row that an event of the commit goes on from.
func (m *modelFold) changesFollowed() bool {
	return len(m.followed) > 0 && slices.ContainsFunc(m.journal, func(u undo) bool {
		return m.followed[u.entry.key] != 0
	})
}

func (m *modelFold) judgeUniqueKeys(at ApplyPoint) (cut bool) { return m.unique.judge(at) }

func (m *modelFold) takeUniqueKeys() { m.unique.take() }

func (m *modelFold) rollback() {
	for i := range m.journal {
		m.journal[i].entry.state = m.journal[i].was
	}
	for _, row := range m.follows {
		delete(m.followed, row)
	}
	m.partitions.rollback()
	m.tracking.rollback()
}

func (m *modelFold) missed() missing { return m.misses.with(missing{}) }

func (m *modelFold) miss(what missing) { m.misses = m.misses.with(what) }

func (m *modelFold) writes(dst []querydb.Write) []querydb.Write {
	dst = m.partitions.writes(dst)
	for _, e := range m.dirty {
		if e.event == 0 { // every event that changed it was taken back
			continue
		}
		w := querydb.Write{Model: m.desc, Row: e.stored, Time: e.time, Former: e.former}
		if e.asRead != nil {
			w.IfRevision, w.Row.Revision = true, e.asRead.revision
		}
		dst = append(dst, w)
	}
	return dst
}

func (m *modelFold) committed(end querydb.Position) {
	m.given = missing{}
	m.partitions.committed(end)
}

func (m *modelFold) forget() { m.partitions.latest = latestRows{} }

// spareEntries are the entries of the last window, for rows of the next, which is often as large: to make them anew for
// each window is much of the garbage of a fold. No more are kept than that, so they are few once windows are small.
type spareEntries struct {
	entries []*entry
	room    int // for how many entries the window's map has memory
}

// take returns an entry that nothing is known of.
func (s *spareEntries) take() *entry {
	last := len(s.entries) - 1
	if last < 0 {
		return &entry{}
	}
	e := s.entries[last]
	s.entries[last] = nil
	s.entries = s.entries[:last]
	return e
}

// keep keeps the entries of a window, in place of those that there are, and returns an empty map for the next.
func (s *spareEntries) keep(window map[keys.Key]*entry) map[keys.Key]*entry {
	n := len(window)
	clear(s.entries)
	s.entries = s.entries[:0]
	for _, e := range window {
		*e = entry{}
		s.entries = append(s.entries, e)
	}
	if window == nil || n < s.room/4 {
		s.room = n
		return make(map[keys.Key]*entry, n)
	}
	s.room = max(s.room, n)
	clear(window)
	return window
}
