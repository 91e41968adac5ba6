package rowcache

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// table is a table that other processes write to, and a clock.
type table struct {
	t     *testing.T
	is    *driver.Table
	rows  map[keys.Key]string
	now   time.Time
	reads int                 // keys that were read
	amid  func()              // called when the table has answered, before the cache hears of it
	lags  map[keys.Key]string // what a copy has that an eventually consistent read may find; nil is none
	cache *Cache

	mu         sync.Mutex // held where reads are made at the same time
	consistent []keys.Key // that were read consistently
}

func newTable(t *testing.T, ttl time.Duration) *table {
	s := &table{t: t, is: &driver.Table{Name: "cards"}, rows: map[keys.Key]string{}, now: time.Unix(1_700_000_000, 0)}
	var err error
	if s.cache, err = New(Options{Bytes: 1 << 20, TTL: ttl, Now: func() time.Time { return s.now }}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *table) read(_ context.Context, g driver.Get) ([]driver.Row, error) {
	return s.answer(g), nil
}

func (s *table) answer(g driver.Get) []driver.Row {
	s.mu.Lock()
	rows := make([]driver.Row, len(g.Keys))
	for i, k := range g.Keys {
		s.reads++
		if g.Consistent {
			s.consistent = append(s.consistent, keys.Key{PK: strings.Clone(k.PK), SK: strings.Clone(k.SK)})
		}
		rows[i].Key = k
		text := s.rows[k]
		if late, lags := s.lags[k]; lags && !g.Consistent {
			text = late
		}
		if text != "" {
			rows[i].Record = record.Record(text)
		}
	}
	amid := s.amid
	s.mu.Unlock()
	if amid != nil {
		amid()
	}
	return rows
}

type budget struct{ left int }

func (b *budget) Take(n int) error {
	if b.left -= n; b.left < 0 {
		return errors.New("too much")
	}
	return nil
}

// get reads rows as queries do, and returns their texts, "" for no row.
func (s *table) get(change func(*driver.Get), ks ...keys.Key) []string {
	s.t.Helper()
	g := driver.Get{Table: s.is, Keys: ks}
	if change != nil {
		change(&g)
	}
	rows, err := s.cache.Get(driver.WithBudget(s.t.Context(), &budget{1 << 20}), "cards", g, s.read)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.texts(rows, ks)
}

func (s *table) texts(rows []driver.Row, ks []keys.Key) []string {
	texts := make([]string, len(rows))
	for i, r := range rows {
		if r.Key != ks[i] {
			s.t.Fatalf("row %d has the key %v, want %v", i, r.Key, ks[i])
		}
		if r.Record != nil {
			texts[i] = string(r.Record)
		}
	}
	return texts
}

var one, two = keys.Key{PK: "1"}, keys.Key{PK: "2", SK: "a"}

func (s *table) want(texts []string, reads int, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, texts); diff != "" {
		s.t.Errorf("the rows differ (-want +got):\n%s", diff)
	}
	if s.reads != reads {
		s.t.Errorf("%d keys were read, want %d", s.reads, reads)
	}
}

func TestARowIsGivenOutForItsTimeAndNoLonger(t *testing.T) {
	s := newTable(t, time.Second)
	s.rows[one] = "old"
	s.want(s.get(nil, one, two), 2, "old", "")
	s.rows[one], s.rows[two] = "new", "there"
	s.now = s.now.Add(time.Second - 1)
	s.want(s.get(nil, two, one), 2, "", "old")
	s.now = s.now.Add(1)
	s.want(s.get(nil, one), 3, "new")
	s.want(s.get(nil, one, two), 4, "new", "there")
	if got := s.cache.Stats(); got.Hits != 3 || got.Misses != 4 || got.Rows != 2 || got.Bytes == 0 {
		t.Errorf("the cache counts %+v, want 3 hits, 4 misses and 2 rows", got)
	}
}

// TestARowIsAsOldAsItsReadIsLong: the time counts from before the read, which may have seen the row at its beginning.
func TestARowIsAsOldAsItsReadIsLong(t *testing.T) {
	s := newTable(t, time.Second)
	s.amid = func() { s.now = s.now.Add(time.Second) }
	s.rows[one] = "old"
	s.get(nil, one)
	s.rows[one] = "new"
	s.want(s.get(nil, one), 2, "new")
}

