package graph

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/graph/internal/read"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// purse is a budget that says what was taken of it.
type purse struct {
	limit int64
	taken atomic.Int64
}

func (p *purse) Take(bytes int) error {
	if p.taken.Add(int64(bytes)) > p.limit {
		return graphqlerr.New(graphqlerr.LimitExceeded, "the purse is empty")
	}
	return nil
}

// purses leave room for nothing, for few rows, for all but the large ones, and for everything.
var purses = []int64{0, 700, 1500, 1 << 30}

// manySlips are more ids than are judged at a time.
func manySlips() (ids []string) {
	for i := range 3 * read.JudgedAtOnce {
		ids = append(ids, fmt.Sprint("s", i))
	}
	return ids
}

// drawers are a store with few rows of ann's, and, where others is true, with large ones of another where she has none.
// A paper is the only one of its team.
func drawers(t *testing.T, others bool) *bench {
	catalog := newDesks()
	catalog.Types["Paper"].Model.Indexes[1].Unique = true
	b := newBenchOf(t, catalog, deskSDL, Config{}, memstore.New())
	b.put(t, "Desk",
		row{"id": "d1", "slipId": "s-bob", "slipIds": manySlips(), "paperId": "p-bob", "person": "ann", "team": "y"},
		row{"id": "d2", "slipId": "s-ann", "slipIds": []string{"s-ann", "s0"}, "paperId": "p-ann", "person": "ann",
			"team": "x"})
	b.put(t, "Slip", row{"id": "s-ann", "owner": "ann"}, row{"id": "s0", "owner": "ann"})
	b.put(t, "Paper", row{"id": "p-ann", "version": "v1", "owner": "ann", "team": "x"})
	if others {
		bob := strings.Repeat("bob", 500)
		b.put(t, "Slip", row{"id": "s-bob", "owner": bob})
		for _, id := range manySlips()[1:] {
			b.put(t, "Slip", row{"id": id, "owner": bob})
		}
		b.put(t, "Paper", row{"id": "p-bob", "version": "v1", "owner": bob, "team": "y"})
	}
	return b
}

// TestRowsOfOthersCostAnOwnerNothing: to whoever is admitted to own rows only, another's row takes as much of the
// budget of a request as a missing one, so that a request at the end of its budget does not tell the two apart either.
func TestRowsOfOthersCostAnOwnerNothing(t *testing.T) {
	alone, among := drawers(t, false), drawers(t, true)
	for _, query := range []string{
		`{ r: Slip(id: "s-bob") { owner } }`,
		`{ r: Slip(id: "s-bob") { owner } own: Slip(id: "s-ann") { owner } }`,
		`{ r: Paper(id: "p-bob", version: "v1") { version } }`,
		`{ r: Desk(id: "d1") { slip { id } } }`,
		`{ r: Desk(id: "d1") { slips { id } } }`,
		`{ r: Desk(id: "d1") { firstOfTeam { version } } }`,
		`{ r: Desk(id: "d1") { slip { id } slips { id } firstOfTeam { version } firstOfPerson { version } } }`,
	} {
		sameCost(t, query, alone, among, func(ctx context.Context, b *bench) string { return sealed(b.do(ctx, query, nil)) })
	}
}

// TestRowsOfOthersCostResolversNothing is the same for the functions that generated resolvers call.
func TestRowsOfOthersCostResolversNothing(t *testing.T) {
	alone, among := drawers(t, false), drawers(t, true)
	slip, paper := codec(alone.catalog.Types["Slip"].Model), codec(alone.catalog.Types["Paper"].Model)
	var slips []keys.Value
	for _, id := range manySlips() {
		slips = append(slips, keys.String(id))
	}
	bob, team := []keys.Value{keys.String("s-bob")}, []keys.Value{keys.String("y")}
	for name, ask := range map[string]func(context.Context, *bench) error{
		"one row": func(ctx context.Context, b *bench) error {
			_, err := FetchOne(ctx, b.rt, slip, &QueryRequest{Name: "Slip", PK: bob})
			return err
		},
		"a join": func(ctx context.Context, b *bench) error {
			_, err := JoinMany(ctx, b.rt, "Desk", "slip", slip, bob)
			return err
		},
		"a join to many": func(ctx context.Context, b *bench) error {
			_, err := JoinMany(ctx, b.rt, "Desk", "slips", slip, slips)
			return err
		},
		"a join through a unique index": func(ctx context.Context, b *bench) error {
			_, err := JoinMany(ctx, b.rt, "Desk", "firstOfTeam", paper, team)
			return err
		},
	} {
		sameCost(t, name, alone, among, func(ctx context.Context, b *bench) string { return fmt.Sprint(ask(ctx, b)) })
	}
}

