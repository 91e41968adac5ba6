package keys

import "fmt"

// Policy is what becomes of the stored key of an index half when a patch touches the half but cannot compose it.
type Policy uint8

// The policies of a half.
const (
	// Preserve leaves the stored key: another writer owns it, or it may go stale until it can be composed again.
	Preserve Policy = iota
	// Sparse removes it: the row leaves the index until the half can be composed again.
	Sparse
)

// FieldChange is how a patch speaks of a composite.
type FieldChange uint8

// The mentions.
const (
	FieldUntouched FieldChange = iota // not at all
	FieldGiven                        // it has this value
	FieldCleared                      // it has no value: the policy decides about the half
	FieldRemoved                      // it is gone: the half goes with it, unless what is left composes
)

// PatchedComposite is what a patch knows of one composite of an index half.
type PatchedComposite struct {
	Change FieldChange
	Value  Value // of a Given composite; an absent one makes it Cleared
	Key    Value // of a composite that is part of the row's own key, which every writer knows; absent for any other
}

// IndexHalf is one half of an index, and what partial writes may do to it.
type IndexHalf struct {
	Layout Layout
	Policy Policy
	// NeverTruncate: no key is cut short, because the composites are no levels of a hierarchy, or a cut key would say too little.
	NeverTruncate bool
}

// Put says what a full write does to the stored key of a half: it knows every composite, so the policy is not asked. The
// key is composed of all values; where one is absent, or the key would be empty, there is none.
//
// It fails where there is not one value per segment, or where a value has no key text or is of another kind than its segment.
func (l *Layout) Put(vals []Value) (HalfUpdate, error) {
	if err := l.checkCount(len(vals)); err != nil {
		return HalfUpdate{}, err
	}
	if CountLeading(vals) < len(vals) {
		return HalfUpdate{Op: RemoveKey}, nil
	}
	return set(l.Compose(vals...))
}

// BothOrNeither turns what a full write does to each half of an index into what it does to both, where a row is in the index
// with both halves or has the key of neither: a model that shares its table, and whose rows have one writer. An index
// without sort half Keeps it.
func BothOrNeither(pk, sk HalfUpdate) (forPK, forSK HalfUpdate) {
	if pk.Op == RemoveKey || sk.Op == RemoveKey {
		return HalfUpdate{Op: RemoveKey}, HalfUpdate{Op: RemoveKey}
	}
	return pk, sk
}

// Patch says what a partial write does to the stored key of the half, from what it knows of the composites, in the order
// of the segments.
//
// A half without composites is always set, and so is one whose composites are all part of the row's own key. Any other
// half is left alone by a patch that mentions none of its composites, also where the row's key is among them: what the
// others are, this writer cannot know. A half that is mentioned is composed of the values that the patch and the row's
// key give, by the longest leading run of them: all of them make the whole key, fewer with nothing after them the key
// truncated to them, unless the half is Whole. Where the first is absent, or one is absent before another, the half
// cannot be composed: then its key is removed if the policy is Sparse or one of its composites is Removed, else left alone.
//
// The halves of an index are judged apart: an outcome is about its own half alone.
//
// It fails where there is not one part per segment, or where a value has no key text or is of another kind than its segment.
func (h *IndexHalf) Patch(parts []PatchedComposite) (HalfUpdate, error) {
	if err := h.Layout.checkCount(len(parts)); err != nil {
		return HalfUpdate{}, err
	}
	var few [8]Value
	vals, touched, removed := few[:0], false, false
	known := true // all composites are part of the row's key
	for i := range parts {
		p := &parts[i]
		touched = touched || p.Change != FieldUntouched
		removed = removed || p.Change == FieldRemoved
		known = known && p.Key.Present()
		vals = append(vals, p.value())
	}
	if !touched && !known {
		return HalfUpdate{}, nil
	}
	n := CountLeading(vals)
	switch {
	case n == len(vals):
		return set(h.Layout.Compose(vals...))
	case n > 0 && !h.NeverTruncate && !anyPresent(vals[n:]):
		return set(h.Layout.Truncate(vals[:n]...))
	case removed, h.Policy == Sparse:
		return HalfUpdate{Op: RemoveKey}, nil
	}
	return HalfUpdate{}, nil
}

// value returns the composite as it is after the patch, absent where that is not known or it has none.
func (p *PatchedComposite) value() Value {
	switch p.Change {
	case FieldUntouched:
		return p.Key
	case FieldGiven:
		return p.Value
	}
	return Value{}
}

func anyPresent(vals []Value) bool {
	for i := range vals {
		if vals[i].Present() {
			return true
		}
	}
	return false
}

func (l *Layout) checkCount(n int) error {
	if n != len(l.Segments) {
		return fmt.Errorf("keys: %d composites for a half of %d fields", n, len(l.Segments))
	}
	return nil
}

// set is the outcome of a half that was composed. A key that would be empty, as that of a bare empty string, is none.
func set(text string, err error) (HalfUpdate, error) {
	if err != nil {
		return HalfUpdate{}, err
	}
	if text == "" {
		return HalfUpdate{Op: RemoveKey}, nil
	}
	return HalfUpdate{Op: SetKey, Text: text}, nil
}
