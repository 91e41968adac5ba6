package graph

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// free is how many rows of others each page passes over besides those that the request may.
const free = 16

// among is an account of ann's for each list, of as many rows of others as it says, each time before one of hers.
func among(t *testing.T, b *bench, accounts ...[]int) {
	t.Helper()
	for a, runs := range accounts {
		account := fmt.Sprint("acc", a)
		b.put(t, "Ownership", row{"ownerId": account, "subject": "ann"})
		for r, run := range runs {
			var rows []row
			for i := range run {
				rows = append(rows, row{"invoiceId": fmt.Sprintf("%s-%d-%05d", account, r, i), "ownerId": account,
					"subject": "bob", "amount": 0})
			}
			b.put(t, "Invoice", append(rows, row{"invoiceId": fmt.Sprintf("%s-%d-own", account, r), "ownerId": account,
				"subject": "ann", "amount": r + 1})...)
		}
	}
	b.store.reset()
}

// onEach has the test ask plans and resolvers, over each store, of a shop in which a bill leads to the first of its
// account.
func onEach(t *testing.T, hidden int, test func(t *testing.T, b *bench)) {
	stores := map[string]func() driver.Driver{
		"memstore": func() driver.Driver { return memstore.New() },
		"pebblestore": func() driver.Driver {
			store, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: vfs.NewMem()})
			if err != nil {
				t.Fatal(err)
			}
			return store
		},
	}
	for name, open := range stores {
		for _, resolvers := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, resolvers %t", name, resolvers), func(t *testing.T) {
				api := newShop()
				bill := api.Types["Invoice"].Fields["bill"]
				bill.Join.Index, bill.Ordinal = 0, 1
				b := newBenchOf(t, api, shopSDL, Config{MaxHidden: hidden, ResolversOnly: resolvers}, open())
				if resolvers {
					b.exec = executor.New(WithCompiledPlans(&reference{b.foreign, b}, b.rt))
				}
				test(t, b)
			})
		}
	}
}

var amountsOf = regexp.MustCompile(`amount:\d+`)

// wantAmounts asks as ann, and wants these amounts of her rows in the order in which they stand in the answer, or these
// errors.
func wantAmounts(t *testing.T, b *bench, query string, amounts string, errs ...string) result {
	t.Helper()
	got := b.do(as(t.Context(), "ann"), query, nil)
	text := strings.Join(amountsOf.FindAllString(fmt.Sprint(got.Data), -1), " ")
	if !slices.Equal(got.Errors, errs) || errs == nil && text != amounts {
		t.Errorf("%s: got amounts %q, errors %v; want %q, %v", query, text, got.Errors, amounts, errs)
	}
	return got
}

// TestARequestPassesOverNoMoreRowsOfOthersThanItMay, in all its pages and joins together.
func TestARequestPassesOverNoMoreRowsOfOthersThanItMay(t *testing.T) {
	onEach(t, 100, func(t *testing.T, b *bench) {
		among(t, b, []int{100 + free}, []int{101 + free}, []int{60, 40 + free}, []int{40 + free}, []int{70 + free})
		const page = `{ InvoiceByOwnerId(ownerId: "acc%d", limit: 2) { items { amount } } }`
		const tooMany = "LIMIT_EXCEEDED InvoiceByOwnerId"
		wantAmounts(t, b, fmt.Sprintf(page, 0), "amount:1")
		wantAmounts(t, b, fmt.Sprintf(page, 1), "", tooMany)
		wantAmounts(t, b, fmt.Sprintf(page, 2), "amount:1 amount:2")

		const join = `{ Invoice(id: "acc%d-0-own") { bill { amount } } }`
		wantAmounts(t, b, fmt.Sprintf(join, 0), "amount:1")
		wantAmounts(t, b, fmt.Sprintf(join, 1), "", "LIMIT_EXCEEDED Invoice.bill")

		const nested = `{ Ownership(id: "acc%d") { invoices(limit: 2) { items { amount } } } }`
		wantAmounts(t, b, fmt.Sprintf(nested, 0), "amount:1")
		wantAmounts(t, b, fmt.Sprintf(nested, 1), "", "LIMIT_EXCEEDED Ownership.invoices")

		const two = `{ Invoice(id: "acc3-0-own") { bill { amount } } Ownership(id: "acc%d") { invoices { items { amount } } } }`
		wantAmounts(t, b, fmt.Sprintf(two, 3), "amount:1 amount:1")
		got := b.do(as(t.Context(), "ann"), fmt.Sprintf(two, 4), nil)
		if len(got.Errors) == 0 || !strings.HasPrefix(got.Errors[0], "LIMIT_EXCEEDED ") {
			t.Errorf("of two accounts, rows of others that are too many together: %v", got)
		}
	})
}

