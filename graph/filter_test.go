package graph

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/internal/filter"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
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

// TestRowsForAFilterAreChargedAsTheyAreRead: the first of them too, of which nobody knows yet how large they are.
func TestRowsForAFilterAreChargedAsTheyAreRead(t *testing.T) {
	s := &sizes{Driver: memstore.New()}
	b := newBenchOn(t, Config{}, s)
	const size, most = 100 << 10, 300 << 10
	large := strings.Repeat("x", size)
	for i := range 20 {
		b.put(t, "Order", order(fmt.Sprintf("o%04d", i), "OPEN", 1, large))
	}
	s.sum.Store(0)
	got := b.do(driver.WithBudget(t.Context(), &purse{limit: most}),
		`{ OrderByStatus(status: OPEN, limit: 50, filter: {total: {gt: 50}}) { items { group } } }`, nil)
	if len(got.Errors) != 1 || s.sum.Load() > most+size {
		t.Errorf("%v, and %d bytes are read for a request that may read %d", got.Errors, s.sum.Load(), most)
	}
}

// TestWhatConditionsLookAtIsBoundedWithTheRows: many on long texts would take seconds otherwise.
func TestWhatConditionsLookAtIsBoundedWithTheRows(t *testing.T) {
	b := newBenchOn(t, Config{MaxExamined: 30}, memstore.New())
	const rows = 16 // each of them counts as three
	for i := range rows {
		o := order(fmt.Sprintf("o%02d", i), "OPEN", 1, "g")
		o["referrerId"] = strings.Repeat("r", 130<<10)
		b.put(t, "Order", o)
	}
	ask := func(condition, more string) (answer string, errs []string) {
		got := b.do(t.Context(), fmt.Sprintf(`{ OrderByStatus(status: OPEN, filter: {referrerId: {%s}}%s) {
			items { orderId } nextToken } }`, condition, more), nil)
		return fmt.Sprint(got.Data), got.Errors
	}
	if answer, errs := ask(`exists: true`, ""); len(errs) > 0 || strings.Count(answer, "orderId") != rows {
		t.Errorf("a condition that looks at nothing: %s, %v", answer, errs)
	}
	const long = `eq: "x"`
	if _, errs := ask(long, ""); len(errs) != 1 || !strings.HasPrefix(errs[0], "LIMIT_EXCEEDED") {
		t.Errorf("conditions that look at too much: %v", errs)
	}
	if answer, errs := ask(long, ", partial: true"); len(errs) > 0 || strings.Contains(answer, "nextToken:<nil>") {
		t.Errorf("a page that may be short: %s, %v", answer, errs)
	}
}

// TestShortPagesTogetherAreBoundedByWhatConditionsLookAt: each of them may look at one row, and a request can have very
// many. One by one they lead past any number of rows all the same.
func TestShortPagesTogetherAreBoundedByWhatConditionsLookAt(t *testing.T) {
	const most, orders, extra = 5, 60, 2
	b := filteredTracks(t, orders, 0, 0, most)
	for i := range orders {
		b.put(t, "Track", row{"orderId": fmt.Sprintf("o%04d", i), "changedAt": day(1),
			"status": strings.Repeat("r", extra*filter.RowBytes)})
	}
	got := b.do(t.Context(), `{ OrderByStatus(status: OPEN, limit: 60) { items {
		tracks(filter: {status: {eq: "x"}}, partial: true) { nextToken } } } }`, nil)
	// 8 pages are read at a time, and all of them may come to what is left before any has spent it.
	answered := most + 2*8
	if failed := len(got.Errors); failed < orders-answered || !strings.HasPrefix(got.Errors[0], "LIMIT_EXCEEDED") {
		t.Errorf("%d of %d pages fail, want all but %d: %v", failed, orders, answered, got.Errors)
	}
	const large = most + 1
	for i := range 3 {
		b.put(t, "Track", row{"orderId": "large", "changedAt": day(i + 1),
			"status": strings.Repeat("r", large*filter.RowBytes)})
	}
	for pages, token := 1, "null"; ; pages++ {
		got := b.do(t.Context(), fmt.Sprintf(`{ TrackById(id: "large", filter: {status: {eq: "x"}}, partial: true,
			nextToken: %s) { nextToken } }`, token), nil)
		if len(got.Errors) > 0 || pages > 4 {
			t.Fatalf("page %d: %v", pages, got)
		}
		next, more := got.Data.(map[string]any)["TrackById"].(map[string]any)["nextToken"].(string)
		if !more {
			break
		}
		token = strconv.Quote(next)
	}
}

