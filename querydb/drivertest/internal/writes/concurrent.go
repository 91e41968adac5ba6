package writes

import (
	"fmt"
	"strings"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// concurrent has writers move their rows from one key of the index to the next, all in one batch, while readers look:
// whoever reads sees all rows of a writer under one key. On a MultiWriter store, which has no whole batches, every row
// is under one key.
func concurrent(s *harness.Store) {
	const writers, rows = 3, 6
	rounds := 60
	if harness.MultiWriter(s.Driver) {
		rounds = 20
	}
	for w := range writers {
		s.Put(moved(w, rows, 0)...)
	}
	done := make(chan struct{})
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for round := 1; round <= rounds; round++ {
				if err := s.Driver.Apply(s.Context(), s.Puts(moved(w, rows, round)...)); err != nil {
					s.Errorf("apply: %v", err)
					return
				}
			}
		})
	}
	for w := range writers {
		reading.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					lookAt(s, w, rows)
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	for w := range writers {
		page := s.Query(s.All(fixture.Sorted, indexPK(w, rounds)))
		if len(page.Rows) != rows {
			s.Errorf("writer %d has %d rows under its last key, want %d", w, len(page.Rows), rows)
		}
	}
}

// indexPK is the partition of the index that the rows of a writer are in after a round.
func indexPK(writer, round int) string { return fmt.Sprintf("w%d.%d", writer, round%2) }

// moved are the rows of a writer as a round leaves them.
func moved(writer, rows, round int) []driver.Row {
	out := make([]driver.Row, rows)
	for i := range out {
		sk := fmt.Sprint(i)
		f := fixture.Texts(fmt.Sprintf("w%d", writer), sk).In(fixture.Sorted, indexPK(writer, round), sk)
		f[fixture.Text], f[fixture.More] = fmt.Sprint(round), indexPK(writer, round)
		out[i] = f.Row(fixture.Rows)
	}
	return out
}

// lookAt reads the rows of a writer in three ways.
func lookAt(s *harness.Store, writer, rows int) {
	pk := fmt.Sprintf("w%d", writer)
	var ks []keys.Key
	for i := range rows {
		ks = append(ks, keys.Key{PK: pk, SK: fmt.Sprint(i)})
	}
	got, err := s.Driver.Get(s.Context(), driver.Get{Table: s.Table, Keys: ks, Consistent: true})
	if err != nil {
		s.Errorf("get: %v", err)
	}
	oneRound(s, "get", got, rows)
	page, err := s.Driver.Query(s.Context(), driver.Query{Table: s.Table, Index: driver.Primary, PK: pk, Limit: rows,
		Consistent: true})
	if err != nil {
		s.Errorf("query: %v", err)
	}
	oneRound(s, "query", page.Rows, rows)
	page, err = s.Driver.Query(s.Context(), driver.Query{Table: s.Table, Index: fixture.Sorted, PK: indexPK(writer, 0),
		Limit: rows, Consistent: true})
	if err != nil {
		s.Errorf("query by index: %v", err)
	}
	if n := len(page.Rows); n != 0 && n != rows && !harness.MultiWriter(s.Driver) {
		s.Errorf("query by index: %d rows, want all or none of %d", n, rows)
	}
}

// oneRound wants all rows as of one batch.
func oneRound(s *harness.Store, how string, got []driver.Row, rows int) {
	rounds := map[string]bool{}
	for _, r := range got {
		if r.Record == nil {
			s.Errorf("%s: the row %q is not there", how, r.Key)
			return
		}
		rounds[string(r.Record.JSON(fixture.Text))] = true
		if at := r.Indexes[fixture.Sorted].PK; !strings.Contains(string(r.Record.JSON(fixture.More)), at) {
			s.Errorf("%s: the row %q has the key of another round than its fields", how, r.Key)
		}
	}
	if len(got) != rows || len(rounds) != 1 && !harness.MultiWriter(s.Driver) {
		s.Errorf("%s: %d rows of %d batches, want %d of one", how, len(got), len(rounds), rows)
	}
}