// TestMembersOfACollectionAreFoundPastNoMoreRowsOfOthersThanMayBe, as those of an index are.
func TestMembersOfACollectionAreFoundPastNoMoreRowsOfOthersThanMayBe(t *testing.T) {
	api := newTracker()
	api.Queries["Project"].Rule = &catalog.IndexRule{Group: "Auditor"}
	for _, name := range []string{"Milestone", "Story", "Task"} {
		for i := range api.Types[name].Model.Indexes {
			api.Types[name].Model.Indexes[i].PK.Layout.Casing = keys.CasingNone
		}
	}
	for others, errs := range map[int][]string{50 + free: nil, 51 + free: {"LIMIT_EXCEEDED Project"}} {
		b := newBenchOf(t, api, trackerSDL, Config{MaxHidden: 50}, memstore.New())
		for i := range others {
			b.put(t, "Task", row{"id": fmt.Sprintf("a%04d", i), "project": "ann", "owner": "bob"})
		}
		b.put(t, "Task", row{"id": "b", "project": "ann", "owner": "ann"})
		got := b.do(as(t.Context(), "ann"), `{ Project(project: "ann") { items { ... on Task { id } } } }`, nil)
		if !slices.Equal(got.Errors, errs) {
			t.Errorf("past %d rows of others: errors %v, want %v", others, got.Errors, errs)
		}
	}
}

// TestAFullPageIsAnsweredHoweverManyRowsOfOthersFollow: whether there is a next one is then not found out.
func TestAFullPageIsAnsweredHoweverManyRowsOfOthersFollow(t *testing.T) {
	onEach(t, 100, func(t *testing.T, b *bench) {
		among(t, b, []int{0, 300})
		const page = `{ InvoiceByOwnerId(ownerId: "acc0", limit: 1%s) { items { amount } nextToken } }`
		got := wantAmounts(t, b, fmt.Sprintf(page, ""), "amount:1")
		connection, _ := got.Data.(map[string]any)["InvoiceByOwnerId"].(map[string]any)
		token, more := connection["nextToken"].(string)
		if !more {
			t.Fatalf("no page is said to follow: %v", got)
		}
		wantAmounts(t, b, fmt.Sprintf(page, fmt.Sprintf(", nextToken: %q", token)), "", "LIMIT_EXCEEDED InvoiceByOwnerId")

		b.store.reset()
		wantAmounts(t, b, `{ Invoice(id: "acc0-0-own") { bill { amount } } }`, "amount:1")
		if n := b.store.queries.Load(); n != 1 {
			t.Errorf("the first row of an account is found by %d reads, want one", n)
		}
	})
}

// TestAFullPageLeavesRowsOfOthersToPassOverToTheRestOfTheRequest, however many of them follow it.
func TestAFullPageLeavesRowsOfOthersToPassOverToTheRestOfTheRequest(t *testing.T) {
	onEach(t, 100, func(t *testing.T, b *bench) {
		among(t, b, []int{0, 300}, []int{40 + free})
		for _, next := range []string{"", " nextToken"} {
			query := fmt.Sprintf(`{ Invoice(id: "acc0-0-own") { amount }
				InvoiceByOwnerId(ownerId: "acc0", limit: 1) { items { amount }%s } }`, next)
			wantAmounts(t, b, query, "amount:1 amount:1")
			both := fmt.Sprintf(`{ a: InvoiceByOwnerId(ownerId: "acc0", limit: 1) { items { amount }%s }
				b: InvoiceByOwnerId(ownerId: "acc1") { items { amount } } }`, next)
			wantAmounts(t, b, both, "amount:1 amount:1")
		}
	})
}

