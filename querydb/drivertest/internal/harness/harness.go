// Package harness is what cases use: the driver under test with a table, and the comparison of its answers.
package harness

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
)

// Case is what a driver promises, how that is proved, and what it takes.
type Case struct {
	Promise string
	Prove   func(*Store)
	Tables  []*driver.Table          // fixture.Rows where none is named
	Of      func(driver.Driver) bool // the drivers that promise it; nil for all
}

// MultiWriter reports whether the driver is one of a store that several processes write to.
func MultiWriter(drv driver.Driver) bool { _, is := drv.(driver.MultiWriter); return is }

// SingleWriter reports whether the driver is one of a store that one process writes to.
func SingleWriter(drv driver.Driver) bool { return !MultiWriter(drv) }

// Sweeper reports whether the driver removes expired rows when it is asked to.
func Sweeper(drv driver.Driver) bool { _, is := drv.(driver.Sweeper); return is }

// Lister reports whether the driver lists its tables.
func Lister(drv driver.Driver) bool { _, is := drv.(driver.Lister); return is }

// Scanner reports whether the driver reads whole tables.
func Scanner(drv driver.Driver) bool { _, is := drv.(driver.Scanner); return is }

// PrefixesOfAnyText is the check that a condition that asks for a prefix finds just what begins with the very text.
const PrefixesOfAnyText = "prefixes of any text"

// PlainPrefix reports whether an engine that takes prefixes for patterns of SQL's LIKE still finds what begins with the
// text: there is nothing in it that comes in two cases, ends a text in C, or is no character.
func PlainPrefix(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r == 0 || r == 'a' || r == 'A' || r == '\uffff' })
}

// Store is the driver under test with the table that a case tries it on.
type Store struct {
	*testing.T
	Driver  driver.Driver
	Table   *driver.Table
	Bytes   bool                       // it keeps keys of any bytes, and not only texts
	Known   map[string]string          // the checks in which the engine deviates, with the reason
	LeftOut func(check, reason string) // notes a check that is left out
}

// On is the store with another table.
func (s *Store) On(table *driver.Table) *Store {
	other := *s
	other.Table = table
	return &other
}

// Deviates reports whether the engine is known to deviate in a check, and then prints why.
func (s *Store) Deviates(check string) bool {
	s.Helper()
	reason, known := s.Known[check]
	if known {
		s.Logf("not checked: %s: %s", check, reason)
		s.LeftOut(check, reason)
	}
	return known
}

// Puts is the batch that puts rows.
func (s *Store) Puts(rows ...driver.Row) driver.Batch {
	return driver.Batch{Writes: fixture.Puts(s.Table, rows...)}
}

// Put puts rows, in one batch.
func (s *Store) Put(rows ...driver.Row) { s.Helper(); s.Apply(s.Puts(rows...)) }

// Delete deletes rows, in one batch.
func (s *Store) Delete(ks ...keys.Key) {
	s.Helper()
	var b driver.Batch
	for _, k := range ks {
		b.Writes = append(b.Writes, driver.Write{Table: s.Table, Kind: driver.Delete, Row: driver.Row{Key: k}})
	}
	s.Apply(b)
}

// Write applies writes, in one batch.
func (s *Store) Write(writes ...driver.Write) {
	s.Helper()
	s.Apply(driver.Batch{Writes: writes})
}

// Apply applies a batch, and wants it to succeed.
func (s *Store) Apply(b driver.Batch) {
	s.Helper()
	if err := s.Driver.Apply(s.Context(), b); err != nil {
		s.Fatalf("apply: %v", err)
	}
}

// WantRefused applies a batch, and wants the error.
func (s *Store) WantRefused(b driver.Batch, want error) {
	s.Helper()
	if err := s.Driver.Apply(s.Context(), b); !errors.Is(err, want) {
		s.Errorf("apply: %v, want %v", err, want)
	}
}

// Sweep removes rows until no more are left, a few at a time, and returns how many there were.
func (s *Store) Sweep(before time.Time, most int) (removed int) {
	s.Helper()
	for {
		n, err := s.Driver.(driver.Sweeper).Sweep(s.Context(), s.Table, before, most)
		if err != nil {
			s.Fatalf("sweep: %v", err)
		}
		if n > most {
			s.Fatalf("%d rows were removed, and %d were the most", n, most)
		}
		if removed += n; n < most {
			return removed
		}
		if removed > MostRows {
			s.Fatalf("%d rows were removed, and no case has so many", removed)
		}
	}
}

// Get reads rows of the table.
func (s *Store) Get(ks ...keys.Key) []driver.Row {
	s.Helper()
	return Get(s, s.Driver, driver.Get{Table: s.Table, Keys: ks})
}

// All is a query of everything in a partition.
func (s *Store) All(index int, pk string) driver.Query {
	return driver.Query{Table: s.Table, Index: index, PK: pk, Limit: 1000}
}

// Query reads a page.
func (s *Store) Query(q driver.Query) driver.Page {
	s.Helper()
	return Query(s, s.Driver, q)
}

// WantSortKeys compares the sort keys of rows with those wanted.
func (s *Store) WantSortKeys(what string, rows []driver.Row, want ...string) {
	s.Helper()
	if got := SortKeys(rows); !slices.Equal(got, want) {
		s.Errorf("%s: %q, want %q", what, got, want)
	}
}

// OddTexts are those that a careless encoding of keys confuses, in byte order.
func (s *Store) OddTexts() []string {
	list := []string{
		"\x00", "\x00\x00", "\x00\x01", "\x00\u00ff", "\x01", "!", "#", "%00", "/", "A", "a", "a\x00", "a\x00\x00",
		"a\x00\x01", "a\x00b", "a\x01", "a!", "a#b", "a/", "aa", "a\u00ff", "a\U0010ffff", "b", "~current",
		"\u00e9", "\u4e16\u754c", "\ufffd", "\uffff", "\U0001f600", "\U0010ffff", "\U0010ffff\U0010ffff",
	}
	if s.Bytes {
		list = append(list, "\x00\xff", "a\x00\xff", "a\xff", "a\xff\xff", "\x80", "\xc3", "\xff", "\xff\xff\xff",
			"\xff\xff\xff\xff")
		slices.Sort(list)
	}
	return list
}
