package drivertest

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// purse is a budget of so many bytes.
type purse struct {
	left  atomic.Int64
	taken atomic.Int64 // how often
}

var errEmpty = errors.New("the purse is empty")

func (p *purse) Take(bytes int) error {
	p.taken.Add(1)
	if p.left.Add(-int64(bytes)) < 0 {
		return errEmpty
	}
	return nil
}

func budgets(s *store) {
	const count, size = 20, 1000
	var ks []keys.Key
	for i := range count {
		row := bigRow(fmt.Sprintf("%02d", i), size)
		ks = append(ks, row.Key)
		s.put(row)
	}
	reads := map[string]func(p *purse) (rows int, err error){
		"get": func(p *purse) (int, error) {
			rows, err := s.drv.Get(driver.WithBudget(s.Context(), p), driver.Get{Table: s.table, Keys: ks})
			return len(rows), err
		},
		"get one": func(p *purse) (int, error) {
			rows, err := s.drv.Get(driver.WithBudget(s.Context(), p), driver.Get{Table: s.table, Keys: ks[:1]})
			return len(rows), err
		},
		"query": func(p *purse) (int, error) {
			page, err := s.drv.Query(driver.WithBudget(s.Context(), p), s.all(driver.Primary, ks[0].PK))
			return len(page.Rows), err
		},
		"query an index": func(p *purse) (int, error) {
			page, err := s.drv.Query(driver.WithBudget(s.Context(), p), s.all(half, "x"))
			return len(page.Rows), err
		},
	}
	for how, read := range reads {
		enough := &purse{}
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
			scarce := &purse{}
			scarce.left.Store(int64(most) * 3 * size)
			rows, err := read(scarce)
			if how == "get one" && most > 0 {
				continue
			}
			if !errors.Is(err, driver.ErrOverBudget) || !errors.Is(err, errEmpty) || rows > 0 {
				s.Errorf("%s: %d rows, %v; want none, and ErrOverBudget with what the budget says", how, rows, err)
			}
		}
	}
}
