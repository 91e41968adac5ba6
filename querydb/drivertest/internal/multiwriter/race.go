package multiwriter

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/drivertest/internal/fixture"
	"github.com/foldql/foldql/querydb/drivertest/internal/harness"
	"github.com/foldql/foldql/querydb/record"
)

// oneWins has writers that all read a row, and then write it as one more than they read: none is lost.
func oneWins(s *harness.Store) {
	const writers, rounds = 4, 12
	k := keys.Key{PK: "p", SK: "counter"}
	var stale atomic.Int64
	var racing sync.WaitGroup
	for range writers {
		racing.Go(func() {
			for won := 0; won < rounds; {
				row, err := read(s, k)
				if err != nil {
					s.Errorf("get: %v", err)
					return
				}
				n := 0
				if row.Record != nil {
					text, _ := record.String(row.Record.JSON(fixture.Text))
					n, _ = strconv.Atoi(text)
				}
				w := positioned(k.SK, strconv.Itoa(n+1), at(uint64(n)+1))
				err = s.Driver.Apply(s.Context(), driver.Batch{Writes: []driver.Write{asRead(w, row.Revision)}})
				switch {
				case err == nil:
					won++
				case errors.Is(err, driver.ErrStale):
					stale.Add(1)
				default:
					s.Errorf("apply: %v", err)
					return
				}
			}
		})
	}
	racing.Wait()
	last := positioned(k.SK, strconv.Itoa(writers*rounds), at(writers*rounds))
	wantKnown(s, "after the race", known(last, writers*rounds, at(writers*rounds)))
	s.Logf("%d writes were of a row that had changed", stale.Load())
}

// read reads a row, and leaves the error to a goroutine.
func read(s *harness.Store, k keys.Key) (driver.Row, error) {
	rows, err := s.Driver.Get(s.Context(), driver.Get{Table: s.Table, Keys: []keys.Key{k}, Consistent: true})
	if err != nil {
		return driver.Row{}, err
	}
	return rows[0], nil
}

// oneOutcome has writers of the same log: all apply the same batches, each at its own pace, and the outcome is as if
// one had.
func oneOutcome(s *harness.Store) {
	const writers, batches, rows = 3, 15, 4
	write := func(offset, i int) driver.Write {
		sk, text, pos := strconv.Itoa(i), fmt.Sprintf("%d.%d", offset, i), at(uint64(offset))
		if (offset+i)%4 == 0 {
			return removed(sk, pos)
		}
		return positioned(sk, text, pos)
	}
	var racing sync.WaitGroup
	for w := range writers {
		racing.Go(func() {
			for offset := 1; offset <= batches; offset++ {
				var b driver.Batch
				for i := range rows {
					if (offset+i)%3 != 0 {
						b.Writes = append(b.Writes, write(offset, i))
					}
				}
				if err := s.Driver.Apply(s.Context(), b); err != nil {
					s.Errorf("writer %d: apply: %v", w, err)
					return
				}
			}
		})
	}
	racing.Wait()
	var want []driver.Row
	for i := range rows {
		last, revision := 0, uint64(0)
		for offset := 1; offset <= batches; offset++ {
			if (offset+i)%3 != 0 {
				last, revision = offset, revision+1
			}
		}
		want = append(want, known(write(last, i), revision, at(uint64(last))))
	}
	for i, got := range s.Get(keys.Key{PK: "p", SK: "0"}, keys.Key{PK: "p", SK: "1"}, keys.Key{PK: "p", SK: "2"},
		keys.Key{PK: "p", SK: "3"}) {
		if got.Revision > want[i].Revision || got.Revision == 0 {
			s.Errorf("row %d has the revision %d, and %d writes of it can take effect", i, got.Revision, want[i].Revision)
		}
		want[i].Revision = got.Revision // of writes that were overtaken none took effect: there may be fewer
	}
	wantKnown(s, "after the race", want...)
}
