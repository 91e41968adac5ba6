// Package lifecycle has the cases of what ends: rows that expire, generations that are dropped, calls whose context
// ends, stores that are closed.
package lifecycle

import (
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// Cases are those of this package.
var Cases = []harness.Case{
	{Promise: "the end of the context ends every call", Prove: cancelled},
	{Promise: "a closed store is unavailable", Prove: closed},
	{Promise: "generations are apart, and a drop removes all of one", Prove: generations,
		Tables: []*driver.Table{fixture.Rows, fixture.RowsNext, fixture.Other}},
	{Promise: "a store lists the tables that it has", Prove: listed, Of: harness.Lister,
		Tables: []*driver.Table{fixture.Rows, fixture.RowsNext, fixture.Other}},
	{Promise: "a scan finds every row of a table once, in pages of any size", Prove: scanned, Of: harness.Scanner,
		Tables: []*driver.Table{fixture.Rows, fixture.RowsNext, fixture.Other}},
	{Promise: "a row is gone from the moment it expires", Prove: expiry},
	{Promise: "a sweep removes what expired before, and nothing else", Prove: swept, Of: harness.Sweeper},
	{Promise: "a sweep leaves other tables alone", Prove: sweptApart, Of: harness.Sweeper,
		Tables: []*driver.Table{fixture.Rows, fixture.RowsNext, fixture.Other, fixture.Unsorted}},
	{Promise: "a row that is renewed during a sweep stays", Prove: sweptMeanwhile, Of: harness.Sweeper},
}
