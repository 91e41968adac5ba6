// Package multiwriter has the cases of what a [driver.MultiWriter] promises: several processes write the same rows, and
// each write is compared with what the store has.
package multiwriter

import (
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// Cases are those of this package.
var Cases = []harness.Case{
	{Promise: "a write that was overtaken takes no effect", Prove: overtaken},
	{Promise: "a row's revision rises by one with every write", Prove: revisions},
	{Promise: "positions of several partitions and writers are kept apart", Prove: separatePositions},
	{Promise: "steps stand between two events, in order", Prove: steps},
	{Promise: "deleted rows are remembered, also where there was none", Prove: deletedRows},
	{Promise: "pages among deleted rows are full", Prove: amongDeleted},
	{Promise: "a delete without position leaves nothing behind", Prove: withoutTrace},
	{Promise: "a write of a row that has changed since it was read is stale, and nothing of Last is written",
		Prove: stale, Tables: withNotes},
	{Promise: "last writes are compared with what was read, and written together or not at all", Prove: lastCompared},
	{Promise: "a check of a row leaves it its unique keys", Prove: checkedUnique,
		Tables: []*driver.Table{uniqueRows, fixture.Notes}},
	{Promise: "after its deadline nothing of a batch is written", Prove: deadlines, Tables: withNotes},
	{Promise: "an atomic batch is written whole or not at all", Prove: atomicBatch, Tables: withNotes},
	{Promise: "an atomic batch that is too large is refused before anything is written", Prove: mostAtomic,
		Tables: withNotes},
	{Promise: "of writers that have read the same row one wins", Prove: oneWins},
	{Promise: "writers that apply the same batches at once leave what one would", Prove: oneOutcome},
}

// uniqueRows is a table with a unique index.
var uniqueRows = func() *driver.Table {
	t := fixture.NewTable("UniqueRows", 0)
	t.Indexes[fixture.Plain].Unique = true
	return t
}()

var withNotes = []*driver.Table{fixture.Rows, fixture.Notes}