// TestASlowReadReplacesNothingThatALaterOneHasFound, unless that has read it as another layout.
func TestASlowReadReplacesNothingThatALaterOneHasFound(t *testing.T) {
	former := &driver.Table{Name: "cards"}
	for want, later := range map[string]func(*driver.Get){
		"new": nil, "old": func(g *driver.Get) { g.Table = former },
	} {
		s := newTable(t, time.Minute)
		s.rows[one] = "old"
		s.amid = func() {
			s.amid = nil
			s.rows[one] = "new"
			s.now = s.now.Add(time.Second)
			s.get(later, one)
		}
		s.want(s.get(nil, one), 2, "old")
		s.want(s.get(nil, one), 2, want)
	}
}

// TestARowIsReadAgainWhenTheClockWasSetBack: how old it is cannot be said then.
func TestARowIsReadAgainWhenTheClockWasSetBack(t *testing.T) {
	s := newTable(t, time.Second)
	s.rows[one] = "old"
	s.get(nil, one)
	s.rows[one] = "new"
	s.now = s.now.Add(-time.Nanosecond)
	s.want(s.get(nil, one), 2, "new")
}

// TestWhatThisProcessWritesIsNotGivenOutAsItWasBefore: neither when it was kept, nor when it is read meanwhile.
func TestWhatThisProcessWritesIsNotGivenOutAsItWasBefore(t *testing.T) {
	s := newTable(t, time.Hour)
	write := func(text string) {
		s.rows[one] = text
		s.cache.Wrote("cards", "", one)
	}
	write("1")
	s.want(s.get(nil, one), 1, "1")
	write("2")
	s.want(s.get(nil, one), 2, "2")
	write("3")
	s.amid = func() { write("4") }
	s.want(s.get(nil, one), 3, "3") // as it was when it was asked for
	s.amid = nil
	s.want(s.get(nil, one), 4, "4")
	s.want(s.get(nil, one), 4, "4")
}

func TestReadsThatAskForMoreAreNotAnsweredFromMemory(t *testing.T) {
	for name, change := range map[string]func(*driver.Get){
		"consistent": func(g *driver.Get) { g.Consistent = true }, "snapshot": func(g *driver.Get) { g.Snapshot = true },
		"of a fold": func(g *driver.Get) { g.NoCache = true }, "with positions": func(g *driver.Get) { g.Writer = "w" },
	} {
		t.Run(name, func(t *testing.T) {
			s := newTable(t, time.Hour)
			s.rows[one] = "old"
			s.get(change, one)
			s.want(s.get(nil, one), 2, "old") // nor was it kept
			s.rows[one] = "new"
			s.want(s.get(change, one), 3, "new")
		})
	}
	s := newTable(t, time.Hour)
	for range 2 {
		if _, err := s.cache.Get(t.Context(), "cards", driver.Get{Table: s.is, Keys: []keys.Key{one}}, s.read); err != nil {
			t.Fatal(err)
		}
	}
	if s.reads != 2 {
		t.Error("a read that no client waits for is answered from memory")
	}
}

func TestRowsOfOtherTablesKindsAndLayoutsAreOthers(t *testing.T) {
	s := newTable(t, time.Hour)
	s.rows[one] = "row"
	s.get(nil, one)
	for i, other := range []*driver.Table{{Name: "cards", Kind: "Owner"}, {Name: "cards"}} {
		s.get(func(g *driver.Get) { g.Table = other }, one)
		if s.reads != i+2 {
			t.Errorf("%+v: a row of another kind or layout is taken for one of it", other)
		}
	}
	g := driver.Get{Table: s.is, Keys: []keys.Key{one}}
	if _, err := s.cache.Get(driver.WithBudget(t.Context(), &budget{1 << 20}), "others", g, s.read); err != nil {
		t.Fatal(err)
	}
	if s.reads != 4 {
		t.Error("a row of another table is taken for one of it")
	}
}

func TestRowsFromMemoryExpireAndAreChargedFor(t *testing.T) {
	s := newTable(t, time.Hour)
	expires := s.now.Add(time.Minute)
	read := func(_ context.Context, g driver.Get) ([]driver.Row, error) {
		return []driver.Row{{Key: one, Record: record.Record("row"), Expires: expires}}, nil
	}
	get := func(left int, now time.Time) ([]driver.Row, error) {
		return s.cache.Get(driver.WithBudget(t.Context(), &budget{left}), "cards",
			driver.Get{Table: s.is, Keys: []keys.Key{one}, Now: now}, read)
	}
	for _, c := range []struct {
		left int
		now  time.Time
		want string
		err  error
	}{
		{1000, s.now, "row", nil}, {1000, expires.Add(-1), "row", nil}, {10, s.now, "", driver.ErrOverBudget},
		{10, expires, "", nil},
	} {
		rows, err := get(c.left, c.now)
		if !errors.Is(err, c.err) {
			t.Fatalf("%+v: the error is %v", c, err)
		}
		if err == nil && string(rows[0].Record) != c.want {
			t.Errorf("%+v: the row is %q", c, rows[0].Record)
		}
	}
}

