package fold

import (
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
)

// On a store that commits write by write, a window may be left half written, and then others fold its events again,
// from the same checkpoint, in windows of another length. What makes that safe is here and in rows.passed:
//
//   - A row tells how far it has come, and an event that it has come to is passed over. So the rows that an op changes
//     are always as they were when it was first evaluated, or have been changed by it already.
//   - What a Follow has read, and does not write, can be read again until its row is durable: an event that changes it
//     begins the next commit, and one that both follows and changes is one commit.
//   - What an atomic model's commit cannot hold begins the next one.

// bounds says where commits end. All of it but full is of a shared store; elsewhere a commit has no need to end but for
// unique keys.
type bounds struct {
	shared bool
	atomic bool // commits are to be seen whole
	unique bool // a model has unique keys
	most   struct{ writes, bytes int }

	guarded []string // tables that several projections write

	aggregates aggregate.Limits

	mostOfEvent int // bytes of rows that an event may write, and after which a commit takes no other

	first querydb.Position // of the window
	since time.Time        // the watermark of the first event
	ahead bool             // a row has come to first, or further
	alone bool             // one event, which takes effect out of its place

	verdict
	before    verdict     // the event in hand
	done      int         // rows of the event in hand that have it already
	ofEvent   int         // bytes that the event in hand writes
	cascaded  cascadedRow // of those that the event in hand changes
	surveying bool        // see Fold.Survey
	urgent    bool        // the commit cannot go on without what the event in hand misses
	crowded   bool        // more links were missed than were read
}

// cascadedRow is the row that most copies follow in the commit of its change.
type cascadedRow struct {
	model  string
	copies int
}

// verdict is what the events of a commit, up to the one in hand, decide about it.
type verdict struct {
	whole   bool // the writes must be one commit
	full    bool // no other event may be in the commit
	wiped   int  // the last event that deletes a partition
	passed  bool // a row had come to an event when it was read: see rows.passed
	several bool // one of the events changes several rows
	bytes   int  // of the rows that are to be written
}

// NoteWrites is how many notes an atomic commit holds beside rows, at most: those of a retry, the checkpoint, and a
// look at the header.
const NoteWrites = 4

const noteBytes = 64 << 10

// mostOfAggregate is how many bytes the items of an aggregate may have on every store: what one commit of DynamoDB
// holds, with its notes.
const mostOfAggregate = 7<<19 - noteBytes

func newBounds(db *querydb.DB, limits Limits) *bounds {
	b := &bounds{shared: db.MultiWriter(), mostOfEvent: limits.RowBytes, urgent: true}
	b.most.writes, b.most.bytes = db.TxLimits()
	b.most.writes -= NoteWrites
	b.most.bytes -= noteBytes
	b.aggregates = aggregate.Limits{Items: limits.AggregateItems, Bytes: mostOfAggregate}
	if b.shared {
		b.aggregates = b.aggregates.Within(aggregate.Limits{Items: b.most.writes, Bytes: b.most.bytes})
	}
	return b
}

// targets is how many copies may follow their row in one commit, and what these count as: an item each at least where
// items are what a commit holds so many of.
func (b *bounds) targets() (most int, unit string) {
	if b.shared {
		return b.most.writes, unitItems
	}
	return mostTargets, unitRows
}

// add has the commits hold rows of the model.
func (b *bounds) add(m *querydb.Model) {
	b.atomic = b.atomic || m.Atomic || m.Aggregate != nil
	for i := range m.Indexes {
		if m.Indexes[i].Unique {
			b.atomic, b.unique = true, true
		}
	}
	if m.MultiProjection() && !slices.Contains(b.guarded, m.Table) {
		b.guarded = append(b.guarded, m.Table)
		b.most.writes-- // for a look at which generation of the table serves
	}
}

func (b *bounds) reset(alone bool) {
	b.alone = alone && b.shared
	b.ahead, b.crowded = false, false
	b.verdict = verdict{whole: b.shared && (b.atomic || alone)}
	b.begin()
}

// begin keeps in mind what was decided before the evaluation of an event; takeBack goes back to that.
func (b *bounds) begin() {
	b.before, b.done, b.ofEvent, b.cascaded = b.verdict, 0, 0, cascadedRow{}
}

func (b *bounds) takeBack() { b.verdict = b.before }

