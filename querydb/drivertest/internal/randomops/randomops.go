// Package randomops has the cases that apply random operations to a driver and to the reference, and compare the two.
package randomops

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
	"github.com/foldql/foldql/querydb/drivertest/internal/reference"
)

// Cases are those of this package.
var Cases = []harness.Case{
	{Promise: "random operations have the outcome that a simple model has", Prove: randomRows},
	{Promise: "random operations on models that share a table, in parts and under unique keys, have the outcome that a " +
		"simple model has", Prove: randomTenants, Tables: fixture.UniqueTenants.List()},
}

// trial is one sequence of operations. Rapid chooses them; it prints the seed where a run fails, and looks for a
// shorter one.
type trial struct {
	*rapid.T
	drv      driver.Driver
	ref      reference.Store
	own      string // what its partition keys begin with: each trial has partitions of its own
	deviates bool   // the engine deviates in harness.PrefixesOfAnyText
}

// eachTrial runs trials on the tables.
func eachTrial(s *harness.Store, tables []*driver.Table, run func(trial)) {
	number, deviates := 0, s.Deviates(harness.PrefixesOfAnyText)
	rapid.Check(s.T, func(t *rapid.T) {
		number++
		run(trial{T: t, drv: s.Driver, ref: reference.New(s.Driver, tables...), own: fmt.Sprintf("%d ", number),
			deviates: deviates})
	})
}

// partition draws a key of the trial's own.
func (t *trial) partition(what string) string { return t.own + few.Draw(t.T, what) }

var (
	someTexts = rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SampledFrom([]string{"\x00", "\x01", "\u00ff", "\U0010ffff", "/", "a", "b", "~"})
		return strings.Join(rapid.SliceOfN(parts, 1, 3).Draw(t, "parts"), "")
	})
	few = rapid.SampledFrom([]string{"a", "b", "a\x00", "\u00ff", "\x00\x01"})
)
