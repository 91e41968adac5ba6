package pebblestore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// listed is a table with an index of which rows move from partition to partition.
var listed = &driver.Table{
	Name: "Listed", Sorted: true, Fields: []driver.Field{{Name: "n", Scalar: "Int"}},
	Indexes: []driver.Index{{Name: "byGroup", PK: []int{0}, AlwaysSorted: true}},
}

// member is a row of the table, under a group of the index; it is in none where group is "".
func member(k keys.Key, n uint64, group string) driver.Row {
	row := numbered(k, n)
	row.Indexes = []driver.IndexKey{{Key: keys.Key{PK: group, SK: k.SK}, HasPK: group != "", HasSK: true}}
	if group == "" {
		row.Indexes[0].PK = ""
	}
	return row
}

func put(row driver.Row) driver.Write { return driver.Write{Table: listed, Kind: driver.Put, Row: row} }

func applyAll(t *testing.T, s *Store, writes ...driver.Write) {
	t.Helper()
	if err := s.Apply(t.Context(), driver.Batch{Writes: writes}); err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, s *Store, q driver.Query) driver.Page {
	t.Helper()
	if q.Table == nil {
		q.Table = listed
	}
	page, err := s.Query(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// numbersOf are the numbers of the rows of a page.
func numbersOf(t *testing.T, page driver.Page) (all []uint64) {
	t.Helper()
	for i := range page.Rows {
		all = append(all, numberOf(t, &page.Rows[i]))
	}
	return all
}

var (
	ofTable = driver.Query{Index: driver.Primary, PK: "p", Limit: 10}
	ofGroup = driver.Query{Index: 0, PK: "g", Limit: 10}
)

// TestAPageIsCachedWhenItIsAskedForAgain, and answers as the engine does.
func TestAPageIsCachedWhenItIsAskedForAgain(t *testing.T) {
	s := openCached(t, Options{})
	for n := range uint64(5) {
		applyAll(t, s, put(member(keys.Key{PK: "p", SK: fmt.Sprint(n)}, n, "g")))
	}
	start := keys.Cursor{Key: keys.Key{PK: "p", SK: "1"}, Index: keys.Key{PK: "g", SK: "1"}}
	for _, q := range []driver.Query{
		ofTable, ofGroup,
		{Index: 0, PK: "g", Limit: 2}, {Index: 0, PK: "g", Limit: 2, Reverse: true},
		{Index: 0, PK: "g", Limit: 2, Start: &start},
		{Index: driver.Primary, PK: "p", Limit: 3, Start: &keys.Cursor{Key: start.Key}},
		{Index: driver.Primary, PK: "p", Limit: 3, Range: keys.Range{Op: keys.RangeAtLeast, Lo: "2"}},
		{Index: driver.Primary, PK: "p", Limit: 3, Range: keys.Range{Op: keys.RangeAtMost, Lo: "2"}},
	} {
		q.NoCache = true
		want := ask(t, s, q)
		q.NoCache = false
		before := s.CacheStats()
		for range 4 {
			if diff := cmp.Diff(want, ask(t, s, q)); diff != "" {
				t.Errorf("%+v: %s", q, diff)
			}
		}
		after := s.CacheStats()
		if hits, misses := after.PageHits-before.PageHits, after.PageMisses-before.PageMisses; hits != 2 || misses != 2 {
			t.Errorf("%+v: %d hits and %d misses, want 2 and 2", q, hits, misses)
		}
	}
}

// TestAPageThatWasReadBeforeACommitIsNotKeptAfterIt: a query reads the old page, a commit changes it, and only then the
// query keeps what it has read.
func TestAPageThatWasReadBeforeACommitIsNotKeptAfterIt(t *testing.T) {
	k, other := keys.Key{PK: "p", SK: "a"}, keys.Key{PK: "p", SK: "b"}
	for name, c := range map[string]struct {
		write          driver.Write
		table, grouped []uint64
	}{
		"a new row":           {put(member(other, 2, "g")), []uint64{1, 2}, []uint64{1, 2}},
		"a changed row":       {put(member(k, 2, "g")), []uint64{2}, []uint64{2}},
		"a row that moves":    {put(member(k, 2, "h")), []uint64{2}, nil},
		"a row without group": {put(member(k, 2, "")), []uint64{2}, nil},
		"a delete":            {driver.Write{Table: listed, Kind: driver.Delete, Row: driver.Row{Key: k}}, nil, nil},
		"a delete of the partition": {driver.Write{Table: listed, Kind: driver.DeletePartition,
			Row: driver.Row{Key: keys.Key{PK: k.PK}}}, nil, nil},
	} {
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, kept before %v", name, kept), func(t *testing.T) {
				s := openCached(t, Options{})
				applyAll(t, s, put(member(k, 1, "g")))
				for i, q := range []driver.Query{ofTable, ofGroup} {
					q.Table = listed
					if kept { // else the one that is late is the first
						ask(t, s, q)
						ask(t, s, q)
					}
					p := s.tables.find(listed)
					l, _ := s.rows.lookUpPage(p, &q)
					l.since, _ = p.commits.quiet()
					l.cache, l.table, l.keeps = s.rows, p, true
					w := walk{gathered: &gathered{}}
					if err := w.query(t.Context(), s, p, &q); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff([]uint64{1}, numbersOf(t, w.found)); diff != "" {
						t.Fatalf("the case proves nothing: %s", diff)
					}
					applyAll(t, s, c.write)
					l.keep(&w)
					want := [][]uint64{c.table, c.grouped}[i]
					for range 3 {
						if diff := cmp.Diff(want, numbersOf(t, ask(t, s, q))); diff != "" {
							t.Errorf("%+v: %s", q, diff)
						}
					}
					applyAll(t, s, driver.Write{Table: listed, Kind: driver.Delete, Row: driver.Row{Key: other}},
						driver.Write{Table: listed, Kind: driver.Put, Row: member(k, 1, "g")})
				}
			})
		}
	}
}

