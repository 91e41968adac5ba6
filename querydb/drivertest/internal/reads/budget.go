package reads

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
)

// budget is one of so many bytes.
type budget struct {
	left  atomic.Int64
	taken atomic.Int64 // how often
}

var errSpent = errors.New("the budget is spent")

func (b *budget) Take(bytes int) error {
	b.taken.Add(1)
	if b.left.Add(-int64(bytes)) < 0 {
		return errSpent
	}
	return nil
}

func budgets(s *harness.Store) {
	const count, size = 20, 1000
	var ks []keys.Key
	for i := range count {
		row := bigRow(fmt.Sprintf("%02d", i), size)
		ks = append(ks, row.Key)
		s.Put(row)
	}
	reads := map[string]func(b *budget) (rows int, err error){
		"get": func(b *budget) (int, error) {
			rows, err := s.Driver.Get(driver.WithBudget(s.Context(), b), driver.Get{Table: s.Table, Keys: ks})
			return len(rows), err
		},
		"get one": func(b *budget) (int, error) {
			rows, err := s.Driver.Get(driver.WithBudget(s.Context(), b), driver.Get{Table: s.Table, Keys: ks[:1]})
			return len(rows), err
		},
		"query": func(b *budget) (int, error) {
			page, err := s.Driver.Query(driver.WithBudget(s.Context(), b), s.All(driver.Primary, ks[0].PK))
			return len(page.Rows), err
		},
		"query an index": func(b *budget) (int, error) {
			page, err := s.Driver.Query(driver.WithBudget(s.Context(), b), s.All(fixture.Half, "x"))
			return len(page.Rows), err
		},
	}
	for how, read := range reads {
		enough := &budget{}
		enough.left.Store(1 << 30)
		rows, err := read(enough)
		if err != nil || int(enough.taken.Load()) != rows {
			s.Errorf("%s: %d rows took %d times of a budget that is enough, error %v", how, rows, enough.taken.Load(), err)
		}
		// which shows fewer fields
		if taken := 1<<30 - enough.left.Load(); taken < int64(rows*size) && how != "query an index" {
			s.Errorf("%s: %d rows of %d bytes took %d bytes", how, rows, size, taken)
		}
		for _, most := range []int{0, 1} {
			scarce := &budget{}
			scarce.left.Store(int64(most) * 3 * size)
			rows, err := read(scarce)
			if how == "get one" && most > 0 {
				continue
			}
			if !errors.Is(err, driver.ErrOverBudget) || !errors.Is(err, errSpent) || rows > 0 {
				s.Errorf("%s: %d rows, %v; want none, and ErrOverBudget with what the budget says", how, rows, err)
			}
		}
	}
}
