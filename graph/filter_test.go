package graph

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// order is a row that filters by total look at.
func order(id, status string, total float64, group string) row {
	return row{"orderId": id, "customerId": "c", "productIds": []string{}, "status": status, "placedAt": day(1),
		"total": total, "sold": int64(0), "group": group}
}

// TestAFullFilteredPageLeavesWhatMayBeExaminedToOthers: it does not go on to see whether there is a next one.
func TestAFullFilteredPageLeavesWhatMayBeExaminedToOthers(t *testing.T) {
	b := newBenchOf(t, newShop(), shopSDL, Config{MaxExamined: 50}, memstore.New())
	for i := range 200 {
		b.put(t, "Order", order(fmt.Sprintf("o%03d", i), "OPEN", float64(100*min(1, max(0, 1-i))), "g"))
	}
	b.put(t, "Order", order("p", "PAID", 100, "g"))
	for range 20 {
		got := b.do(t.Context(), `{ a: OrderByStatus(status: OPEN, limit: 1, filter: {total: {gt: 50}}) { items { orderId } nextToken }
			b: OrderByStatus(status: PAID, filter: {total: {gt: 50}}) { items { orderId } nextToken } }`, nil)
		text := fmt.Sprint(got)
		if len(got.Errors) > 0 || !strings.Contains(text, "o000") || !strings.Contains(text, "orderId:p") {
			t.Fatalf("got %s", text)
		}
	}
}

// sizes measures what a store reads.
type sizes struct {
	driver.Driver
	most, sum atomic.Int64
}

func (s *sizes) note(rows []driver.Row) {
	n := int64(0)
	for _, r := range rows {
		n += int64(len(r.Record))
	}
	s.sum.Add(n)
	for m := s.most.Load(); n > m && !s.most.CompareAndSwap(m, n); m = s.most.Load() {
	}
}

func (s *sizes) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	rows, err := s.Driver.Get(ctx, g)
	s.note(rows)
	return rows, err
}

func (s *sizes) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	p, err := s.Driver.Query(ctx, q)
	s.note(p.Rows)
	return p, err
}

// TestRowsThatAFilterLeavesOutCostWhatOthersDo: they are read a few at a time where they are large, and charged to the
// request, in an index too that holds a part of them.
func TestRowsThatAFilterLeavesOutCostWhatOthersDo(t *testing.T) {
	s := &sizes{Driver: memstore.New()}
	b := newBenchOn(t, Config{}, s)
	const rows, size, most = 300, 100 << 10, 8 << 20
	large := strings.Repeat("x", size)
	for i := range rows {
		b.put(t, "Order", order(fmt.Sprintf("o%04d", i), "OPEN", 1, large))
	}
	s.most.Store(0)
	s.sum.Store(0)
	p := &purse{limit: most}
	got := b.do(driver.WithBudget(t.Context(), p),
		`{ OrderByStatus(status: OPEN, limit: 1, filter: {total: {gt: 50}}) { items { group } } }`, nil)
	if len(got.Errors) != 1 || p.taken.Load() < most {
		t.Errorf("%v, charged %d", got.Errors, p.taken.Load())
	}
	if read := s.sum.Load(); read > most+16*(size+1000) {
		t.Errorf("%d bytes are read for a request that may read %d", read, most)
	}
	if read := s.most.Load(); read > 16*(size+1000) {
		t.Errorf("%d bytes are read at once", read)
	}
}

// TestReadsForAFilterTellNothingOfRowsOfOthers: there are as many of them, whatever else the request has examined.
func TestReadsForAFilterTellNothingOfRowsOfOthers(t *testing.T) {
	c := newShop()
	c.Types["Invoice"].Fields["amount"].Filterable = true
	c.Queries["InvoiceByOwnerId"].Filtered = true
	sdl := strings.Replace(shopSDL, "InvoiceByOwnerId(ownerId: ID!, ",
		"InvoiceByOwnerId(ownerId: ID!, filter: InvoiceFilter, partial: Boolean, ", 1) +
		"input InvoiceFilter { amount: IntCondition } input IntCondition { gt: Int exists: Boolean }"
	var reads []int64
	for _, most := range []int{1, 10_000} {
		b := newBenchOf(t, c, sdl, Config{MaxExamined: most}, memstore.New())
		b.put(t, "Ownership", row{"ownerId": "acc", "subject": "ann"})
		b.put(t, "Invoice", row{"invoiceId": "a", "ownerId": "acc", "subject": "ann", "amount": 1})
		for i := range 500 {
			b.put(t, "Invoice", row{"invoiceId": fmt.Sprintf("b%04d", i), "ownerId": "acc", "subject": "bob", "amount": 1})
		}
		b.store.reset()
		got := b.do(as(t.Context(), "ann"),
			`{ InvoiceByOwnerId(ownerId: "acc", filter: {amount: {exists: true}}) { items { invoiceId } nextToken } }`, nil)
		if len(got.Errors) > 0 || strings.Contains(fmt.Sprint(got), "b0") {
			t.Fatal(got)
		}
		reads = append(reads, b.store.queries.Load())
	}
	if reads[0] != reads[1] {
		t.Errorf("%d reads where one row may be examined, and %d where many may", reads[0], reads[1])
	}
}
