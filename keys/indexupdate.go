package keys

import "fmt"

// HalfUpdate is what a write does to one half of a stored index key, its partition key or its sort key. The zero
// HalfUpdate leaves it as it is.
type HalfUpdate struct {
	Op  HalfUpdateOp
	Key string // the new key, under SetKey
}

// HalfUpdateOp is the kind of a [HalfUpdate].
type HalfUpdateOp uint8

// The kinds of updates.
const (
	KeepKey   HalfUpdateOp = iota // leave the stored key as it is
	SetKey                        // replace it
	RemoveKey                     // remove it: the row leaves the index
)

// Apply returns the stored key after the write, from the one before it; has is false where there is none.
func (u HalfUpdate) Apply(text string, has bool) (string, bool) {
	switch u.Op {
	case SetKey:
		return u.Key, true
	case RemoveKey:
		return "", false
	}
	return text, has
}

// UpdateForPut returns what a full write does to the stored key of a half. It knows every composite, so no [Policy] is
// asked: all values make the key; where one is absent, or the key would be empty, the key is removed.
//
// It fails where there is not one value per segment, or where a value has no key text or is of another kind than its
// segment.
func (l *Layout) UpdateForPut(vals []Value) (HalfUpdate, error) {
	if err := l.checkCount(len(vals)); err != nil {
		return HalfUpdate{}, err
	}
	if CountLeading(vals) < len(vals) {
		return HalfUpdate{Op: RemoveKey}, nil
	}
	return set(l.Compose(vals...))
}

// PairUpdates makes the updates of the two halves of an index agree, where rows have either both keys or none:
// where one half is removed, so is the other. That holds for models that share a table and have one writer per row. An
// index without a sort half passes the zero HalfUpdate for it.
func PairUpdates(pk, sk HalfUpdate) (forPK, forSK HalfUpdate) {
	if pk.Op == RemoveKey || sk.Op == RemoveKey {
		return HalfUpdate{Op: RemoveKey}, HalfUpdate{Op: RemoveKey}
	}
	return pk, sk
}

// Policy decides about the stored key of an index half when a patch touches the half but cannot compose it.
type Policy uint8

// The policies.
const (
	// PolicyPreserve leaves the stored key: another writer owns it, or it may go stale until it can be composed again.
	PolicyPreserve Policy = iota
	// PolicySparse removes it: the row leaves the index until the half can be composed again.
	PolicySparse
)

// FieldChange says what a patch does to a composite.
type FieldChange uint8

// The changes.
const (
	FieldUntouched FieldChange = iota // the patch does not name it, so its value is not known
	FieldGiven                        // it has the value given
	FieldCleared                      // it has no value; the policy decides about a half that cannot be composed then
	FieldRemoved                      // it has no value; a half that cannot be composed then is removed, policy or not
)

// PatchedComposite is what a patch knows of one composite of an index half.
type PatchedComposite struct {
	Change   FieldChange
	Value    Value // under FieldGiven; an absent one counts as FieldCleared
	KeyValue Value // of a composite that is part of the row's own key, which every writer knows; absent for any other
}

// IndexHalf is one half of an index, its partition key or its sort key, and what partial writes may do to it.
type IndexHalf struct {
	Layout Layout
	Policy Policy
	// NeverTruncate keeps partial writes from storing a key of the leading composites alone when the others are absent:
	// the composites are no levels of a hierarchy, or a truncated key would say too little. For reads,
	// Layout.MayBeTruncated says whether to look for truncated keys.
	NeverTruncate bool
}

// UpdateForPatch returns what a partial write does to the stored key of the half, given what it knows of the
// composites, in the order of the segments.
//
// A half without composites is always set, and so is one whose composites are all part of the row's own key. Any other
// half is left alone by a patch that touches none of its composites, also where the row's key is among them: what the
// others are, this writer cannot know. A half that is touched is composed of the values that the patch and the row's
// key give, by the longest leading run of them: all of them make the whole key; fewer, with nothing after them, make
// the key truncated to them, unless the half sets NeverTruncate. Where the first is absent, or one is absent before
// another, the half cannot be composed: its key is then removed if the policy is Sparse or one of its composites is
// FieldRemoved, and left alone otherwise.
//
// The halves of an index are independent of each other.
//
// It fails where there is not one composite per segment, or where a value has no key text or is of another kind than
// its segment.
func (h *IndexHalf) UpdateForPatch(composites []PatchedComposite) (HalfUpdate, error) {
	if err := h.Layout.checkCount(len(composites)); err != nil {
		return HalfUpdate{}, err
	}
	var few [8]Value
	vals, touched, removed := few[:0], false, false
	known := true // all composites are part of the row's key
	for i := range composites {
		p := &composites[i]
		touched = touched || p.Change != FieldUntouched
		removed = removed || p.Change == FieldRemoved
		known = known && p.KeyValue.Present()
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
		return set(h.Layout.ComposeTruncated(vals[:n]...))
	case removed, h.Policy == PolicySparse:
		return HalfUpdate{Op: RemoveKey}, nil
	}
	return HalfUpdate{}, nil
}

// value returns the composite as it is after the patch, absent where that is not known or it has none.
func (p *PatchedComposite) value() Value {
	switch p.Change {
	case FieldUntouched:
		return p.KeyValue
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

// set is the update to a composed key. A key that would be empty, such as that of a bare empty string, is removed.
func set(text string, err error) (HalfUpdate, error) {
	if err != nil {
		return HalfUpdate{}, err
	}
	if text == "" {
		return HalfUpdate{Op: RemoveKey}, nil
	}
	return HalfUpdate{Op: SetKey, Key: text}, nil
}
