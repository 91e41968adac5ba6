package aggregate

import (
	"errors"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// ErrTorn is of items that no commit has left so: the read fell between two items of a commit, or others have changed
// items. Of querydb it accompanies ErrUnavailable where every reading of an object fell so.
var ErrTorn = errors.New("the items are not those with which the root was written")

// TornError is the ErrTorn of an object of which every reading fell so.
type TornError struct {
	Root record.Record // see [Plan.Root], as it was last read; nil where it never was
}

// Error implements error.
func (e *TornError) Error() string { return ErrTorn.Error() }

// Unwrap makes it an ErrTorn.
func (e *TornError) Unwrap() error { return ErrTorn }

// Root is what the root's item alone says of the object: what is in other items is null. A commit writes an item whole
// or not at all, so it has been true, though the others are torn. It is nil where the items have no root.
func (p *Plan) Root(items []driver.Row) record.Record {
	for i := range items {
		if p.partOf(&items[i]) != p.root || items[i].Record == nil {
			continue
		}
		var b record.Builder
		b.Begin(len(p.root.Object))
		for f := range p.root.Object {
			text, _ := p.root.own(&items[i], f)
			b.JSON(text)
		}
		root, _, err := b.Finish()
		if err != nil {
			return nil
		}
		return root
	}
	return nil
}
