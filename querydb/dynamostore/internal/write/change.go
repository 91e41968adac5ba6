package write

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore/internal/item"
)

// Placeholders in expressions, beside those of columns.
const (
	namePos, valuePos    = "#pos", ":pos"
	nameBy, valueBy      = "#by", ":by"
	nameRev, valueRead   = "#rev", ":read"
	valueOne             = ":one"
	nameKind, valueKind  = "#kind", ":kind"
	nameOwn              = "#own"
	nameDeleted          = "#deleted"
	nameWriters, valueMe = "#writers", ":me"
)

// change is the request that a write becomes: an UpdateItem, or a DeleteItem where no update is given.
//
// An update names every attribute that a row can have, and sets or removes it; so it replaces the row, and leaves the
// positions of other slots, which it does not know. It takes effect if the condition holds:
//
//	blind, with a position   the slot has no position, or a lower one
//	read                     the revision is the one that was read
//	neither                  always
//
// Where models share a table, the item must also be of no other kind, or deleted.
//
// Sent again after its answer was lost, a change finds its own traces. A blind one fails its condition, and was
// applied. One of neither kind is applied again, to the same effect. One that was read fails its condition too, which
// looks like the work of another writer; so it asks for the item that it found, and knows its own by revision, slot and
// position together: see ours.
type change struct {
	table     string
	row       string // the row's key, for messages
	key       item.Item
	update    string // "" deletes the item, or only checks it
	check     bool   // nothing is written
	condition string // "" for none
	names     map[string]string
	values    item.Item
	size      int // bytes of the item, without positions of other slots

	read     bool
	revision uint64 // that was read
	slot     string // "" without a position
	position string

	shape  *item.Codec
	write  *driver.Write
	writer string
	now    time.Time // of the write
	part   *driver.Part
	state  state // that the change of a part is made for
	reread bool  // the row was read here, and can be again
	claim  *claim
}

// changeOf makes the request of a write by the writer. It fails with ErrInvalid or ErrTooLarge, naming the row, where
// DynamoDB would refuse it.
func changeOf(s *item.Codec, w *driver.Write, writer string, now time.Time) (*change, error) {
	c, err := makeChange(s, w, writer, now)
	if err == nil {
		err = c.fits()
	}
	if err != nil {
		return nil, fmt.Errorf("dynamostore: table %s, row %s: %w", s.Layout.Table, driver.PrintableKey(w.Row.Key), err)
	}
	return c, nil
}

// fits refuses an item that is too large. A part of one has as much room as each of the others, whatever is there: how
// large the item becomes is known before a request is sent.
func (c *change) fits() error {
	if c.part == nil || c.part.WriterCount < 2 {
		if c.size > item.MostRow {
			return fmt.Errorf("%w: the item has %d bytes, and may have %d", driver.ErrTooLarge, c.size, item.MostRow)
		}
		return nil
	}
	if share := item.MostRow / c.part.WriterCount; c.size > share {
		return fmt.Errorf("%w: what %s writes of the item has %d bytes, and may have %d: %d projections write "+
			"it, each up to "+
			"its share of %d",
			driver.ErrTooLarge, c.writer, c.size, share, c.part.WriterCount, item.MostRow)
	}
	return nil
}

func makeChange(s *item.Codec, w *driver.Write, writer string, now time.Time) (*change, error) {
	c, err := begin(s, w, writer, now)
	if err != nil || c.check {
		return c, err
	}
	if w.Part != nil {
		return c, c.partly()
	}
	if w.Kind == driver.Delete && c.slot == "" {
		return c, nil
	}
	vals := s.Tombstone(now)
	if w.Kind == driver.Put {
		if vals, err = s.Encode(&w.Row, now); err != nil {
			return nil, err
		}
	}
	c.setUpdate(vals, nil)
	return c, nil
}

// begin makes a change with its condition, that does nothing yet.
func begin(s *item.Codec, w *driver.Write, writer string, now time.Time) (*change, error) {
	if err := s.CheckKey(w.Row.Key); err != nil {
		return nil, err
	}
	c := &change{
		table: s.Layout.Table, row: driver.PrintableKey(w.Row.Key), key: s.Key(w.Row.Key), names: map[string]string{},
		values: item.Item{},
		read:   w.IfRevision, revision: w.Row.Revision, check: w.Kind == driver.CheckRevision,
		shape: s, write: w, writer: writer, now: now, part: w.Part,
	}
	if err := c.place(&w.Row.Position, writer); err != nil {
		return nil, err
	}
	c.require()
	return c, nil
}

// place notes where the write stands.
func (c *change) place(p *driver.Position, writer string) error {
	switch {
	case *p == driver.Position{}:
		return nil
	case p.Step > item.MostSteps:
		return fmt.Errorf("%w: %d events are retried after the one at %d, and at most %d can be", driver.ErrInvalid, p.Step,
			p.Offset, item.MostSteps)
	case !utf8.ValidString(p.Partition) || !utf8.ValidString(writer):
		return fmt.Errorf("%w: the partition %q of writer %q is no UTF-8", driver.ErrInvalid, p.Partition, writer)
	}
	c.slot, c.position = item.SlotOf(writer, p.Partition), item.PositionText(*p)
	return nil
}
