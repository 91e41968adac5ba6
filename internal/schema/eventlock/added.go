package eventlock

import (
	"slices"

	"github.com/foldql/foldql/internal/schema"
)

// A field that a type gets when a log may have events of it already is marked in the lock, if it is one that they all
// lack: rows that were folded of them are those that the new schema gives, so nothing is to be folded again. The mark
// stands for what the field was then. Where it becomes another, events that lack it may be read otherwise.

// markAdded marks the fields that were added to types of the schema, and notes those of them that are gone.
func (w *writer) markAdded() {
	var added []*schema.EventField
	for _, t := range slices.Concat(w.now.Events, w.now.Values) {
		t.Gone = nil
		for _, r := range w.removed(t) {
			if r.added {
				t.Gone = append(t.Gone, r.name)
			}
		}
		for _, f := range t.Fields {
			if f.Added = w.addedAs(t, f); f.Added != "" {
				added = append(added, f)
			}
		}
	}
	for _, f := range added {
		now := shapeOf(w.now, f)
		if f.Added == justNow {
			f.Added = now
		}
		f.AsAdded = f.Added == now && f.Joined == nil
	}
}

// markJoined marks the fields of types that were given names of others which the types had no more.
func (w *writer) markJoined() {
	for _, t := range slices.Concat(w.now.Events, w.now.Values) {
		for _, f := range t.Fields {
			f.Joined = w.joined(t, f)
		}
	}
}

// joined are the fields that are gone, and whose names a field has that was there without them.
func (w *writer) joined(t *schema.EventType, f *schema.EventField) (all []string) {
	names := append([]string{f.Name}, f.Was...)
	for _, was := range w.was[t] {
		for _, before := range was.Fields {
			if fieldNamed(t, before.Name) != f {
				continue
			}
			all = append(all, before.Joined...)
			own := append([]string{before.Name}, before.Was...)
			for _, r := range w.lock.removed[was.Name] {
				if slices.Contains(names, r.name) && !slices.Contains(own, r.name) {
					all = append(all, r.name)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// justNow marks a field that the lock does not have yet.
const justNow = "just now"

// addedAs is the mark of a field, "" for one that was there from the first, or that events may have had before.
func (w *writer) addedAs(t *schema.EventType, f *schema.EventField) string {
	var marks []string
	for _, was := range w.was[t] {
		for _, before := range was.Fields {
			if fieldNamed(t, before.Name) == f {
				marks = append(marks, before.Added)
			}
		}
	}
	switch marks = slices.Compact(marks); {
	case len(marks) == 1:
		return marks[0]
	case len(marks) == 0 && len(w.was[t]) > 0 && mayLack(f) && len(f.Was) == 0 && !w.wasRemoved(t, f):
		return justNow
	}
	return ""
}

func (w *writer) wasRemoved(t *schema.EventType, f *schema.EventField) bool {
	return slices.ContainsFunc(w.was[t], func(was *schema.EventType) bool {
		return slices.ContainsFunc(w.lock.removed[was.Name], func(r removedField) bool { return r.name == f.Name })
	})
}
