package pebblestore_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/internal/tests/crashfs"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/querydb/record"
)

// TestWhatWasAcknowledgedSurvivesTheLossOfPower crashes a store again and again, between any two operations on its
// files, opening included. Each life continues with the files that the former one left behind.
func TestWhatWasAcknowledgedSurvivesTheLossOfPower(t *testing.T) {
	lives := pebblestore.FewerIfRaced(150)
	for name, keep := range map[string]func(*rand.Rand) int{
		"nothing unsynced is kept": func(*rand.Rand) int { return 0 },
		"some unsynced is kept":    func(rng *rand.Rand) int { return rng.IntN(101) },
	} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rng := rand.New(rand.NewPCG(seed, 0))
			h := &history{T: t, seed: seed, fs: crashfs.New(), rows: map[keys.Key]driver.Row{}}
			for life := range lives {
				h.live(life, rng.Int64N(400)+1, vfs.CrashCloneCfg{UnsyncedDataPercent: keep(rng), RNG: rng})
			}
			t.Logf("%d batches over %d lives", h.done, lives)
			if h.done < uint64(lives) {
				t.Errorf("%d batches in %d lives: the case proves little", h.done, lives)
			}
		})
	}
}

// history is a store over its lives.
type history struct {
	*testing.T
	seed uint64
	fs   *crashfs.FS
	// done is the number of the last batch that the files have; rows is the outcome of all up to it.
	done uint64
	rows map[keys.Key]driver.Row
	// What the former life had acknowledged, and begun, when it ended.
	acknowledged, begun uint64
}

// power is a file system that loses power before one of its operations.
type power struct {
	left               atomic.Int64 // operations
	cut                sync.Once
	lost               chan struct{} // closed when the power is gone
	from, after        *crashfs.FS
	how                vfs.CrashCloneCfg
	acknowledged       atomic.Uint64
	begun              atomic.Uint64
	wasAcked, wasBegun uint64
}

func (p *power) MaybeError(errorfs.Op) error {
	if p.left.Add(-1) <= 0 {
		p.cut.Do(func() {
			p.wasAcked = p.acknowledged.Load()
			p.after = p.from.CrashClone(p.how)
			p.wasBegun = p.begun.Load()
			close(p.lost)
		})
	}
	return nil
}

func (p *power) gone() bool {
	select {
	case <-p.lost:
		return true
	default:
		return false
	}
}

// live opens the store, looks whether all is there, and writes until the power goes.
func (h *history) live(life int, operations int64, how vfs.CrashCloneCfg) {
	h.Helper()
	p := &power{from: h.fs, how: how, lost: make(chan struct{})}
	p.left.Store(operations)
	p.acknowledged.Store(h.acknowledged)
	p.begun.Store(h.begun)
	s := open(h, pebblestore.Options{Dir: "data", FS: errorfs.Wrap(h.fs, errorfs.InjectorFunc(p.MaybeError)),
		MemTableBytes: 32 << 10, CacheBytes: 1 << 20})
	defer func() {
		if err := s.Close(); err != nil {
			h.Errorf("close: %v", err)
		}
	}()
	h.look(life, s)
	p.acknowledged.Store(h.done)
	p.begun.Store(h.done)
	for n := h.done + 1; !p.gone(); n++ {
		p.begun.Store(n)
		if err := s.Apply(h.Context(), h.batch(n)); err != nil {
			h.Fatalf("life %d: apply batch %d: %v", life, n, err)
		}
		p.acknowledged.Store(n)
	}
	h.fs, h.acknowledged, h.begun = p.after, p.wasAcked, p.wasBegun
}

var (
	crashTable = &driver.Table{
		Name: "Rows", Sorted: true, Fields: []driver.Field{{Name: "pk"}, {Name: "sk"}, {Name: "n"}}, PK: []int{0},
		SK: []int{1},
		Indexes: []driver.Index{{Name: "one", PK: []int{2}}, {Name: "two", PK: []int{2}, SK: []int{1},
			Projected: []int{0, 1}}},
	}
	checkpoints = &driver.Table{Name: "Checkpoints", Fields: []driver.Field{{Name: "n"}}, PK: []int{0}}
	checkpoint  = keys.Key{PK: "checkpoint"}
)

const partitions = 4

