package randomops

import (
	"errors"
	"time"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

var tenants = fixture.UniqueTenants

// The parts of sessions that two writers have.
var sessionParts = map[string]*driver.Part{
	"left": {
		Fields: []int{fixture.SessionTime, fixture.SessionCity, fixture.SessionNote, fixture.SessionClass},
		PK:     []int{fixture.First, fixture.Second}, SK: []int{fixture.First},
	},
	"right": {Fields: []int{fixture.SessionRank}, SK: []int{fixture.Second}, Expires: true},
}

// randomTenants has accounts and invites, written whole, and sessions, written in parts. The keys of the first index
// are unique.
func randomTenants(s *harness.Store) {
	conflicts := 0
	eachTrial(s, tenants.List(), func(t trial) {
		rows := tenantTrial{t}
		for range rapid.IntRange(1, 8).Draw(t.T, "steps") {
			if !rows.write() {
				conflicts++
			}
			rows.read()
		}
	})
	if conflicts == 0 {
		s.Errorf("no batch would have made two rows of one key: the case proves less than it says")
	}
}

type tenantTrial struct{ trial }

// write applies a random batch, and reports whether it took effect.
func (t *tenantTrial) write() bool {
	b := driver.Batch{Atomic: true, Writer: rapid.SampledFrom([]string{"left", "right"}).Draw(t.T, "writer")}
	seen := map[keys.Key]bool{}
	for range rapid.IntRange(0, 6).Draw(t.T, "writes") {
		w := t.change(b.Writer)
		if seen[w.Row.Key] {
			continue
		}
		seen[w.Row.Key] = true
		if rapid.IntRange(0, 3).Draw(t.T, "delete") == 0 {
			w.Kind, w.Row = driver.Delete, driver.Row{Key: w.Row.Key, Position: w.Row.Position}
		}
		b.Writes = append(b.Writes, w)
	}
	err := t.drv.Apply(t.Context(), b)
	done := t.ref.Apply(&b)
	if err != nil && !errors.Is(err, driver.ErrConflict) || (err == nil) != done {
		t.Fatalf("apply: %v, want a conflict: %t", err, !done)
	}
	if again := rapid.Bool().Draw(t.T, "again"); again && done {
		if err := t.drv.Apply(t.Context(), b); err != nil {
			t.Fatalf("apply again: %v", err)
		}
	}
	return done
}

// change is the write of one of a few rows.
func (t *tenantTrial) change(writer string) driver.Write {
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t.T, what) }
	pk, sk := t.partition("pk"), pick("sk", "1", "2", "\x00")
	one, two := "", ""
	if rapid.IntRange(0, 3).Draw(t.T, "in first") > 0 {
		one = t.own + pick("first", "a", "b", "a\x00")
	}
	if rapid.Bool().Draw(t.T, "in second") {
		two = t.partition("second")
	}
	var w driver.Write
	switch pick("kind", "account", "invite", "session") {
	case "account":
		w.Table, w.Row = tenants.Accounts, tenants.Account(pk, "account "+sk, two)
	case "invite":
		w.Table, w.Row = tenants.Invites, tenants.Invite(pk, "invite "+sk, one, two)
		w.Row = fixture.WithSortHalf(w.Row, fixture.First, pick("constant", "invite", "invite\x00"))
	default:
		w.Table, w.Part = tenants.Sessions, sessionParts[writer]
		w.Row = fixture.Fields{
			fixture.SessionOwner: pk, fixture.SessionName: "session " + sk, fixture.SessionCity: one,
			fixture.SessionClass: two, fixture.SessionNote: pick("note", "", "a", "b"),
			fixture.SessionTime: pick("time", "", "1", "2"), fixture.SessionRank: pick("rank", "", "invite", "session", "~"),
		}.Row(w.Table)
	}
	if !w.Table.NoExpiry && rapid.Bool().Draw(t.T, "expires") {
		w.Row.Expires = fixture.Epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "until")))
	}
	w.Row.Position = fixture.At(rapid.Uint64Range(1, 20).Draw(t.T, "offset"))
	return w
}

// read compares random reads at a random time.
func (t *tenantTrial) read() {
	now := fixture.Epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "now")))
	writer := rapid.SampledFrom([]string{"left", "right", ""}).Draw(t.T, "reader")
	for _, table := range tenants.List() {
		t.ref.CompareGet(t, t.drv, driver.Get{Table: table, Now: now, Writer: writer})
	}
	for range 4 {
		members := rapid.Permutation(tenants.List()).Draw(t.T, "members")
		members = members[:rapid.IntRange(1, 3).Draw(t.T, "of them")]
		q := driver.Query{
			Table: members[0], Index: rapid.IntRange(driver.Primary, fixture.Second).Draw(t.T, "index"),
			PK: t.partition("partition"), Reverse: rapid.Bool().Draw(t.T, "reverse"),
			Limit: rapid.IntRange(1, 5).Draw(t.T, "limit"), Now: now, Writer: writer,
		}
		if len(members) > 1 || rapid.Bool().Draw(t.T, "members named") {
			q.Members = members
		}
		q.Range = rapid.SampledFrom([]keys.Range{
			{}, {Op: keys.RangeAtLeast, Lo: "invite"}, {Op: keys.RangeAtMost, Lo: "session 1"},
			{Op: keys.RangeBetween, Lo: "invite", Hi: "session 2"}, {Op: keys.RangePrefix, Lo: "invite"},
		}).Draw(t.T, "range")
		if q.Range.Op == keys.RangePrefix && t.deviates {
			q.Range.Op = keys.RangeAtLeast
		}
		t.ref.ComparePages(t, t.drv, q)
	}
}
