package fold

import (
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// rows is a window's picture of the rows of a model.
type rows struct {
	indexer
	db     *querydb.DB
	bounds *bounds

	builder    record.Builder
	entries    map[keys.Key]*entry
	spare      spareEntries
	wanted     []keys.Key
	partitions *partitions
	refs       *references
	tracking   *tracking
	views      *views
	unique     *uniqueKeys
	dirty      []*entry // in order of the first change
	journal    []undo   // of the event in hand

	followed map[keys.Key]int // by row, the first event that goes on from it; of a shared store
	follows  []keys.Key       // rows that the event in hand is the first to go on from

	misses missing // what the events in hand have missed
	given  missing // what those have missed that were begun again, and is read for them
}

// entry is one row of the picture.
type entry struct {
	key    keys.Key
	wanted bool
	read   bool // it is known what is stored
	dirty  bool
	asRead *readState    // on a shared store, how the row was when it was read; nil where it was not
	others any           // the key fields of a row that was there when it was read, and is other writers' alone
	end    time.Time     // of that row
	former []querydb.Row // of an aggregate, the items that were read
	was    *tracked      // see tracked
	state
}

// state is what an event can change of an entry, and a failing one must give back. Several states may have one row,
// so a row does not change once it is in one, until the copies in it are filled in: that is in the event that wrote it,
// before it is in another.
type state struct {
	row      any // nil where there is none
	present  bool
	indexes  indexKeys
	pos      querydb.Position
	writers  []string        // of several, those that have the row; of a Fold of what all of them write
	event    int             // of the window, that last changed the row; 0 for none
	time     time.Time       // watermark at the first event of the window that changed it
	ended    bool            // the last event that wrote the row wrote it as expired: see noteEnd
	taken    bool            // an event has taken the row away which copies follow after the commit: see noteTaken
	stored   querydb.Row     // what is to be written
	changes  aggregate.Size  // of an aggregate, of the items that are to be written
	unfilled []copied        // copies that are yet to be filled in
	scopes   []cascade.Scope // which copies of the row are to follow what events of the commit have made of it
	asked    bool            // an op of the commit has said which copies follow it
	outdated bool            // an event of the commit has copied the row, and a later one changed it: copies are to follow
}

// size is how many bytes are to be written of the row, 0 where none are.
func (s *state) size() int {
	if s.event == 0 {
		return 0
	}
	if s.changes.Items > 0 {
		return s.changes.Bytes
	}
	return rowSize(&s.stored)
}

// rowSize is how many bytes a row has as it is to be written.
func rowSize(row *querydb.Row) int {
	bytes := len(row.Record) + len(row.Key.PK) + len(row.Key.SK)
	for _, x := range row.Indexes {
		bytes += len(x.PK) + len(x.SK)
	}
	return bytes
}

type undo struct {
	entry *entry
	was   state
}

func (r *rows) needKey(key keys.Key) error {
	if r.views.whole != nil {
		return r.views.whole.needKey(key)
	}
	e := r.entry(key)
	if e.wanted {
		return nil
	}
	if err := r.db.Validate(r.desc, &querydb.Row{Key: key}); err != nil {
		return err
	}
	e.wanted = true
	r.wanted = append(r.wanted, key)
	if r.bounds.alone && r.traits.sorted {
		r.partitions.watch(key.PK) // another row of it may be ahead, which was made by following this one
	}
	return nil
}

// needRow is needKey of a row that an op is to write.
func (r *rows) needRow(row any, key keys.Key, at ApplyPoint) error {
	if r.traits.stampedKey {
		_, stamped, err := r.stamped(r.codec.Copy(row), key, at)
		if err != nil {
			return err
		}
		key = stamped
	}
	return r.needKey(key)
}

// readsReplaced reports whether it counts what is replaced.
func (r *rows) readsReplaced() bool { return r.desc.CreatedAt >= 0 || r.mustRead() }

// mustRead reports whether also what is replaced or deleted is to be read: where the row may be ahead, be another's
// under the same key, hold a key that no other row may have, have items that are to be deleted, or have parts of other
// writers beside the one that is replaced.
func (r *rows) mustRead() bool {
	return r.bounds.alone || r.views.whole != nil || r.traits.collides || r.traits.unique != nil || r.tracking.tracks() ||
		r.desc.Aggregate != nil
}

func (r *rows) loaded(e *entry, row *querydb.Row) error {
	e.asRead, e.read = r.bounds.stateOf(row, r.traits.writer), true
	e.state, e.others, e.former, e.was = state{}, nil, row.Items, nil
	if r.tracking.isFollowed() { // also one that is gone
		e.tracked().position, e.tracked().applied = row.Position, row.Applied
	}
	if row.Record == nil {
		return nil
	}
	if len(r.views.all) > 0 {
		e.stored, e.writers = *row, row.Writers
	}
	return r.decode(e, row)
}

// decode has the entry hold a stored row, or what the writer sees of it.
func (r *rows) decode(e *entry, row *querydb.Row) error {
	rec, ours := row.Record, true
	if r.traits.sees != nil {
		rec, ours = record.Project(rec, r.traits.sees), slices.Contains(row.Writers, r.traits.writer)
	}
	decoded, err := r.codec.Decode(rec)
	if err != nil {
		return RowError{fmt.Errorf("read %s row %s: %w", r.desc.Name, driver.PrintableKey(e.key), err)}
	}
	e.indexes, e.pos = row.Indexes, row.Position
	if r.traits.unique != nil {
		e.stored.Indexes = row.Indexes
		r.unique.read(e, row)
	}
	if ours {
		e.row, e.present = decoded, true
		r.tracking.remember(e, *row, decoded)
	} else {
		e.others, e.end = decoded, row.Expires
	}
	return nil
}

// entry returns the entry of a key, absent until it is loaded or written.
func (r *rows) entry(key keys.Key) *entry {
	if r.views.whole != nil {
		return r.views.part(key)
	}
	e := r.entries[key]
	if e == nil {
		e = r.entryOf(key)
		if p := r.partitions.all[key.PK]; p != nil {
			p.entries = append(p.entries, e)
			if p.whole { // it was read, and the row was not there
				e.asRead, e.read = r.bounds.stateOf(&querydb.Row{}, r.traits.writer), true
			}
		}
	}
	return e
}

// entryOf is entry while rows are read.
func (r *rows) entryOf(key keys.Key) *entry {
	e := r.entries[key]
	if e == nil {
		e = r.spare.take()
		e.key = key
		r.entries[key] = e
	}
	return e
}

// passed reports whether the row had come to the event, or further, when it was read, and keeps in mind that some of
// the event in hand is durable.
func (r *rows) passed(e *entry, at ApplyPoint) bool {
	if !e.asRead.passed(at) {
		return false
	}
	r.bounds.done++
	r.bounds.passed = true
	return true
}

// replace writes a whole row: none of its former index keys are kept, but those that are another writer's.
func (r *rows) replace(e *entry, row any, at ApplyPoint) error {
	if err := r.identical(e, row, at); err != nil {
		return err
	}
	r.stamp(e, row, r.visible(e, at), at)
	var indexes indexKeys
	if r.traits.writer != "" {
		var err error
		if indexes, err = r.keysOf(e, false, at); err == nil {
			err = r.putAll(indexes, row)
		}
		if err != nil {
			return err
		}
	}
	r.write(e, row, indexes, true, nil, at)
	return nil
}

// update writes a row that was read before.
func (r *rows) update(e *entry, row any, at ApplyPoint) error {
	if err := r.sameKey(e, row, at); err != nil {
		return err
	}
	r.stamp(e, row, true, at)
	indexes, err := r.updated(e, row, at)
	if err != nil {
		return err
	}
	r.write(e, row, indexes, false, nil, at)
	return nil
}

// write has the entry hold the row; anew says that nothing of the former row stays, said what a patch does to the
// fields.
func (r *rows) write(
	e *entry, row any, indexes indexKeys, anew bool, said []keys.FieldChange, at ApplyPoint,
) {
	var unfilled []copied
	if len(r.refs.all) > 0 {
		row, unfilled = r.refs.kept(e, row, anew, said)
	}
	r.views.ofAll().followers.noteRule(e.key)
	r.touch(e, at)
	e.row, e.present, e.indexes, e.unfilled = row, true, indexes, unfilled
}

func (r *rows) remove(e *entry, at ApplyPoint) {
	r.views.ofAll().followers.noteRule(e.key)
	r.touch(e, at)
	e.clear()
}

// clear has the entry hold no row.
func (e *entry) clear() { e.row, e.present, e.indexes, e.unfilled = nil, false, nil, nil }

// touch notes that the event changes the entry, and the state before its first change.
func (r *rows) touch(e *entry, at ApplyPoint) {
	if e.event == at.Event {
		return
	}
	r.tracking.touchCopies(e, at)
	e.pos = at.Pos
	if p := r.partitions.all[e.key.PK]; p != nil {
		p.add(standing{e, at.Pos})
	}
}

// sameKey fails where a row that is to be written over an entry has another key.
func (r *rows) sameKey(e *entry, row any, at ApplyPoint) error {
	if e.present && r.sameKeyFields(e.row, row) {
		return nil
	}
	got, err := r.codec.KeyOf(row)
	if err != nil {
		return err
	}
	if got != e.key {
		return fmt.Errorf("%s row %s would get the key %s: a row keeps its key; delete it and create another",
			r.desc.Name, driver.PrintableKey(e.key), driver.PrintableKey(got))
	}
	return r.identical(e, row, at)
}

// encodeEntry makes what is to be written of an entry that the event in hand has changed from what it was; whoever
// changed it has made sure that the row keeps its key. It is made after each event, and not once per window, so that a
// row which cannot be stored fails its event whatever the next event would make of it.
func (r *rows) encodeEntry(e *entry, was *state) error {
	e.stored = querydb.Row{Key: e.key}
	if e.present {
		var err error
		if e.stored, err = r.codec.EncodeWithKey(&r.builder, e.row, e.key); err != nil {
			return err
		}
		if e.indexes != nil {
			e.stored.Indexes = e.indexes
		}
	}
	if r.desc.Aggregate != nil {
		if err := r.compose(e, e.itemsOf(was), r.bounds); err != nil || e.present && r.bounds.surveying {
			return err
		}
	}
	e.stored.Position, e.stored.Writers = e.pos, e.writers
	return r.db.Validate(r.desc, &e.stored)
}

// itemsOf are the items of a former state of an aggregate.
func (e *entry) itemsOf(s *state) []querydb.Row {
	if s.event == 0 {
		return e.former
	}
	return s.stored.Items
}

// before returns the position that the row had before the event in hand, and whether it was there at all: one that the
// event has made in place of one that had expired was not.
func (r *rows) before(e *entry, at ApplyPoint) (pos querydb.Position, there bool) {
	if e.event != at.Event {
		return e.pos, true
	}
	for _, u := range r.journal {
		if u.entry == e {
			return u.was.pos, u.was.present && r.lasts(u.was.row, at)
		}
	}
	return querydb.Position{}, false
}
