// Package drivertest tests that a driver keeps what package driver promises. Every driver runs the same cases:
//
//	func TestDriver(t *testing.T) {
//		drivertest.Run(t, func(t *testing.T, tables ...*driver.Table) driver.Driver {
//			return mystore.Open(t.TempDir(), tables)
//		}, drivertest.Options{})
//	}
//
// [Options.Known] names the checks in which an engine deviates from the contract, each with its reason: they are left
// out, and the test prints them. Cases of a promise that only some drivers make, such as [driver.MultiWriter], run
// where the driver makes it. Tests alone import this package.
package drivertest

import (
	"testing"

	"github.com/foldql/foldql/querydb/driver"
)

// Options say what is particular to a store; the zero Options are what every store should be.
type Options struct {
	// Bytes says that the store keeps keys of any bytes, and not only texts.
	Bytes bool
	// Known are the checks in which the engine deviates from what is promised, with the reason. A case that meets one
	// leaves that check out, and prints the reason; every other check is made.
	Known map[string]string
}

// PrefixesOfAnyText is the check that a condition that asks for a prefix finds just what begins with the very text.
const PrefixesOfAnyText = "prefixes of any text"

// Run runs every case on stores that open makes. Each case has an empty store of its own, with the tables that it
// names, which Run closes.
func Run(t *testing.T, open func(t *testing.T, tables ...*driver.Table) driver.Driver, opts Options) {
	done := &report{}
	defer done.write(t)
	for _, c := range casesOf(t, open) {
		t.Run(c.promise, func(t *testing.T) {
			t.Cleanup(func() { done.add(t, c.promise) })
			tables := c.tables
			if tables == nil {
				tables = []*driver.Table{rowsTable}
			}
			drv := open(t, tables...)
			t.Cleanup(func() { closeStore(t, drv) })
			c.prove(&store{T: t, drv: drv, table: tables[0], opts: opts, done: done})
		})
	}
}

