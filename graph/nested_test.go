package graph

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestRowsHavePagesOfOthers: of rows that lie in a partition, or under a value of an index, nested as deep as is asked,
// and with the arguments of their query.
func TestRowsHavePagesOfOthers(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	b.put(t, "Order", row{"orderId": "empty", "customerId": "c1", "referrerId": "", "productIds": []string{},
		"status": "none", "placedAt": day(1), "total": 1.0, "sold": int64(1), "group": "g"})
	for _, tt := range []struct {
		name, query string
		vars        map[string]any
		want        string
	}{
		{"of a partition", `{ Order(id: "o1") { orderId tracks { __typename items { status } nextToken } } }`, nil,
			`{"Order":{"orderId":"o1","tracks":{"__typename":"TrackByIdConnection",
				"items":[{"status":"OPEN"},{"status":"PAID"},{"status":"SENT"}],"nextToken":null}}}`},
		{"with arguments, some of variables", `query($n: Int, $f: String = "2024-01-02") { Order(id: "o1") {
			newest: tracks(reverse: true, limit: $n) { items { status } } late: tracks(from: $f) { items { status } } } }`,
			map[string]any{"n": 1},
			`{"Order":{"newest":{"items":[{"status":"SENT"}]},"late":{"items":[{"status":"PAID"},{"status":"SENT"}]}}}`},
		{"of each row of a page", `{ OrderByStatus(status: SENT, limit: 2) { items { orderId tracks(limit: 1) {
			items { orderId status } } } } }`, nil,
			`{"OrderByStatus":{"items":[{"orderId":"o2","tracks":{"items":[{"orderId":"o2","status":"OPEN"}]}},
				{"orderId":"o5","tracks":{"items":[{"orderId":"o5","status":"OPEN"}]}}]}}`},
		{"of an index by an enum, in pages of each other", `{ Order(id: "o1") { sameStatus(limit: 2) { items { orderId
			sameStatus(reverse: true, limit: 1) { a: items { orderId } b: items { customer { name } } } } } } }`, nil,
			`{"Order":{"sameStatus":{"items":[
				{"orderId":"o1","sameStatus":{"a":[{"orderId":"o19"}],"b":[{"customer":{"name":"Customer 7"}}]}},
				{"orderId":"o4","sameStatus":{"a":[{"orderId":"o19"}],"b":[{"customer":{"name":"Customer 7"}}]}}]}}}`},
		{"of a partition key of several fields", `{ Line(id: "s/1", _subId: "toys/a") { beside(limit: 2) { items { quantity } }
			toys: beside(category: "toys") { items { productId beside(reverse: true, limit: 1) { items { category } } } } } }`, nil,
			`{"Line":{"beside":{"items":[{"quantity":1},{"quantity":3}]},
				"toys":{"items":[{"productId":"a","beside":{"items":[{"category":"toys"}]}}]}}}`},
		{"under no value", `{ Order(id: "o1") { bills { items { amount } nextToken } } }`, nil,
			`{"Order":{"bills":{"items":[],"nextToken":null}}}`},
		{"under an empty value", `{ Order(id: "empty") { bills { items { amount } nextToken } } }`, nil,
			`{"Order":{"bills":{"items":[],"nextToken":null}}}`},
		{"under a value that no row has", `{ Order(id: "o0") { bills { items { amount } } } }`, nil,
			`{"Order":{"bills":{"items":[]}}}`},
		{"of rows that others are joined to", `{ Invoice(id: "i1") { bill { ownerId } } Ownership(id: "acc1") {
			invoices { items { bill { amount } } } } }`, nil,
			`{"Invoice":{"bill":{"ownerId":"acc1"}},"Ownership":{"invoices":{"items":[{"bill":{"amount":1}},{"bill":{"amount":2}}]}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.do(t.Context(), tt.query, tt.vars)
			if diff := cmp.Diff(result{Data: wantJSON(t, tt.want)}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if b.foreign.asked != 0 {
		t.Errorf("gqlgen's executor was asked %d times", b.foreign.asked)
	}
}

// TestANestedPageGoesOnWithItsToken: below its row, and by the query that it is a page of.
func TestANestedPageGoesOnWithItsToken(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	page := func(query string, path ...string) (statuses, token any) {
		t.Helper()
		got := b.do(t.Context(), query, nil)
		if got.Errors != nil {
			t.Fatalf("%s: %v", query, got.Errors)
		}
		at := got.Data
		for _, name := range path {
			at = at.(map[string]any)[name]
		}
		connection := at.(map[string]any)
		return fmt.Sprint(connection["items"]), connection["nextToken"]
	}
	first, token := page(`{ Order(id: "o1") { tracks(limit: 2) { items { status } nextToken } } }`, "Order", "tracks")
	if first != "[map[status:OPEN] map[status:PAID]]" || token == nil {
		t.Fatalf("the first page is %v, the token %v", first, token)
	}
	for query, path := range map[string][]string{
		`{ Order(id: "o1") { tracks(nextToken: %q) { items { status } nextToken } } }`: {"Order", "tracks"},
		`{ TrackById(id: "o1", nextToken: %q) { items { status } nextToken } }`:        {"TrackById"},
	} {
		if next, token := page(fmt.Sprintf(query, token), path...); next != "[map[status:SENT]]" || token != nil {
			t.Errorf("%s: the next page is %v, the token %v", query, next, token)
		}
	}
	another := fmt.Sprintf(`{ Order(id: "o2") { tracks(nextToken: %q) { items { status } } } }`, token)
	want := result{Data: map[string]any{"Order": map[string]any{"tracks": nil}},
		Errors: []string{"INVALID_TOKEN Order.tracks"}}
	if diff := cmp.Diff(want, b.do(t.Context(), another, nil)); diff != "" {
		t.Errorf("the token of another row: -want +got:\n%s", diff)
	}
}

// TestEmptyNestedPagesAreCharged: else a client could have as many of them read as it has names for.
func TestEmptyNestedPagesAreCharged(t *testing.T) {
	b := newBench(t, Config{})
	const orders, pages, each = 50, 90, 512
	for i := range orders {
		b.put(t, "Order", order(fmt.Sprint("o", i), "OPEN", 1, "g"))
	}
	var query strings.Builder
	query.WriteString(`{ OrderByStatus(status: OPEN, limit: 50) { items {`)
	for i := range pages {
		fmt.Fprintf(&query, " a%d: tracks(limit: 1) { items { status } }", i)
	}
	query.WriteString(" } } }")
	p := &purse{limit: 1 << 30}
	if got := b.do(driver.WithBudget(t.Context(), p), query.String(), nil); got.Errors != nil ||
		p.taken.Load() < orders*pages*each {
		t.Errorf("%v, charged %d", got.Errors, p.taken.Load())
	}
	b.store.reset()
	p = &purse{limit: orders * pages * each / 2}
	if got := b.do(driver.WithBudget(t.Context(), p), query.String(), nil); len(got.Errors) == 0 ||
		b.store.queries.Load() > orders*pages/2 {
		t.Errorf("%d pages are read for half the memory, %v", b.store.queries.Load(), got.Errors)
	}
}

// TestIDsThatRowsLeadToAreCharged: lists of them, and the same ones many times, take memory before anything is read.
func TestIDsThatRowsLeadToAreCharged(t *testing.T) {
	b := newBench(t, Config{})
	var ids []string
	for i := range 3000 {
		ids = append(ids, fmt.Sprint("p", i))
	}
	for i := range 30 {
		o := order(fmt.Sprint("o", i), "OPEN", 1, "g")
		o["productIds"] = ids
		b.put(t, "Order", o)
	}
	taken := func(fields string) int64 {
		p := &purse{limit: 1 << 30}
		query := `{ OrderByStatus(status: OPEN, limit: 30) { items { ` + fields + ` } } }`
		if got := b.do(driver.WithBudget(t.Context(), p), query, nil); got.Errors != nil {
			t.Fatal(got.Errors)
		}
		return p.taken.Load()
	}
	alone, joined := taken("productIds"), taken("productIds a: products { name } b: products { name }")
	if least := int64(2 * 30 * 3000 * 4); joined-alone < least {
		t.Errorf("two joins of 90,000 ids take %d, want %d at least", joined-alone, least)
	}
	p := &purse{limit: alone + 200_000}
	b.store.reset()
	got := b.do(driver.WithBudget(t.Context(), p), `{ OrderByStatus(status: OPEN, limit: 30) { items { productIds
		products { name } } } }`, nil)
	if len(got.Errors) == 0 || b.store.got.Load() > 30 {
		t.Errorf("%d rows are read of more ids than there is memory for; %.100s", b.store.got.Load(), got.Errors)
	}
}

// TestASpentBudgetEndsReading: what a request reads after that would be in vain.
func TestASpentBudgetEndsReading(t *testing.T) {
	b := newBench(t, Config{})
	for i := range 200 {
		id := fmt.Sprintf("o%03d", i)
		b.put(t, "Order", order(id, "OPEN", 1, "g"))
		b.put(t, "Track", row{"orderId": id, "changedAt": day(1), "status": "OPEN", "note": strings.Repeat("x", 20_000)})
	}
	for field, query := range map[string]string{
		"a row each":  `{ OrderByStatus(status: OPEN, limit: 200) { items { lastTrack { note } } } }`,
		"a page each": `{ OrderByStatus(status: OPEN, limit: 200) { items { tracks(limit: 2) { items { note } } } } }`,
	} {
		b.store.reset()
		p := &purse{limit: 500_000} // the orders, and some twenty of the tracks
		got := b.do(driver.WithBudget(t.Context(), p), query, nil)
		if reads := b.store.queries.Load(); len(got.Errors) == 0 || reads > 50 {
			t.Errorf("%s: %d ranges are read, %.100s", field, reads, got.Errors)
		}
	}
}

// TestNestedPagesHeedRulesAndLimits: an error is of the field alone, at each row that has it.
func TestNestedPagesHeedRulesAndLimits(t *testing.T) {
	b := newBench(t, Config{MaxJoinFanout: 5})
	b.stock(t)
	ctx := t.Context()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		query  string
		errors []string
	}{
		{"the owner of the account", as(ctx, "ann"), `{ Ownership(id: "acc1") { invoices(limit: 5) { items { amount } } } }`, nil},
		{"a member of the group", as(ctx, "eve", "Admin"), `{ Ownership(id: "acc1") { invoices(limit: 5) { items { amount } } } }`,
			nil},
		{"another", as(ctx, "bob"), `{ Ownership(id: "acc1") { ownerId invoices(limit: 5) { items { amount } } } }`,
			[]string{"FORBIDDEN Ownership.invoices"}},
		{"somebody without a token", ctx, `{ Ownership(id: "acc1") { invoices(limit: 5) { items { amount } } } }`,
			[]string{"UNAUTHENTICATED Ownership.invoices"}},
		{"a wrong limit", ctx, `{ Order(id: "o1") { tracks(limit: 0) { items { status } } } }`,
			[]string{"BAD_USER_INPUT Order.tracks"}},
		{"a wrong argument", ctx, `query($p: Int = 5000000000) { Order(id: "o1") { tracks(limit: $p) { items { status } } } }`,
			[]string{"BAD_USER_INPUT Order.tracks: argument limit"}},
		{"too many rows for one row", ctx, `{ Order(id: "o1") { tracks(limit: 6) { items { status } } } }`,
			[]string{"LIMIT_EXCEEDED Order.tracks"}},
		{"too many rows together", ctx, `{ OrderByStatus(status: OPEN, limit: 2) { items { tracks(limit: 3) { items { status } } } } }`,
			[]string{"LIMIT_EXCEEDED OrderByStatus.items[0].tracks", "LIMIT_EXCEEDED OrderByStatus.items[1].tracks"}},
		{"as many as there may be", ctx, `{ OrderByStatus(status: OPEN, limit: 2) { items { tracks(limit: 2) { items { status } } } } }`,
			nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.do(tt.ctx, tt.query, nil)
			if diff := cmp.Diff(tt.errors, got.Errors); diff != "" {
				t.Errorf("-want +got:\n%s\n%v", diff, got.Data)
			}
			if got.Data == nil {
				t.Error("the error is one of the whole answer")
			}
		})
	}
}

// TestAClosedValueIsNotFollowed: whom a rule keeps from a field learns nothing of what it leads to, nor has it read.
func TestAClosedValueIsNotFollowed(t *testing.T) {
	shop := newShop()
	shop.Types["Order"].Fields["referrer"].Rule = &catalog.Rule{Groups: []string{"Staff"}}
	b := newBenchOf(t, shop, shopSDL, Config{}, memstore.New())
	b.stock(t)
	anybody, staff := as(t.Context(), "ann", "Admin"), as(t.Context(), "ann", "Staff", "Admin")
	for _, c := range []struct {
		field, error string
		ctx          context.Context
		reads        int64 // beside that of the order
	}{
		{"bills(limit: 2) { items { amount } }", "FORBIDDEN Order.bills", anybody, 0},
		{"bills(limit: 2) { items { amount } }", "", staff, 1},
		{"referrer { name }", "FORBIDDEN Order.referrer", anybody, 0},
		{"referrer { name }", "", staff, 1},
	} {
		b.store.reset()
		got := b.do(c.ctx, `{ Order(id: "o0") { `+c.field+` } }`, nil)
		if is := strings.Join(got.Errors, "; "); is != c.error {
			t.Errorf("%s: %q, wanted %q", c.field, is, c.error)
		}
		if n := b.store.queries.Load() + b.store.gets.Load() - 1; n != c.reads {
			t.Errorf("%s: %d reads, wanted %d", c.field, n, c.reads)
		}
	}
}
