package graph

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
	"github.com/foldql/foldql/querydb/record"
)

func TestCollectionsGiveTheRowsOfTheirMembersInStoredOrder(t *testing.T) {
	t.Run("memstore", func(t *testing.T) { testCollections(t, memstore.New()) })
	t.Run("pebblestore", func(t *testing.T) {
		store, err := pebblestore.Open(pebblestore.Options{Dir: "data", FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		testCollections(t, store)
	})
}

// herd is the animals of two yards whose ids begin alike, and a model of them.
type herd struct {
	*bench
	rng  *rand.Rand
	rows map[string]animalRow // by type and id
}

type animalRow struct {
	typ string
	row row
	at  querydb.Row
}

func newHerd(t *testing.T, drv driver.Driver, rng *rand.Rand) *herd {
	h := &herd{newBenchOf(t, newYard(), yardSDL, Config{AuthOff: true}, drv), rng, map[string]animalRow{}}
	for i := range 90 {
		h.add(t, []string{"Cat", "Dog", "Fox"}[i%3], fmt.Sprint("a", i), []string{"Y", "Y", "Y", "y1"}[rng.IntN(4)])
	}
	return h
}

func (h *herd) add(t *testing.T, typ, id, yard string) {
	t.Helper()
	r := row{"id": id, "yard": yard, "size": h.rng.IntN(3) - 1}
	if h.rng.IntN(4) > 0 {
		r["name"], r["owner"] = text(h.rng), text(h.rng)
	}
	if h.rng.IntN(4) > 0 {
		r["keeperId"] = fmt.Sprint("k", h.rng.IntN(3))
	}
	h.put(t, typ, r)
	var b record.Builder
	at, err := querydb.Encode(codec(h.catalog.Types[typ].Model), &b, &r)
	if err != nil {
		t.Fatal(err)
	}
	h.rows[typ+" "+id] = animalRow{typ, r, at}
}

// want are the rows of the yard Y under a query, in the order of their keys.
func (h *herd) want(q *catalog.Query, only []string, reverse bool) (ids []string) {
	index := q.Collection.Stored.Index
	order := func(a, b string) int {
		x, y := h.rows[a].at, h.rows[b].at
		return cmp.Or(cmp.Compare(x.Indexes[index].SK, y.Indexes[index].SK), cmp.Compare(x.Key.PK, y.Key.PK))
	}
	for _, id := range slices.SortedFunc(maps.Keys(h.rows), order) {
		r := h.rows[id]
		if slices.Contains(only, r.typ) && r.row["yard"] == "Y" && r.at.Indexes[index].HasSK {
			ids = append(ids, id)
		}
	}
	if reverse {
		slices.Reverse(ids)
	}
	return ids
}

func testCollections(t *testing.T, drv driver.Driver) {
	const seed = 20240116
	t.Logf("seed %d", seed)
	h := newHerd(t, drv, rand.New(rand.NewPCG(seed, seed)))
	for _, name := range []string{"Yard", "Barkers", "Shed"} {
		q := h.catalog.Queries[name]
		for _, only := range kinds(q.Collection.Members) {
			for _, reverse := range []bool{false, true} {
				want := h.want(q, only, reverse)
				vars := map[string]any{"reverse": reverse}
				if only == nil {
					want = h.want(q, q.Collection.Members, reverse)
				} else {
					vars["only"] = only
				}
				if len(want) < 5 {
					t.Fatalf("%s of %v has %d rows only", name, only, len(want))
				}
				for _, limit := range []int{1, 2, 3, 7, 1000} {
					vars["limit"] = limit
					ranges := len(only)
					if only == nil || len(only) == len(q.Collection.Members) {
						ranges = 1
					}
					if diff := gocmp.Diff(want, h.walkCollection(t, q, maps.Clone(vars), limit, ranges)); diff != "" {
						t.Fatalf("%s, only %v, reverse %t, limit %d: -want +got:\n%s", name, only, reverse, limit, diff)
					}
				}
			}
		}
	}
}

// walkCollection reads all pages. Each is full while there are rows, and costs at most one range for each chosen
// member. Between pages the row that the token stands on goes and comes back.
func (h *herd) walkCollection(t *testing.T, q *catalog.Query, vars map[string]any, limit, ranges int) (all []string) {
	t.Helper()
	kind := map[string]string{"Yard": "Kind", "Barkers": "BarkerKind", "Shed": "Kind"}[q.Name]
	fields := "... on Dog { id } ... on Fox { id }"
	if q.Name != "Barkers" {
		fields += " ... on Cat { id }"
	}
	if only, ok := vars["only"].([]string); ok {
		var list []any
		for _, name := range only {
			list = append(list, name)
		}
		vars["only"] = list
	}
	query := fmt.Sprintf(`query($only: [%s!], $reverse: Boolean, $limit: Int, $token: String) {
		page: %s(yard: "Y", only: $only, reverse: $reverse, limit: $limit, nextToken: $token) { items { __typename %s } nextToken } }`, kind, q.Name, fields)
	for {
		h.store.reset()
		got := h.do(t.Context(), query, vars)
		if got.Errors != nil {
			t.Fatalf("%v: %v", vars, got.Errors)
		}
		batches := int64(0)
		if q.Name == "Shed" { // its dogs are completed from the table
			batches = 1
		}
		if n, g := int(h.store.queries.Load()), h.store.gets.Load(); n > ranges || g > batches {
			t.Fatalf("%v: %d ranges and %d gets for a page, wanted at most %d and %d", vars, n, g, ranges, batches)
		}
		page := got.Data.(map[string]any)["page"].(map[string]any)
		items := page["items"].([]any)
		for _, item := range items {
			item := item.(map[string]any)
			all = append(all, fmt.Sprint(item["__typename"], " ", item["id"]))
		}
		next := page["nextToken"]
		if len(items) > limit || next != nil && len(items) < limit || len(all) > len(h.rows) {
			t.Fatalf("%v: a page of %d has %d rows, and its token is %v", vars, limit, len(items), next)
		}
		if next == nil {
			return all
		}
		if last := h.rows[all[len(all)-1]]; vars["token"] == nil {
			h.remove(t, last.typ, last.row)
			defer h.put(t, last.typ, last.row)
		}
		vars["token"] = next
	}
}

func TestCollectionsAnswer(t *testing.T) {
	h := &herd{newBenchOf(t, newYard(), yardSDL, Config{}, memstore.New()), nil, nil}
	h.put(t, "Keeper", row{"id": "k1", "name": "Kim"}, row{"id": "k2"})
	h.put(t, "Cat", row{"id": "c1", "yard": "Y", "name": "Tom", "keeperId": "k1"}, row{"id": "c2", "yard": "Y",
		"keeperId": "none"}, row{"id": "c3", "yard": "Z", "name": "Kit"})
	h.put(t, "Dog", row{"id": "d1", "yard": "Y", "name": "Rex", "size": 2, "keeperId": "k1"},
		row{"id": "d2", "yard": "Y", "name": "Bo", "size": 1, "keeperId": "k2"})
	h.put(t, "Fox", row{"id": "f1", "yard": "Y", "owner": "ann"}, row{"id": "f2", "yard": "Y", "owner": "bob"},
		row{"id": "f3", "yard": "Z", "owner": "ann"})
	hunter, ann := as(t.Context(), "root", "Hunter"), as(t.Context(), "ann")
	tests := []struct {
		name   string
		hunter bool
		query  string
		want   result
		gets   int64
		ranges int64
	}{
		{"in stored order, by fragments on types, interfaces and the union", true,
			`{ Yard(yard: "y") { items { __typename ...A ... on Named { name } ... on Animal { ... on Fox { owner } } } ` +
				`nextToken } } fragment A on Animal { ... on Dog { size } }`,
			result{Data: wantJSON(t,
				`{"Yard":{"items":[{"__typename":"Dog","size":1,"name":"Bo"},{"__typename":"Dog","size":2,"name":"Rex"},{"__typename":"Fox","owner":"ann"},{"__typename":"Fox","owner":"bob"},
				{"__typename":"Cat","name":"Tom"},{"__typename":"Cat","name":null}],"nextToken":null}}`)}, 0, 1},
		{"joins of all members in one batch", true, `{ Yard(yard: "Y", only: [Cat, Dog]) { items { ... on Cat { keeper { ` +
			`name } } ... on Dog { keeper { id } } } } }`,
			result{Data: wantJSON(t,
				`{"Yard":{"items":[{"keeper":{"id":"k2"}},{"keeper":{"id":"k1"}},{"keeper":{"name":"Kim"}},{"keeper":null}]}}`)},
			1, 2},
		{"a page that the first member fills reads no other, but whether it has rows", true,
			`{ Shed(yard: "Y", only: [Cat, Dog], limit: 1) { a: items { ... on Cat { id } } b: items { ... on Cat { ` +
				`name } } } }`,
			result{Data: wantJSON(t, `{"Shed":{"a":[{"id":"c1"}],"b":[{"name":"Tom"}]}}`)}, 0, 2},
		{"rows that lack a part of the index are not in it", true,
			`{ Shed(yard: "Y", only: Cat) { items { ... on Cat { id } } } }`,
			result{Data: wantJSON(t, `{"Shed":{"items":[{"id":"c1"}]}}`)}, 0, 1},
		{"entries that lack a field are completed in one batch", true,
			`{ Shed(yard: "Y") { items { ... on Dog { size keeper ` +
				`{ id } } ... on Cat { id } } } }`,
			result{Data: wantJSON(t,
				`{"Shed":{"items":[{"id":"c1"},{"size":1,"keeper":{"id":"k2"}},{"size":2,"keeper":{"id":"k1"}},{},{}]}}`)}, 2, 1},
		{"an inner collection", true, `{ Barkers(yard: "Y", reverse: true, limit: 3) { items { ... on Fox { id ` +
			`} ... on Dog ` +
			`{ id } } } }`,
			result{Data: wantJSON(t, `{"Barkers":{"items":[{"id":"f2"},{"id":"f1"},{"id":"d1"}]}}`)}, 0, 1},
		{"a member that is another's", false, `{ Yard(yard: "Y") { items { __typename } } }`,
			result{Data: nil, Errors: []string{"FORBIDDEN Yard"}}, 0, 0},
		{"a member that is the caller's, in a partition that is not", false, `{ Yard(yard: "Z") { items { __typename } } }`,
			result{Data: nil, Errors: []string{"FORBIDDEN Yard"}}, 0, 0},
		{"members without a rule", false, `{ Yard(yard: "Y", only: [Cat]) { items { __typename } } }`,
			result{Data: wantJSON(t, `{"Yard":{"items":[{"__typename":"Cat"},{"__typename":"Cat"}]}}`)}, 0, 1},
		{"no member", true, `{ Yard(yard: "Y", only: []) { items { __typename } } }`,
			result{Errors: []string{"BAD_USER_INPUT Yard"}}, 0, 0},
		{"an empty partition key's value", true, `{ Yard(yard: "") { items { __typename } } }`,
			result{Data: wantJSON(t, `{"Yard":{"items":[]}}`)}, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h.store.reset()
			ctx := ann
			if tt.hunter {
				ctx = hunter
			}
			if diff := gocmp.Diff(tt.want, h.do(ctx, tt.query, nil)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if g, q := h.store.gets.Load(), h.store.queries.Load(); g != tt.gets || q > tt.ranges {
				t.Errorf("%d gets and %d ranges, wanted %d and at most %d", g, q, tt.gets, tt.ranges)
			}
		})
	}
	if got := h.do(t.Context(), `{ Yard(yard: "Y") { items { __typename } } }`, nil); !slices.Equal(got.Errors,
		[]string{"UNAUTHENTICATED Yard"}) {
		t.Errorf("nobody is answered %v", got)
	}
}

// TestVariablesInsideListLiteralsAreReadAnew in every operation: a plan that is made for one value must not keep it.
func TestVariablesInsideListLiteralsAreReadAnew(t *testing.T) {
	h := &herd{newBenchOf(t, newYard(), yardSDL, Config{AuthOff: true}, memstore.New()), nil, nil}
	h.put(t, "Cat", row{"id": "c1", "yard": "Y", "name": "Tom"})
	h.put(t, "Dog", row{"id": "d1", "yard": "Y", "name": "Rex", "size": 2})
	h.put(t, "Fox", row{"id": "f1", "yard": "Y"})
	const query = `query($k: Kind! = Cat, $l: Kind = Cat) { Yard(yard: "Y", only: [$k, $l]) { items { __typename } } }`
	for _, tt := range []struct {
		vars map[string]any
		want string
	}{
		{nil, `{"Yard":{"items":[{"__typename":"Cat"}]}}`},
		{map[string]any{"k": "Dog"}, `{"Yard":{"items":[{"__typename":"Dog"},{"__typename":"Cat"}]}}`},
		{map[string]any{"k": "Fox", "l": "Dog"}, `{"Yard":{"items":[{"__typename":"Dog"},{"__typename":"Fox"}]}}`},
		{map[string]any{"k": "Dog", "l": "Dog"}, `{"Yard":{"items":[{"__typename":"Dog"}]}}`},
	} {
		if diff := gocmp.Diff(result{Data: wantJSON(t, tt.want)}, h.do(t.Context(), query, tt.vars)); diff != "" {
			t.Errorf("%v: -want +got:\n%s", tt.vars, diff)
		}
	}
	one := h.do(t.Context(), `query($only: [Kind!]) { Yard(yard: "Y", only: $only) { items { __typename } } }`,
		map[string]any{"only": "Dog"})
	if diff := gocmp.Diff(result{Data: wantJSON(t, `{"Yard":{"items":[{"__typename":"Dog"}]}}`)}, one); diff != "" {
		t.Errorf("one value for a list: -want +got:\n%s", diff)
	}
	got := h.do(t.Context(), query, map[string]any{"l": nil})
	if diff := gocmp.Diff(result{Errors: []string{"BAD_USER_INPUT Yard.only[1]"}}, got); diff != "" {
		t.Errorf("null in the list: -want +got:\n%s", diff)
	}
}