// version is what was under a key from a moment on.
type version struct {
	text string
	own  bool // written by this process
	at   time.Time
}

// mayBe reports whether a read that began then may answer so: with what was there no longer ago than the cache may
// keep it, and what this process had not written over before.
func mayBe(text string, history []version, asked time.Time, ttl time.Duration) bool {
	for n, v := range history {
		later := history[n+1:]
		over := slices.ContainsFunc(later, func(l version) bool { return l.own && !l.at.After(asked) })
		recent := len(later) == 0 || later[0].at.After(asked.Add(-ttl))
		if v.text == text && recent && !over {
			return true
		}
	}
	return false
}

// TestNoRowIsOlderThanItMayBe: random reads are answered so while other processes write, and this one does.
func TestNoRowIsOlderThanItMayBe(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	const ttl = 100 * time.Millisecond
	s := newTable(t, ttl)
	pass := func() { s.now = s.now.Add(time.Duration(1+rng.IntN(20)) * time.Millisecond) }
	history := map[keys.Key][]version{}
	for n := range 5 {
		history[keys.Key{PK: strconv.Itoa(n)}] = []version{{at: s.now}}
	}
	write := func() {
		k := keys.Key{PK: strconv.Itoa(rng.IntN(5))}
		v := version{strconv.Itoa(rng.IntN(1 << 30)), rng.IntN(2) == 0, s.now}
		if rng.IntN(4) == 0 {
			v.text = ""
		}
		s.rows[k] = v.text
		history[k] = append(history[k], v)
		if v.own {
			s.cache.Wrote("cards", "", k)
		}
	}
	s.amid = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for range rng.IntN(3) {
			pass()
			write()
		}
	}
	for range 5000 {
		pass()
		if rng.IntN(3) == 0 {
			write()
		}
		asked := s.now
		var ks []keys.Key
		for _, n := range rng.Perm(5)[:1+rng.IntN(4)] {
			ks = append(ks, keys.Key{PK: strconv.Itoa(n)})
		}
		for i, text := range s.get(nil, ks...) {
			if !mayBe(text, history[ks[i]], asked, ttl) {
				t.Fatalf("at %v the row %v is %q, of %+v", asked, ks[i], text, history[ks[i]])
			}
		}
	}
	if got := s.cache.Stats(); got.Hits < 500 {
		t.Errorf("the cache was hit %d times: this proves nothing", got.Hits)
	}
}

// TestWhatThisProcessHasWrittenIsNotGivenOutAsItWas, though a copy of the table that lags behind has that still.
func TestWhatThisProcessHasWrittenIsNotGivenOutAsItWas(t *testing.T) {
	s := newTable(t, time.Hour)
	s.rows[one], s.rows[two] = "old", "other"
	s.want(s.get(nil, one), 1, "old")
	s.rows[one], s.lags = "new", map[keys.Key]string{one: "old"}
	s.cache.Wrote("cards", "", one)
	s.want(s.get(nil, two, one), 3, "other", "new")
	s.want(s.get(nil, one), 3, "new")
	s.now = s.now.Add(settles)
	s.lags = nil // by now
	s.want(s.get(func(g *driver.Get) {
		if g.Consistent {
			t.Error("a read is consistent that need not be")
		}
	}, one), 3, "new")
	s.cache.Wrote("cards", "", one)
	s.now = s.now.Add(settles)
	s.lags = map[keys.Key]string{one: "of a copy"}
	s.want(s.get(nil, one), 4, "of a copy") // reads are as cheap as they were
}

// settled has the table asked for so long ago that a copy has what was written before.
func (s *table) settled() {
	s.get(nil, keys.Key{PK: "any"})
	s.now = s.now.Add(settles)
	s.reads, s.consistent = 0, nil
}

