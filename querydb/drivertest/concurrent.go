package drivertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// concurrent has writers move their rows from one key of the index to the next, all in one batch, while readers look:
// whoever reads sees all rows of a writer in one place. On a MultiWriter store, which has no whole batches, every row
// is in one place.
func concurrent(s *store) {
	const writers, rows = 3, 6
	rounds := 60
	if shared(s.drv) {
		rounds = 20
	}
	s.put(s.round(0, rows, writers)...)
	done := make(chan struct{})
	var writing, reading sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for round := 1; round <= rounds; round++ {
				if err := s.drv.Apply(s.Context(), s.puts(moved(w, rows, round)...)); err != nil {
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
					s.lookAt(w, rows)
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	for w := range writers {
		page := s.query(s.all(sorted, place(w, rounds)))
		if len(page.Rows) != rows {
			s.Errorf("writer %d has %d rows at its last place, want %d", w, len(page.Rows), rows)
		}
	}
}

func (s *store) round(round, rows, writers int) (all []driver.Row) {
	for w := range writers {
		all = append(all, moved(w, rows, round)...)
	}
	return all
}

func place(writer, round int) string { return fmt.Sprintf("w%d.%d", writer, round%2) }

func moved(writer, rows, round int) []driver.Row {
	out := make([]driver.Row, rows)
	for i := range out {
		sk := fmt.Sprint(i)
		f := texts(fmt.Sprintf("w%d", writer), sk).in(sorted, place(writer, round), sk)
		f[fieldText], f[fieldMore] = fmt.Sprint(round), place(writer, round)
		out[i] = f.row(rowsTable)
	}
	return out
}

// lookAt reads the rows of a writer in three ways.
func (s *store) lookAt(writer, rows int) {
	pk := fmt.Sprintf("w%d", writer)
	var ks []keys.Key
	for i := range rows {
		ks = append(ks, keys.Key{PK: pk, SK: fmt.Sprint(i)})
	}
	got, err := s.drv.Get(s.Context(), driver.Get{Table: s.table, Keys: ks, Consistent: true})
	if err != nil {
		s.Errorf("get: %v", err)
	}
	s.oneRound("get", got, rows)
	page, err := s.drv.Query(s.Context(), driver.Query{Table: s.table, Index: driver.Primary, PK: pk, Limit: rows,
		Consistent: true})
	if err != nil {
		s.Errorf("query: %v", err)
	}
	s.oneRound("query", page.Rows, rows)
	page, err = s.drv.Query(s.Context(), driver.Query{Table: s.table, Index: sorted, PK: place(writer, 0), Limit: rows,
		Consistent: true})
	if err != nil {
		s.Errorf("query by index: %v", err)
	}
	if n := len(page.Rows); n != 0 && n != rows && !shared(s.drv) {
		s.Errorf("query by index: %d rows, want all or none of %d", n, rows)
	}
}

// oneRound wants all rows as of one batch.
func (s *store) oneRound(how string, got []driver.Row, rows int) {
	rounds := map[string]bool{}
	for _, r := range got {
		if r.Record == nil {
			s.Errorf("%s: the row %q is not there", how, r.Key)
			return
		}
		rounds[string(r.Record.JSON(fieldText))] = true
		if at := r.Indexes[sorted].PK; !strings.Contains(string(r.Record.JSON(fieldMore)), at) {
			s.Errorf("%s: the row %q has the key of another round than its fields", how, r.Key)
		}
	}
	if len(got) != rows || len(rounds) != 1 && !shared(s.drv) {
		s.Errorf("%s: %d rows of %d batches, want %d of one", how, len(got), len(rounds), rows)
	}
}

func cancelled(s *store) {
	s.put(newRow("p", "a"))
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	_, getErr := s.drv.Get(ctx, driver.Get{Table: s.table, Keys: []keys.Key{{PK: "p", SK: "a"}}})
	_, queryErr := s.drv.Query(ctx, s.all(driver.Primary, "p"))
	applyErr := s.drv.Apply(ctx, s.puts(newRow("p", "b")))
	for what, err := range map[string]error{"get": getErr, "query": queryErr, "apply": applyErr} {
		if !errors.Is(err, context.Canceled) {
			s.Errorf("%s: %v, want the context's error", what, err)
		}
	}
	s.wantNames("afterwards", s.query(s.all(driver.Primary, "p")).Rows, "a")
}

func closed(s *store) {
	s.put(newRow("p", "a"))
	for range 2 {
		if err := s.drv.Close(); err != nil {
			s.Errorf("close: %v", err)
		}
	}
	_, getErr := s.drv.Get(s.Context(), driver.Get{Table: s.table, Keys: []keys.Key{{PK: "p", SK: "a"}}})
	_, queryErr := s.drv.Query(s.Context(), s.all(driver.Primary, "p"))
	applyErr := s.drv.Apply(s.Context(), s.puts(newRow("p", "b")))
	for what, err := range map[string]error{"get": getErr, "query": queryErr, "apply": applyErr} {
		if !errors.Is(err, driver.ErrUnavailable) {
			s.Errorf("%s: %v, want ErrUnavailable", what, err)
		}
	}
}

func generations(s *store) {
	old := s.table
	s.put(indexed("p", "a", sorted, "x", "1"), indexed("p", "b", plain, "x", ""))
	s.table = otherTable
	s.put(indexed("p", "a", sorted, "x", "1"))
	s.table = rowsAnew
	s.put(indexed("p", "c", sorted, "x", "1"))
	s.wantNames("the later generation", s.query(s.all(driver.Primary, "p")).Rows, "c")
	s.wantNames("its index", s.query(s.all(sorted, "x")).Rows, "c")

	dropper, ok := s.drv.(driver.Dropper)
	if !ok {
		return
	}
	for range 2 { // again, as after an interruption
		if err := dropper.Drop(s.Context(), &driver.Table{Name: old.Name, Generation: old.Generation}); err != nil {
			s.Fatalf("drop: %v", err)
		}
	}
	s.wantNames("the later generation after the drop", s.query(s.all(sorted, "x")).Rows, "c")
	s.table = old
	for _, q := range []driver.Query{s.all(driver.Primary, "p"), s.all(sorted, "x"), s.all(plain, "x")} {
		s.wantNames(fmt.Sprintf("the dropped generation, index %d", q.Index), s.query(q).Rows)
	}
	if got := s.get(keys.Key{PK: "p", SK: "a"}); got[0].Record != nil {
		s.Errorf("a row of the dropped generation is there")
	}
	s.put(indexed("p", "d", sorted, "x", "1"))
	s.wantNames("the dropped generation begun anew", s.query(s.all(sorted, "x")).Rows, "d")
	s.table = otherTable
	if got := namesOf(s.query(s.all(sorted, "x")).Rows); !slices.Equal(got, []string{"a"}) {
		s.Errorf("another table has %q after the drop, want a", got)
	}
}
