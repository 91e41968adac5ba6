package write

import (
	"fmt"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
	"github.com/foldql/foldql/querydb/dynamostore/internal/layout"
)

// conditionFailed says what follows from the failed condition of a change, by the item that it found, which is nil
// where there was none: nothing, because the change was applied before; another change instead, because it was made for
// an item in another state; or an error. again says that an earlier attempt may have been carried out.
//
// Without a kind and without parts only one thing can have failed, and the item need not be known.
func (c *change) conditionFailed(old item.Item, again bool) (instead *change, err error) {
	switch {
	case c.claim != nil:
		return nil, c.claim.conditionFailed(c)
	case c.shape.Other(old):
		kind, _ := item.StringOf(old[c.shape.Kind])
		return nil, strange(kind, c.shape.Table.Kind)
	case c.read && again && c.ours(old):
		return nil, nil
	case c.read && !(c.asks() && c.current(old)):
		return nil, fmt.Errorf("%w: it is not at revision %d any more", c.stale(), c.revision)
	case !c.read && (!c.asks() || c.reached(old)):
		return nil, nil
	case c.part == nil || c.state == stateOf(old, c.writer):
		return nil, fmt.Errorf("%w: it changes too often", c.stale())
	}
	return c.inState(stateOf(old, c.writer))
}

// asks reports whether the item tells why the condition failed.
func (c *change) asks() bool { return c.claim == nil && (c.part != nil || c.shape.Kind != "") }

// stale is the error of a change that was made of a row as it no longer is.
func (c *change) stale() error {
	if c.reread {
		return errMoved
	}
	return driver.ErrStale
}

// current reports whether the item is at the revision that was read.
func (c *change) current(old item.Item) bool {
	revision, err := item.CountOf(old[layout.AttrRev])
	return err == nil && revision == c.revision
}

// reached reports whether the item has come to the position of the change.
func (c *change) reached(old item.Item) bool {
	digits, there := item.NumberOf(old[layout.AttrPos+c.slot])
	if !there || c.slot == "" {
		return false
	}
	is, err := item.ParsePosition(digits, "")
	at, wrong := item.ParsePosition(c.position, "")
	return err == nil && wrong == nil && !is.Before(at)
}

func strange(is, written string) error {
	return fmt.Errorf("%w: the row is of kind %q, and is written as one of kind %q", driver.ErrConflict, is, written)
}

// ours reports whether the item that a read change found was written by the change itself, or by another process that
// made the same change of the same row. old is nil where there was no item.
func (c *change) ours(old item.Item) bool {
	if c.update == "" {
		return old == nil
	}
	if c.slot == "" {
		return false // nothing distinguishes it from the change of another; whoever sent it reads again
	}
	revision, err := item.CountOf(old[layout.AttrRev])
	by, _ := item.StringOf(old[layout.AttrBy])
	position, _ := item.NumberOf(old[layout.AttrPos+c.slot])
	overGone := c.revision == 0 && c.shape.Kind != "" // its revision goes on where that of a row of another kind ended
	return err == nil && (revision == c.revision+1 || overGone) && by == c.slot && samePosition(position, c.position)
}

// samePosition compares positions as numbers: DynamoDB leaves out zeros at the end of a fraction.
func samePosition(a, b string) bool {
	p, err := item.ParsePosition(a, "")
	o, wrong := item.ParsePosition(b, "")
	return err == nil && wrong == nil && p == o
}
