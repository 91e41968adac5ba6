package graph

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

const tracks = `query($id: ID!, $limit: Int, $reverse: Boolean, $token: String) {
	page: TrackById(id: $id, limit: $limit, reverse: $reverse, nextToken: $token) { items { key: changedAt } nextToken } }`

const orders = `query($id: Status!, $limit: Int, $reverse: Boolean, $token: String) {
	page: OrderByStatus(status: $id, limit: $limit, reverse: $reverse, nextToken: $token) { items { key: orderId } nextToken } }`

const invoices = `query($id: ID!, $limit: Int, $reverse: Boolean, $token: String) {
	page: InvoiceByOwnerId(ownerId: $id, limit: $limit, reverse: $reverse, nextToken: $token) { items { key: invoiceId } nextToken } }`

// turn asks for one page and returns its rows' keys and the next token.
func (b *bench) turn(t *testing.T, ctx context.Context, query string, vars map[string]any) (got []string, next any) {
	t.Helper()
	r := b.do(ctx, query, vars)
	if r.Errors != nil {
		t.Fatalf("%v: %v", vars, r.Errors)
	}
	page := r.Data.(map[string]any)["page"].(map[string]any)
	for _, item := range page["items"].([]any) {
		got = append(got, item.(map[string]any)["key"].(string))
	}
	return got, page["nextToken"]
}

// walk reads all pages, doing something between them.
func (b *bench) walk(t *testing.T, query, id string, limit int, reverse bool, between func()) []string {
	t.Helper()
	vars := map[string]any{"id": id, "limit": limit, "reverse": reverse}
	var all []string
	for {
		got, next := b.turn(t, t.Context(), query, vars)
		if len(got) > limit {
			t.Fatalf("%d rows in a page of %d", len(got), limit)
		}
		if next != nil && len(got) < limit {
			t.Fatalf("a page of %d has %d rows, and there are more", limit, len(got))
		}
		all = append(all, got...)
		if next == nil {
			return all
		}
		vars["token"] = next
		between()
	}
}

// text returns any Unicode text, often of few letters, so that keys share beginnings.
func text(rng *rand.Rand) string {
	letters := []rune("aab/%#~ \"\\\u00e9\u2713\U0001f600\u0001\uffff")
	var s strings.Builder
	for range 1 + rng.IntN(6) {
		s.WriteRune(letters[rng.IntN(len(letters))])
	}
	return s.String()
}

func TestWalkingPagesGivesEveryRowOnce(t *testing.T) {
	t.Run("memstore", func(t *testing.T) { testWalking(t, memstore.New()) })
	t.Run("pebblestore", func(t *testing.T) {
		store, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		testWalking(t, store)
	})
}

func testWalking(t *testing.T, drv driver.Driver) {
	const seed = 20240115
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	b := newBenchOn(t, Config{AuthOff: true}, drv)

	place := func(id string, at int) row {
		return row{"orderId": id, "customerId": "c", "productIds": []string{}, "status": "OPEN", "placedAt": day(at),
			"total": 1.0, "sold": int64(0), "group": "g"}
	}
	bill := func(id string) row { return row{"invoiceId": id, "ownerId": "acc ✓/%", "subject": "s", "amount": 1} }
	track := func(n int) row { return row{"orderId": "o", "changedAt": day(n), "status": "OPEN"} }
	stay := map[string]map[string]bool{orders: {}, invoices: {}, tracks: {}}
	for i := range 60 {
		id := text(rng)
		b.put(t, "Order", place(id, 1+rng.IntN(3))) // many ties
		b.put(t, "Invoice", bill(id))
		b.put(t, "Track", track(1+i/3))
		stay[orders][id], stay[invoices][id] = true, true
		stay[tracks][day(1+i/3).Format("2006-01-02T15:04:05.000Z")] = true
	}
	ids := map[string]string{orders: "OPEN", invoices: "acc ✓/%", tracks: "o"}
	for query, want := range stay {
		for _, limit := range []int{1, 2, 3, 7, 1000} {
			for _, reverse := range []bool{false, true} {
				// Rows that come and go meanwhile may or may not be seen; the others are, each once.
				var come []string
				turn := 0
				got := b.walk(t, query, ids[query], limit, reverse, func() {
					turn++
					if len(come) > 0 && turn%2 == 0 {
						b.remove(t, "Order", place(come[0], 1))
						b.remove(t, "Invoice", bill(come[0]))
						come = come[1:]
						return
					}
					id := fmt.Sprint("new ", turn, text(rng))
					b.put(t, "Order", place(id, 1+rng.IntN(3)))
					b.put(t, "Invoice", bill(id))
					come = append(come, id)
				})
				for _, id := range come {
					b.remove(t, "Order", place(id, 1))
					b.remove(t, "Invoice", bill(id))
				}
				got = slices.DeleteFunc(got, func(id string) bool { return !want[id] })
				slices.Sort(got)
				if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), got); diff != "" {
					t.Errorf("%.20q limit %d reverse %t: -want +got:\n%s", query, limit, reverse, diff)
				}
			}
		}
	}
}

