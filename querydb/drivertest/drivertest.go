// Package drivertest proves that a driver keeps what package driver promises. Every driver runs the same cases; it is
// imported from tests only.
package drivertest

import (
	"testing"

	"github.com/foldql/foldql/querydb/driver"
)

// Run runs every case on stores that open makes. Each case has an empty store of its own, which Run closes.
func Run(t *testing.T, open func(t *testing.T) driver.Driver) {
	for _, c := range cases {
		t.Run(c.promise, func(t *testing.T) {
			drv := open(t)
			t.Cleanup(func() {
				if err := drv.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.prove(&store{T: t, drv: drv, table: newTable("Rows", 0)})
		})
	}
}

var cases = []struct {
	promise string
	prove   func(*store)
}{
	{"get is aligned with its keys and rows come back whole", getAligned},
	{"rows sort by the bytes of the sort key in both directions", byteOrder},
	{"rows under one index key half sort by the bytes of the other", indexByteOrder},
	{"a range selects what it says and nothing of its neighbours", ranges},
	{"a partition holds its own rows only, whatever bytes are in its key", partitions},
	{"a row is in an index exactly if every half that the index has is present", membership},
	{"halves of an index key are kept while their partner is absent", halvesKept},
	{"an index shows the fields that it projects", projections},
	{"a table without sort key has one row for each partition key", unsorted},
	{"pages join to the whole in both directions for every limit", pagesJoin},
	{"ties are stable over pages", ties},
	{"a page after a row that is gone begins where it was", startOfGoneRow},
	{"tokens stay right while rows are inserted and deleted", tokensUnderChange},
	{"a page examines at most one key more than its rows", examined},
	{"a batch applied twice changes nothing", appliedTwice},
	{"any suffix of the batches applied again changes nothing", suffixAgain},
	{"two writes of one row are refused and nothing is written", writtenTwice},
	{"rows and the last writes of a batch are there together", lastWrites},
	{"readers see whole batches while writers write", concurrent},
	{"the end of the context ends every call", cancelled},
	{"a closed store is unavailable", closed},
	{"generations do not meet, and a drop removes all of one", generations},
	{"a row is gone from the moment it expires", expiry},
	{"random operations have the outcome that a simple model has", random},
}
