package pebblestore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// wallet is a budget that says how much was taken of it, and of how much it allows.
type wallet struct{ taken, has int }

func (w *wallet) Take(bytes int) error {
	if w.taken += bytes; w.taken > w.has {
		return errors.New("nothing is left")
	}
	return nil
}

// pair is two stores that everything is done to alike, but that one is asked for rows and the other for records.
type pair struct {
	rows, records *Store
	tables        []*driver.Table // of the two kinds
}

func openPair(t *rapid.T) *pair {
	open := func() *Store {
		s, err := Open(Options{Dir: "data", FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	mine, other := *counted, *counted
	mine.Kind, other.Kind = "mine", "other"
	return &pair{open(), open(), []*driver.Table{&mine, &other}}
}

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func drawTime(t *rapid.T, what string) time.Time {
	if hours := rapid.IntRange(0, 4).Draw(t, what); hours > 0 {
		return start.Add(time.Duration(hours) * time.Hour)
	}
	return time.Time{}
}

// numbers are keys of few rows, so that many are written again and asked for again.
func numbers(t *rapid.T, most int) []keys.Key {
	var ks []keys.Key
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, 20), 1, most, rapid.ID).Draw(t, "keys") {
		ks = append(ks, keys.Key{PK: fmt.Sprint("p", i%3), SK: fmt.Sprint(i)})
	}
	return ks
}

// write puts or deletes rows. Of each kind there are rows under keys of their own.
func (p *pair) write(t *rapid.T) {
	var b driver.Batch
	for _, k := range numbers(t, 20) {
		kind := 0
		if k.PK == "p2" {
			kind = 1
		}
		row := numbered(k, rapid.Uint64Range(1, 1<<60).Draw(t, "number"))
		row.Expires = drawTime(t, "end")
		w := driver.Write{Table: p.tables[kind], Kind: driver.Put, Row: row}
		if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
			w.Kind = driver.Delete
		}
		b.Writes = append(b.Writes, w)
	}
	for _, s := range []*Store{p.rows, p.records} {
		if err := s.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

// read asks both stores for the same, and wants the same answer, the same charge, and the same use of the cache.
func (p *pair) read(t *rapid.T) {
	g := driver.Get{
		Table: p.tables[rapid.IntRange(0, 1).Draw(t, "kind")], Keys: numbers(t, 20), Now: drawTime(t, "now"),
		NoCache: rapid.IntRange(0, 4).Draw(t, "no cache") == 0,
	}
	has := rapid.SampledFrom([]int{0, 300, 1000, 1 << 20}).Draw(t, "budget")
	one, other := &wallet{has: has}, &wallet{has: has}
	rows, want := p.rows.Get(driver.WithBudget(t.Context(), one), g)
	records := slices.Repeat([]record.Record{{}}, len(g.Keys))
	got := p.records.Records(driver.WithBudget(t.Context(), other), g, records)
	if (got == nil) != (want == nil) || got != nil && !errors.Is(got, driver.ErrOverBudget) {
		t.Fatalf("records fail with %v, rows with %v", got, want)
	}
	for i := range rows {
		if (records[i] == nil) != (rows[i].Record == nil) || !slices.Equal(records[i], rows[i].Record) {
			t.Fatalf("under %v is the record %q, want %q", g.Keys[i], records[i], rows[i].Record)
		}
	}
	if one.taken != other.taken {
		t.Fatalf("%d bytes are charged for records, and %d for rows", other.taken, one.taken)
	}
	if rows, records := p.rows.CacheStats(), p.records.CacheStats(); records != rows {
		t.Fatalf("the cache of records is used as %+v, that of rows as %+v", records, rows)
	}
}

// TestRecordsAreThoseOfTheRows: whatever is in the cache and whatever is not, of rows of two kinds that expire and are
// changed, a read of records answers, charges and counts as one of rows does.
func TestRecordsAreThoseOfTheRows(t *testing.T) {
	var hits, misses uint64
	rapid.Check(t, func(t *rapid.T) {
		p := openPair(t)
		p.write(t)
		t.Repeat(map[string]func(*rapid.T){"write": p.write, "read": p.read, "read again": p.read, "and again": p.read})
		stats := p.records.CacheStats()
		hits, misses = hits+stats.Hits, misses+stats.Misses
	})
	if hits == 0 || misses == 0 {
		t.Errorf("the cache had %d rows and lacked %d: the test proves nothing", hits, misses)
	}
}

// meanwhile is a budget that does something when it is charged for the first time, which is when a read has found what
// the cache has.
type meanwhile struct {
	once sync.Once
	do   func()
	wallet
}

func (m *meanwhile) Take(bytes int) error {
	m.once.Do(m.do)
	return m.wallet.Take(bytes)
}

// TestAReadBeginsAgainWhereACommitHasBegunMeanwhile: rows that the cache had, of which a commit then changes one and
// deletes one, are read again, all of them. It is charged for its answer, and at no time for both readings.
func TestAReadBeginsAgainWhereACommitHasBegunMeanwhile(t *testing.T) {
	ks := []keys.Key{{PK: "p", SK: "changed"}, {PK: "p", SK: "deleted"}, {PK: "p", SK: "same"}}
	want := []uint64{2, 0, 1}
	read := func(s *Store, m *meanwhile) (found []uint64) {
		rows, err := s.Get(driver.WithBudget(t.Context(), m), driver.Get{Table: counted, Keys: ks})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if rows[i].Key != ks[i] || rows[i].Record == nil && rows[i].Position != (driver.Position{}) {
				t.Errorf("row %d is %+v", i, rows[i])
			}
			found = append(found, numberOf(t, &rows[i]))
		}
		return found
	}
	readRecords := func(s *Store, m *meanwhile) (found []uint64) {
		records := make([]record.Record, len(ks))
		err := s.Records(driver.WithBudget(t.Context(), m), driver.Get{Table: counted, Keys: ks}, records)
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range records {
			found = append(found, numberOf(t, &driver.Row{Record: rec}))
		}
		return found
	}
	for name, read := range map[string]func(*Store, *meanwhile) []uint64{"rows": read, "records": readRecords} {
		for _, cached := range [][]keys.Key{ks, ks[:2], ks[1:]} {
			t.Run(fmt.Sprintf("%s, %d cached", name, len(cached)), func(t *testing.T) {
				s := openCached(t, Options{})
				writeAll(t, s, 1, ks...)
				if _, err := s.Get(t.Context(), driver.Get{Table: counted, Keys: cached}); err != nil {
					t.Fatal(err)
				}
				once := &wallet{has: 1 << 20}
				if _, err := s.Get(driver.WithBudget(t.Context(), once),
					driver.Get{Table: counted, Keys: ks, NoCache: true}); err != nil {
					t.Fatal(err)
				}
				m := &meanwhile{wallet: wallet{has: once.taken}}
				m.do = func() {
					row := numbered(ks[0], 2)
					err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{
						{Table: counted, Kind: driver.Put, Row: row},
						{Table: counted, Kind: driver.Delete, Row: driver.Row{Key: ks[1]}},
					}})
					if err != nil {
						t.Fatal(err)
					}
				}
				if found := read(s, m); !slices.Equal(found, want) {
					t.Errorf("the read finds %d, want %d", found, want)
				}
				for range 2 {
					next := &meanwhile{do: func() {}, wallet: wallet{has: 1 << 20}}
					if found := read(s, next); !slices.Equal(found, want) || next.taken != m.taken {
						t.Errorf("the next read finds %d, want %d; it is charged for %d bytes, and the one before for %d", found, want,
							next.taken, m.taken)
					}
				}
			})
		}
	}
}

