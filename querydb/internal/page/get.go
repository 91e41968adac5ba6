package page

import (
	"context"
	"time"

	"github.com/foldql/foldql/internal/distinct"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
)

// Get reads rows by keys, which may repeat; each is read once. The answer is aligned with the keys.
func (r Reader) Get(ctx context.Context, count *counter.Counters, g driver.Get) ([]driver.Row, error) {
	once, at := withoutRepeats(g.Keys)
	g.Keys = once
	rows, err := r.getDistinct(ctx, count, g)
	if err != nil || at == nil {
		return rows, err
	}
	return aligned(rows, at), nil
}

// aligned repeats the rows of distinct keys where the keys were repeated.
func aligned(rows []driver.Row, at []int) []driver.Row {
	all := make([]driver.Row, len(at))
	for i := range all {
		all[i] = rows[at[i]]
	}
	return all
}

// getDistinct reads in as many batches as the driver's limit asks for.
func (r Reader) getDistinct(ctx context.Context, count *counter.Counters, g driver.Get) ([]driver.Row, error) {
	most := len(g.Keys)
	if limited, ok := r.Driver.(driver.GetLimiter); ok {
		most = min(most, limited.MaxGet())
	}
	all := g.Keys
	g.Keys = all[:most]
	rows, err := r.getBatch(ctx, count, g)
	for done := most; done < len(all) && err == nil; done += most {
		var more []driver.Row
		g.Keys, g.Into = all[done:min(done+most, len(all))], nil
		more, err = r.getBatch(ctx, count, g)
		rows = append(rows, more...)
	}
	return rows, err
}

func (r Reader) getBatch(ctx context.Context, count *counter.Counters, g driver.Get) ([]driver.Row, error) {
	began := time.Now()
	g.NoCache = g.NoCache || r.ForFold
	rows, err := r.Driver.Get(ctx, g)
	count.Got(rows, err, time.Since(began))
	return rows, err
}

// withoutRepeats returns the keys without repetitions and, where there are any, which of them each of ks is.
func withoutRepeats(ks []keys.Key) (once []keys.Key, at []int) {
	if len(ks) == 1 {
		return ks, nil
	}
	var known distinct.Places
	for i, k := range ks {
		first := known.Add(distinct.Hash(k), i, func(place int) bool { return ks[place] == k })
		if first == i && at == nil {
			continue
		}
		if at == nil {
			once, at = append(make([]keys.Key, 0, len(ks)), ks[:i]...), make([]int, len(ks))
			for j := range i {
				at[j] = j
			}
		}
		if first == i {
			at[i], once = len(once), append(once, k)
		} else {
			at[i] = at[first]
		}
	}
	if at == nil {
		return ks, nil
	}
	return once, at
}
