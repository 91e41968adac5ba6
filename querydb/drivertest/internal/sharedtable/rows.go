package sharedtable

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
	"github.com/foldql/foldql/querydb/drivertest/internal/reference"
)

// kindsApart has rows of three kinds in turn, in the table and in its indexes.
func kindsApart(s *harness.Store) {
	ref := reference.New(s.Driver, tenants.List()...)
	var b driver.Batch
	const each = 7
	for i := range each {
		sk := func(last string) string { return fmt.Sprintf("%03d %s", i, last) }
		b.Writes = append(b.Writes, fixture.Puts(tenants.Invites, tenants.Invite("p", sk("a"), "x", "x"))...)
		b.Writes = append(b.Writes, fixture.Puts(tenants.Accounts, tenants.Account("p", sk("b"), "x"))...)
		if i < each-2 { // the last rows are of other kinds
			b.Writes = append(b.Writes, fixture.Puts(tenants.Sessions, tenants.Session("p", sk("c"), "x", "x"),
				tenants.Session("p", sk("d"), "", "x"))...)
		}
	}
	s.Apply(b)
	ref.Apply(&b)
	compareAll(s, ref)
	for _, t := range tenants.List() {
		page := s.Query(driver.Query{Table: t, Index: driver.Primary, PK: "p", Limit: harness.MostRows})
		if page.Examined != len(b.Writes) {
			s.Errorf("a query of each %s examines %d keys, and there are %d", t.Kind, page.Examined, len(b.Writes))
		}
	}
	b.Writes = nil
	for i := range each {
		row := tenants.Invite("p", fmt.Sprintf("%03d a", i), "y", "")
		w := driver.Write{Table: tenants.Invites, Row: row}
		if i%2 == 0 {
			w.Kind, w.Row = driver.Delete, driver.Row{Key: row.Key}
		}
		b.Writes = append(b.Writes, w)
	}
	s.Apply(b)
	ref.Apply(&b)
	compareAll(s, ref)
}

// compareAll compares answers about all that is in the partitions "p", "x" and "y", of each kind and of several.
func compareAll(s *harness.Store, ref reference.Store) {
	s.Helper()
	for _, t := range tenants.List() {
		ref.CompareGet(s, s.Driver, driver.Get{Table: t})
	}
	for _, members := range [][]*driver.Table{
		{tenants.Accounts}, {tenants.Invites}, {tenants.Sessions}, {tenants.Invites, tenants.Sessions},
		{tenants.Accounts, tenants.Sessions}, tenants.List(),
	} {
		for _, index := range []int{driver.Primary, fixture.First, fixture.Second} {
			for _, pk := range []string{"p", "x", "y"} {
				for _, limit := range harness.PageSizes {
					q := driver.Query{Table: members[0], Index: index, PK: pk, Limit: limit, Members: members}
					ref.ComparePages(s, s.Driver, q)
					if len(members) == 1 {
						q.Members = nil
						ref.ComparePages(s, s.Driver, q)
					}
					q.Reverse, q.Range = true, keys.Range{Op: keys.RangeBetween, Lo: "001 b", Hi: "invite 003"}
					ref.ComparePages(s, s.Driver, q)
				}
			}
		}
	}
}

// constantHalves has rows with and without the sort half that no field is part of.
func constantHalves(s *harness.Store) {
	invites := s.On(tenants.Invites)
	same := fixture.WithSortHalf(tenants.Invite("p", "1", "x", ""), fixture.First, "same")
	more := fixture.WithSortHalf(tenants.Invite("p", "2", "x", ""), fixture.First, "same/more")
	without := tenants.Invite("p", "3", "x", "")
	without.Indexes[fixture.First] = fixture.IndexKey("x", "")
	invites.Put(same, more, without)
	for want, r := range map[string]keys.Range{
		`["1" "2"]`: {}, `["1"]`: {Op: keys.RangeEqual, Lo: "same"}, `["2"]`: {Op: keys.RangeAtLeast, Lo: "same/"},
		`[]`: {Op: keys.RangeEqual, Lo: "sam"},
	} {
		q := invites.All(fixture.First, "x")
		q.Range = r
		page := s.Query(q)
		if got := fmt.Sprintf("%q", harness.SortKeys(page.Rows)); got != want {
			s.Errorf("range %d %q: %s, want %s", r.Op, r.Lo, got, want)
		}
		for i, start := range page.Starts {
			if sk := []string{"same", "same/more"}[page.Rows[i].Key.SK[0]-'1']; start.Index != (keys.Key{PK: "x", SK: sk}) {
				s.Errorf("row %q has the key %q in the index", page.Rows[i].Key.SK, start.Index)
			}
		}
	}
	without.Kind = "invite"
	if diff := harness.Difference([]driver.Row{without}, invites.Get(without.Key)); diff != "" {
		s.Errorf("the row without the half: %s", diff)
	}
}

// sweptByKind has rows of two kinds that expire, and sweeps one of them.
func sweptByKind(s *harness.Store) {
	invites, sessions := s.On(tenants.Invites), s.On(tenants.Sessions)
	invite, session := tenants.Invite("p", "a", "x", "x"), tenants.Session("p", "b", "x", "x")
	invite.Expires, session.Expires = fixture.Epoch.Add(2), fixture.Epoch
	invites.Put(invite)
	sessions.Put(session)
	all := driver.Query{Table: tenants.Invites, Index: fixture.Second, PK: "x", Limit: 9, Members: tenants.List()}
	if n := invites.Sweep(fixture.Epoch.Add(9), 1); n != 1 {
		s.Errorf("%d invites were removed, want 1", n)
	}
	s.WantSortKeys("after a sweep of invites", s.Query(all).Rows, "b")
	if n := sessions.Sweep(fixture.Epoch.Add(9), 1); n != 1 {
		s.Errorf("%d sessions were removed, want 1", n)
	}
	s.WantSortKeys("after a sweep of sessions", s.Query(all).Rows)
}

// partitionOfKind deletes the rows of one kind after the other: those of the others stay.
func partitionOfKind(s *harness.Store) {
	s.Write(slices.Concat(
		fixture.Puts(tenants.Invites, tenants.Invite("p", "a", "x", "x")),
		fixture.Puts(tenants.Sessions, tenants.Session("p", "b", "x", "x")),
		fixture.Puts(tenants.Accounts, tenants.Account("p", "c", "x")),
	)...)
	all := driver.Query{Table: tenants.Invites, Index: driver.Primary, PK: "p", Limit: 9, Members: tenants.List()}
	byClass := driver.Query{Table: tenants.Invites, Index: fixture.Second, PK: "x", Limit: 9, Members: tenants.List()}
	for _, gone := range []struct {
		table *driver.Table
		left  []string
	}{{tenants.Sessions, []string{"a", "c"}}, {tenants.Accounts, []string{"a"}}, {tenants.Invites, nil}} {
		s.Write(driver.Write{
			Table: gone.table, Kind: driver.DeletePartition, Row: driver.Row{Key: keys.Key{PK: "p"}},
		})
		s.WantSortKeys("without those of kind "+gone.table.Kind, s.Query(all).Rows, gone.left...)
		s.WantSortKeys("in the index, without those of kind "+gone.table.Kind, s.Query(byClass).Rows, gone.left...)
	}
}
