package projection

import "github.com/foldql/foldql/projection/internal/fold"

// RowOp is an Op that changes one row, of which other rows may hold copies. Its methods say how these follow this
// change alone: they return the Op to return in its place.
type RowOp = fold.RowOp

// Cascade says how copies follow one change of their row: which, and when.
//
// Those can follow whose reference keeps on record who holds copies: one with a cascade of any kind, ON_REQUEST for
// copies that follow no change but those for which an op asks, or with missing: NULL.
type Cascade = fold.Cascade

// CascadeMode is when copies follow a change.
type CascadeMode = fold.CascadeMode

// The modes of a Cascade.
const (
	Eventual      = fold.Eventual      // after the commit of the change
	Transactional = fold.Transactional // in the commit of the change
)
