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

// Mention is how a patch speaks of a composite.
type Mention uint8

// The mentions.
const (
	NotGiven Mention = iota // not at all
	Given                   // it has this value
	Cleared                 // it has no value: the policy decides about the half
	Removed                 // it is gone: the half goes with it, unless what is left composes
)

// Part is what a patch knows of one composite of an index half.
type Part struct {
	Mention Mention
	Value   Value // of a Given composite; an absent one makes it Cleared
	Key     Value // of a composite that is part of the row's own key, which every writer knows; absent for any other
}

// Half is one half of an index, and what partial writes may do to it.
type Half struct {
	Layout Layout
	Policy Policy
	// Whole: no key is cut short, because the composites are no levels of a hierarchy, or a cut key would say too little.
	Whole bool
}

// Put says what a full write does to the stored key of a half: it knows every composite, so the policy is not asked. The
// key is composed of all values; where one is absent, or the key would be empty, there is none.
//
// It fails where there is not one value per segment, or where a value has no key text or is of another kind than its segment.
func (l *Layout) Put(vals []Value) (Outcome, error) {
	if err := l.checkCount(len(vals)); err != nil {
		return Outcome{}, err
	}
	if Lead(vals) < len(vals) {
		return Outcome{Op: Remove}, nil
	}
	return set(l.Compose(vals...))
}

// Together turns what a full write does to each half of an index into what it does to both, where a row is in the index
// with both halves or has the key of neither: a model that shares its table, and whose rows have one writer. An index
// without sort half Keeps it.
func Together(pk, sk Outcome) (forPK, forSK Outcome) {
	if pk.Op == Remove || sk.Op == Remove {
		return Outcome{Op: Remove}, Outcome{Op: Remove}
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
func (h *Half) Patch(parts []Part) (Outcome, error) {
	if err := h.Layout.checkCount(len(parts)); err != nil {
		return Outcome{}, err
	}
	var few [8]Value
	vals, touched, removed := few[:0], false, false
	known := true // all composites are part of the row's key
	for i := range parts {
		p := &parts[i]
		touched = touched || p.Mention != NotGiven
		removed = removed || p.Mention == Removed
		known = known && p.Key.Present()
		vals = append(vals, p.value())
	}
	if !touched && !known {
		return Outcome{}, nil
	}
	n := Lead(vals)
	switch {
	case n == len(vals):
		return set(h.Layout.Compose(vals...))
	case n > 0 && !h.Whole && !anyPresent(vals[n:]):
		return set(h.Layout.Truncate(vals[:n]...))
	case removed, h.Policy == Sparse:
		return Outcome{Op: Remove}, nil
	}
	return Outcome{}, nil
}

// value returns the composite as it is after the patch, absent where that is not known or it has none.
func (p *Part) value() Value {
	switch p.Mention {
	case NotGiven:
		return p.Key
	case Given:
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
func set(text string, err error) (Outcome, error) {
	if err != nil {
		return Outcome{}, err
	}
	if text == "" {
		return Outcome{Op: Remove}, nil
	}
	return Outcome{Op: Set, Text: text}, nil
}
