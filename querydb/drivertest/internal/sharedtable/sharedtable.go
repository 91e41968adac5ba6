// Package sharedtable has the cases of tables that several models share: rows of different kinds in one partition.
package sharedtable

import (
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// Cases are those of this package.
var Cases = []harness.Case{
	{Promise: "of models that share a table each has its own rows, and collections have those of several",
		Prove: kindsApart, Tables: tenants.List()},
	{Promise: "a row of one kind is not written over one of another", Prove: kindConflict, Tables: tenants.List()},
	{Promise: "a deleted row is in the way of none of another kind", Prove: afterDeleted, Tables: tenants.List()},
	{Promise: "of an event of several rows none is written where one is of another kind",
		Prove: kindConflictOfSeveral, Tables: tenants.List()},
	{Promise: "half of an index key may be made of no field", Prove: constantHalves, Tables: tenants.List()},
	{Promise: "a sweep removes rows of its own kind", Prove: sweptByKind, Of: harness.Sweeper, Tables: tenants.List()},
	{Promise: "a partition is deleted of one kind", Prove: partitionOfKind, Of: harness.SingleWriter,
		Tables: tenants.List()},
}

var tenants = fixture.Tenants
