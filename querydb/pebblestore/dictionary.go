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

	"github.com/foldql/foldql/internal/disk"
	"github.com/foldql/foldql/querydb/driver"
)

// The dictionary numbers the generations of tables. A number is given once and never again, so that rows of a dropped
// generation can never be found again. Its entries precede all rows, under table number 0:
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

// storedTable is one generation of a table as the store has it.
type storedTable struct {
	number  uint32
	write   sync.RWMutex // held for writing by batches that read before they write, and while the rows are dropped
	dropped bool
	commits commits
	// swept is, by kind of rows, where in the order of expiry the last batch of a sweep ended, unless it had all.
	swept map[string][]byte
}

type dictionary struct {
	mu     sync.RWMutex // never held while the disk is waited for: reads need it
	tables map[generation]*storedTable

	numbering sync.Mutex // held while a table gets a number
	next      uint32
}

func readDictionary(db *pebble.DB) (*dictionary, error) {
	d := &dictionary{tables: map[generation]*storedTable{}, next: firstNumber}
	version, err := readNumber(db, formatKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return d, db.Set(formatKey, binary.AppendUvarint(nil, formatVersion), pebble.Sync)
	}
	if err != nil {
		return nil, err
	}
	if version != formatVersion {
		return nil, fmt.Errorf("it has the form %d, and this program reads the form %d: "+
			"use the program that wrote it, or rebuild into another directory", version, formatVersion)
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
		return 0, errors.New("its dictionary of tables is damaged: restore the directory, or rebuild into another")
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
		d.tables[name] = &storedTable{number: binary.BigEndian.Uint32(it.Key()[len(tableKey):])}
	}
	return it.Close()
}

func entryOf(number uint32) []byte {
	return binary.BigEndian.AppendUint32(slices.Clip(tableKey), number)
}

// find returns the table, nil where the store does not have it.
func (d *dictionary) find(t *driver.Table) *storedTable {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.tables[generationOf(t)]
}

// storedTable returns the table to write to, and numbers it where it is new.
func (s *Store) storedTable(t *driver.Table) (*storedTable, error) {
	d := s.tables
	if p := d.find(t); p != nil {
		return p, nil
	}
	if err := s.disk.Acquire(d.numbering.Lock, d.numbering.Unlock); err != nil {
		return nil, err
	}
	if p := d.find(t); p != nil {
		d.numbering.Unlock()
		return p, nil
	}
	name, p := generationOf(t), &storedTable{number: d.next}
	b := s.db.NewBatch()
	value := append(binary.AppendUvarint(nil, uint64(name.number)), name.table...)
	err := errors.Join(
		b.Set(nextKey, binary.AppendUvarint(nil, uint64(p.number)+1), nil),
		b.Set(entryOf(p.number), value, nil))
	if err != nil {
		d.numbering.Unlock()
		return nil, errors.Join(err, b.Close())
	}
	err = s.disk.Run(func() error {
		defer d.numbering.Unlock()
		if err := errors.Join(b.Commit(pebble.Sync), b.Close()); err != nil {
			return err
		}
		d.next++
		d.set(name, p)
		return nil
	})
	return p, err
}

// set adds a table to the dictionary, or removes the one of that name where it is nil.
func (d *dictionary) set(name generation, p *storedTable) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p == nil {
		delete(d.tables, name)
	} else {
		d.tables[name] = p
	}
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
	if err := p.drop(s, t); err != nil {
		return failed(fmt.Sprintf("drop generation %d of table %s", t.Generation, t.Name), err)
	}
	return nil
}

func (p *storedTable) drop(s *Store, t *driver.Table) error {
	if err := s.disk.Writable(); err != nil {
		return err
	}
	if err := s.disk.Acquire(p.write.Lock, p.write.Unlock); err != nil {
		return err
	}
	if p.dropped {
		p.write.Unlock()
		return nil
	}
	b := s.db.NewBatch()
	err := errors.Join(
		b.DeleteRange(binary.BigEndian.AppendUint32(nil, p.number), binary.BigEndian.AppendUint32(nil, p.number+1), nil),
		b.Delete(entryOf(p.number), nil))
	if err != nil {
		p.write.Unlock()
		return errors.Join(err, b.Close())
	}
	return s.disk.Run(func() error {
		defer p.write.Unlock()
		if err := errors.Join(b.Commit(pebble.Sync), b.Close()); err != nil {
			return err
		}
		p.dropped = true
		s.tables.set(generationOf(t), nil)
		return nil
	})
}

// claim locks the tables that a batch writes to, in the order of their numbers, and returns them. A table whose former
// rows are read first is locked against other writers.
func (s *Store) claim(b *driver.Batch) (claimed, error) {
	for {
		c := claimed{tables: map[*driver.Table]*storedTable{}}
		if err := c.find(s, b.Writes, b.Last); err != nil {
			return c, err
		}
		whole, err := c.lock(s.disk)
		if whole {
			return c, nil
		}
		c.release()
		if err != nil {
			return c, err
		}
		// A table was dropped meanwhile: it gets a new number.
	}
}

// claimed are the tables whose locks a batch holds.
type claimed struct {
	tables map[*driver.Table]*storedTable
	order  []claim
}

type claim struct {
	*storedTable
	exclusive, held bool
}

func (c *claimed) find(s *Store, lists ...[]driver.Write) error {
	for _, writes := range lists {
		for i := range writes {
			t := writes[i].Table
			if p := c.tables[t]; p != nil {
				if writes[i].Part != nil || writes[i].Kind == driver.DeletePartition {
					c.add(p, true)
				}
				continue
			}
			p, err := s.storedTable(t)
			if err != nil {
				return err
			}
			c.tables[t] = p
			c.add(p, readsFirst(&writes[i]))
		}
	}
	slices.SortFunc(c.order, func(a, b claim) int { return cmp.Compare(a.number, b.number) })
	return nil
}

func (c *claimed) add(p *storedTable, exclusive bool) {
	for i := range c.order {
		if c.order[i].storedTable == p {
			c.order[i].exclusive = c.order[i].exclusive || exclusive
			return
		}
	}
	c.order = append(c.order, claim{storedTable: p, exclusive: exclusive})
}

// lock takes the locks; whole is false where one of the tables has been dropped, or where the disk makes others wait.
func (c *claimed) lock(d *disk.Disk) (whole bool, err error) {
	for i := range c.order {
		p := &c.order[i]
		lock, try, unlock := p.write.RLock, p.write.TryRLock, p.write.RUnlock
		if p.exclusive {
			lock, try, unlock = p.write.Lock, p.write.TryLock, p.write.Unlock
		}
		if !try() {
			if err := d.Acquire(lock, unlock); err != nil {
				return false, err
			}
		}
		p.held = true
		if p.dropped {
			return false, nil
		}
	}
	return true, nil
}

// list returns the tables.
func (c *claimed) list() []*storedTable {
	list := make([]*storedTable, len(c.order))
	for i := range c.order {
		list[i] = c.order[i].storedTable
	}
	return list
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
