package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// slips are the ids of so many slips.
func slips(prefix string, n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint(prefix, i))
	}
	return ids
}

// A list of slips, and what names the ids of several lists.
const (
	withIDs   = `query($ids: [ID!]!) `
	someSlips = `SlipByIds(ids: $ids) { id }`
)

// cabinets are a store in which a request may name 50 keys that lead to no row of ann's. Its desks lead to a hundred
// slips of hers, and to 60 slips and 60 papers that are bob's where others is true, and missing else.
func cabinets(t *testing.T, others bool) *bench {
	catalog := newDesks()
	catalog.Types["Paper"].Model.Indexes[1].Unique = true
	b := newBenchOf(t, catalog, deskSDL, Config{MaxHidden: 50}, memstore.New())
	b.put(t, "Desk", row{"id": "own", "slipId": "own0", "slipIds": slips("own", 100), "paperId": "p", "person": "ann",
		"team": "x"}, row{"id": "bob", "slipId": "bob0", "slipIds": slips("bob", 51), "paperId": "p", "person": "bob",
		"team": "y"})
	for _, id := range slips("bob", 60) {
		b.put(t, "Desk", row{"id": id, "slipId": id, "slipIds": []string{}, "paperId": id, "person": "bob", "team": id})
	}
	for _, id := range slips("own", 100) {
		b.put(t, "Slip", row{"id": id, "owner": "ann"})
	}
	if others {
		for _, id := range slips("bob", 60) {
			b.put(t, "Slip", row{"id": id, "owner": "bob"})
			b.put(t, "Paper", row{"id": id, "version": "v1", "owner": "bob", "team": id})
		}
	}
	b.store.reset()
	return b
}

// TestARequestNamesALimitedNumberOfKeysThatLeadToNoOwnRow, in all its lists and joins together, whether rows of others
// are there or none: each is read, and nothing is charged for it. Own rows do not count.
func TestARequestNamesALimitedNumberOfKeysThatLeadToNoOwnRow(t *testing.T) {
	alone, among := cabinets(t, false), cabinets(t, true)
	lists := withIDs + fields(2, someSlips)
	for _, tt := range []struct {
		name, query string
		ids         []string
		tooMany     bool
	}{
		{"own rows", lists, slips("own", 100), false},
		{"as many keys as may be", lists, slips("bob", 25), false},
		{"a key more", lists, slips("bob", 26), true},
		{"among own rows", lists, append(slips("own", 100), slips("bob", 26)...), true},
		{"few at a time", withIDs + fields(10, someSlips), slips("bob", 6), true},
		{"a join", `{ Desk(id: "bob") { slips { id } } }`, nil, true},
		{"a join to own rows", `{ Desk(id: "own") { slips { id } } }`, nil, false},
	} {
		for _, b := range []*bench{alone, among} {
			b.store.reset()
			got := b.do(as(t.Context(), "ann"), tt.query, map[string]any{"ids": tt.ids})
			refused := slices.ContainsFunc(got.Errors, func(err string) bool {
				return strings.HasPrefix(err, "LIMIT_EXCEEDED ")
			})
			if refused != tt.tooMany {
				t.Errorf("%s: errors %v, want some that are LIMIT_EXCEEDED: %t", tt.name, got.Errors, tt.tooMany)
			}
			if n := b.store.got.Load(); tt.tooMany && n > 500 {
				t.Errorf("%s: %d keys are read", tt.name, n)
			}
		}
	}
}

// fields is a query of so many fields, each as the format says, with its number for %d.
func fields(n int, format string) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, " f%d: %s", i, strings.ReplaceAll(format, "%d", fmt.Sprint(i)))
	}
	return "{" + all.String() + " }"
}

// TestEveryReadOfARowOfAnotherCountsItsKey: of a row by its key, of a join through a unique index, and of the row that
// says who owns a partition of an index.
func TestEveryReadOfARowOfAnotherCountsItsKey(t *testing.T) {
	for _, others := range []bool{false, true} {
		b, shop := cabinets(t, others), newBench(t, Config{MaxHidden: 50})
		if others {
			for i := range 60 {
				shop.put(t, "Ownership", row{"ownerId": fmt.Sprint("bob", i), "subject": "bob"})
			}
		}
		for _, tt := range []struct {
			b      *bench
			format string
		}{
			{b, `Paper(id: "bob%d", version: "v1") { version }`},
			{b, `Desk(id: "bob%d") { firstOfTeam { version } }`},
			{shop, `InvoiceByOwnerId(ownerId: "bob%d") { items { amount } }`},
		} {
			for n, want := range map[int]int{50: 0, 51: 1} {
				exceeded := 0
				for _, err := range tt.b.do(as(t.Context(), "ann"), fields(n, tt.format), nil).Errors {
					if strings.HasPrefix(err, "LIMIT_EXCEEDED ") {
						exceeded++
					} else if !strings.HasPrefix(err, "FORBIDDEN ") {
						t.Errorf("%s: %s", tt.format, err)
					}
				}
				if exceeded != want {
					t.Errorf("%d fields %s: %d errors LIMIT_EXCEEDED, want %d", n, tt.format, exceeded, want)
				}
			}
		}
	}
}

// slow is a store whose reads take their time, and which counts the keys and rows that are read at the same time.
type slow struct {
	driver.Driver
	reading, most atomic.Int64
}

func (s *slow) take(n int) {
	now := s.reading.Add(int64(n))
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	time.Sleep(time.Millisecond)
	s.reading.Add(int64(-n))
}

func (s *slow) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	s.take(len(g.Keys))
	return s.Driver.Get(ctx, g)
}

func (s *slow) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	s.take(min(q.Limit, read.JudgedAtOnce))
	return s.Driver.Query(ctx, q)
}

// TestFewRowsOfAnOperationAreInMemoryUnjudged, over all its fields, as nothing is charged for them.
func TestFewRowsOfAnOperationAreInMemoryUnjudged(t *testing.T) {
	for name, ask := range map[string]func(t *testing.T, store *slow) (b *bench, query string){
		"lists": func(t *testing.T, store *slow) (*bench, string) {
			return newBenchOf(t, newDesks(), deskSDL, Config{}, store), withIDs + fields(10, someSlips)
		},
		"pages": func(t *testing.T, store *slow) (*bench, string) {
			b := newBenchOf(t, newShop(), shopSDL, Config{}, store)
			among(t, b, []int{100}, []int{100}, []int{100}, []int{100})
			return b, fields(4, `InvoiceByOwnerId(ownerId: "acc%d") { items { amount } }`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &slow{Driver: memstore.New()}
				b, query := ask(t, store)
				got := b.do(as(t.Context(), "ann"), query, map[string]any{"ids": slips("bob", 40)})
				if got.Errors != nil {
					t.Errorf("errors %v", got.Errors)
				}
				if n := store.most.Load(); n > read.JudgedAtOnce {
					t.Errorf("%d rows are read at the same time, and %d may be", n, read.JudgedAtOnce)
				}
			})
		})
	}
}