// TestNothingIsReadToFindANextPageThatNobodyAsksFor, past rows of others.
func TestNothingIsReadToFindANextPageThatNobodyAsksFor(t *testing.T) {
	b := newBenchOf(t, newShop(), shopSDL, Config{}, memstore.New())
	among(t, b, []int{0, 3000})
	wantAmounts(t, b, `{ InvoiceByOwnerId(ownerId: "acc0", limit: 1) { items { amount } } }`, "amount:1")
	if n := b.store.queries.Load(); n != 1 {
		t.Errorf("a full page takes %d reads, want one", n)
	}
}

// TestManyRowsOfOthersArePassedOverInFewReads, each of which is of more rows than the last.
func TestManyRowsOfOthersArePassedOverInFewReads(t *testing.T) {
	onEach(t, 10_000, func(t *testing.T, b *bench) {
		among(t, b, []int{5000})
		wantAmounts(t, b, `{ InvoiceByOwnerId(ownerId: "acc0") { items { amount } } }`, "amount:1")
		if n := b.store.queries.Load(); n > 5000/256+5 {
			t.Errorf("5,000 rows of others are passed over by %d reads", n)
		}
	})
}

// TestOnceTooManyRowsOfOthersWerePassedOverEachPageHasOneRead, of as many as are free.
func TestOnceTooManyRowsOfOthersWerePassedOverEachPageHasOneRead(t *testing.T) {
	onEach(t, 100, func(t *testing.T, b *bench) {
		among(t, b, []int{1000})
		var query strings.Builder
		for i := range 20 {
			fmt.Fprintf(&query, ` p%d: InvoiceByOwnerId(ownerId: "acc0", limit: %d) { items { amount } }`, i, i+1)
		}
		got := b.do(as(t.Context(), "ann"), "{"+query.String()+"}", nil)
		if len(got.Errors) == 0 {
			t.Errorf("no errors: %v", got)
		}
		if n := b.store.queries.Load(); n > 20+10 {
			t.Errorf("20 pages take %d reads", n)
		}
	})
}

// TestRowsOfOthersAreReadFewAtATimeWhereTheyAreLarge, those too that follow many small ones.
func TestRowsOfOthersAreReadFewAtATimeWhereTheyAreLarge(t *testing.T) {
	s := &sizes{Driver: memstore.New()}
	api := newShop() // without the index of subjects, which are short there
	api.Types["Invoice"].Model.Indexes = api.Types["Invoice"].Model.Indexes[:1]
	delete(api.Types["Order"].Fields, "bills")
	delete(api.Queries, "InvoiceBySubject")
	b := newBenchOf(t, api, shopSDL, Config{}, s)
	among(t, b, []int{500})
	const size = 100 << 10
	for i := range 300 {
		b.put(t, "Invoice", row{"invoiceId": fmt.Sprintf("b%04d", i), "ownerId": "acc0", "subject": strings.Repeat("x", size),
			"amount": 0})
	}
	b.put(t, "Invoice", row{"invoiceId": "c", "ownerId": "acc0", "subject": "ann", "amount": 2})
	s.most.Store(0)
	got := b.do(driver.WithBudget(as(t.Context(), "ann"), &purse{limit: 1 << 20}),
		`{ InvoiceByOwnerId(ownerId: "acc0") { items { amount } } }`, nil)
	if n := len(amountsOf.FindAllString(fmt.Sprint(got.Data), -1)); n != 2 || got.Errors != nil {
		t.Errorf("got %d rows, errors %v; want both", n, got.Errors)
	}
	if read := s.most.Load(); read > 9<<20 {
		t.Errorf("%d bytes of rows that nobody is charged for are read at once", read)
	}
}