// filteredInvoices is a shop whose invoices may be filtered by their amount.
func filteredInvoices() (*catalog.Catalog, string) {
	c := newShop()
	c.Types["Invoice"].Fields["amount"].Filterable = true
	c.Queries["InvoiceByOwnerId"].Filtered = true
	return c, strings.Replace(shopSDL, "InvoiceByOwnerId(ownerId: ID!, ",
		"InvoiceByOwnerId(ownerId: ID!, filter: InvoiceFilter, partial: Boolean, ", 1) +
		"input InvoiceFilter { amount: IntCondition } input IntCondition { gt: Int exists: Boolean }"
}

// TestShortPagesLeadPastAnyNumberOfRowsOfOthers: each goes on where the last has stopped to look.
func TestShortPagesLeadPastAnyNumberOfRowsOfOthers(t *testing.T) {
	c, sdl := filteredInvoices()
	b := newBenchOf(t, c, sdl, Config{MaxHidden: 100}, memstore.New())
	among(t, b, []int{300, 300})
	found, token := 0, "null"
	for pages := 0; ; pages++ {
		got := b.do(as(t.Context(), "ann"), fmt.Sprintf(`{ InvoiceByOwnerId(ownerId: "acc0", limit: 1, partial: true,
			filter: {amount: {exists: true}}, nextToken: %s) { items { amount } nextToken } }`, token), nil)
		if len(got.Errors) > 0 || pages > 10 {
			t.Fatalf("page %d: %v", pages, got)
		}
		found += len(amountsOf.FindAllString(fmt.Sprint(got.Data), -1))
		next, more := got.Data.(map[string]any)["InvoiceByOwnerId"].(map[string]any)["nextToken"].(string)
		if !more {
			break
		}
		token = strconv.Quote(next)
	}
	if found != 2 {
		t.Errorf("found %d rows past those of others, want both", found)
	}
}