// TestOwnershipOfOthersCostsNothing: nor does the row that names another as the owner of a partition of an index.
func TestOwnershipOfOthersCostsNothing(t *testing.T) {
	alone, among := newBench(t, Config{}), newBench(t, Config{})
	among.put(t, "Ownership", row{"ownerId": "acc2", "subject": strings.Repeat("bob", 500)})
	const query = `{ r: InvoiceByOwnerId(ownerId: "acc2") { items { amount } } }`
	sameCost(t, query, alone, among, func(ctx context.Context, b *bench) string { return sealed(b.do(ctx, query, nil)) })
}

// sameCost has ann ask both stores, with purses of several sizes, and compares the answers and what is taken.
func sameCost(t *testing.T, name string, alone, among *bench, ask func(context.Context, *bench) string) {
	t.Helper()
	for _, limit := range purses {
		without, with := &purse{limit: limit}, &purse{limit: limit}
		ann := as(t.Context(), "ann")
		want := ask(driver.WithBudget(ann, without), alone)
		got := ask(driver.WithBudget(ann, with), among)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, within %d:\n-without and +with rows of others:\n%s", name, limit, diff)
		}
		if w, g := without.taken.Load(), with.taken.Load(); w != g {
			t.Errorf("%s, within %d: takes %d without rows of others, and %d with them", name, limit, w, g)
		}
	}
}

// TestOwnRowsAreChargedToTheBudget: rows that a caller gets take of it, however it was found out that they are theirs.
func TestOwnRowsAreChargedToTheBudget(t *testing.T) {
	b := drawers(t, false)
	for _, id := range manySlips() {
		b.put(t, "Slip", row{"id": id, "owner": "ann"})
	}
	cost := func(ctx context.Context, query string) int64 {
		p := &purse{limit: 1 << 30}
		if got := b.do(driver.WithBudget(ctx, p), query, nil); got.Errors != nil {
			t.Errorf("%s: %v", query, got.Errors)
		}
		return p.taken.Load()
	}
	for _, query := range []string{
		`{ r: Slip(id: "s-ann") { id } }`,
		`{ r: Desk(id: "d2") { slip { id } slips { id } firstOfTeam { version } firstOfPerson { version } } }`,
		`{ r: Desk(id: "d1") { slips { id } } }`,
	} {
		own, boss := cost(as(t.Context(), "ann"), query), cost(as(t.Context(), "eve", "Boss"), query)
		if own != boss || own == 0 {
			t.Errorf("%s: takes %d for the owner, and %d for whoever is admitted to all rows", query, own, boss)
		}
	}
}

// holder is a budget that counts the memory that an answer takes while it is made.
type holder struct {
	purse
	held atomic.Int64
}

func (h *holder) Hold(bytes int) error {
	h.held.Add(int64(bytes))
	return nil
}

// TestAnObjectTakesMemoryWhileItIsWritten, and not when it is whole: it may have the name of a long field many times.
func TestAnObjectTakesMemoryWhileItIsWritten(t *testing.T) {
	b := newBench(t, Config{})
	const size, names = 300_000, 60
	b.put(t, "Order", order("o", "OPEN", 1, strings.Repeat("x", size)))
	for most, fails := range map[int]bool{0: false, 1 << 20: true} {
		b := newBenchOn(t, Config{MaxAnswerBytes: most}, b.store)
		var query strings.Builder
		query.WriteString(`{ Order(id: "o") {`)
		for i := range names {
			fmt.Fprintf(&query, " a%d: group", i)
		}
		query.WriteString(" } }")
		h := &holder{purse: purse{limit: 1 << 30}}
		got := b.do(driver.WithBudget(t.Context(), h), query.String(), nil)
		held := h.held.Load()
		if failed := len(got.Errors) > 0; failed != fails || !fails && held < size*names || fails && held > 4<<20 {
			t.Errorf("of an answer of %d bytes at most, %d are held; %.100s", most, held, got.Errors)
		}
	}
}