// TestWhileACommitTakesEffectNoPageIsOlderThanOneBefore: between the moment at which the engine shows a commit and the
// one at which the cache does, queries ask the engine.
func TestWhileACommitTakesEffectNoPageIsOlderThanOneBefore(t *testing.T) {
	s, k := openCached(t, Options{}), keys.Key{PK: "p", SK: "a"}
	applyAll(t, s, put(member(k, 1, "g")))
	for range 3 { // and is cached
		ask(t, s, ofTable)
	}
	if s.CacheStats().PageHits != 1 {
		t.Fatalf("%+v", s.CacheStats())
	}
	p := s.tables.find(listed)
	p.commits.begin()
	row := member(k, 2, "g")
	if err := s.db.Set(appendRowKey(nil, p.number, k), appendRow(nil, "", &row), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint64{2}, numbersOf(t, ask(t, s, ofTable))); diff != "" {
		t.Error(diff)
	}
	p.commits.end()
}

// TestCachedPagesAreOfOneMomentAndNeverOld: commits write all rows of a table at once, and move them from one partition
// of the index to the next. Each page has the rows of one commit, not one before the last that was acknowledged.
func TestCachedPagesAreOfOneMomentAndNeverOld(t *testing.T) {
	for name, opts := range map[string]Options{
		"all cached": {}, "few cached": {CacheBytes: 512 << 10}, "large commits": {MemTableBytes: 4 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			const rows, groups = 12, 3
			s := openCached(t, opts)
			write := func(n uint64) {
				var writes []driver.Write
				for i := range rows {
					k := keys.Key{PK: "p", SK: fmt.Sprintf("%02d", i)}
					writes = append(writes, put(member(k, n, fmt.Sprint(n%groups))))
				}
				applyAll(t, s, writes...)
			}
			write(1)
			besideReaders(t, 200, func(n uint64) {
				write(n)
				if found := numbersOf(t, ask(t, s, driver.Query{PK: fmt.Sprint(n % groups), Limit: rows})); len(found) != rows {
					t.Errorf("after commit %d its group has %v", n, found)
				}
				if found := numbersOf(t, ask(t, s, driver.Query{PK: fmt.Sprint((n - 1) % groups), Limit: rows})); len(found) > 0 {
					t.Errorf("after commit %d the group before has %v", n, found)
				}
			}, func(random *rand.Rand, least uint64) {
				q := driver.Query{Table: listed, Index: driver.Primary, PK: "p", Limit: rows, Reverse: random.IntN(2) == 0}
				if random.IntN(2) == 0 {
					q.Index, q.PK = 0, fmt.Sprint(random.IntN(groups))
				}
				page, err := s.Query(t.Context(), q)
				if err != nil {
					t.Error(err)
					return
				}
				found := numbersOf(t, page)
				if len(found) != rows && (len(found) > 0 || q.Index == driver.Primary) {
					t.Errorf("%+v finds %d rows", q, len(found))
				}
				for _, n := range found {
					if n != found[0] || n < least || q.Index == 0 && fmt.Sprint(n%groups) != q.PK {
						t.Errorf("%+v finds %v, and %d was acknowledged", q, found, least)
					}
				}
			})
			if s.CacheStats().PageHits == 0 {
				t.Error("no page was found in the cache: the test proves nothing")
			}
		})
	}
}

