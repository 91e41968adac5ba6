package eventlock

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/sdl"
	"github.com/vektah/gqlparser/v2/ast"
)

// Where an event is raised to another version, the lock keeps what it was in the former one, with copies of all that is
// inside of it, under names of their own: so it stays what it is, whatever becomes of the rest.

// former is what the data of an event were in one version.
type former struct {
	version int
	sum     string // as the file has it
	*schema.EventType
}

// readFormer takes a type that is a former version of an event out of the events.
func (l *Lock) readFormer(def *ast.Definition, t *schema.EventType) {
	d := def.Directives.ForName("former")
	if d == nil {
		return
	}
	l.Events = slices.DeleteFunc(l.Events, func(o *schema.EventType) bool { return o == t })
	of, _ := sdl.Text(d, "of")
	text, _ := sdl.Text(d, "version")
	version, _ := strconv.Atoi(text) // one that is none is missed where it is looked for
	sum, _ := sdl.Text(d, "sum")
	l.former[of] = append(l.former[of], former{version, sum, t})
}

// formerOf finds what an event of the lock was in a version.
func (l *Lock) formerOf(was *schema.EventType, version int) (former, bool) {
	all := l.former[was.Name]
	i := slices.IndexFunc(all, func(f former) bool { return f.version == version })
	if i < 0 {
		return former{}, false
	}
	return all[i], true
}

// formersOf are what an event of the schema was in the versions before, and the enums in them: those that the lock
// remembers, and what it is in the lock where it is raised by now.
func (l *Lock) formersOf(was, now *schema.EventType) (types []*schema.EventType, enums []*schema.Enum) {
	for version := 1; version < now.Version; version++ {
		c := copier{of: l.Model, to: now.VersionName(version), types: map[*schema.EventType]*schema.EventType{}}
		from := was
		if f, known := l.formerOf(was, version); known {
			from, c.from = f.EventType, f.Name
		}
		types = append(types, c.copy(from, c.to))
		enums = append(enums, c.enums...)
	}
	return types, enums
}

// copier copies a type of a model, and all that is inside of it, under other names.
type copier struct {
	of       *schema.Model
	from, to string // what names begin with
	types    map[*schema.EventType]*schema.EventType
	enums    []*schema.Enum
}

func (c *copier) named(name string) string { return c.to + strings.TrimPrefix(name, c.from) }

func (c *copier) copy(t *schema.EventType, name string) *schema.EventType {
	if copied := c.types[t]; copied != nil {
		return copied
	}
	copied := &schema.EventType{Name: name, Pos: t.Pos}
	c.types[t] = copied
	for _, f := range t.Fields {
		field := *f
		field.Added, field.AsAdded, field.Joined, field.Tag, field.PartitionTag = "", false, nil, false, false
		if f.Object != nil {
			field.Object = c.copy(f.Object, c.named(f.Object.Name))
		}
		if f.Enum != "" {
			field.Enum = c.enum(f.Enum)
		}
		copied.Fields = append(copied.Fields, &field)
	}
	return copied
}

func (c *copier) enum(name string) string {
	to := c.named(name)
	if !slices.ContainsFunc(c.enums, func(e *schema.Enum) bool { return e.Name == to }) {
		c.enums = append(c.enums, &schema.Enum{Name: to, Values: enumValues(c.of, name)})
	}
	return to
}

// formerText writes what is inside of a former version, for the file, but for its head: so its hash is the version's.
func formerText(t *schema.EventType, enums []*schema.Enum) (fields, inside string) {
	var b strings.Builder
	for _, part := range t.Inside() {
		if part != t {
			fmt.Fprintf(&b, "\ntype %s {\n%s}\n", part.Name, fieldsText(part))
		}
	}
	var named []string
	for _, part := range append([]*schema.EventType{t}, t.Inside()...) {
		for _, f := range part.Fields {
			if f.Enum != "" && !slices.Contains(named, f.Enum) {
				named = append(named, f.Enum)
			}
		}
	}
	for _, name := range named {
		fmt.Fprintf(&b, "\n%s", enumText(enumNamed(enums, name)))
	}
	return fieldsText(t), b.String()
}

func sumOf(fields, inside string) string {
	sum := sha256.Sum256([]byte(fields + inside))
	return hex.EncodeToString(sum[:6])
}

// formers writes the former versions of an event.
func (w *writer) formers(t *schema.EventType) {
	for i, f := range t.Former {
		fields, inside := formerText(f, w.now.FormerEnums)
		fmt.Fprintf(&w.text, "\ntype %s @former(of: %q, version: %d, sum: %q) {\n%s}\n%s", f.Name, t.Name, i+1,
			sumOf(fields, inside), fields, inside)
	}
}