func TestWalkingSurvivesTheRowItStoodOn(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	for i := range 9 {
		b.put(t, "Track", row{"orderId": "o", "changedAt": day(1 + i), "status": "OPEN"})
	}
	vars := map[string]any{"id": "o", "limit": 3}
	_, next := b.turn(t, t.Context(), tracks, vars)
	b.remove(t, "Track", row{"orderId": "o", "changedAt": day(3)})
	vars["token"] = next
	got, _ := b.turn(t, t.Context(), tracks, vars)
	if diff := cmp.Diff([]string{"2024-01-04T10:00:00.000Z", "2024-01-05T10:00:00.000Z", "2024-01-06T10:00:00.000Z"},
		got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestReverseIsTheOtherOrder(t *testing.T) {
	b := newBench(t, Config{AuthOff: true})
	b.stock(t)
	forth := b.walk(t, orders, "OPEN", 3, false, func() {})
	back := b.walk(t, orders, "OPEN", 2, true, func() {})
	slices.Reverse(back)
	if diff := cmp.Diff(forth, back); diff != "" {
		t.Errorf("-forwards +backwards:\n%s", diff)
	}
}

func TestATokenServesItsOwnQueryAlone(t *testing.T) {
	b := newBench(t, Config{})
	b.stock(t)
	ann, bob, root := as(t.Context(), "ann"), as(t.Context(), "bob"), as(t.Context(), "root", "Admin")
	vars := map[string]any{"id": "o1", "limit": 1}
	_, next := b.turn(t, ann, tracks, vars)
	with := func(more map[string]any) map[string]any {
		v := map[string]any{"id": "o1", "limit": 1, "token": next}
		maps.Copy(v, more)
		return v
	}
	const bounded = `query($id: ID!, $from: String, $token: String) { page: TrackById(id: $id, from: $from, nextToken: ` +
		`$token) { nextToken } }`
	_, ranged := b.turn2(t, ann, `{ page: TrackById(id: "o1", from: "2024-01-01T12:00:00+02:00", limit: 1) { `+
		`nextToken } }`)
	tests := []struct {
		name  string
		ctx   context.Context
		query string
		vars  map[string]any
		valid bool
	}{
		{"the same again", ann, tracks, with(nil), true},
		{"another limit", ann, tracks, with(map[string]any{"limit": 3}), true},
		{"another partition", ann, tracks, with(map[string]any{"id": "o2"}), false},
		{"another direction", ann, tracks, with(map[string]any{"reverse": true}), false},
		{"another range", ann, bounded, map[string]any{"id": "o1", "from": "2024-01-02", "token": next}, false},
		{"the same range in other words", ann, bounded, map[string]any{"id": "o1", "from": "2024-01-01T10:00:00Z",
			"token": ranged}, true},
		{"another caller", bob, tracks, with(nil), false},
		{"no caller", t.Context(), tracks, with(nil), false},
		{"another query", root, invoices, with(map[string]any{"id": "acc1"}), false},
		{"a changed token", ann, tracks, with(map[string]any{"token": "A" + next.(string)}), false},
		{"a cut token", ann, tracks, with(map[string]any{"token": next.(string)[1:]}), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := b.do(tt.ctx, tt.query, tt.vars)
			if tt.valid && got.Errors != nil {
				t.Errorf("refused: %v", got.Errors)
			}
			if !tt.valid && (len(got.Errors) != 1 || !strings.HasPrefix(got.Errors[0], "INVALID_TOKEN page")) {
				t.Errorf("got %v, wanted INVALID_TOKEN", got)
			}
		})
	}
	other := newBench(t, Config{TokenKey: [32]byte{1}})
	other.stock(t)
	if got := other.do(ann, tracks, with(nil)); !slices.Equal(got.Errors, []string{"INVALID_TOKEN page"}) {
		t.Errorf("another server's token: got %v", got)
	}
}

func (b *bench) turn2(t *testing.T, ctx context.Context, query string) (any, any) {
	t.Helper()
	r := b.do(ctx, query, nil)
	if r.Errors != nil {
		t.Fatal(r.Errors)
	}
	return nil, r.Data.(map[string]any)["page"].(map[string]any)["nextToken"]
}
