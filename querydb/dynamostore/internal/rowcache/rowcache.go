// Package rowcache keeps rows of a store that other processes write to, for as long as a client may be given rows that
// are out of date.
//
// A row is kept with the moment before it was read, and given out no later than Options.TTL after that. So it is at
// most that much older than what the store itself would have answered. What this process writes it drops when the write
// has ended; and it reads consistently what it has written a moment ago, since an eventually consistent read may still
// find it as it was.
package rowcache

import (
	"cmp"
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/foldql/foldql/internal/parallel"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// Options are the bounds of a Cache.
type Options struct {
	Bytes int64
	TTL   time.Duration    // for how long a row is given out
	Now   func() time.Time // time.Now by default; its times have a monotonic part where they can
}

// Cache keeps rows that were read for clients, and keys under which there was no row.
type Cache struct {
	Options
	entries *otter.Cache[place, *entry]
	seed    maphash.Seed
	began   time.Time
	written [1 << 16]writes // by places
	asked   sync.Map        // by table, when rows of it were first asked for, as writes.last

	hits, misses atomic.Uint64
}

// writes are those of this process at some places.
type writes struct {
	count atomic.Uint64 // a row that was read before one of them ended is not kept
	last  atomic.Int64  // when one ended last, in nanoseconds since the Cache began
}

// settles is how long after a write a read of any copy of a table finds it: Amazon says that it is usually a second.
const settles = 5 * time.Second

// place is where a row is. Those of several models in one table are told apart, as each sees only its own.
type place struct {
	table string
	kind  string
	keys.Key
}

// entry is a row as it was read. It has its key alone where there was none.
type entry struct {
	row  driver.Row
	of   *driver.Table // a former layout reads rows in another way
	read time.Time     // before it was
}

// What an entry takes, about, beside its texts and its record, and what each of its index keys and writers does.
const (
	entryBytes    = 400
	indexKeyBytes = 40
	writerBytes   = 16
)

// New makes an empty Cache.
func New(o Options) (*Cache, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	entries, err := otter.New(&otter.Options[place, *entry]{
		MaximumWeight: uint64(max(o.Bytes, 1)),
		Weigher:       weight,
	})
	if err != nil {
		return nil, err
	}
	return &Cache{Options: o, entries: entries, seed: maphash.MakeSeed(), began: o.Now()}, nil
}

func weight(p place, e *entry) uint32 {
	bytes := entryBytes + 2*(len(p.PK)+len(p.SK)) + len(e.row.Record) + len(e.row.Position.Partition)
	for i := range e.row.Indexes {
		bytes += indexKeyBytes + len(e.row.Indexes[i].PK) + len(e.row.Indexes[i].SK)
	}
	for _, writer := range e.row.Writers {
		bytes += writerBytes + len(writer)
	}
	return uint32(bytes)
}

// Stats returns the counters of the Cache.
func (c *Cache) Stats() driver.CacheStats {
	c.entries.CleanUp() // else what was added just now may not be weighed yet
	return driver.CacheStats{Hits: c.hits.Load(), Misses: c.misses.Load(), Rows: c.entries.EstimatedSize(),
		Bytes: c.entries.WeightedSize()}
}

// serves reports whether rows may be those of the Cache: for clients who wait, and have not asked for more than
// DynamoDB itself promises.
func serves(ctx context.Context, g *driver.Get) bool {
	return driver.BudgetOf(ctx) != nil && !g.Consistent && !g.Snapshot && !g.NoCache && g.Writer == ""
}

// reader reads rows of the store.
type reader = func(context.Context, driver.Get) ([]driver.Row, error)

// Get answers from the Cache what it can, and has the rest read.
func (c *Cache) Get(ctx context.Context, table string, g driver.Get, read reader) ([]driver.Row, error) {
	if !serves(ctx, &g) {
		return read(ctx, g)
	}
	rows := make([]driver.Row, len(g.Keys))
	missing, err := c.find(ctx, table, &g, rows)
	if err != nil || len(missing) == 0 {
		return rows, err
	}
	rest := g
	rest.Keys = make([]keys.Key, len(missing))
	for i, at := range missing {
		rest.Keys[i] = g.Keys[at]
	}
	before := c.moment(table, &rest)
	found, err := before.read(ctx, rest, read)
	if err != nil {
		return nil, err
	}
	for i, at := range missing {
		rows[at] = found[i]
		c.keep(before.places[i], before.written[i], &entry{row: found[i], of: g.Table, read: before.now})
	}
	return rows, nil
}

// find fills in the rows that are there, and returns the places of the others. They are charged for as read ones are.
func (c *Cache) find(ctx context.Context, table string, g *driver.Get, rows []driver.Row) (missing []int, err error) {
	now, budget := c.Now(), driver.BudgetOf(ctx)
	for i, k := range g.Keys {
		e, is := c.entries.GetIfPresent(place{table, g.Table.Kind, k})
		if !is || e.of != g.Table || !within(c.TTL, e.read, now) {
			missing = append(missing, i)
			continue
		}
		rows[i].Key = k
		if e.row.Record == nil || e.row.Expired(g.Now) {
			continue
		}
		if err := driver.Charge(budget, len(e.row.Record)); err != nil {
			return nil, err
		}
		rows[i] = e.row
	}
	c.hits.Add(uint64(len(rows) - len(missing)))
	c.misses.Add(uint64(len(missing)))
	return missing, nil
}

// within reports whether no more than the time has passed. The monotonic clock stands still while a machine sleeps, and
// the other one may be set back, so both must say so.
func within(ttl time.Duration, from, to time.Time) bool {
	wall := to.Round(0).Sub(from.Round(0))
	return to.Sub(from) < ttl && wall >= 0 && wall < ttl
}

// moment is one before rows are read.
type moment struct {
	now     time.Time
	places  []place
	written []uint64 // that had been, by place
	// settled and settling are which of them a copy of the table has as they are, and which were written so lately that
	// it may have them as they were.
	settled, settling []int
}

func (c *Cache) moment(table string, g *driver.Get) moment {
	m := moment{now: c.Now(), places: make([]place, len(g.Keys)), written: make([]uint64, len(g.Keys))}
	asked := c.ask(table)
	for i, k := range g.Keys {
		m.places[i] = place{table, g.Table.Kind, k}
		at := c.writesAt(m.places[i])
		m.written[i] = at.count.Load()
		if last := max(asked, at.last.Load()); m.now.Sub(c.began)-time.Duration(last) < settles {
			m.settling = append(m.settling, i)
		} else {
			m.settled = append(m.settled, i)
		}
	}
	return m
}

// ask returns when rows of the table were first asked for. Writes to it are noted from then on, and not those to a
// table that nobody reads, as while rows are built.
func (c *Cache) ask(table string) (first int64) {
	asked, known := c.asked.Load(table)
	if !known {
		asked, _ = c.asked.LoadOrStore(table, c.sinceBegan())
	}
	return asked.(int64)
}

// sinceBegan is how many nanoseconds ago the Cache began.
func (c *Cache) sinceBegan() int64 { return int64(c.Now().Sub(c.began)) }

// read reads the rows, and consistently those alone that are settling: such a read costs twice as much.
func (m *moment) read(ctx context.Context, g driver.Get, read reader) ([]driver.Row, error) {
	if g.Consistent = len(m.settled) == 0; g.Consistent || len(m.settling) == 0 {
		return read(ctx, g)
	}
	rows := make([]driver.Row, len(g.Keys))
	var errs [2]error
	parallel.Each(len(errs), len(errs), func(i int) {
		some, places := g, [...][]int{m.settled, m.settling}[i]
		some.Consistent, some.Keys = i == 1, make([]keys.Key, len(places))
		for n, at := range places {
			some.Keys[n] = g.Keys[at]
		}
		var found []driver.Row
		if found, errs[i] = read(ctx, some); errs[i] == nil {
			for n, at := range places {
				rows[at] = found[n]
			}
		}
	})
	return rows, cmp.Or(errs[0], errs[1])
}

// keep adds a row, unless this process has written one at its place since it was read, or it is there as a later read
// has found it. Its key is in memory of its own: the one that was asked for may be a part of another row, which would
// stay with it.
func (c *Cache) keep(at place, written uint64, e *entry) {
	at.Key = keys.Key{PK: strings.Clone(at.PK), SK: strings.Clone(at.SK)}
	e.row.Key = at.Key
	c.entries.Compute(at, func(was *entry, found bool) (*entry, otter.ComputeOp) {
		if c.writesAt(at).count.Load() != written || found && was.of == e.of && was.read.After(e.read) {
			return nil, otter.CancelOp
		}
		return e, otter.WriteOp
	})
}

// Wrote drops a row that this process may have written. It is called after the write has ended, however it did.
func (c *Cache) Wrote(table, kind string, k keys.Key) {
	if _, asked := c.asked.Load(table); !asked { // whoever asks first reads consistently what was written until then
		return
	}
	at := place{table, kind, k}
	w := c.writesAt(at)
	w.last.Store(c.sinceBegan())
	w.count.Add(1) // first: whoever keeps a row afterwards sees it, and what was kept before is dropped below
	c.entries.Invalidate(at)
}

func (c *Cache) writesAt(at place) *writes {
	return &c.written[maphash.Comparable(c.seed, at)%uint64(len(c.written))]
}
