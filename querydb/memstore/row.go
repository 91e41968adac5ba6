package memstore

import (
	"slices"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// row is a row as it is stored.
type row struct {
	driver.Row
	// In a MultiWriter store: the last position applied of each partition, by writer. A deleted row keeps them, and has
	// no record.
	applied map[string][]driver.Position
}

func (r *row) deleted() bool { return r.Record == nil }

// seenBy is the row as a writer sees it.
func (r *row) seenBy(writer string) driver.Row {
	seen := r.Row
	seen.Applied = slices.Clone(r.applied[writer])
	return seen
}

// shown is the row as a query returns it: the whole row from the table itself, and from an index what its entry has.
func (r *row) shown(shape *driver.Table, q *driver.Query) driver.Row {
	if q.Index == driver.Primary {
		seen := r.seenBy(q.Writer)
		seen.Kind = shape.Kind
		return seen
	}
	part := driver.Row{Key: r.Key, Record: r.Record, Expires: r.Expires, Kind: r.Kind}
	if x := &shape.Indexes[q.Index]; x.Projected != nil {
		part.Record = record.Project(r.Record, x.Projected)
	}
	return part
}

// reached reports whether the writer has applied the position, or a later one, to the row.
func (r *row) reached(writer string, p driver.Position) bool {
	for _, applied := range r.applied[writer] {
		if applied.Partition == p.Partition {
			return !applied.Before(p)
		}
	}
	return false
}

// apply records that the writer has applied the position.
func (r *row) apply(writer string, p driver.Position) {
	if p == (driver.Position{}) {
		return
	}
	applied := r.applied[writer]
	for i := range applied {
		if applied[i].Partition == p.Partition {
			applied[i] = p
			return
		}
	}
	if r.applied == nil {
		r.applied = map[string][]driver.Position{}
	}
	r.applied[writer] = append(applied, p)
}