// TestPagesFromMemoryAreThoseOfTheEngine after any history of writes: each query is asked again and again between them.
func TestPagesFromMemoryAreThoseOfTheEngine(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	s := openCached(t, Options{})
	texts := []string{"a", "a\x00", "a\x00\x01", "b", "b\xff"} // some need escapes
	text := func() string { return texts[random.IntN(len(texts))] }
	for range FewerIfRaced(2000) {
		var writes []driver.Write
		written := map[keys.Key]bool{}
		for range 1 + random.IntN(3) {
			k := keys.Key{PK: text(), SK: text()}
			if written[k] {
				continue
			}
			written[k] = true
			switch random.IntN(6) {
			case 0:
				writes = append(writes, driver.Write{Table: listed, Kind: driver.Delete, Row: driver.Row{Key: k}})
			case 1:
				writes = append(writes, put(member(k, random.Uint64N(100), "")))
			default:
				writes = append(writes, put(member(k, random.Uint64N(100), text())))
			}
		}
		if random.IntN(20) == 0 {
			writes = append(writes, driver.Write{Table: listed, Kind: driver.DeletePartition,
				Row: driver.Row{Key: keys.Key{PK: text()}}})
		}
		applyAll(t, s, writes...)
		for range 4 {
			q := driver.Query{Table: listed, Index: random.IntN(2) - 1, PK: text(), Limit: 1 + random.IntN(4),
				Reverse: random.IntN(2) == 0}
			if random.IntN(3) == 0 {
				q.Range = keys.Range{Op: keys.RangeAtLeast, Lo: text()}
			}
			if random.IntN(3) == 0 {
				q.Start = &keys.Cursor{Key: keys.Key{PK: q.PK, SK: text()}}
				if q.Index == 0 {
					q.Start = &keys.Cursor{Key: keys.Key{PK: text(), SK: text()}, Index: keys.Key{PK: q.PK, SK: text()}}
				}
			}
			for range 2 {
				got := ask(t, s, q)
				q.NoCache = true
				want := ask(t, s, q)
				q.NoCache = false
				if reflect.DeepEqual(want, got) { // nearly always, and in a tenth of the time that cmp takes
					continue
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%+v: %s", q, diff)
				}
			}
		}
	}
	if hits := s.CacheStats().PageHits; hits < 100 {
		t.Errorf("%d pages were found in the cache: the test proves little", hits)
	}
}

// TestPagesWithRowsThatExpireAreNotCached: a row ends between one query and the next without any commit.
func TestPagesWithRowsThatExpireAreNotCached(t *testing.T) {
	s, end := openCached(t, Options{}), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	row := member(keys.Key{PK: "p", SK: "a"}, 1, "g")
	row.Expires = end
	applyAll(t, s, put(row), put(member(keys.Key{PK: "p", SK: "b"}, 2, "g")))
	for _, q := range []driver.Query{ofTable, ofGroup} {
		for range 3 {
			for now, want := range map[time.Time][]uint64{end.Add(-1): {1, 2}, end: {2}} {
				q.Now = now
				if diff := cmp.Diff(want, numbersOf(t, ask(t, s, q))); diff != "" {
					t.Errorf("at %v: %s", now, diff)
				}
			}
		}
	}
}

