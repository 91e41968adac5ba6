package multiwriter

import (
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// at is a position in the partition "p".
var at = fixture.At

// positioned is a write of the row "p" sk, in an index under its text, at a position.
func positioned(sk, text string, pos driver.Position) driver.Write {
	f := fixture.Texts("p", sk).In(fixture.Sorted, "x", sk)
	f[fixture.Text] = text
	row := f.Row(fixture.Rows)
	row.Position = pos
	return driver.Write{Table: fixture.Rows, Row: row}
}

func removed(sk string, pos driver.Position) driver.Write {
	return driver.Write{Table: fixture.Rows, Kind: driver.Delete, Row: driver.Row{Key: keys.Key{PK: "p", SK: sk},
		Position: pos}}
}

// asRead makes a write one of the row as it was at the revision.
func asRead(w driver.Write, revision uint64) driver.Write {
	w.IfRevision, w.Row.Revision = true, revision
	return w
}

// known is what a MultiWriter store is to know of a row: of the write that took effect last, with the revision.
func known(w driver.Write, revision uint64, applied ...driver.Position) driver.Row {
	row := w.Row
	row.Revision, row.Applied = revision, applied
	return row
}

// nothing is a row that there is none of.
func nothing(sk string) driver.Row { return driver.Row{Key: keys.Key{PK: "p", SK: sk}} }

// wantKnown wants the rows, with all that the store knows of them, from a get and from a query, and those of them that
// are there in an index.
func wantKnown(s *harness.Store, when string, want ...driver.Row) {
	s.Helper()
	var ks []keys.Key
	var there, remembered []driver.Row
	var names []string
	for _, row := range want {
		ks = append(ks, row.Key)
		if row.Record != nil {
			there, names = append(there, row), append(names, row.Key.SK)
		}
		if row.Record != nil || row.Revision > 0 {
			remembered = append(remembered, row)
		}
	}
	if diff := harness.WholeDifference(want, s.Get(ks...)); diff != "" {
		s.Errorf("%s: get: %s", when, diff)
	}
	for _, k := range ks { // stores read one row otherwise than many
		if diff := harness.WholeDifference(want[:1], s.Get(k)); diff != "" {
			s.Errorf("%s: get one: %s", when, diff)
		}
		want = want[1:]
	}
	q := s.All(driver.Primary, "p")
	if diff := harness.WholeDifference(there, s.Query(q).Rows); diff != "" {
		s.Errorf("%s: query: %s", when, diff)
	}
	q.WithDeleted = true
	if diff := harness.WholeDifference(remembered, s.Query(q).Rows); diff != "" {
		s.Errorf("%s: query of deleted rows too: %s", when, diff)
	}
	s.WantSortKeys(when+", in an index", s.Query(s.All(fixture.Sorted, "x")).Rows, names...)
}
