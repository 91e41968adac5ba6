package aggregate

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/querydb/driver"
)

// Limits bound an object, because it is written and deleted in one commit.
type Limits struct {
	Items int // the root among them
	Bytes int // of the items, with their keys
}

// Within are the limits where others hold too.
func (l Limits) Within(o Limits) Limits { return Limits{min(l.Items, o.Items), min(l.Bytes, o.Bytes)} }

// Size is how many items there are, and bytes of them with their keys.
type Size struct{ Items, Bytes int }

func (s *Size) add(item *driver.Row) {
	s.Items++
	s.Bytes += len(item.Record) + len(item.Key.PK) + len(item.Key.SK)
	for _, x := range item.Indexes {
		s.Bytes += len(x.PK) + len(x.SK)
	}
}

// SizeOfChanges is the size of what is written to turn one object into another: the root, which always is, and the
// items of Changes.
func SizeOfChanges(former, now []driver.Row) Size {
	root := driver.Row{}
	if len(now) > 0 {
		root = now[0]
	}
	var s Size
	s.add(&root)
	Changes(former, now, func(item *driver.Row, kind driver.WriteKind) {
		if kind == driver.Delete {
			item = &driver.Row{Key: item.Key}
		}
		s.add(item)
	})
	return s
}

// OverflowError is of an object that has more items or bytes than one commit may write, or of a change that writes
// more.
type OverflowError struct {
	Aggregate    string `json:"aggregate"`
	SubAggregate string `json:"subAggregate,omitempty"` // the part with most of the items
	Items        int    `json:"items"`
	Limit        int    `json:"limit"`
	bytes, most  int    // where these are too many
}

// Error implements error.
func (e *OverflowError) Error() string {
	if e.most > 0 {
		return fmt.Sprintf("%s has %d items of %d bytes, and an aggregate may have %d: it is written in one commit",
			e.Aggregate, e.Items, e.bytes, e.most)
	}
	of := ""
	if e.SubAggregate != "" {
		of = ", most of them of " + e.SubAggregate
	}
	return fmt.Sprintf("%s has, or the event changes, %d items%s, and %d may be: they are written in one commit; "+
		"keep fewer elements in it, or raise the limit where the store has room (--max-aggregate)",
		e.Aggregate, e.Items, of, e.Limit)
}

// Is makes it an error of what is too large.
func (e *OverflowError) Is(target error) bool { return target == driver.ErrTooLarge }

// CheckSize returns an OverflowError where an object, or what is written to turn the former one into it, is beyond the
// limits.
//
// What copies hold does not count, and the item of one that is yet to be filled in does: so it makes no difference how
// old copies are, and there is room for those that come.
func (p *Plan) CheckSize(name string, former, now []driver.Row, most Limits) error {
	whole := Size{}
	for i := range now {
		whole.add(&now[i])
	}
	n, bytes := 0, max(whole.Bytes, SizeOfChanges(former, now).Bytes)
	if len(former)+len(now)+2*len(p.parts) > most.Items {
		n = p.count(former, now)
	}
	switch {
	case n > most.Items:
		return &OverflowError{Aggregate: name, SubAggregate: p.largest(now), Items: n, Limit: most.Items}
	case bytes > most.Bytes:
		return &OverflowError{Aggregate: name, SubAggregate: p.largest(now), Items: max(n, whole.Items),
			Limit: most.Items, bytes: bytes, most: most.Bytes}
	}
	return nil
}

// count is how many items an object has, or how many differ from those of the former one, if these are more. The root
// always differs.
func (p *Plan) count(former, now []driver.Row) int {
	was, is := p.contents(former), p.contents(now)
	changed := 1
	for key, text := range is {
		if before, there := was[key]; key != p.root.SK.Head && (!there || before != text) {
			changed++
		}
	}
	for key := range was {
		if _, there := is[key]; key != p.root.SK.Head && !there {
			changed++
		}
	}
	return max(len(is), changed)
}

// contents is what each item of an object says beside what it copies, by their sort keys: also the items of copies that
// are yet to be filled in.
func (p *Plan) contents(items []driver.Row) map[string]string {
	texts, of := make(map[string]string, len(items)), make([]*driver.Row, len(p.parts))
	for i := range items {
		if part := p.partOf(&items[i]); part != nil {
			of[part.number] = &items[i]
		}
	}
	root := of[p.root.number]
	if root == nil {
		return texts
	}
	for i := range items {
		if part := p.partOf(&items[i]); part != nil {
			texts[items[i].Key.SK] = p.content(root, part, func(f int) []byte { text, _ := part.own(&items[i], f); return text })
		}
	}
	for _, part := range p.parts {
		for i := range part.children {
			c := &part.children[i]
			if of[part.number] == nil || !c.isCopy() || c.Many || of[c.part.number] != nil {
				continue
			}
			if id, _ := part.own(of[part.number], c.ID); id != nil {
				texts[c.SK.Head] = p.content(root, c.part, func(int) []byte { return id })
			}
		}
	}
	return texts
}

// content is what an item of a part says, whose own fields are those.
func (p *Plan) content(root *driver.Row, part *part, own func(field int) []byte) string {
	var text []byte
	for _, f := range part.says {
		text = append(append(text, own(f)...), 0)
	}
	for _, c := range part.Context {
		of, _ := p.root.own(root, c.Of)
		text = append(append(text, of...), 0)
	}
	return string(text)
}

// largest names the part of the root that has most of the items.
func (p *Plan) largest(items []driver.Row) (name string) {
	count, most := map[string]int{}, 0
	for i := range items {
		if part := p.partOf(&items[i]); part != nil && part != p.root {
			of, _, _ := strings.Cut(part.Name, ".")
			if count[of]++; count[of] > most {
				name, most = of, count[of]
			}
		}
	}
	return name
}
