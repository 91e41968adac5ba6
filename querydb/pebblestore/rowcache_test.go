package pebblestore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

var counted = &driver.Table{Name: "Counted", Sorted: true, Fields: []driver.Field{{Name: "n", Scalar: "Int"}}}

func openCached(t *testing.T, opts Options) *Store {
	t.Helper()
	opts.Dir, opts.FS = "data", vfs.NewMem()
	s, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func numbered(k keys.Key, n uint64) driver.Row {
	var b record.Builder
	b.Begin(1)
	b.JSON(strconv.AppendUint(nil, n, 10))
	rec, _, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return driver.Row{Key: k, Record: rec, Position: driver.Position{Partition: "p", Offset: n}}
}

func numberOf(t *testing.T, row *driver.Row) uint64 {
	if row.Record == nil {
		return 0
	}
	n, err := strconv.ParseUint(string(row.Record.JSON(0)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// valueOf is what the engine has under a key, nil where it has nothing.
func valueOf(t *testing.T, s *Store, k keys.Key) []byte {
	t.Helper()
	value, closer, err := s.db.Get(appendRowKey(nil, s.tables.find(counted).number, k))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	return slices.Clone(value)
}

func writeAll(t *testing.T, s *Store, n uint64, ks ...keys.Key) {
	t.Helper()
	var b driver.Batch
	for _, k := range ks {
		b.Writes = append(b.Writes, driver.Write{Table: counted, Kind: driver.Put, Row: numbered(k, n)})
	}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func readOne(t *testing.T, s *Store, k keys.Key) uint64 {
	t.Helper()
	rows, err := s.Get(t.Context(), driver.Get{Table: counted, Keys: []keys.Key{k}})
	if err != nil {
		t.Fatal(err)
	}
	return numberOf(t, &rows[0])
}

// TestARowThatWasReadBeforeACommitIsNotKeptAfterIt: a read finds the old row, or none, a commit changes it, and only
// then the read keeps what it has found.
func TestARowThatWasReadBeforeACommitIsNotKeptAfterIt(t *testing.T) {
	for _, was := range []uint64{0, 1} {
		for _, change := range []string{"put", "delete", "delete of the partition"} {
			t.Run(fmt.Sprintf("%s after %d", change, was), func(t *testing.T) {
				s, k := openCached(t, Options{}), keys.Key{PK: "p", SK: "a"}
				writeAll(t, s, 1, keys.Key{PK: "other"}) // so that there is a table
				if was > 0 {
					writeAll(t, s, was, k)
				}
				write := driver.Write{Table: counted, Kind: driver.Put, Row: numbered(k, 2)}
				want := uint64(2)
				switch change {
				case "delete":
					write, want = driver.Write{Table: counted, Kind: driver.Delete, Row: driver.Row{Key: k}}, 0
				case "delete of the partition":
					write, want = driver.Write{Table: counted, Kind: driver.DeletePartition,
						Row: driver.Row{Key: keys.Key{PK: k.PK}}}, 0
				}
				rows := []driver.Row{{Key: k}}
				reads := lookUp{db: s.db, cache: s.rows, table: s.tables.find(counted), answer: answer{rows: rows},
					asked: driver.Get{Table: counted, Keys: []keys.Key{k}}}
				if err := reads.read(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				reads.since, _ = reads.table.commits.quiet()
				stored := valueOf(t, s, k)
				if err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{write}}); err != nil {
					t.Fatal(err)
				}
				reads.keeps = true
				if err := reads.keep(k, stored); err != nil {
					t.Fatal(err)
				}
				if got := numberOf(t, &rows[0]); got != was {
					t.Fatalf("the read found %d, want %d: the case proves nothing", got, was)
				}
				if got := readOne(t, s, k); got != want {
					t.Errorf("the next read finds %d, want %d", got, want)
				}
			})
		}
	}
}

// TestWhileACommitTakesEffectNoReadFindsLessThanOneBefore: between the moment at which the engine shows a commit and
// the one at which the cache does, reads ask the engine.
func TestWhileACommitTakesEffectNoReadFindsLessThanOneBefore(t *testing.T) {
	s, k := openCached(t, Options{}), keys.Key{PK: "p", SK: "a"}
	writeAll(t, s, 1, k)
	if got := readOne(t, s, k); got != 1 { // and is cached
		t.Fatalf("%d", got)
	}
	p := s.tables.find(counted)
	p.commits.begin()
	row := numbered(k, 2)
	if err := s.db.Set(appendRowKey(nil, p.number, k), appendRow(nil, "", &row), nil); err != nil {
		t.Fatal(err)
	}
	if got := readOne(t, s, k); got != 2 {
		t.Errorf("a read finds %d, want 2", got)
	}
	p.commits.end()
}

// besideReaders makes so many commits at least, numbered from 2, while two readers read again and again: each knows
// which commit was acknowledged last before it reads. It goes on until they have read twice as often.
func besideReaders(t *testing.T, commits uint64, commit func(n uint64), read func(random *rand.Rand, least uint64)) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var acknowledged atomic.Uint64
	var done atomic.Bool
	var reads atomic.Uint64
	var readers sync.WaitGroup
	for g := range uint64(2) {
		random := rand.New(rand.NewPCG(seed, g))
		readers.Go(func() {
			for !done.Load() && !t.Failed() {
				read(random, acknowledged.Load())
				reads.Add(1)
			}
		})
	}
	for n := uint64(2); (n < commits || reads.Load() < 2*commits) && !t.Failed(); n++ {
		commit(n)
		acknowledged.Store(n)
	}
	done.Store(true)
	readers.Wait()
}

// TestCachedRowsAreOfOneMomentAndNeverOld: commits write all rows of a table at once, and readers ask for some of
// them. Each answer has one number, not less than that of the last commit that was acknowledged before.
func TestCachedRowsAreOfOneMomentAndNeverOld(t *testing.T) {
	for name, opts := range map[string]Options{
		"all cached": {}, "few cached": {CacheBytes: 8 << 10}, "large commits": {MemTableBytes: 4 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			s := openCached(t, opts)
			all := make([]keys.Key, 40)
			for i := range all {
				all[i] = keys.Key{PK: fmt.Sprint(i % 7), SK: fmt.Sprint(i)}
			}
			writeAll(t, s, 1, all...)
			besideReaders(t, 100, func(n uint64) { writeAll(t, s, n, all...) }, func(random *rand.Rand, least uint64) {
				some := all[:1+random.IntN(len(all))]
				rows, err := s.Get(t.Context(), driver.Get{Table: counted, Keys: some})
				if err != nil {
					t.Error(err)
					return
				}
				first := numberOf(t, &rows[0])
				for i := range rows {
					if n := numberOf(t, &rows[i]); n != first || n < least || rows[i].Key != some[i] {
						t.Errorf("row %d of %d is %v with %d, the first has %d, and %d was acknowledged", i, len(rows),
							rows[i].Key, n, first, least)
						return
					}
				}
			})
			if hits := s.rows.hits.Load(); hits == 0 {
				t.Error("no row was found in the cache: the test proves nothing")
			}
		})
	}
}

// TestCachedRowsExpireAndHaveAKind: they end at the time that a read names, and are of the kind that it asks for.
func TestCachedRowsExpireAndHaveAKind(t *testing.T) {
	s, k := openCached(t, Options{}), keys.Key{PK: "p", SK: "a"}
	mine, other := *counted, *counted
	mine.Kind, other.Kind = "mine", "other"
	end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	row := numbered(k, 1)
	row.Expires = end
	write := driver.Write{Table: &mine, Kind: driver.Put, Row: row}
	if err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{write}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, c := range []struct {
			table *driver.Table
			now   time.Time
			want  uint64
		}{{&mine, end.Add(-1), 1}, {&mine, end, 0}, {&mine, time.Time{}, 1}, {&other, time.Time{}, 0}} {
			rows, err := s.Get(t.Context(), driver.Get{Table: c.table, Keys: []keys.Key{k}, Now: c.now})
			if err != nil {
				t.Fatal(err)
			}
			if got := numberOf(t, &rows[0]); got != c.want {
				t.Errorf("%s at %v: %d, want %d", c.table.Kind, c.now, got, c.want)
			}
		}
	}
	if s.rows.hits.Load() == 0 {
		t.Error("no row was found in the cache")
	}
}

// TestReadsThatPassByTheCacheNeitherUseNorFillIt: those of folds, which read each row once.
func TestReadsThatPassByTheCacheNeitherUseNorFillIt(t *testing.T) {
	s, k := openCached(t, Options{}), keys.Key{PK: "p", SK: "a"}
	writeAll(t, s, 1, k)
	read := func(noCache bool) {
		t.Helper()
		rows, err := s.Get(t.Context(), driver.Get{Table: counted, Keys: []keys.Key{k}, NoCache: noCache})
		if err != nil || numberOf(t, &rows[0]) != 1 {
			t.Fatalf("%v, %v", rows, err)
		}
	}
	read(true)
	if got := s.CacheStats(); got != (driver.CacheStats{}) {
		t.Errorf("after a read that passes by the cache: %+v", got)
	}
	read(false)
	read(false)
	read(true)
	if got := s.CacheStats(); got.Hits != 1 || got.Misses != 1 || got.Rows != 1 || got.Bytes == 0 {
		t.Errorf("after two reads by the cache: %+v, want a miss, a hit and a row", got)
	}
}

// TestReadsBesideACommitAreMisses: they go to the engine, whatever is cached, but folds are not counted.
func TestReadsBesideACommitAreMisses(t *testing.T) {
	s, ks := openCached(t, Options{}), []keys.Key{{PK: "p", SK: "a"}, {PK: "p", SK: "b"}}
	applyAll(t, s, put(member(ks[0], 1, "g")))
	read := func(noCache bool) {
		t.Helper()
		_, err := s.Get(t.Context(), driver.Get{Table: listed, Keys: ks, NoCache: noCache})
		if err != nil {
			t.Fatal(err)
		}
		q := ofGroup
		q.NoCache = noCache
		ask(t, s, q)
	}
	for range 2 { // and is cached
		read(false)
	}
	want := s.CacheStats()
	p := s.tables.find(listed)
	p.commits.begin()
	read(false)
	read(true)
	p.commits.end()
	want.Misses, want.PageMisses = want.Misses+2, want.PageMisses+1
	if got := s.CacheStats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestReadsThatBeginAgainAreMisses: what the cache had of them is not what they answer with.
func TestReadsThatBeginAgainAreMisses(t *testing.T) {
	s, ks := openCached(t, Options{}), []keys.Key{{PK: "p", SK: "a"}, {PK: "p", SK: "b"}, {PK: "p", SK: "c"}}
	writeAll(t, s, 1, ks...)
	read := func(ks []keys.Key, meanwhileDo func()) {
		t.Helper()
		m := &meanwhile{do: meanwhileDo, wallet: wallet{has: 1 << 20}}
		if _, err := s.Get(driver.WithBudget(t.Context(), m), driver.Get{Table: counted, Keys: ks}); err != nil {
			t.Fatal(err)
		}
	}
	read(ks[:2], func() {})
	before := s.CacheStats()
	read(ks, func() { writeAll(t, s, 2, ks[0]) })
	if got := s.CacheStats(); got.Hits != before.Hits || got.Misses != before.Misses+3 {
		t.Errorf("a read that has begun again counts as %d hits and %d misses, want 3 misses", got.Hits-before.Hits,
			got.Misses-before.Misses)
	}
}

// nothing is the budget of a request that may read no row.
type nothing struct{}

func (nothing) Take(int) error { return errors.New("none is left") }

// TestCachedRowsAreCharged as those that the engine reads.
func TestCachedRowsAreCharged(t *testing.T) {
	s, k := openCached(t, Options{}), keys.Key{PK: "p", SK: "a"}
	writeAll(t, s, 1, k)
	readOne(t, s, k)
	_, err := s.Get(driver.WithBudget(t.Context(), nothing{}), driver.Get{Table: counted, Keys: []keys.Key{k}})
	if !errors.Is(err, driver.ErrOverBudget) || s.CacheStats().Rows != 1 {
		t.Errorf("%v, want ErrOverBudget", err)
	}
}

// TestACachedRowIsTheLastOfTwoCommitsSideBySide: of a table that a commit need not read before, two commits of one row
// run at once, and the row that is cached is the one that the engine has.
func TestACachedRowIsTheLastOfTwoCommitsSideBySide(t *testing.T) {
	s, k := openCached(t, Options{}), keys.Key{PK: "p", SK: "a"}
	plain := *counted
	plain.NoExpiry = true
	put := func(n uint64) {
		w := driver.Write{Table: &plain, Kind: driver.Put, Row: numbered(k, n)}
		if err := s.Apply(t.Context(), driver.Batch{Writes: []driver.Write{w}}); err != nil {
			t.Error(err)
		}
	}
	put(1)
	for n := uint64(2); n < 20_000 && !t.Failed(); n += 2 {
		readOne(t, s, k) // and is cached
		var both sync.WaitGroup
		both.Go(func() { put(n) })
		both.Go(func() { put(n + 1) })
		both.Wait()
		cached := readOne(t, s, k)
		rows, err := s.Get(t.Context(), driver.Get{Table: &plain, Keys: []keys.Key{k}, NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		if stored := numberOf(t, &rows[0]); cached != stored {
			t.Errorf("commits %d and %d: %d is cached, %d is stored", n, n+1, cached, stored)
		}
	}
	if s.CacheStats().Hits == 0 {
		t.Error("no row was found in the cache: the test proves nothing")
	}
}

// FewerIfRaced is how many rounds a random test has of so many without the race detector, with which each takes ten
// times as long.
func FewerIfRaced(rounds int) int {
	if Raced {
		return rounds / 3
	}
	return rounds
}
