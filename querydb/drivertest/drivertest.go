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
	"slices"
	"testing"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
	"github.com/foldql/foldql/querydb/drivertest/internal/lifecycle"
	"github.com/foldql/foldql/querydb/drivertest/internal/multiwriter"
	"github.com/foldql/foldql/querydb/drivertest/internal/randomops"
	"github.com/foldql/foldql/querydb/drivertest/internal/reads"
	"github.com/foldql/foldql/querydb/drivertest/internal/sharedtable"
	"github.com/foldql/foldql/querydb/drivertest/internal/writes"
)

// Options say what is particular to a store; the zero Options are what every store should be.
type Options struct {
	// Bytes says that the store keeps keys of any bytes, and not only texts.
	Bytes bool
	// Known are the checks in which the engine deviates from what is promised, with the reason. Cases leave such a check
	// out, and print the reason; they make every other check.
	Known map[string]string
}

// PrefixesOfAnyText is the check that a condition that asks for a prefix finds just what begins with the very text.
const PrefixesOfAnyText = harness.PrefixesOfAnyText

// Run runs every case on stores that open makes. Each case has an empty store of its own, with the tables that it
// names, which Run closes.
func Run(t *testing.T, open func(t *testing.T, tables ...*driver.Table) driver.Driver, opts Options) {
	done := &report{}
	defer done.write(t)
	for _, c := range casesOf(t, open) {
		t.Run(c.Promise, func(t *testing.T) {
			t.Cleanup(func() { done.add(t, c.Promise) })
			tables := c.Tables
			if tables == nil {
				tables = []*driver.Table{fixture.Rows}
			}
			drv := open(t, tables...)
			t.Cleanup(func() { closeStore(t, drv) })
			c.Prove(&harness.Store{
				T: t, Driver: drv, Table: tables[0], Bytes: opts.Bytes, Known: opts.Known, LeftOut: done.leftOut,
			})
		})
	}
}

func closeStore(t *testing.T, drv driver.Driver) {
	if err := drv.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// casesOf are the cases of what such a driver promises.
func casesOf(t *testing.T, open func(t *testing.T, tables ...*driver.Table) driver.Driver) []harness.Case {
	drv := open(t)
	defer closeStore(t, drv)
	cases := slices.Concat(reads.Cases, writes.Cases, lifecycle.Cases, sharedtable.Cases, randomops.Cases)
	if harness.MultiWriter(drv) {
		cases = append(cases, multiwriter.Cases...)
	}
	return slices.DeleteFunc(cases, func(c harness.Case) bool { return c.Of != nil && !c.Of(drv) })
}
