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
	m := newRowModel(codec, w)
	rs := &rows{indexer: indexer{rowModel: m, slots: len(m.desc.Indexes)}, db: db.ForFold(m.traits.writer),
		bounds: b}
	if m.desc.Entity != nil {
		rs.slots = len(m.desc.Entity.Table.Indexes)
	}
	rs.partitions = &partitions{rows: rs, readers: readers}
	rs.unique = &uniqueKeys{rows: rs}
	rs.views = &views{}
	rs.refs = &references{of: rs, all: codec.References(), bound: &bound{}}
	rs.tracking = &tracking{references: rs.refs}
	rs.tracking.followers = &followers{tracking: rs.tracking, rules: map[keys.Key]followRule{}}
	f := &modelFold{rs, rs.refs, rs.tracking, rs.tracking.followers, &neighbours{}, rs.unique}
	f.neighbours.rows, f.views.of = f, f
	return f
}

func (f *modelFold) model() *querydb.Model { return f.desc }

// keptJournal is how many changes of one event the journal keeps memory for. Few events change more rows.
const keptJournal = 1024

func (f *modelFold) reset() {
	f.entries = f.spare.keep(f.entries)
	clear(f.dirty)
	clear(f.journal[:min(cap(f.journal), keptJournal)])
	f.wanted, f.dirty = f.wanted[:0], f.dirty[:0]
	if f.journal = f.journal[:0]; cap(f.journal) > keptJournal {
		f.journal = nil
	}
	clear(f.followed)
	f.follows = f.follows[:0]
	f.partitions.reset()
	f.tracking.read = nil
	f.unique.reset()
	f.give()
}

func (f *modelFold) need(op Op, at ApplyPoint) error {
	on, what, err := f.views.evaluator(op)
	if err != nil {
		return err
	}
	return what.need(on, at)
}

func (f *modelFold) eval(op Op, at ApplyPoint) error {
	on, what, err := f.views.evaluator(op)
	if err != nil {
		return err
	}
	return what.eval(on, at)
}

func (f *modelFold) load(ctx context.Context) error {
	if len(f.wanted) > 0 {
		stored, err := f.db.Get(ctx, f.desc, f.wanted, true)
		if err != nil {
			return err
		}
		for i := range stored {
			if err := f.loaded(f.entry(f.wanted[i]), &stored[i]); err != nil {
				return err
			}
		}
	}
	return f.partitions.load(ctx)
}

func (f *modelFold) begin() {
	f.journal, f.follows = f.journal[:0], f.follows[:0]
	f.followers.begin()
	f.tracking.filled = f.tracking.filled[:0]
	f.partitions.begin()
	f.views.begin()
}

func (f *modelFold) changed() int { return len(f.journal) }

// encode makes what is to be written of the rows that the event in hand has changed, as far as it may write so much.
func (f *modelFold) encode() error {
	for i := range f.journal {
		u := &f.journal[i]
		if err := f.encodeEntry(u.entry, &u.was); err != nil {
			return err
		}
		if err := f.bounds.grow(u.was.size(), u.entry.size()); err != nil {
			return err
		}
	}
	return nil
}

// size is what is to be written now of rows.
func (f *modelFold) size() (writes, bytes int) {
	perRow := 1 + 2*len(f.traits.unique) // a unique key is given up, and another taken
	for _, e := range f.dirty {
		if e.event != 0 {
			writes += max(perRow, e.changes.Items)
			bytes += e.size()
		}
	}
	return writes, bytes
}

// follow notes that the event goes on from a row that it does not write.
func (f *modelFold) follow(row keys.Key, at ApplyPoint) {
	if !f.bounds.shared {
		return
	}
	if f.followed == nil {
		f.followed = map[keys.Key]int{}
	}
	if f.followed[row] == 0 {
		f.followed[row] = at.Event
		f.follows = append(f.follows, row)
	}
}

// changesFollowed reports whether the event in hand changes a row that an event of the commit goes on from.
func (f *modelFold) changesFollowed() bool {
	return len(f.followed) > 0 && slices.ContainsFunc(f.journal, func(u undo) bool {
		return f.followed[u.entry.key] != 0
	})
}

func (f *modelFold) judgeUniqueKeys(at ApplyPoint) (cut bool) { return f.unique.judge(at) }

func (f *modelFold) takeUniqueKeys() { f.unique.take() }

func (f *modelFold) rollback() {
	for i := range f.journal {
		f.journal[i].entry.state = f.journal[i].was
	}
	for _, row := range f.follows {
		delete(f.followed, row)
	}
	f.partitions.rollback()
	f.tracking.rollback()
}

func (f *modelFold) missed() missing { return f.misses.with(missing{}) }

func (f *modelFold) miss(what missing) { f.misses = f.misses.with(what) }

func (f *modelFold) writes(dst []querydb.Write) []querydb.Write {
	dst = f.partitions.writes(dst)
	for _, e := range f.dirty {
		if e.event == 0 { // every event that changed it was taken back
			continue
		}
		w := querydb.Write{Model: f.desc, Row: e.stored, Time: e.time, Former: e.former}
		if e.asRead != nil {
			w.IfRevision, w.Row.Revision = true, e.asRead.revision
		}
		dst = append(dst, w)
	}
	return dst
}

func (f *modelFold) committed(end querydb.Position) {
	f.given = missing{}
	f.partitions.committed(end)
}

func (f *modelFold) forget() { f.partitions.latest = latestRows{} }

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