// batch makes the n-th batch, the same in every life: puts and deletes of a few rows, now and then of many, and the
// checkpoint.
func (h *history) batch(n uint64) driver.Batch {
	rng := rand.New(rand.NewPCG(h.seed, n))
	size := 1 + rng.IntN(20)
	if rng.IntN(10) == 0 {
		size = 200
	}
	var b driver.Batch
	for _, i := range rng.Perm(400)[:size] {
		w := driver.Write{Table: crashTable, Row: driver.Row{Key: keys.Key{PK: fmt.Sprint(i % partitions),
			SK: fmt.Sprint(i)}}}
		if rng.IntN(4) == 0 {
			w.Kind = driver.Delete
		} else {
			w.Row.Record = newRecord(w.Row.Key.PK, w.Row.Key.SK, fmt.Sprintf("%0*d", 20+rng.IntN(200), n))
			w.Row.Position = driver.Position{Partition: "events", Offset: n}
			w.Row.Indexes = []driver.IndexKey{
				{Key: keys.Key{PK: fmt.Sprint(rng.IntN(partitions))}, HasPK: true},
				{Key: keys.Key{PK: fmt.Sprint(rng.IntN(partitions)), SK: fmt.Sprint(n)}, HasPK: true, HasSK: true},
			}
		}
		b.Writes = append(b.Writes, w)
	}
	b.Last = []driver.Write{{Table: checkpoints, Row: driver.Row{
		Key: checkpoint, Record: newRecord("n"), Position: driver.Position{Partition: "events", Offset: n},
	}}}
	return b
}

func newRecord(texts ...string) record.Record {
	var b record.Builder
	b.Begin(len(texts))
	for _, s := range texts {
		b.String(s)
	}
	rec, _, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return rec
}

// look compares what the store has with what the batches up to its checkpoint make.
func (h *history) look(life int, s *pebblestore.Store) {
	h.Helper()
	got, err := s.Get(h.Context(), driver.Get{Table: checkpoints, Keys: []keys.Key{checkpoint}})
	if err != nil {
		h.Fatalf("life %d: %v", life, err)
	}
	n := got[0].Position.Offset
	if n < h.acknowledged || n > h.begun {
		h.Fatalf("life %d: the checkpoint is %d, and batch %d was acknowledged, batch %d begun", life, n, h.acknowledged,
			h.begun)
	}
	for ; h.done < n; h.done++ {
		for _, w := range h.batch(h.done + 1).Writes {
			if delete(h.rows, w.Row.Key); w.Kind == driver.Put {
				h.rows[w.Row.Key] = w.Row
			}
		}
	}
	for index := driver.Primary; index < len(crashTable.Indexes); index++ {
		for pk := range partitions {
			h.lookAt(life, s, index, fmt.Sprint(pk))
		}
	}
}

// lookAt compares one partition of the table or of an index.
func (h *history) lookAt(life int, s *pebblestore.Store, index int, pk string) {
	h.Helper()
	var want []driver.Row
	for _, row := range h.rows {
		switch {
		case index == driver.Primary && row.Key.PK == pk:
			want = append(want, row)
		case index != driver.Primary && row.Indexes[index].PK == pk:
			part := driver.Row{Key: row.Key, Record: row.Record}
			if fields := crashTable.Indexes[index].Projected; fields != nil {
				part.Record = record.Project(row.Record, fields)
			}
			want = append(want, part)
		}
	}
	page, err := s.Query(h.Context(), driver.Query{Table: crashTable, Index: index, PK: pk, Limit: 1000})
	if err != nil {
		h.Fatalf("life %d: query: %v", life, err)
	}
	byKey := func(a, b driver.Row) int {
		return cmp.Or(cmp.Compare(a.Key.PK, b.Key.PK), cmp.Compare(a.Key.SK, b.Key.SK))
	}
	slices.SortFunc(want, byKey)
	slices.SortFunc(page.Rows, byKey)
	if !slices.EqualFunc(want, page.Rows, equal) {
		h.Fatalf("life %d, batch %d, index %d, partition %s: %s", life, h.done, index, pk,
			gocmp.Diff(want, page.Rows, cmpopts.EquateEmpty()))
	}
}

// equal is quick where go-cmp is thorough.
func equal(a, b driver.Row) bool {
	return a.Key == b.Key && a.Position == b.Position && bytes.Equal(a.Record, b.Record) &&
		slices.Equal(a.Indexes, b.Indexes)
}
