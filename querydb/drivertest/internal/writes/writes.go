// Package writes has the cases of what a batch does: whole or not at all, once however often it is applied, in parts,
// and under unique keys.
package writes

import (
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// Cases are those of this package.
var Cases = []harness.Case{
	{Promise: "a batch applied twice changes nothing", Prove: appliedTwice},
	{Promise: "any suffix of the batches applied again changes nothing", Prove: suffixAgain},
	{Promise: "two writes of one row are refused and nothing is written", Prove: writtenTwice},
	{Promise: "rows and the last writes of a batch are there together", Prove: lastWrites,
		Tables: []*driver.Table{fixture.Rows, fixture.Notes}},
	{Promise: "readers see whole batches while writers write", Prove: concurrent, Of: harness.SingleWriter},
	{Promise: "readers see whole rows while writers write", Prove: concurrent, Of: harness.MultiWriter},
	{Promise: "a part of a row makes it where there is none, and changes of it what it names", Prove: partsOfRows},
	{Promise: "a row that is written whole has the writers that it is given", Prove: wholeRowsOfParts},
	{Promise: "parts are added to a row that is in no index and never expires", Prove: partsAlone,
		Tables: []*driver.Table{fixture.Notes}},
	{Promise: "a row of which several write parts at once is what each wrote last", Prove: partsInterleaved},
	{Promise: "no two rows have the same key in a unique index, and a batch that would make it so is refused whole",
		Prove: uniqueKeys, Tables: unique},
	{Promise: "a row that has expired by the time of a write keeps no key of a unique index from it",
		Prove: uniqueExpired, Tables: unique},
	{Promise: "a key of a unique index is free when its row leaves it", Prove: uniqueFreed, Tables: unique},
	{Promise: "a batch that takes keys of a unique index, applied again, changes nothing", Prove: uniqueAgain,
		Tables: unique},
	{Promise: "keys of a unique index are each kind's own, and each generation's", Prove: uniqueApart,
		Tables: append(fixture.UniqueTenants.List(), fixture.UniqueTenantsNext.List()...)},
	{Promise: "a part of a row takes a key of a unique index, and leaves it", Prove: uniqueParts, Tables: unique},
	{Promise: "who completes a key of a unique index that another row has is refused", Prove: uniqueHalves,
		Of: harness.SingleWriter, Tables: unique},
	{Promise: "of writers that claim the same key of a unique index one has it", Prove: oneHolder, Tables: unique},
	{Promise: "a partition is deleted whole, but for what the batch writes", Prove: partitionDeleted,
		Of: harness.SingleWriter, Tables: unique},
}

var unique = []*driver.Table{uniqueTable}
