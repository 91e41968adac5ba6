package projection

import (
	"errors"
	"fmt"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// On a store that commits write by write, a window may be left half written, and then others fold its events again,
// from the same checkpoint, in windows of another length. What makes that safe is here and in passed:
//
//   - A row tells how far it has come, and an event that it has come to is passed over. So the rows that an op changes are
//     always as they were when it was first evaluated, or have been changed by it already.
//   - What a Follow has read, and does not write, can be read again until its row is durable: an event that changes it
//     begins the next commit, and one that both follows and changes is one commit.
//   - What an atomic model's commit cannot hold begins the next one.

// errCut says that the event in hand cannot be in one commit with those before it.
var errCut = errors.New("the event begins another commit")

// cuts says where commits end. All of it but full is of a Shared store; elsewhere a commit has no need to end but for
// unique keys.
type cuts struct {
	shared bool
	atomic bool // the model's commits are to be seen whole
	most   struct{ writes, bytes int }
	claims int // writes that a row takes at most beside its own: a unique key is given up, and another taken

	mostOfEvent int // bytes of rows that an event may write, and after which a commit takes no other

	first querydb.Position // of the window
	ahead bool             // a row has come to first, or further
	alone bool             // one event, which takes effect out of its place

	verdict
	before   verdict          // the event in hand
	followed map[keys.Key]int // by row, the first event that goes on from it
	follows  []keys.Key       // rows that the event in hand is the first to go on from
}

// verdict is what the events of a commit, up to the one in hand, decide about it.
type verdict struct {
	whole   bool // the writes must be one commit
	full    bool // no other event may be in the commit
	wiped   int  // the last event that deletes a partition
	passed  bool // a row had come to an event when it was read: see fold.passed
	several bool // one of the events changes several rows
	bytes   int  // of the rows that are to be written
}

// What an atomic commit holds beside rows: the notes of a retry, the checkpoint, and a look at the header.
const (
	noteWrites = 4
	noteBytes  = 64 << 10
)

func newCuts(m *querydb.Model, db *querydb.DB) cuts {
	c := cuts{shared: db.MultiWriter(), atomic: m.Atomic}
	for i := range m.Indexes {
		if m.Indexes[i].Unique {
			c.atomic, c.claims = true, c.claims+2
		}
	}
	c.most.writes, c.most.bytes = db.TxLimits()
	c.most.writes -= noteWrites
	if m.MultiProjection() {
		c.most.writes-- // for a look at which generation of the table serves
	}
	c.most.bytes -= noteBytes
	return c
}

func (c *cuts) reset(alone bool) {
	c.alone = alone && c.shared
	c.ahead = false
	c.verdict = verdict{whole: c.shared && (c.atomic || alone)}
	clear(c.followed)
	c.begin()
}

// begin keeps in mind what was decided before the evaluation of an event; takeBack goes back to that.
func (c *cuts) begin() { c.before, c.follows = c.verdict, c.follows[:0] }

func (c *cuts) takeBack() {
	c.verdict = c.before
	for _, row := range c.follows {
		delete(c.followed, row)
	}
}

// sight is how a row was when it was read.
type sight struct {
	applied  querydb.Position // how far it had come in the partition of the window's events
	revision uint64
}

func (c *cuts) sight(row *querydb.Row, writer string) *sight {
	if !c.shared {
		return nil
	}
	if writer != "" {
		row = &querydb.Row{Applied: row.Applied, Revision: row.Revision} // the position may be another writer's
	}
	s := &sight{applied: row.AppliedOf(c.first.Partition), revision: row.Revision}
	c.ahead = c.ahead || !s.applied.Before(c.first)
	return s
}

// passed reports whether the row had come to the event, or further, when it was read: another commit, of this process
// or of another, has got that far without a checkpoint.
func (s *sight) passed(at occasion) bool { return s != nil && !s.applied.Before(at.pos) }

// passed is that of the entry, and keeps in mind that some of the event in hand is durable.
func (f *fold[R]) passed(e *entry[R], at occasion) bool {
	if !e.seen.passed(at) {
		return false
	}
	f.done++
	f.cuts.passed = true
	return true
}

func (f *fold[R]) ahead() bool { return f.cuts.ahead }

func (f *fold[R]) torn() bool { return f.cuts.passed }

// follow notes that the event goes on from a row that it does not write.
func (c *cuts) follow(row keys.Key, at occasion) {
	if !c.shared {
		return
	}
	if c.followed == nil {
		c.followed = map[keys.Key]int{}
	}
	if c.followed[row] == 0 {
		c.followed[row] = at.event
		c.follows = append(c.follows, row)
	}
}

// cut returns errCut where the event in hand, which has been evaluated, must begin another commit; and another error
// where no commit can hold it.
func (f *fold[R]) cut(at occasion) error {
	c := &f.cuts
	switch {
	case c.full, at.event > 1 && c.bytes > c.mostOfEvent:
		return errCut
	case !c.shared:
		return nil
	}
	for _, u := range f.journal {
		if c.followed[u.entry.key] == 0 {
			continue
		}
		if at.event > 1 {
			return errCut
		}
		c.whole, c.full = true, true // the event changes what it follows
	}
	return f.fit(at)
}

// fit is cut for the size of what must be one commit.
func (f *fold[R]) fit(at occasion) error {
	c := &f.cuts
	if !c.whole {
		return nil
	}
	writes, bytes := f.size()
	switch {
	case writes <= c.most.writes && bytes <= c.most.bytes:
		return nil
	case at.event > 1:
		return errCut
	case c.wiped == at.event && !c.full && !c.alone && c.claims == 0: // it may be seen in parts
		c.whole, c.full = false, true
		return nil
	}
	return fmt.Errorf("%w: the event changes %d rows of %d bytes, and one commit holds %d and %d",
		querydb.ErrTooLarge, writes, bytes, c.most.writes, c.most.bytes)
}

// size is what the fold would write now.
func (f *fold[R]) size() (writes, bytes int) {
	for _, e := range f.dirty {
		if e.event == 0 {
			continue
		}
		writes += 1 + f.cuts.claims
		bytes += e.size()
	}
	return writes, bytes
}

// size is how many bytes are to be written of the row, 0 where none are.
func (s *state[R]) size() int {
	if s.event == 0 {
		return 0
	}
	bytes := len(s.stored.Record) + len(s.stored.Key.PK) + len(s.stored.Key.SK)
	for _, x := range s.stored.Indexes {
		bytes += len(x.PK) + len(x.SK)
	}
	return bytes
}