// TestOnlyWhatWasJustWrittenIsReadConsistently, though it is asked for with other rows: such a read costs twice as
// much.
func TestOnlyWhatWasJustWrittenIsReadConsistently(t *testing.T) {
	s := newTable(t, time.Hour)
	s.settled()
	s.rows[one], s.rows[two] = "1", "2"
	s.cache.Wrote("cards", "", two)
	s.want(s.get(nil, one, two, keys.Key{PK: "3"}), 3, "1", "2", "")
	if diff := cmp.Diff([]keys.Key{two}, s.consistent); diff != "" {
		t.Errorf("what is read consistently differs (-want +got):\n%s", diff)
	}
}

// TestManyWritesMakeFewOtherReadsConsistent, and those to a table that nobody reads, as while rows are built, none.
func TestManyWritesMakeFewOtherReadsConsistent(t *testing.T) {
	const writes, reads = 2500, 2000
	for table, most := range map[string]int{"cards": reads / 10, "cards.g1": 0} {
		s := newTable(t, time.Hour)
		s.settled()
		for n := range writes {
			s.cache.Wrote(table, "", keys.Key{PK: strconv.Itoa(n), SK: "written"})
		}
		for n := range reads {
			s.get(nil, keys.Key{PK: strconv.Itoa(n), SK: "other"})
		}
		if n := len(s.consistent); n > most {
			t.Errorf("after %d writes to %s, %d of %d other rows are read consistently, want at most %d", writes, table, n,
				reads, most)
		}
	}
}

// TestWhoReadsATableFirstFindsWhatWasJustWrittenToIt, though writes are noted from then on.
func TestWhoReadsATableFirstFindsWhatWasJustWrittenToIt(t *testing.T) {
	s := newTable(t, time.Hour)
	s.now = s.now.Add(time.Minute)
	s.rows[one], s.lags = "new", map[keys.Key]string{one: "old"}
	s.cache.Wrote("cards", "", one)
	s.want(s.get(nil, one), 1, "new")
}

// TestARowThatCannotBeReadFailsThoseThatAreReadWithIt, in whichever of two reads it is.
func TestARowThatCannotBeReadFailsThoseThatAreReadWithIt(t *testing.T) {
	for _, fails := range []bool{false, true} {
		s := newTable(t, time.Hour)
		s.settled()
		s.cache.Wrote("cards", "", one)
		_, err := s.cache.Get(driver.WithBudget(t.Context(), &budget{1 << 20}), "cards",
			driver.Get{Table: s.is, Keys: []keys.Key{one, two}},
			func(ctx context.Context, g driver.Get) ([]driver.Row, error) {
				if g.Consistent == fails {
					return nil, driver.ErrThrottled
				}
				return s.read(ctx, g)
			})
		if !errors.Is(err, driver.ErrThrottled) {
			t.Errorf("where the consistent read fails (%t): %v", fails, err)
		}
	}
}

// TestAnEntryWeighsWhatItsIndexKeysDo: a small row may have keys of kilobytes in many indexes.
func TestAnEntryWeighsWhatItsIndexKeysDo(t *testing.T) {
	long := strings.Repeat("x", 1000)
	bare := weight(place{}, &entry{})
	heavy := weight(place{Key: keys.Key{PK: long, SK: long}}, &entry{row: driver.Row{
		Record: record.Record(long), Writers: []string{long},
		Indexes: []driver.IndexKey{{Key: keys.Key{PK: long, SK: long}}, {Key: keys.Key{PK: long}}},
	}})
	if heavy-bare < 8000 {
		t.Errorf("an entry of 8,000 bytes of texts weighs %d more than an empty one", heavy-bare)
	}
}

// TestARowIsKeptWithoutTheRowThatLedToIt: keys that were asked for are parts of large rows that are joined to it.
func TestARowIsKeptWithoutTheRowThatLedToIt(t *testing.T) {
	const rows, size = 100, 100 << 10
	s := newTable(t, time.Hour)
	part := func(text string) string { return (text + strings.Repeat("x", size))[:len(text)] }
	before := inUse()
	for i := range rows {
		k := keys.Key{PK: strconv.Itoa(i), SK: "a"}
		if i%2 == 0 { // of the others it is kept that they are not there
			s.rows[k] = "row"
		}
		s.get(nil, keys.Key{PK: part(k.PK), SK: part(k.SK)})
	}
	if took := inUse() - before; took > rows*size/10 {
		t.Errorf("%d rows of few bytes take %d", rows, took)
	}
	if got := s.cache.Stats().Rows; got != rows {
		t.Errorf("%d rows are kept, want %d", got, rows)
	}
}

// inUse is how many bytes are in use.
func inUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
