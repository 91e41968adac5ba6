// Package position names places in a log, and checks that a log still holds what is on record about them.
package position

import "github.com/foldql/foldql/querydb"

// Cursor is how far a projection has come in one partition.
type Cursor struct {
	Offset uint64 `json:"offset"`
	// Replayed is how far it has come with the dead letters that are retried after the event at Offset and before the
	// next: behind the Seq of the last, or the count of those that are on record nowhere.
	Replayed int `json:"step,omitempty"`
}

// Before reports whether the cursor comes before another.
func (c Cursor) Before(o Cursor) bool {
	return c.Offset < o.Offset || c.Offset == o.Offset && c.Replayed < o.Replayed
}

// Next is the cursor of a dead letter whose retry takes effect where the projection stands.
func (c Cursor) Next() Cursor { return Cursor{Offset: c.Offset, Replayed: c.Replayed + 1} }

// Position is where the event stands that has brought the projection to the cursor, in the words of a row: see SlotOf.
func (c Cursor) Position(slot string) querydb.Position {
	return querydb.Position{Partition: slot, Offset: c.Offset, Step: uint32(c.Replayed)}
}

// SlotOf is the name under which rows remember positions of a partition. Those of another incarnation of it are no
// positions of this one.
func SlotOf(partition, incarnation string) string {
	if incarnation == "" {
		return partition
	}
	return partition + "~" + incarnation
}