func closeStore(t *testing.T, drv driver.Driver) {
	if err := drv.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// casesOf are the cases of what such a driver promises.
func casesOf(t *testing.T, open func(t *testing.T, tables ...*driver.Table) driver.Driver) (list []proof) {
	drv := open(t)
	defer closeStore(t, drv)
	for _, c := range cases {
		if c.of == nil || c.of(drv) {
			list = append(list, c)
		}
	}
	return list
}

// proof is what is promised, how it is proved, and what it takes.
type proof struct {
	promise string
	prove   func(*store)
	tables  []*driver.Table          // rowsTable where none is named
	of      func(driver.Driver) bool // the drivers that promise it; nil for all
}

func shared(drv driver.Driver) bool { _, is := drv.(driver.MultiWriter); return is }

func alone(drv driver.Driver) bool { return !shared(drv) }

var cases = []proof{
	{promise: "get is aligned with its keys and rows come back whole", prove: getAligned},
	{promise: "rows sort by the bytes of the sort key in both directions", prove: byteOrder},
	{promise: "rows under one index key half sort by the bytes of the other", prove: indexByteOrder},
	{promise: "a range selects what it says and nothing of its neighbours", prove: ranges},
	{promise: "a partition holds its own rows only, whatever its key is", prove: partitions},
	{promise: "a row is in an index exactly if every half that the index has is present", prove: membership},
	{promise: "halves of an index key are kept while their partner is absent", prove: halvesKept},
	{promise: "a half is kept that its field does not tell", prove: halvesApart},
	{promise: "an index shows the fields that it projects", prove: projections},
	{promise: "fields of every kind come back byte for byte", prove: fieldKinds, tables: []*driver.Table{kindsTable}},
	{promise: "keys made of numbers sort as the numbers do", prove: numberKeys, tables: []*driver.Table{kindsTable}},
	{promise: "names of fields are of no account", prove: fieldNames, tables: []*driver.Table{namesTable}},
	{promise: "rows of hundreds of fields come back whole", prove: wideRows, tables: []*driver.Table{wideTable}},
	{promise: "rows of hundreds of kilobytes come back whole, in full pages", prove: bigRows},
	{promise: "a row that is too large is refused by name before anything is written", prove: tooLarge},
	{promise: "keys are kept that are as long as can be", prove: longKeys},
	{promise: "a table without sort key has one row for each partition key", prove: unsorted,
		tables: []*driver.Table{unsortedTable}},
	{promise: "pages join to the whole in both directions for every limit", prove: pagesJoin},
	{promise: "ties are stable over pages", prove: ties},
	{promise: "a page after a row that is gone begins where it was", prove: startOfGoneRow},
	{promise: "tokens stay right while rows are inserted and deleted", prove: tokensUnderChange},
	{promise: "a page examines at most one key more than its rows", prove: examined},
	{promise: "a batch applied twice changes nothing", prove: appliedTwice},
	{promise: "any suffix of the batches applied again changes nothing", prove: suffixAgain},
	{promise: "two writes of one row are refused and nothing is written", prove: writtenTwice},
	{promise: "rows and the last writes of a batch are there together", prove: lastWrites,
		tables: []*driver.Table{rowsTable, notesTable}},
	{promise: "readers see whole batches while writers write", prove: concurrent, of: alone},
	{promise: "readers see whole rows while writers write", prove: concurrent, of: shared},
	{promise: "the end of the context ends every call", prove: cancelled},
	{promise: "reads end with the budget of their context", prove: budgets},
	{promise: "a closed store is unavailable", prove: closed},
	{promise: "generations do not meet, and a drop removes all of one", prove: generations,
		tables: []*driver.Table{rowsTable, rowsAnew, otherTable}},
	{promise: "a row is gone from the moment it expires", prove: expiry},
	{promise: "a sweep removes what expired before, and nothing else", prove: swept, of: sweeper},
	{promise: "a sweep leaves other tables alone", prove: sweptApart, of: sweeper, tables: []*driver.Table{rowsTable,
		rowsAnew, otherTable, unsortedTable}},
	{promise: "a row that is renewed during a sweep stays", prove: sweptMeanwhile, of: sweeper},
	{promise: "a store lists the tables that it has", prove: listed, of: lister, tables: []*driver.Table{rowsTable,
		rowsAnew, otherTable}},
	{promise: "a write that was overtaken takes no effect", prove: overtaken, of: shared},
	{promise: "a write of a row that has changed since it was read is stale, and nothing of Last is written",
		prove: stale, of: shared, tables: []*driver.Table{rowsTable, notesTable}},
	{promise: "deleted rows are remembered, also where there was none", prove: deletedRows, of: shared},
	{promise: "pages among deleted rows are full", prove: amongDeleted, of: shared},
	{promise: "a row's revision rises by one with every write", prove: revisions, of: shared},
	{promise: "positions of several partitions and writers are kept apart", prove: separatePositions, of: shared},
	{promise: "a delete without position leaves nothing behind", prove: withoutTrace, of: shared},
	{promise: "steps stand between two events, in order", prove: steps, of: shared},
	{promise: "after its deadline nothing of a batch is written", prove: deadlines, of: shared,
		tables: []*driver.Table{rowsTable, notesTable}},
	{promise: "an atomic batch is written whole or not at all", prove: atomicBatch, of: shared,
		tables: []*driver.Table{rowsTable, notesTable}},
	{promise: "an atomic batch that is too large is refused before anything is written", prove: mostAtomic, of: shared,
		tables: []*driver.Table{rowsTable, notesTable}},
	{promise: "last writes are compared with what was read, and written together or not at all", prove: lastCompared,
		of: shared},
	{promise: "of writers that have read the same row one wins", prove: oneWins, of: shared},
	{promise: "writers that apply the same batches at once leave what one would", prove: oneOutcome, of: shared},
	{promise: "of models that share a table each has its own rows, and collections have those of several",
		prove: kindsApart, tables: mixed.list()},
	{promise: "a row of one kind is not written over one of another", prove: kindConflict, tables: mixed.list()},
	{promise: "of an event of several rows none is written where one is of another kind", prove: kindConflictOfSeveral,
		tables: mixed.list()},
	{promise: "half of an index key may be made of no field", prove: constantHalves, tables: mixed.list()},
	{promise: "a sweep removes rows of its own kind", prove: sweptByKind, of: sweeper, tables: mixed.list()},
	{promise: "a part of a row makes it where there is none, and changes of it what it names", prove: partsOfRows},
	{promise: "parts join in a row that is in no index and never expires", prove: partsAlone,
		tables: []*driver.Table{notesTable}},
	{promise: "a row of which several write parts at once is what each wrote last", prove: partsInterleaved},
	{promise: "no two rows have the same key in a unique index, and a batch that would make it so is refused whole",
		prove: uniqueKeys, tables: []*driver.Table{uniqueTable}},
	{promise: "a row that has expired by the time of a write keeps no key of a unique index from it",
		prove: uniqueExpired, tables: []*driver.Table{uniqueTable}},
	{promise: "a key of a unique index is free when its row leaves it", prove: uniqueFreed,
		tables: []*driver.Table{uniqueTable}},
	{promise: "a batch that takes keys of a unique index, applied again, changes nothing", prove: uniqueAgain,
		tables: []*driver.Table{uniqueTable}},
	{promise: "keys of a unique index are each kind's own, and each generation's", prove: uniqueApart,
		tables: append(named.list(), anew.list()...)},
	{promise: "a part of a row takes a key of a unique index, and leaves it", prove: uniqueParts,
		tables: []*driver.Table{uniqueTable}},
	{promise: "who completes a key of a unique index that another row has is refused", prove: uniqueHalves, of: alone,
		tables: []*driver.Table{uniqueTable}},
	{promise: "of writers that claim the same key of a unique index one has it", prove: oneHolder,
		tables: []*driver.Table{uniqueTable}},
	{promise: "a partition is deleted whole, but for what the batch writes", prove: partitionDeleted, of: alone,
		tables: []*driver.Table{uniqueTable}},
	{promise: "a partition is deleted of one kind", prove: partitionOfKind, of: alone, tables: mixed.list()},
	{promise: "random operations have the outcome that a simple model has", prove: random},
	{promise: "random operations on models that share a table, in parts and under unique keys, have the outcome that a " +
		"simple model has", prove: randomHerd, tables: named.list()},
}
