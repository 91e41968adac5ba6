package record

import (
	"fmt"
	"slices"
)

// nestings are what a Builder has begun and not ended, the outermost first.
type nestings []nesting

// nesting is something that values stand in.
type nesting struct {
	kind kind
	// Of a record: where it begins in the buffer, and its texts; how many fields it is to have, and has by now.
	start, texts int
	wanted, has  int
}

type kind byte

const (
	list kind = iota
	object
	nested // an object that is a record
)

func (k kind) String() string {
	return [...]string{list: "list", object: "object", nested: "record"}[k]
}

// within reports whether the values that come are those of a list, of an object, or of an object that is a record.
func (n nestings) within(k kind) bool { return len(n) > 0 && n[len(n)-1].kind == k }

func (n nestings) contain(k kind) bool {
	return slices.ContainsFunc(n, func(n nesting) bool { return n.kind == k })
}

func (n nestings) last() *nesting { return &n[len(n)-1] }

// endField notes that a field of the record ends where the buffer does.
func (n *nesting) endField(buf []byte) {
	if n.has < n.wanted {
		Record(buf[n.start:]).setEnd(n.has, len(buf)-n.texts)
	}
	n.has++
}

// whole returns an error where the record has not got its fields.
func (n *nesting) whole() error {
	if n.has != n.wanted {
		return fmt.Errorf("%d fields were appended to a record of %d", n.has, n.wanted)
	}
	return nil
}