// TestAReadIsOfOneMomentWhileRowsComeAndGo: commits write all rows of a table, or delete all of them, and readers ask
// for rows or records. Each answer has all of them, with one number, or none.
func TestAReadIsOfOneMomentWhileRowsComeAndGo(t *testing.T) {
	s := openCached(t, Options{})
	all := make([]keys.Key, 20)
	var deletes driver.Batch
	for i := range all {
		all[i] = keys.Key{PK: fmt.Sprint(i % 7), SK: fmt.Sprint(i)}
		deletes.Writes = append(deletes.Writes,
			driver.Write{Table: counted, Kind: driver.Delete, Row: driver.Row{Key: all[i]}})
	}
	writeAll(t, s, 1, all...)
	besideReaders(t, 200, func(n uint64) {
		if n%3 > 0 {
			writeAll(t, s, n, all...)
		} else if err := s.Apply(t.Context(), deletes); err != nil {
			t.Fatal(err)
		}
	}, func(random *rand.Rand, least uint64) {
		found := numbersAt(t, s, all[:1+random.IntN(len(all))], random.IntN(2) == 0)
		for i, n := range found {
			if n != found[0] || n != 0 && n < least {
				t.Errorf("row %d of %d has %d, the first %d, and %d was acknowledged", i, len(found), n, found[0], least)
				return
			}
		}
	})
	if s.rows.hits.Load() == 0 {
		t.Error("no row was found in the cache: the test proves nothing")
	}
}

