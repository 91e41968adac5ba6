package deadletter

import (
	"cmp"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection/internal/position"
)

// MissingRow is a row that is not there, and that an event needs to copy: what its dead letter waits for.
type MissingRow struct {
	Model    string `json:"model"` // whose row the event writes
	Field    string `json:"field"`
	RefModel string `json:"refModel"`
	RefID    string `json:"refId"`
	PK       string `json:"pk"`
	SK       string `json:"sk,omitempty"`
}

// RowOf is the row that is not there, the zero RowRef for none.
func (m *MissingRow) RowOf() RowRef {
	if m == nil {
		return RowRef{}
	}
	return RowRef{m.RefModel, keys.Key{PK: m.PK, SK: m.SK}}
}

// RowRef names a row.
type RowRef struct {
	Model string
	Key   keys.Key
}

// waiting finds the dead letters that wait for a row, and those whose row has appeared.
type waiting struct {
	row     map[position.Ref]awaited // of each that waits
	letters map[RowRef][]position.Ref
	first   []position.Ref    // to be retried before those that are woken: what a process has left behind, or was put back
	woken   []position.Ref    // in order
	seen    map[RowRef]uint64 // revisions at which WakeAt has woken those that wait for rows
	// Unchecked: any of the rows may have appeared of which Wake was not told; else those of fresh alone.
	Unchecked bool
	fresh     []RowRef
}

// awaited is a row that a dead letter waits for, and the identifier that it is to have: others may make the same key.
type awaited struct {
	RowRef
	identifier string
}

func newWaiting() waiting {
	return waiting{row: map[position.Ref]awaited{}, letters: map[RowRef][]position.Ref{},
		seen: map[RowRef]uint64{}}
}

// Wait notes that a dead letter waits for a row, and for no other; for none where that is nil.
func (w *waiting) Wait(at position.Ref, missing *MissingRow) {
	w.stop(at)
	if missing == nil {
		return
	}
	row := missing.RowOf()
	w.row[at], w.letters[row] = awaited{row, missing.RefID}, append(w.letters[row], at)
}

// stop notes that an event waits for no row.
func (w *waiting) stop(at position.Ref) {
	of, waits := w.row[at]
	if !waits {
		return
	}
	delete(w.row, at)
	row := of.RowRef
	others := slices.DeleteFunc(w.letters[row], func(o position.Ref) bool { return o == at })
	if w.letters[row] = others; len(others) == 0 {
		delete(w.letters, row)
	}
}

// Waiting reports whether any dead letter waits for a row.
func (w *waiting) Waiting() bool { return len(w.row) > 0 }

// Awaits reports whether a dead letter waits for the row.
func (w *waiting) Awaits(row RowRef) bool { return len(w.letters[row]) > 0 }

// Awaited are the rows that dead letters wait for.
func (w *waiting) Awaited() []RowRef {
	rows := make([]RowRef, 0, len(w.letters))
	for row := range w.letters {
		rows = append(rows, row)
	}
	return rows
}

// MayHaveAppeared notes that the row of a new dead letter may have appeared since it was looked up.
func (w *waiting) MayHaveAppeared(row RowRef) { w.fresh = append(w.fresh, row) }

// Doubtful are the rows that may have appeared of which Wake was not told.
func (w *waiting) Doubtful() []RowRef {
	if w.Unchecked {
		return w.Awaited()
	}
	w.fresh = slices.DeleteFunc(w.fresh, func(row RowRef) bool { return !w.Awaits(row) })
	return w.fresh
}

// Checked notes that Wake was told of those that have.
func (w *waiting) Checked() { w.Unchecked, w.fresh = false, nil }

// Wake notes that a row has appeared: the dead letters that wait for it are to be retried.
func (w *waiting) Wake(row RowRef) {
	for _, at := range w.letters[row] {
		w.wake(at)
	}
}

// wake notes that a dead letter is to be retried.
func (w *waiting) wake(at position.Ref) { w.woken = insert(w.woken, at) }

// insert adds a reference to others that are in order, unless it is there.
func insert(refs []position.Ref, at position.Ref) []position.Ref {
	if i, there := slices.BinarySearchFunc(refs, at, compareRefs); !there {
		refs = slices.Insert(refs, i, at)
	}
	return refs
}

// WakeAt is Wake, once for each of its revisions, for a row that was looked up. Those alone are woken for which it is
// there: for an event of one partition it may have expired, or it has another identifier than the dead letter names.
func (w *waiting) WakeAt(row RowRef, revision uint64, isThere func(at position.Ref, identifier string) bool) {
	if at, seen := w.seen[row]; seen && at == revision {
		return
	}
	for _, at := range w.letters[row] {
		if isThere(at, w.row[at].identifier) {
			w.seen[row] = revision
			w.wake(at)
		}
	}
}

// Woken takes out the first dead letter that is to be retried; ok is false where there is none.
func (w *waiting) Woken() (at position.Ref, ok bool) {
	from := &w.first
	if len(w.first) == 0 {
		from = &w.woken
	}
	if len(*from) == 0 {
		return at, false
	}
	at, *from = (*from)[0], (*from)[1:]
	return at, true
}

// WakeFirst notes dead letters that are to be retried before those that are woken: they may have been taken out, and
// could not be retried yet.
func (w *waiting) WakeFirst(refs []position.Ref) {
	for _, at := range refs {
		w.first = insert(w.first, at)
	}
}

func compareRefs(a, b position.Ref) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
}
