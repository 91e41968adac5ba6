package aggregate

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// IncompleteError is of items that make no whole object.
type IncompleteError struct {
	Reason string   // what is missing, or should not be there
	Key    keys.Key // of the object; zero where whoever reads it has not said
}

// Error implements error.
func (e *IncompleteError) Error() string {
	if e.Key == (keys.Key{}) {
		return fmt.Sprintf("the stored items make no whole object: %s", e.Reason)
	}
	return fmt.Sprintf("the stored items of %s make no whole object: %s", driver.PrintableKey(e.Key), e.Reason)
}

// Is makes it an error of a row that cannot be read.
func (e *IncompleteError) Is(target error) bool { return target == driver.ErrDamaged }

// Assemble makes the row that holds the whole object of the items of a partition, in the order of their keys. The row
// has what the root's item has beside the record, and the items themselves, the root first: they are in the memory of
// the items, which Assemble puts into that order where it succeeds. Where there is no object, its Record is nil. The
// error is ErrTorn or an IncompleteError.
func (p *Plan) Assemble(items []driver.Row) (driver.Row, error) { return p.assemble(items, false) }

// AssembleToRead is Assemble for a row that is read and never stored: the objects in it that have items are records.
func (p *Plan) AssembleToRead(items []driver.Row) (driver.Row, error) { return p.assemble(items, true) }

func (p *Plan) assemble(items []driver.Row, toRead bool) (driver.Row, error) {
	a := assemblers.Get().(*assembler)
	defer a.release()
	a.plan, a.toRead = p, toRead
	at, err := a.sort(items)
	if err != nil || at < 0 {
		return driver.Row{}, err
	}
	root := &items[at]
	if root.Record == nil {
		return *root, nil
	}
	torn := a.checkDigest(root, items)
	a.build.Begin(len(p.root.Object))
	a.object(p.root, root)
	switch wrong := a.wrong(len(items)); {
	case torn != nil && wrong != "":
		return driver.Row{}, fmt.Errorf("%w: %s", torn, wrong)
	case torn != nil:
		return driver.Row{}, torn
	case wrong != "":
		return driver.Row{}, &IncompleteError{Reason: wrong}
	}
	whole := *root
	if whole.Record, _, err = a.build.Finish(); err != nil {
		return driver.Row{}, &IncompleteError{Reason: err.Error()}
	}
	first := *root
	copy(items[1:], items[:at])
	items[0], whole.Items = first, items
	return whole, nil
}

// assembler makes the whole object of its items.
type assembler struct {
	plan    *Plan
	toRead  bool
	parts   []int         // of each item: the number of its part
	ends    []int         // of each part: where its items end in items
	items   []*driver.Row // those of the first part, then those of the next
	build   record.Builder
	text    []byte // that the digest is of
	missing []string
	used    int // items
	bytes   int // of the items
}

// assemblers are kept with the memory that the next object can use.
var assemblers = sync.Pool{New: func() any { return new(assembler) }}

// What one of them keeps at most.
const (
	maxKeptItems = 256
	maxKeptBytes = 64 << 10
)

func (a *assembler) release() {
	if len(a.items) > maxKeptItems || a.bytes > maxKeptBytes {
		return
	}
	clear(a.items)
	a.plan, a.parts, a.items, a.missing, a.used, a.bytes = nil, a.parts[:0], a.items[:0], nil, 0, 0
	assemblers.Put(a)
}

// wrong says what is missing, or should not be there, of so many items; "" for nothing.
func (a *assembler) wrong(items int) string {
	switch {
	case len(a.missing) > 0:
		return "it has no " + strings.Join(a.missing, ", no ")
	case a.used < items:
		return fmt.Sprintf("%d of its items are of parts that it does not have", items-a.used)
	}
	return ""
}