// TestCachedPagesAreOfTheKindThatIsAskedFor, where models share a table.
func TestCachedPagesAreOfTheKindThatIsAskedFor(t *testing.T) {
	s := openCached(t, Options{})
	mine, other := *listed, *listed
	mine.Kind, other.Kind = "mine", "other"
	applyAll(t, s,
		driver.Write{Table: &mine, Kind: driver.Put, Row: member(keys.Key{PK: "p", SK: "a"}, 1, "g")},
		driver.Write{Table: &other, Kind: driver.Put, Row: member(keys.Key{PK: "p", SK: "b"}, 2, "g")})
	for _, q := range []driver.Query{ofTable, ofGroup} {
		for range 3 {
			for table, want := range map[*driver.Table][]uint64{&mine: {1}, &other: {2}} {
				q.Table, q.Members = table, nil
				if diff := cmp.Diff(want, numbersOf(t, ask(t, s, q))); diff != "" {
					t.Errorf("%s: %s", table.Kind, diff)
				}
				q.Members = []*driver.Table{&mine, &other}
				if diff := cmp.Diff([]uint64{1, 2}, numbersOf(t, ask(t, s, q))); diff != "" {
					t.Errorf("both, by %s: %s", table.Kind, diff)
				}
			}
		}
	}
}

// TestCachedPagesAreCharged as those that the engine reads, and have no room in which two callers could write.
func TestCachedPagesAreCharged(t *testing.T) {
	s := openCached(t, Options{})
	applyAll(t, s, put(member(keys.Key{PK: "p", SK: "a"}, 1, "g")))
	for range 3 {
		page := ask(t, s, ofGroup)
		if diff := cmp.Diff([]uint64{1}, numbersOf(t, page)); diff != "" {
			t.Fatal(diff)
		}
		_, _ = append(page.Rows, driver.Row{}), append(page.Starts, keys.Cursor{})
		if cached := s.CacheStats().PageHits > 0; cached && cap(page.Rows)+cap(page.Starts) != 2 {
			t.Errorf("there is room for %d rows and %d starts", cap(page.Rows), cap(page.Starts))
		}
	}
	q := ofGroup
	q.Table = listed
	if _, err := s.Query(driver.WithBudget(t.Context(), nothing{}), q); !errors.Is(err, driver.ErrOverBudget) {
		t.Errorf("%v, want ErrOverBudget", err)
	}
	if got := s.CacheStats(); got.PageHits != 2 {
		t.Errorf("%+v, want 2 pages from the cache", got)
	}
}

// TestOfAPartitionAFewPagesAreCached: whoever asks for many does not fill the memory.
func TestOfAPartitionAFewPagesAreCached(t *testing.T) {
	s := openCached(t, Options{})
	applyAll(t, s, put(member(keys.Key{PK: "p", SK: "a"}, 1, "g")))
	var most uint64
	for n := range 100 {
		q := ofGroup
		q.Limit = 32 + n
		ask(t, s, q)
		ask(t, s, q)
		if n+1 == mostPages {
			most = s.CacheStats().Bytes
		}
	}
	if got := s.CacheStats(); got.Rows != 1 || got.Bytes != most || most == 0 {
		t.Errorf("%+v, want one partition with the %d bytes that it had with %d pages", got, most, mostPages)
	}
}

// TestACachedPageTakesWhatItsRowsTake, and not what a page may have room for while it is read; what was asked counts
// too.
func TestACachedPageTakesWhatItsRowsTake(t *testing.T) {
	s := openCached(t, Options{})
	long := strings.Repeat("x", 1000)
	row := member(keys.Key{PK: "p", SK: long}, 1, "g")
	applyAll(t, s, put(row))
	for _, index := range []int{driver.Primary, 0} {
		q := driver.Query{Index: index, PK: "p", Limit: 100}
		if index == 0 {
			q.PK = "g"
		}
		before := s.CacheStats().Bytes
		ask(t, s, q)
		ask(t, s, q)
		if took := s.CacheStats().Bytes - before; took < 1000 || took > 5000 {
			t.Errorf("a page of a row with a key of 1,000 bytes takes %d", took)
		}
		q.Range = keys.Range{Op: keys.RangeBetween, Lo: "y" + long, Hi: "z" + long}
		before = s.CacheStats().Bytes
		ask(t, s, q)
		ask(t, s, q)
		if took := s.CacheStats().Bytes - before; took < 2000 || took > 4000 {
			t.Errorf("an empty page between two texts of 1,000 bytes takes %d", took)
		}
	}
}
