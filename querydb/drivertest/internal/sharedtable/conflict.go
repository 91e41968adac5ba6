package sharedtable

import (
	"errors"
	"slices"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// kindConflict writes and deletes a session under the key of an invite.
func kindConflict(s *harness.Store) {
	invites, sessions := s.On(tenants.Invites), s.On(tenants.Sessions)
	invite := tenants.Invite("p", "a", "x", "x")
	invite.Position = fixture.At(1)
	invites.Put(invite)
	invite.Kind = "invite"
	for _, pos := range []driver.Position{{}, fixture.At(2)} {
		session := tenants.Session("p", "a", "x", "x")
		session.Position = pos
		put := driver.Write{Table: tenants.Sessions, Row: session}
		remove := driver.Write{Table: tenants.Sessions, Kind: driver.Delete, Row: driver.Row{Key: session.Key, Position: pos}}
		for what, w := range map[string]driver.Write{"put": put, "delete": remove} {
			for _, atomic := range []bool{false, true} {
				s.WantRefused(driver.Batch{Writes: []driver.Write{w}, Atomic: atomic}, driver.ErrConflict)
				if diff := harness.Difference([]driver.Row{invite}, invites.Get(invite.Key)); diff != "" {
					s.Errorf("after a %s of another kind: %s", what, diff)
				}
			}
		}
	}
	if got := sessions.Get(invite.Key); got[0].Record != nil {
		s.Errorf("there is a session under the key of an invite")
	}
	invites.Delete(invite.Key)
	sessions.Put(tenants.Session("p", "a", "x", "x"))
	if got := sessions.Get(invite.Key); got[0].Kind != "session" {
		s.Errorf("under the key of an invite that is gone there is a row of kind %q, want a session", got[0].Kind)
	}
}

// afterDeleted deletes an invite, or where there is none, and puts a session under its key.
func afterDeleted(s *harness.Store) {
	invites, sessions := s.On(tenants.Invites), s.On(tenants.Sessions)
	at := func(row driver.Row, offset uint64) driver.Row {
		row.Position = fixture.At(offset)
		return row
	}
	for i, was := range []bool{true, false} {
		for j, atomic := range []bool{true, false} {
			for k, read := range []string{"blind", "read", "read before the delete"} {
				sk := string(rune('a' + 6*i + 3*j + k))
				invite, session := tenants.Invite("p", sk, "x", "x"), at(tenants.Session("p", sk, "x", "x"), 3)
				if was {
					invites.Put(at(invite, 1))
				}
				s.Apply(driver.Batch{Writes: []driver.Write{{Table: tenants.Invites, Kind: driver.Delete,
					Row: at(driver.Row{Key: invite.Key}, 2)}}})
				before := sessions.Get(session.Key)[0]
				if before.Record != nil {
					s.Errorf("%s: there is a session where an invite was deleted", sk)
				}
				w := driver.Write{Table: tenants.Sessions, Row: session, IfRevision: read != "blind"}
				if read == "read" {
					w.Row.Revision = before.Revision
				}
				s.Apply(driver.Batch{Writes: []driver.Write{w}, Atomic: atomic, MultiRow: true})
				after := sessions.Get(session.Key)[0]
				if after.Record == nil || after.Kind != "session" || after.Position != session.Position {
					s.Errorf("%s: the session that takes the place of an invite is %v", sk, after)
				}
				if before.Revision > 0 && after.Revision != before.Revision+1 {
					s.Errorf("%s: the session is at revision %d, after %d", sk, after.Revision, before.Revision)
				}
				if got := invites.Get(invite.Key)[0]; got.Record != nil {
					s.Errorf("%s: the invite is there again", sk)
				}
			}
		}
	}
}

// kindConflictOfSeveral has an event of several rows, one of which is of another kind: none of them is written.
func kindConflictOfSeveral(s *harness.Store) {
	s.On(tenants.Sessions).Put(tenants.Session("p", "m", "x", "x"))
	b := driver.Batch{MultiRow: true}
	var ks []keys.Key
	for _, sk := range []string{"a", "b", "m", "y", "z"} {
		invite := tenants.Invite("p", sk, "x", "x")
		invite.Position = fixture.At(1)
		b.Writes, ks = append(b.Writes, fixture.Puts(tenants.Invites, invite)...), append(ks, invite.Key)
	}
	if err := s.Driver.Apply(s.Context(), b); !errors.Is(err, driver.ErrConflict) || errors.Is(err, driver.ErrPartial) {
		s.Errorf("apply: %v, want ErrConflict with nothing written", err)
	}
	for _, row := range s.On(tenants.Invites).Get(ks...) {
		if row.Record != nil || row.Revision > 0 {
			s.Errorf("the row %q was written", row.Key.SK)
		}
	}
	b.Writes = slices.Delete(b.Writes, 2, 3)
	s.Apply(b)
}