// TestReadsForAFilterTellNothingOfRowsOfOthers: there are as many of them, whatever else the request has examined.
func TestReadsForAFilterTellNothingOfRowsOfOthers(t *testing.T) {
	c, sdl := filteredInvoices()
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

// filteredTracks is a shop whose orders have pages of filtered tracks, of which one is SENT in each.
func filteredTracks(t *testing.T, orders, tracks, sent, most int) *bench {
	t.Helper()
	c := newShop()
	c.Types["Track"].Fields["status"].Filterable = true
	c.Queries["TrackById"].Filtered = true
	sdl := strings.NewReplacer("tracks(", "tracks(filter: TrackFilter, partial: Boolean, ",
		"TrackById(id: ID!, ", "TrackById(id: ID!, filter: TrackFilter, partial: Boolean, ").Replace(shopSDL) +
		"input TrackFilter { status: StringCondition } input StringCondition { eq: String }"
	b := newBenchOf(t, c, sdl, Config{MaxExamined: most}, memstore.New())
	for i := range orders {
		id := fmt.Sprintf("o%04d", i)
		b.put(t, "Order", order(id, "OPEN", 1, "g"))
		for k := range tracks {
			status := "OPEN"
			if k == sent {
				status = "SENT"
			}
			b.put(t, "Track", row{"orderId": id, "changedAt": day(k + 1), "status": status})
		}
	}
	b.store.reset()
	return b
}

// TestWhatIsReadForAFilterIsExamined: a page reads no more than it may need, and what it does not need counts.
func TestWhatIsReadForAFilterIsExamined(t *testing.T) {
	const query = `{ OrderByStatus(status: OPEN, limit: 60) { items { orderId tracks(limit: %d, filter: {status: {eq: "SENT"}}%s)
		{ items { status } } } } }`
	for name, tt := range map[string]struct {
		sent, most, limit int
		partial           string
		fails             bool
		keys              int64 // of tracks
	}{
		"the first row is the page":         {0, 60, 1, "", false, 60 * 3},
		"the last row is the page":          {15, 60 * 16, 1, "", false, 60 * 18},
		"all are looked at":                 {15, 60 * 16, 50, "", false, 60 * 17},
		"what is not needed counts":         {2, 60 * 5, 1, "", true, 300 + 8*16 + 60*3},
		"more than may be":                  {15, 300, 1, "", true, 300 + 8*16 + 60*3},
		"more than may be, of short pages":  {15, 300, 1, ", partial: true", false, 300 + 8*16 + 60*3},
		"nobody may look at the first ones": {0, 1, 50, "", true, 1 + 8*16 + 60*3},
	} {
		b := filteredTracks(t, 60, 16, tt.sent, tt.most)
		asked := fmt.Sprintf(query, tt.limit, tt.partial)
		got := b.do(t.Context(), asked, nil)
		if failed := len(got.Errors) > 0; failed != tt.fails {
			t.Errorf("%s: %v", name, got.Errors)
		}
		keys := b.store.examined.Load() - 60 // of the orders
		if keys > tt.keys {
			t.Errorf("%s: %d keys of tracks are read, want %d at most", name, keys, tt.keys)
		}
		x, err := b.explain(asked, nil)
		if err != nil {
			t.Fatal(err)
		}
		if reads := b.store.queries.Load(); reads > int64(x.Reads) || keys+60 > int64(x.Keys) {
			t.Errorf("%s: %d reads of %d keys, and the explanation has %d of %d", name, reads, keys+60, x.Reads, x.Keys)
		}
	}
}

// TestAnExplanationOfAFilterIsNotExceeded where as many rows are examined as may be, or many pages are short.
func TestAnExplanationOfAFilterIsNotExceeded(t *testing.T) {
	short := filteredTracks(t, 1000, 3, -1, 10_000)
	const pages = `{ OrderByStatus(status: OPEN, limit: 1000) { items { tracks(limit: 1, filter: {status: {eq: "SENT"}}) {
		items { status } } } } }`
	x, err := short.explain(pages, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := short.do(t.Context(), pages, nil)
	if reads := short.store.queries.Load(); got.Errors != nil || reads < 2000 || reads > int64(x.Reads) ||
		short.store.examined.Load() > int64(x.Keys) {
		t.Errorf("%d reads of %d keys, and the explanation has %d of %d; %v", reads, short.store.examined.Load(), x.Reads,
			x.Keys, got.Errors)
	}
	b := newBench(t, Config{AuthOff: true})
	for i := range 10_050 {
		b.put(t, "Order", order(fmt.Sprintf("o%05d", i), "OPEN", 1, "g"))
	}
	for _, query := range []string{
		`{ OrderByStatus(status: OPEN, limit: 10, filter: {total: {gt: 50}}, partial: true) { items { orderId } } }`,
		`{ OrderByStatus(status: OPEN, limit: 10, filter: {total: {gt: 50}}, partial: true) { items { group } } }`,
	} {
		x, err := b.explain(query, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.store.reset()
		if got := b.do(t.Context(), query, nil); len(got.Errors) > 0 {
			t.Fatal(got.Errors)
		}
		reads, keys := b.store.gets.Load()+b.store.queries.Load(), b.store.got.Load()+b.store.examined.Load()
		if keys < 10_000 || reads > int64(x.Reads) || keys > int64(x.Keys) {
			t.Errorf("%s: %d reads of %d keys, and the explanation has %d of %d", query, reads, keys, x.Reads, x.Keys)
		}
	}
}

// TestAFilteredPageTakesWhatItsRowsTake in memory, and not what the rows take that were read with them.
func TestAFilteredPageTakesWhatItsRowsTake(t *testing.T) {
	store, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: vfs.NewMem(), CacheBytes: 8 << 10})
	if err != nil {
		t.Fatal(err)
	}
	b := newBenchOn(t, Config{}, store)
	for i := range 16 {
		b.put(t, "Track", row{"orderId": "o", "changedAt": day(i + 1), "status": "OPEN", "note": strings.Repeat("x", 3000)})
	}
	pages := make([]querydb.Page, 1000)
	read := func(i int) {
		n := 0
		q := querydb.Query{Index: driver.Primary, PK: "o", Limit: 10,
			Filter: func(*querydb.Row) (bool, error) { n++; return n == 3, nil }}
		if pages[i], err = b.db.Query(t.Context(), b.catalog.Types["Track"].Model, q); err != nil || len(pages[i].Rows) != 1 {
			t.Fatalf("%d rows, %v", len(pages[i].Rows), err)
		}
	}
	read(0) // what is used again is there from now on
	read(0)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range pages {
		read(i)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if took := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / int64(len(pages)); took > 8000 {
		t.Errorf("a page of a row of 3,000 bytes takes %d", took)
	}
	runtime.KeepAlive(pages)
}