// sort finds the part of each item, and where the root is: -1 where there is no item. A root without a record is the
// only item.
func (a *assembler) sort(items []driver.Row) (root int, err error) {
	a.ends = slices.Grow(a.ends[:0], len(a.plan.parts))[:len(a.plan.parts)]
	clear(a.ends)
	root = -1
	for i := range items {
		part := a.plan.partOf(&items[i])
		if part == nil {
			return 0, &IncompleteError{
				Reason: fmt.Sprintf("the item %q of type %s is no part of it", items[i].Key.SK, items[i].Kind)}
		}
		if part == a.plan.root {
			root = i
		}
		a.parts = append(a.parts, part.number)
		a.ends[part.number]++
		a.bytes += len(items[i].Record)
	}
	switch {
	case len(items) == 0, root == 0 && len(items) == 1 && items[0].Record == nil:
		return root, nil
	case root < 0 || items[root].Record == nil:
		return 0, &IncompleteError{Reason: "it has no root, an item of type " + a.plan.root.Kind}
	}
	a.place(items)
	return root, nil
}

// place puts the items of each part together, in the order in which they come.
func (a *assembler) place(items []driver.Row) {
	a.items = slices.Grow(a.items[:0], len(items))[:len(items)]
	at := 0
	for part, n := range a.ends {
		a.ends[part] = at
		at += n
	}
	for i, part := range a.parts {
		a.items[a.ends[part]] = &items[i]
		a.ends[part]++
	}
	for _, p := range a.plan.parts {
		if p.orderBy >= 0 {
			p.order(a.of(p))
		}
	}
}

// of are the items of a part.
func (a *assembler) of(p *part) []*driver.Row {
	from := 0
	if p.number > 0 {
		from = a.ends[p.number-1]
	}
	return a.items[from:a.ends[p.number]]
}

// partOf finds the part that an item is of, by its kind and its sort key; nil for none.
func (p *Plan) partOf(item *driver.Row) *part {
	for _, part := range p.parts {
		if part.Kind != item.Kind {
			continue
		}
		sk, head := item.Key.SK, part.SK.Head
		if len(part.SKFields) == 0 && sk == head || len(part.SKFields) > 0 && len(sk) > len(head) &&
			strings.HasPrefix(sk, head) && strings.HasPrefix(sk[len(head):], part.SK.Sep) {
			return part
		}
	}
	return nil
}

// object appends the fields of the object of a part, of which item is the one that holds its own.
func (a *assembler) object(p *part, item *driver.Row) {
	a.used++
	for f := range p.sources {
		s := &p.sources[f]
		if text, own := p.own(item, f); own {
			a.own(p, f, text)
		} else if s.child != nil {
			a.child(s.child)
		} else {
			a.ids(s.ids)
		}
	}
}

// own appends a field that the item itself holds.
func (a *assembler) own(p *part, f int, text []byte) {
	if text == nil && !p.Object[f].Nullable {
		name := p.Object[f].Name
		if p.Name != "" {
			name += " of " + p.Name
		}
		a.missing = append(a.missing, name)
	}
	a.build.JSON(text)
}

// child appends an object, or a list of objects.
func (a *assembler) child(c *child) {
	items := a.of(c.part)
	if c.Many {
		a.build.BeginList()
		for _, item := range items {
			a.nested(c.part, item)
		}
		a.build.EndList()
		return
	}
	switch {
	case len(items) > 0:
		a.nested(c.part, items[0])
	case c.Optional:
		a.build.Null()
	default:
		a.missing = append(a.missing, fmt.Sprintf("%s, an item of type %s", c.Name, c.Kind))
		a.build.Null()
	}
}

func (a *assembler) nested(p *part, item *driver.Row) {
	if a.toRead {
		a.build.BeginRecord(len(p.Object))
	} else {
		a.build.BeginObject()
	}
	a.object(p, item)
	a.build.EndObject()
}

// ids appends the identifiers that are in the items of a child; nil is for a field that nothing holds.
func (a *assembler) ids(c *child) {
	if c == nil {
		a.build.Null()
		return
	}
	items := a.of(c.part)
	if !c.Many {
		var text []byte
		if len(items) > 0 {
			text, _ = c.part.own(items[0], c.Identifier)
		}
		a.build.JSON(text)
		return
	}
	a.build.BeginList()
	for _, item := range items {
		text, _ := c.part.own(item, c.Identifier)
		a.build.JSON(text)
	}
	a.build.EndList()
}
