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

// CheckSize returns an OverflowError where an object, or what is written of it, is beyond the limits.
func (s *Shape) CheckSize(name string, items []driver.Row, changes Size, most Limits) error {
	whole := Size{}
	for i := range items {
		whole.add(&items[i])
	}
	n, bytes := max(whole.Items, changes.Items), max(whole.Bytes, changes.Bytes)
	switch {
	case n > most.Items:
		return &OverflowError{Aggregate: name, SubAggregate: s.largest(items), Items: n, Limit: most.Items}
	case bytes > most.Bytes:
		return &OverflowError{Aggregate: name, SubAggregate: s.largest(items), Items: n, Limit: most.Items,
			bytes: bytes, most: most.Bytes}
	}
	return nil
}

// largest names the part of the root that has most of the items.
func (s *Shape) largest(items []driver.Row) (name string) {
	plan, count, most := s.plan.Load(), map[string]int{}, 0
	if plan == nil {
		return ""
	}
	for i := range items {
		if part := plan.partOf(&items[i]); part != nil && part != plan.root {
			of, _, _ := strings.Cut(part.Name, ".")
			if count[of]++; count[of] > most {
				name, most = of, count[of]
			}
		}
	}
	return name
}
