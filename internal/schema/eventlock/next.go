package eventlock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// Next gives the events of a schema what they were in former versions, marks what was added to types, and writes the
// lock of the schema, which events of this one satisfy.
func (l *Lock) Next(now *schema.Model) string {
	w := &writer{lock: l, now: now, was: map[*schema.EventType][]*schema.EventType{}}
	for _, was := range l.Events {
		if t := typeNamed(now.Events, was.Name); t != nil && t.Version == was.Version {
			w.succeeds(was, t)
		}
	}
	now.FormerEnums = nil
	for _, t := range now.Events {
		if was := l.eventBefore(now, t); was != nil {
			var enums []*schema.Enum
			t.Former, enums = l.formersOf(was, t)
			now.FormerEnums = append(now.FormerEnums, enums...)
		}
	}
	w.markJoined()
	w.markAdded()
	w.text.WriteString(header)
	for _, t := range now.Events {
		w.event(t)
	}
	for _, t := range now.Values {
		w.event(t)
	}
	for _, t := range now.Retired {
		fmt.Fprintf(&w.text, "\ntype %s @retired%s\n", t.Name, formerNames(t.Was))
	}
	for _, e := range now.EventEnums {
		fmt.Fprintf(&w.text, "\n%s", enumText(e))
	}
	for _, t := range now.Events {
		w.formers(t)
	}
	return w.text.String()
}

const header = `# What the events of a log may hold: foldql generate keeps this file, and refuses a change of events.graphqls that such
# events could not satisfy. Commit it.
`

// writer writes a lock.
type writer struct {
	lock *Lock
	now  *schema.Model
	was  map[*schema.EventType][]*schema.EventType // the types of the lock whose data a type takes
	text strings.Builder
}

// succeeds records that one type takes the data of another, and so on inside of them.
func (w *writer) succeeds(was, now *schema.EventType) {
	if slices.Contains(w.was[now], was) {
		return
	}
	w.was[now] = append(w.was[now], was)
	for _, before := range was.Fields {
		if f := fieldNamed(now, before.Name); f != nil && f.Object != nil && before.Object != nil {
			w.succeeds(before.Object, f.Object)
		}
	}
}

func (w *writer) event(t *schema.EventType) {
	fmt.Fprintf(&w.text, "\ntype %s%s", t.Name, formerNames(t.Was))
	if t.Version > 1 {
		fmt.Fprintf(&w.text, " @version(n: %d)", t.Version)
	}
	if slices.Contains(w.now.Events, t) && holderOf(w.now, t) != "" {
		w.text.WriteString(" @event")
	}
	for _, r := range w.removed(t) {
		fmt.Fprintf(&w.text, "\n    %s", r.text())
	}
	fmt.Fprintf(&w.text, " {\n%s}\n", fieldsText(t))
}

// fieldsText writes the fields of a type, a line for each.
func fieldsText(t *schema.EventType) string {
	var b strings.Builder
	for _, f := range t.Fields {
		fmt.Fprintf(&b, "  %s: %s%s", f.Name, typeText(f), formerNames(f.Was))
		if f.Default != "" {
			fmt.Fprintf(&b, " @default(value: %s)", literalOf(f, []byte(f.Default)))
		}
		if f.Added != "" {
			fmt.Fprintf(&b, " @added(as: %q)", f.Added)
		}
		for _, name := range f.Joined {
			fmt.Fprintf(&b, " @joined(field: %q)", name)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func enumText(e *schema.Enum) string {
	return fmt.Sprintf("enum %s {\n  %s\n}\n", e.Name, strings.Join(e.Values, "\n  "))
}

// removed are the fields that a type had and has not, each once.
func (w *writer) removed(t *schema.EventType) (all []removedField) {
	add := func(r removedField) {
		known := slices.ContainsFunc(all, func(o removedField) bool { return o.name == r.name })
		if !known && fieldNamed(t, r.name) == nil {
			all = append(all, r)
		}
	}
	for _, was := range w.was[t] {
		for _, r := range w.lock.removed[was.Name] {
			add(r)
		}
		for _, f := range was.Fields {
			for _, name := range append([]string{f.Name}, f.Was...) {
				add(w.lock.remember(f, name))
			}
		}
	}
	slices.SortFunc(all, func(a, b removedField) int { return strings.Compare(a.name, b.name) })
	return all
}

func formerNames(was []string) string {
	var b strings.Builder
	for _, name := range was {
		fmt.Fprintf(&b, " @was(name: %q)", name)
	}
	return b.String()
}
