package code

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/keys"
)

// Version identifies what the stored rows of a model depend on: the layout of rows, keys and indexes, which events are
// folded into them and how those are read, and the version that the schema gives. Rows of another version are folded
// again, so names of queries, rules, descriptions and the order of an event's fields are no part of it.
//
// Entities of one table have one version, because they are rebuilt together.
func Version(m *schema.Model, r *schema.ReadModel) string { return hash(VersionText(m, r)) }

// VersionText is what Version is a hash of: a line for each thing that rows depend on.
func VersionText(m *schema.Model, r *schema.ReadModel) string {
	var b strings.Builder
	if r.Entity == nil {
		tellModel(&b, m, r)
	} else {
		tellTable(&b, m, r.Entity.Table)
	}
	return b.String()
}

// RowVersion is a hash of that part of it which does not concern indexes: rows that have the same hold the same, and
// their index keys follow from what they hold. It is "" where rows hang on more: on what several projections have
// written of them, or on rows of other models.
func RowVersion(m *schema.Model, r *schema.ReadModel) string {
	alone := r.Entity == nil && len(r.Writers) <= 1 && r.Aggregate == nil && r.Series == nil && len(r.Places()) == 0 &&
		!isCopied(m, r)
	if !alone {
		return ""
	}
	bare := *r
	bare.Indexes = nil
	var b strings.Builder
	tellModel(&b, m, &bare)
	return hash(b.String())
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// tellTable writes what the rows of all entities of a table depend on.
func tellTable(b *strings.Builder, m *schema.Model, t *schema.Table) {
	fmt.Fprintf(b, "table %q %q %q %q\n", t.Name, t.PK, t.SK, t.Discriminator)
	for _, p := range t.Indexes {
		fmt.Fprintf(b, "index %q %q %q\n", p.Name, p.PK, p.SK)
	}
	entities := slices.SortedFunc(slices.Values(t.Entities), func(a, b *schema.ReadModel) int {
		return cmp.Compare(a.Name, b.Name)
	})
	for _, r := range entities {
		fmt.Fprintf(b, "entity %q %q\n", r.Name, r.Entity.Type)
		tellModel(b, m, r)
	}
}

// tellModel writes what the rows of one model depend on.
func tellModel(b *strings.Builder, m *schema.Model, r *schema.ReadModel) {
	fmt.Fprintf(b, "form 1\nversion %d\nprojector %q %t %q %q %q\n", r.Version, r.Projector, r.StateView, r.Stream,
		firstNames(m, r.Events), r.Tags)
	if len(r.Writers) > 1 {
		for _, w := range r.Writers {
			fmt.Fprintf(b, "writer %q %t %q %q %q %v\n", w.Projector, w.StateView, w.Stream, firstNames(m, w.Events),
				w.Tags, ordinals(w.Writes))
		}
		if isCopied(m, r) { // then one projection folds what all of them write
			b.WriteString("copied\n")
		}
	}
	tellFields(b, r.Fields)
	for _, p := range r.Places() {
		ref := p.Reference
		if ref.Cascade == schema.CascadeOnRequest {
			fmt.Fprintf(b, "request %q\n", p.Path)
		}
		if ref.Cascade.Always() || ref.NullIfMissing {
			fmt.Fprintf(b, "reference %q cascade=%t null=%t\n", p.Path, ref.Cascade.Always(), ref.NullIfMissing)
		}
	}
	tellAggregate(b, r)
	fmt.Fprintf(b, "key %s %s\n", halfText(r.PK), halfText(r.SK))
	for _, x := range r.Indexes {
		fmt.Fprintf(b, "index %q %s %s %v\n", x.Name, halfText(x.PK), halfText(x.SK), projected(r, x))
		if r.Entity != nil {
			fmt.Fprintf(b, "policy %q unique=%t\n", x.Policy, x.Unique)
			if fillsPatches(r, x, x.PK) || fillsPatches(r, x, x.SK) {
				b.WriteString("filled\n") // so that keys are composed again which former programs have cut short
			}
		}
	}
	if s := r.Series; s != nil {
		fmt.Fprintf(b, "series %q %q %s\n", s.OrderBy.Name, schema.FieldNames(s.Append), s.Keep)
	}
	fmt.Fprintf(b, "times %d %d %d\n", ordinalOf(r.TTL), ordinalOf(r.CreatedAt), ordinalOf(r.UpdatedAt))
	tellEvents(b, m, r)
}

// fillsPatches reports whether a row may supply composites of a half that a patch of others leaves out: those that it
// is never without, and in a unique index all.
func fillsPatches(r *schema.ReadModel, x *schema.Index, h schema.Half) bool {
	given, filled := 0, false // by patches, and by the row
	for _, f := range h.Fields {
		inKey := slices.Contains(r.PK.Fields, f) || slices.Contains(r.SK.Fields, f)
		stamped := f == r.CreatedAt || f == r.UpdatedAt
		if !inKey && !stamped {
			given++
			filled = filled || x.Unique || !f.Nullable
		}
	}
	return filled && given > 1
}

// isCopied reports whether rows hold copies of the model's.
func isCopied(m *schema.Model, r *schema.ReadModel) bool {
	return slices.ContainsFunc(m.ReadModels, func(holder *schema.ReadModel) bool {
		return slices.ContainsFunc(holder.Places(), func(p schema.Place) bool { return p.Reference.Source == r })
	})
}

// tellAggregate writes how an aggregate is kept.
func tellAggregate(b *strings.Builder, r *schema.ReadModel) {
	if r.Aggregate == nil {
		return
	}
	if x := r.Aggregate.Local; x != nil {
		fmt.Fprintf(b, "local index %q %s\n", x.Name, halfText(x.SK))
	}
	for _, n := range r.Aggregate.Root.All() {
		fmt.Fprintf(b, "item %q %q %s by %v context %q\n", n.Name, n.Kind, halfText(n.SK), n.Discriminators,
			schema.FieldNames(n.Context))
		if n.Edge != nil && n.Edge.OrderBy != nil {
			fmt.Fprintf(b, "order %q\n", n.Edge.OrderBy.Name)
		}
	}
}

// tellFields writes the stored form of fields, and of the objects in them.
func tellFields(b *strings.Builder, fields []*schema.Field) {
	for _, f := range fields {
		if f.Object == nil {
			fmt.Fprintf(b, "field %q %s list=%t nullable=%t\n", f.Name, f.Scalar, f.List, f.Nullable)
			continue
		}
		fmt.Fprintf(b, "field %q object of %d list=%t nullable=%t\n", f.Name, len(f.Object.Fields), f.List, f.Nullable)
		if f.IsCopy() {
			fmt.Fprintf(b, "copy of %q\n", f.Object.CopyOf)
		}
		tellFields(b, f.Object.Fields)
	}
}

// tellEvents writes what the projections of a model read of its events, and which of their fields they may filter by.
func tellEvents(b *strings.Builder, m *schema.Model, r *schema.ReadModel) {
	input := eventText{Builder: b, enums: m.EventEnums, written: map[*schema.EventType]bool{}}
	for _, w := range r.Writers {
		input.tags = append(input.tags, w.Tags...)
	}
	for _, t := range m.Events {
		if slices.ContainsFunc(r.Writers, func(w *schema.Writer) bool { return slices.Contains(w.Events, t.Name) }) {
			input.tell(t)
		}
	}
	input.tellChanges()
}

// firstNames are the oldest names of events: to call one otherwise changes nothing in rows.
func firstNames(m *schema.Model, events []string) []string {
	names := make([]string, len(events))
	for i, name := range events {
		names[i] = m.EventNamed(name).FirstName()
	}
	return names
}

// halfText says how the keys of a half are made.
func halfText(h schema.Half) string {
	how := fmt.Sprintf("%s escape=%t", h.Casing(), h.Layout.Escape == keys.EscapePercent)
	names := make([]string, len(h.Fields))
	for i, f := range h.Fields {
		names[i] = f.Name
	}
	switch {
	case h.Template != "":
		return fmt.Sprintf("%q%q%q %s", "", h.Template, names, how)
	case h.Layout.Head != "":
		return fmt.Sprintf("%q%q%q %s", h.Layout.Head, "", names, how)
	case len(names) < 2:
		return fmt.Sprintf("%q", names)
	}
	return fmt.Sprintf("%q%q", names, h.Layout.Sep)
}

// eventText writes what a projection reads of its events, and which of their fields it may filter by.
type eventText struct {
	*strings.Builder
	enums   []*schema.Enum
	tags    []string // by which the model takes events; without any, tags mean nothing to it
	written map[*schema.EventType]bool
	added   []*schema.EventType // objects in fields that are as they were added
}

// tell writes an event, or an object inside of one, with all that is inside of it.
//
// A field that was added when the log had events of the type, none of which has it, is left out as long as it is what
// it was then: rows of before are those that the schema with the field gives. Where it is another, or gone again,
// events of the time in between are read otherwise.
func (e *eventText) tell(t *schema.EventType) {
	if e.written[t] {
		return
	}
	e.written[t] = true
	fields := slices.DeleteFunc(sortedFields(t), func(f *schema.EventField) bool {
		leftOut := f.AsAdded && !e.filtersBy(f)
		if leftOut && f.Object != nil {
			e.added = append(e.added, f.Object)
		}
		return leftOut
	})
	e.tellFields("event", t, fields)
}

// tellFields writes fields of a type, and the objects in them, after a line with the word and the type.
func (e *eventText) tellFields(word string, t *schema.EventType, fields []*schema.EventField) {
	fmt.Fprintf(e, "%s %q", word, t.FirstName())
	if t.Version > 1 { // then upcasters have a part in what is read of former ones
		fmt.Fprintf(e, " version=%d", t.Version)
	}
	e.WriteString("\n")
	for _, f := range fields {
		e.tellField(f)
	}
	for _, name := range t.Gone {
		fmt.Fprintf(e, "removed %q\n", name)
	}
	for _, f := range fields {
		if f.Object != nil {
			e.tell(f.Object)
		}
	}
}

func (e *eventText) tellField(f *schema.EventField) {
	word, tag := "field", len(e.tags) > 0 && (f.Tag || f.PartitionTag)
	if f.Added != "" {
		word = "added"
	}
	fmt.Fprintf(e, "%s %q %s list=%t nullable=%t,%t tag=%t\n", word, f.FirstName(), e.typeText(f), f.List, f.Nullable,
		f.ElemNullable, tag)
	if f.Default != "" {
		fmt.Fprintf(e, "default %q\n", f.Default)
	}
	for _, name := range f.Joined {
		fmt.Fprintf(e, "joined %q\n", name)
	}
}

// filtersBy reports whether one of the tags is a value of the field.
func (e *eventText) filtersBy(f *schema.EventField) bool {
	return slices.ContainsFunc(e.tags, func(tag string) bool { return strings.HasPrefix(tag, f.Name+":") })
}

// tellChanges writes, of objects in fields that were left out, the fields that were added to them in turn, and are not
// what they were then: all else in the objects is part of what the fields are.
func (e *eventText) tellChanges() {
	looked := map[*schema.EventType]bool{}
	for len(e.added) > 0 {
		t := e.added[0]
		if e.added = e.added[1:]; e.written[t] || looked[t] {
			continue
		}
		looked[t] = true
		var changed []*schema.EventField
		for _, f := range sortedFields(t) {
			switch {
			case f.Added != "" && !f.AsAdded, f.Joined != nil:
				changed = append(changed, f)
			case f.Object != nil:
				e.added = append(e.added, f.Object)
			}
		}
		if len(changed) > 0 || len(t.Gone) > 0 {
			e.tellFields("inside", t, changed)
		}
	}
}

func sortedFields(t *schema.EventType) []*schema.EventField {
	return slices.SortedFunc(slices.Values(t.Fields), func(a, b *schema.EventField) int {
		return cmp.Compare(a.FirstName(), b.FirstName())
	})
}

// typeText is the type of a field. An enum is its values: a decoder takes no others.
func (e *eventText) typeText(f *schema.EventField) string {
	switch {
	case f.Object != nil:
		return fmt.Sprintf("object %q", f.Object.Name)
	case f.Enum != "":
		at := slices.IndexFunc(e.enums, func(x *schema.Enum) bool { return x.Name == f.Enum })
		return fmt.Sprintf("enum %q", slices.Sorted(slices.Values(e.enums[at].Values)))
	}
	return f.Scalar
}
