package page

import (
	"context"
	"time"

	"github.com/foldql/foldql/internal/distinct"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/internal/counter"
	"github.com/foldql/foldql/querydb/record"
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

// mostKeys is how many of so many keys the driver takes at once. Rows that are to be of one moment are asked for
// together, whatever the limit is.
func (r Reader) mostKeys(g *driver.Get) int {
	n := len(g.Keys)
	if limited, ok := r.Driver.(driver.GetLimiter); ok && !g.Snapshot {
		return min(n, limited.MaxGet())
	}
	return n
}

// getDistinct reads in as many batches as the driver's limit asks for.
func (r Reader) getDistinct(ctx context.Context, count *counter.Counters, g driver.Get) ([]driver.Row, error) {
	most, all := r.mostKeys(&g), g.Keys
	g.Keys = all[:most]
	rows, err := r.getBatch(ctx, count, g)
	for done := most; done < len(all) && err == nil; done += most {
		var more []driver.Row
		g.Keys = all[done:min(done+most, len(all))]
		more, err = r.getBatch(ctx, count, g)
		rows = append(rows, more...)
	}
	return rows, err
}

func (r Reader) getBatch(ctx context.Context, count *counter.Counters, g driver.Get) ([]driver.Row, error) {
	began := time.Now()
	g.NoCache = g.NoCache || r.ForFold
	rows, err := r.Driver.Get(ctx, g)
	count.Got(len(rows), err, time.Since(began))
	return rows, err
}

// Records is Get for the records alone, which are aligned with the keys and are set to nil where there is no row.
// distinct says that no key repeats, so that nobody has to look. After an error nobody looks at the records.
func (r Reader) Records(
	ctx context.Context, count *counter.Counters, g driver.Get, distinct bool, records []record.Record,
) error {
	var at []int
	if !distinct {
		g.Keys, at = withoutRepeats(g.Keys)
	}
	if at == nil {
		return r.distinctRecords(ctx, count, g, records)
	}
	once := make([]record.Record, len(g.Keys))
	err := r.distinctRecords(ctx, count, g, once)
	for i := range records {
		records[i] = once[at[i]]
	}
	return err
}

// distinctRecords is getDistinct for the records alone. A driver that does not read them without rows reads rows.
func (r Reader) distinctRecords(
	ctx context.Context, count *counter.Counters, g driver.Get, records []record.Record,
) error {
	drv, reads := r.Driver.(driver.RecordReader)
	if !reads {
		rows, err := r.getDistinct(ctx, count, g)
		for i := range rows {
			records[i] = rows[i].Record
		}
		return err
	}
	g.NoCache = g.NoCache || r.ForFold
	most, all := r.mostKeys(&g), g.Keys
	for done := 0; done < len(all); done += most {
		next := min(done+most, len(all))
		g.Keys = all[done:next]
		if err := recordBatch(ctx, count, drv, g, records[done:next]); err != nil {
			return err
		}
	}
	return nil
}

func recordBatch(
	ctx context.Context, count *counter.Counters, drv driver.RecordReader, g driver.Get, records []record.Record,
) error {
	began, answered := time.Now(), len(g.Keys)
	err := drv.Records(ctx, g, records)
	if err != nil {
		answered = 0
	}
	count.Got(answered, err, time.Since(began))
	return err
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
