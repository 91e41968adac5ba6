package pebblestore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/foldql/foldql/querydb/driver"
)

// The dictionary numbers the generations of tables. A number is given once and never again, so that rows of a dropped
// generation can never be met. Its entries stand before all rows, under table number 0:
//
//	0 'f'          version of the form of keys and values
//	0 'n'          the next number
//	0 't' number   generation, name
const (
	formatVersion = 1
	firstNumber   = 1
)

var (
	formatKey = []byte{0, 0, 0, 0, 'f'}
	nextKey   = []byte{0, 0, 0, 0, 'n'}
	tableKey  = []byte{0, 0, 0, 0, 't'}
	tablesEnd = []byte{0, 0, 0, 0, 't' + 1}
)

// generation names the rows of one generation of a table.
type generation struct {
	table  string
	number int
}

func generationOf(t *driver.Table) generation { return generation{t.Name, t.Generation} }

// place is where the rows of a generation are.
type place struct {
	number  uint32
	write   sync.RWMutex // held for writing by batches that read before they write, and while the rows are dropped
	dropped bool
}

type dictionary struct {
	mu     sync.RWMutex
	places map[generation]*place
	next   uint32
}

func readDictionary(db *pebble.DB) (*dictionary, error) {
	d := &dictionary{places: map[generation]*place{}, next: firstNumber}
	version, err := readNumber(db, formatKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return d, db.Set(formatKey, binary.AppendUvarint(nil, formatVersion), pebble.Sync)
	}
	if err != nil {
		return nil, err
	}
	if version != formatVersion {
		return nil, fmt.Errorf("it has the form %d, and this program reads the form %d: "+
			"use the program that wrote it, or fold the log anew into another directory", version, formatVersion)
	}
	next, err := readNumber(db, nextKey)
	if err != nil && !errors.Is(err, pebble.ErrNotFound) {
		return nil, err
	}
	d.next = max(firstNumber, uint32(next))
	return d, d.readTables(db)
}

func readNumber(db *pebble.DB, key []byte) (uint64, error) {
	value, closer, err := db.Get(key)
	if err != nil {
		return 0, err
	}
	n, size := binary.Uvarint(value)
	if err := closer.Close(); err != nil {
		return 0, err
	}
	if size <= 0 {
		return 0, errors.New("its dictionary of tables is damaged: restore the directory, or fold the log anew into another")
	}
	return n, nil
}

func (d *dictionary) readTables(db *pebble.DB) error {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: tableKey, UpperBound: tablesEnd})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		number, size := binary.Uvarint(it.Value())
		if size <= 0 || len(it.Key()) != len(tableKey)+4 {
			return errors.Join(errDamaged, it.Close())
		}
		name := generation{table: string(it.Value()[size:]), number: int(number)}
		d.places[name] = &place{number: binary.BigEndian.Uint32(it.Key()[len(tableKey):])}
	}
	return it.Close()
}

func entryOf(number uint32) []byte {
	return binary.BigEndian.AppendUint32(slices.Clip(tableKey), number)
}

// find returns where the rows of a table are, nil where it has none.
func (d *dictionary) find(t *driver.Table) *place {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.places[generationOf(t)]
}

// make returns where the rows of a table are to be, and numbers the table where it is new.
func (d *dictionary) make(db *pebble.DB, t *driver.Table) (*place, error) {
	if p := d.find(t); p != nil {
		return p, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	name := generationOf(t)
	if p := d.places[name]; p != nil {
		return p, nil
	}
	p := &place{number: d.next}
	b := db.NewBatch()
	defer b.Close()
	value := append(binary.AppendUvarint(nil, uint64(name.number)), name.table...)
	err := errors.Join(
		b.Set(nextKey, binary.AppendUvarint(nil, uint64(p.number)+1), nil),
		b.Set(entryOf(p.number), value, nil),
		b.Commit(pebble.Sync))
	if err != nil {
		return nil, err
	}
	d.next++
	d.places[name] = p
	return p, nil
}

// Drop removes a generation of a table. The space on disk comes back as the engine compacts its files.
func (s *Store) Drop(ctx context.Context, t *driver.Table) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	p := s.tables.find(t)
	if p == nil {
		return nil
	}
	p.write.Lock()
	defer p.write.Unlock()
	if p.dropped {
		return nil
	}
	b := s.db.NewBatch()
	defer b.Close()
	err := errors.Join(
		b.DeleteRange(binary.BigEndian.AppendUint32(nil, p.number), binary.BigEndian.AppendUint32(nil, p.number+1), nil),
		b.Delete(entryOf(p.number), nil),
		b.Commit(pebble.Sync))
	if err != nil {
		return fmt.Errorf("pebblestore: drop generation %d of table %s: %w", t.Generation, t.Name, err)
	}
	p.dropped = true
	s.tables.mu.Lock()
	delete(s.tables.places, generationOf(t))
	s.tables.mu.Unlock()
	return nil
}

// claim locks the places that a batch writes to, in the order of their numbers, and returns them by table. A place
// whose former rows are read first is locked against other writers.
func (s *Store) claim(b *driver.Batch) (claimed, error) {
	for {
		c := claimed{places: map[*driver.Table]*place{}}
		if err := c.find(s, b.Writes, b.Last); err != nil {
			return c, err
		}
		if c.lock() {
			return c, nil
		}
		c.release() // a table was dropped meanwhile: it gets a new number
	}
}

// claimed are the places that a batch holds the locks of.
type claimed struct {
	places map[*driver.Table]*place
	order  []claim
}

type claim struct {
	*place
	exclusive, held bool
}

func (c *claimed) find(s *Store, lists ...[]driver.Write) error {
	for _, writes := range lists {
		for i := range writes {
			t := writes[i].Table
			if p := c.places[t]; p != nil {
				if writes[i].Part != nil {
					c.add(p, true)
				}
				continue
			}
			p, err := s.tables.make(s.db, t)
			if err != nil {
				return err
			}
			c.places[t] = p
			c.add(p, readsFirst(&writes[i]))
		}
	}
	slices.SortFunc(c.order, func(a, b claim) int { return cmp.Compare(a.number, b.number) })
	return nil
}

func (c *claimed) add(p *place, exclusive bool) {
	for i := range c.order {
		if c.order[i].place == p {
			c.order[i].exclusive = c.order[i].exclusive || exclusive
			return
		}
	}
	c.order = append(c.order, claim{place: p, exclusive: exclusive})
}

// lock takes the locks; it returns false where one of the places has been dropped.
func (c *claimed) lock() bool {
	for i := range c.order {
		p := &c.order[i]
		if p.exclusive {
			p.write.Lock()
		} else {
			p.write.RLock()
		}
		p.held = true
		if p.dropped {
			return false
		}
	}
	return true
}

func (c *claimed) release() {
	for i := range c.order {
		switch p := &c.order[i]; {
		case !p.held:
		case p.exclusive:
			p.write.Unlock()
		default:
			p.write.RUnlock()
		}
	}
}
