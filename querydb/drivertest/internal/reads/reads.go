// Package reads has the cases of what a driver answers: rows as they were put, in order, in full pages, under every key
// that they have.
package reads

import (
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// Cases are those of this package.
var Cases = []harness.Case{
	{Promise: "get is aligned with its keys and rows come back whole", Prove: getAligned},
	{Promise: "rows sort by the bytes of the sort key in both directions", Prove: byteOrder},
	{Promise: "rows under one index key half sort by the bytes of the other", Prove: indexByteOrder},
	{Promise: "a range selects what it says and nothing of its neighbours", Prove: ranges},
	{Promise: "a partition holds its own rows only, whatever its key is", Prove: partitions},
	{Promise: "a table without sort key has one row for each partition key", Prove: unsorted,
		Tables: []*driver.Table{fixture.Unsorted}},
	{Promise: "a row is in an index exactly if every half that the index has is present", Prove: membership},
	{Promise: "halves of an index key are kept while their partner is absent", Prove: halvesKept},
	{Promise: "a half is kept that differs from its field", Prove: halvesApart},
	{Promise: "an index shows the fields that it projects", Prove: projections},
	{Promise: "fields of every scalar come back byte for byte", Prove: everyScalar,
		Tables: []*driver.Table{scalarsTable}},
	{Promise: "keys made of numbers sort as the numbers do", Prove: numberKeys, Tables: []*driver.Table{scalarsTable}},
	{Promise: "fields may have any names", Prove: fieldNames, Tables: []*driver.Table{namesTable}},
	{Promise: "rows of hundreds of fields come back whole", Prove: wideRows, Tables: []*driver.Table{wideTable}},
	{Promise: "rows of hundreds of kilobytes come back whole, in full pages", Prove: bigRows},
	{Promise: "a row that is too large is refused by name before anything is written", Prove: tooLarge},
	{Promise: "keys are kept that are as long as can be", Prove: longKeys},
	{Promise: "pages join to the whole in both directions for every limit", Prove: pagesJoin},
	{Promise: "ties are stable over pages", Prove: ties},
	{Promise: "a page after a row that is gone begins where it was", Prove: startOfGoneRow},
	{Promise: "tokens stay right while rows are inserted and deleted", Prove: tokensUnderChange},
	{Promise: "a page examines at most one key more than its rows", Prove: examined},
	{Promise: "reads end with the budget of their context", Prove: budgets},
}