// grow counts a row that the event in hand writes, which was to be of another size before.
func (b *bounds) grow(was, size int) error {
	b.bytes += size - was
	if b.ofEvent += size; b.ofEvent > b.mostOfEvent {
		return fmt.Errorf("%w: the event writes more than %d bytes of rows: write less, or raise the bound "+
			"(RunnerConfig.MaxRowBytesPerEvent, --max-row-bytes)", querydb.ErrTooLarge, b.mostOfEvent)
	}
	return nil
}

// readState is how a row was when it was read.
type readState struct {
	applied  querydb.Position // how far it had come in the partition of the window's events
	revision uint64
}

// stateOf is the state in which a row was read; nil where it does not count.
func (b *bounds) stateOf(row *querydb.Row, writer string) *readState {
	if !b.shared {
		return nil
	}
	if writer != "" {
		row = &querydb.Row{Applied: row.Applied, Revision: row.Revision} // the position may be another writer's
	}
	s := &readState{applied: row.LastApplied(b.first.Partition), revision: row.Revision}
	b.ahead = b.ahead || !s.applied.Before(b.first)
	return s
}

// passed reports whether the row had come to the event, or further, when it was read: another commit, of this process
// or of another, has got that far without a checkpoint.
func (s *readState) passed(at ApplyPoint) bool { return s != nil && !s.applied.Before(at.Pos) }

// cut returns ErrNextCommit where the event in hand, which has been evaluated, must begin another commit; and another
// error where no commit can hold it.
func cut(f *Fold, at ApplyPoint) error {
	b := f.bounds
	switch {
	case b.full, at.Event > 1 && b.bytes > b.mostOfEvent:
		return ErrNextCommit
	case !b.shared:
		return nil
	}
	for _, m := range f.members {
		if !m.changesFollowed() {
			continue
		}
		if at.Event > 1 {
			return ErrNextCommit
		}
		b.whole, b.full = true, true // the event changes what it follows
	}
	return f.fit(at)
}

// HasRoom reports whether the commit holds so many other notes beside NoteWrites.
func (f *Fold) HasRoom(notes int) bool {
	writes, _ := sizeOf(f)
	return !f.bounds.shared || writes+notes <= f.bounds.most.writes
}

// sizeOf is how many writes and bytes the commit has so far.
func sizeOf(f *Fold) (writes, bytes int) {
	copies := f.Tracked().Copies()
	writes = copies.items()
	for _, m := range f.members {
		n, size := m.size()
		writes, bytes = writes+n, bytes+size
	}
	return writes, bytes
}

// fit is cut for the size of what must be one commit.
func (f *Fold) fit(at ApplyPoint) error {
	b := f.bounds
	if !b.whole {
		return nil
	}
	writes, bytes := sizeOf(f)
	switch {
	case writes <= b.most.writes && bytes <= b.most.bytes:
		return nil
	case at.Event > 1:
		return ErrNextCommit
	case b.wiped == at.Event && !b.full && !b.alone && !b.unique && divisible(f): // it may be seen in parts
		b.whole, b.full = false, true
		return nil
	case b.cascaded.copies > 0 && writes > b.most.writes:
		return &CascadeOverflowError{b.cascaded.model, writes, b.most.writes, unitItems}
	case b.cascaded.copies > 0:
		return &CascadeOverflowError{b.cascaded.model, bytes, b.most.bytes, unitBytes}
	}
	err := fmt.Errorf("%w: the event changes %d rows of %d bytes, and one commit holds %d and %d; items of aggregates, "+
		"links and rows that are copied count as rows", querydb.ErrTooLarge, writes, bytes, b.most.writes, b.most.bytes)
	if b.alone && !b.atomic {
		return fmt.Errorf("%w; in its place in the log it is folded in parts: rebuild the rows", err)
	}
	return err
}

// divisible reports whether what is written may be committed in parts, of which whoever folds the event again passes
// over those that are there: no copies follow it, and it has no items of aggregates, of which one rests on another.
func divisible(f *Fold) bool {
	copies := f.Tracked().Copies()
	writesAggregate := func(m member) bool {
		writes, _ := m.size()
		return writes > 0 && m.model().Aggregate != nil
	}
	return f.bounds.cascaded.copies == 0 && copies.items() == 0 && !slices.ContainsFunc(f.members, writesAggregate)
}
