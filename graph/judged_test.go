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

// slow is a store whose reads take their time, and which counts the rows that are in memory at the same time, and the
// queries that are under way.
type slow struct {
	driver.Driver
	rowBytes         int // what a row of a query takes of the budget, besides its record
	rows, mostRows   atomic.Int64
	reads, mostReads atomic.Int64
}

// add adds to a number, and notes the most that it has been.
func add(to, most *atomic.Int64, n int) {
	now := to.Add(int64(n))
	for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
	}
}

func (s *slow) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	add(&s.rows, &s.mostRows, len(g.Keys))
	defer s.rows.Add(int64(-len(g.Keys)))
	time.Sleep(time.Millisecond)
	return s.Driver.Get(ctx, g)
}

func (s *slow) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	add(&s.reads, &s.mostReads, 1)
	defer s.reads.Add(-1)
	page, err := s.Driver.Query(ctx, q)
	for range page.Rows {
		if err := driver.Charge(driver.BudgetOf(ctx), s.rowBytes); err != nil {
			return driver.Page{}, err
		}
		add(&s.rows, &s.mostRows, 1)
		defer s.rows.Add(-1)
	}
	time.Sleep(time.Millisecond)
	return page, err
}

// ample is the budget of a request that may read anything.
type ample struct{}

func (ample) Take(int) error { return nil }

// accountsIn are accounts of ann's in a store, each with a hundred rows of others before one of hers.
func accountsIn(t *testing.T, store driver.Driver, accounts int) *bench {
	api := newShop()
	bill := api.Types["Invoice"].Fields["bill"] // leads to the first of its account
	bill.Join.Index, bill.Ordinal = 0, 1
	b := newBenchOf(t, api, shopSDL, Config{}, store)
	among(t, b, slices.Repeat([][]int{{100}}, accounts)...)
	return b
}

const pageOfAccount = `InvoiceByOwnerId(ownerId: "acc%d") { items { amount } }`

// TestFewRowsOfAnOperationAreInMemoryUnjudged, over all its fields, as nothing is charged for them.
func TestFewRowsOfAnOperationAreInMemoryUnjudged(t *testing.T) {
	for name, ask := range map[string]func(t *testing.T, store *slow) (b *bench, query string){
		"lists": func(t *testing.T, store *slow) (*bench, string) {
			return newBenchOf(t, newDesks(), deskSDL, Config{}, store), withIDs + fields(10, someSlips)
		},
		"pages of large rows": func(t *testing.T, store *slow) (*bench, string) {
			store.rowBytes = 1 << 20
			return accountsIn(t, store, 4), fields(4, pageOfAccount)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &slow{Driver: memstore.New()}
				b, query := ask(t, store)
				ctx := driver.WithBudget(as(t.Context(), "ann"), ample{})
				got := b.do(ctx, query, map[string]any{"ids": slips("bob", 40)})
				if got.Errors != nil {
					t.Errorf("errors %v", got.Errors)
				}
				if n := store.mostRows.Load(); n > read.JudgedAtOnce {
					t.Errorf("%d rows are read at the same time, and %d may be", n, read.JudgedAtOnce)
				}
			})
		})
	}
}

// TestPagesOfAnOwnerAreReadTogether where their rows are small, and so are joins to one row: one after another they
// would take as many times as long.
func TestPagesOfAnOwnerAreReadTogether(t *testing.T) {
	for name, query := range map[string]string{
		"pages": pageOfAccount, "joins": `Invoice(id: "acc%d-0-own") { bill { amount } }`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const together = 8 // as JoinParallelism is by default
				store := &slow{Driver: memstore.New()}
				b := accountsIn(t, store, together)
				got := b.do(driver.WithBudget(as(t.Context(), "ann"), ample{}), fields(together, query), nil)
				if got.Errors != nil {
					t.Errorf("errors %v", got.Errors)
				}
				if n := store.mostReads.Load(); n != together {
					t.Errorf("%d reads are under way at the same time, want %d", n, together)
				}
			})
		})
	}
}