// numbersAt reads the numbers of rows, 0 where there is none.
func numbersAt(t *testing.T, s *Store, ks []keys.Key, whole bool) []uint64 {
	found, records := make([]uint64, len(ks)), make([]record.Record, len(ks))
	g := driver.Get{Table: counted, Keys: ks}
	rows, err := make([]driver.Row, len(ks)), error(nil)
	if whole {
		rows, err = s.Get(t.Context(), g)
	} else if err = s.Records(t.Context(), g, records); err == nil {
		for i := range rows {
			rows[i].Record = records[i]
		}
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	for i := range rows {
		found[i] = numberOf(t, &rows[i])
	}
	return found
}

// TestRecordsOfACachedTableTakeNoMemory, but for what a call itself takes.
func TestRecordsOfACachedTableTakeNoMemory(t *testing.T) {
	s := openCached(t, Options{})
	ks, records := make([]keys.Key, 250), make([]record.Record, 250)
	for i := range ks {
		ks[i] = keys.Key{PK: "p", SK: fmt.Sprint(i)}
	}
	writeAll(t, s, 1, ks...)
	g := driver.Get{Table: counted, Keys: ks}
	read := func() {
		if err := s.Records(t.Context(), g, records); err != nil || records[249] == nil {
			t.Fatal(err)
		}
	}
	read()
	if n := testing.AllocsPerRun(50, read); n > 1 {
		t.Errorf("records of 250 rows in the cache take %v allocations", n)
	}
}

// TestAnAnswerIsTheCallersToKeep: the engine uses the memory of a value again.
func TestAnAnswerIsTheCallersToKeep(t *testing.T) {
	s, ks := openCached(t, Options{}), []keys.Key{{PK: "p", SK: "a"}, {PK: "p", SK: "b"}}
	for name, into := range map[string]answer{
		"rows": {rows: make([]driver.Row, 2)}, "records": {records: make([]record.Record, 2)},
	} {
		l := lookUp{cache: s.rows, asked: driver.Get{Table: counted, Keys: ks}, answer: into}
		r := l.answer.reader(len(ks))
		for i := range ks {
			row := numbered(ks[i], uint64(10+i))
			value := appendRow(nil, "", &row)
			if err := l.found(&r, i, value); err != nil {
				t.Fatal(err)
			}
			clear(value)
		}
		for i := range ks {
			row := &driver.Row{}
			if into.rows != nil {
				row = &into.rows[i]
			} else {
				row.Record = into.records[i]
			}
			if n := numberOf(t, row); n != uint64(10+i) {
				t.Errorf("%s: number %d is %d", name, i, n)
			}
		}
	}
}
