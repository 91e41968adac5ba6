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

// trackerBench has the items of two projects whose ids begin alike, and a model of them.
type trackerBench struct {
	*bench
	rng  *rand.Rand
	rows map[string]itemRow // by type and id
}

type itemRow struct {
	typ string
	row row
	at  querydb.Row
}

func newTrackerBench(t *testing.T, drv driver.Driver, rng *rand.Rand) *trackerBench {
	h := &trackerBench{newBenchOf(t, newTracker(), trackerSDL, Config{AuthOff: true}, drv), rng, map[string]itemRow{}}
	for i := range 90 {
		h.add(t, []string{"Milestone", "Story", "Task"}[i%3], fmt.Sprint("a", i), []string{"P", "P", "P", "p1"}[rng.IntN(4)])
	}
	return h
}

func (h *trackerBench) add(t *testing.T, typ, id, project string) {
	t.Helper()
	r := row{"id": id, "project": project, "size": h.rng.IntN(3) - 1}
	if h.rng.IntN(4) > 0 {
		r["name"], r["owner"] = text(h.rng), text(h.rng)
	}
	if h.rng.IntN(4) > 0 {
		r["assigneeId"] = fmt.Sprint("p", h.rng.IntN(3))
	}
	h.put(t, typ, r)
	var b record.Builder
	at, err := querydb.Encode(codec(h.catalog.Types[typ].Model), &b, &r)
	if err != nil {
		t.Fatal(err)
	}
	h.rows[typ+" "+id] = itemRow{typ, r, at}
}

// want are the rows of the project P under a query, in the order of their keys.
func (h *trackerBench) want(q *catalog.Query, only []string, reverse bool) (ids []string) {
	index := q.Collection.Stored.Index
	order := func(a, b string) int {
		x, y := h.rows[a].at, h.rows[b].at
		return cmp.Or(cmp.Compare(x.Indexes[index].SK, y.Indexes[index].SK), cmp.Compare(x.Key.PK, y.Key.PK))
	}
	for _, id := range slices.SortedFunc(maps.Keys(h.rows), order) {
		r := h.rows[id]
		if slices.Contains(only, r.typ) && r.row["project"] == "P" && r.at.Indexes[index].HasSK {
			ids = append(ids, id)
		}
	}
	if reverse {
		slices.Reverse(ids)
	}
	return ids
}

func testCollections(t *testing.T, drv driver.Driver) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	h := newTrackerBench(t, drv, rand.New(rand.NewPCG(seed, seed)))
	for _, name := range []string{"Project", "Backlog", "Roadmap"} {
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
				limits := []int{2, 1, 3, 7, 1000}
				if Raced {
					limits = limits[:1]
				}
				for _, limit := range limits {
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
func (h *trackerBench) walkCollection(
	t *testing.T, q *catalog.Query, vars map[string]any, limit, ranges int,
) (all []string) {
	t.Helper()
	kind := map[string]string{"Project": "ItemKind", "Backlog": "BacklogItemKind", "Roadmap": "ItemKind"}[q.Name]
	fields := "... on Story { id } ... on Task { id }"
	if q.Name != "Backlog" {
		fields += " ... on Milestone { id }"
	}
	if only, ok := vars["only"].([]string); ok {
		var list []any
		for _, name := range only {
			list = append(list, name)
		}
		vars["only"] = list
	}
	query := fmt.Sprintf(`query($only: [%s!], $reverse: Boolean, $limit: Int, $token: String) {
		page: %s(project: "P", only: $only, reverse: $reverse, limit: $limit, nextToken: $token) { items { __typename %s } nextToken } }`, kind, q.Name, fields)
	for {
		h.store.reset()
		got := h.do(t.Context(), query, vars)
		if got.Errors != nil {
			t.Fatalf("%v: %v", vars, got.Errors)
		}
		batches := int64(0)
		if q.Name == "Roadmap" { // its stories are completed from the table
			batches = 1
		}
		if n, g := int(h.store.queries.Load()), h.store.gets.Load(); n > ranges || g > batches {
			t.Fatalf("%v: %d ranges and %d gets for a page, wanted at most %d and %d", vars, n, g, ranges, batches)
		}
		x, err := h.explain(query, vars)
		if err != nil {
			t.Fatal(err)
		}
		reads, ks := h.store.gets.Load()+h.store.queries.Load(), h.store.got.Load()+h.store.examined.Load()
		if int64(x.Reads) < reads || int64(x.Keys) < ks || x.Reads > ranges*2 {
			t.Fatalf("%v: %d reads of %d keys, and the explanation has %d of %d", vars, reads, ks, x.Reads, x.Keys)
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

// TestATokenOfSomeMembersGoesOnWithThemAlone: with others it is none of this query, and only where the keys of a member
// have changed is it of rows that were rebuilt.
func TestATokenOfSomeMembersGoesOnWithThemAlone(t *testing.T) {
	h := newTrackerBench(t, memstore.New(), rand.New(rand.NewPCG(5, 0)))
	project := h.catalog.Queries["Project"].Collection
	ask := func(only []string, token any) (next any, errs []string) {
		t.Helper()
		vars := map[string]any{"token": token}
		if only != nil {
			var list []any
			for _, name := range only {
				list = append(list, name)
			}
			vars["only"] = list
		}
		got := h.do(t.Context(), `query($only: [ItemKind!], $token: String) {
			Project(project: "P", only: $only, limit: 1, nextToken: $token) { nextToken } }`, vars)
		if got.Errors != nil {
			return nil, got.Errors
		}
		return got.Data.(map[string]any)["Project"].(map[string]any)["nextToken"], nil
	}
	sets := kinds(project.Members)
	sets = sets[:len(sets)-1] // all are as none
	tokens := make([]any, len(sets))
	for i, only := range sets {
		tokens[i], _ = ask(only, nil)
		if tokens[i] == nil {
			t.Fatalf("only %v: there is no token", only)
		}
	}
	check := func(of int, with []string, want ...string) {
		t.Helper()
		if _, got := ask(with, tokens[of]); !slices.Equal(got, want) {
			t.Errorf("a token of only %v, with only %v: %v, want %v", sets[of], with, got, want)
		}
	}
	for i := range sets {
		for j, with := range sets {
			if i == j {
				check(i, with)
			} else {
				check(i, with, "INVALID_TOKEN Project")
			}
		}
	}
	var served []querydb.Served
	for _, name := range project.Members {
		m := h.catalog.Types[name].Model
		layout := m.Layout()
		if name == "Task" {
			layout = formerModel(m, "id", "project", "owner").Layout()
		}
		served = append(served, querydb.Served{Model: m, Layout: layout})
	}
	if err := h.db.Generations().ServeAll(served); err != nil {
		t.Fatal(err)
	}
	for i, only := range sets {
		check(i, only, "INVALID_TOKEN Project: rebuilt")
	}
}

func TestCollectionsAnswer(t *testing.T) {
	h := &trackerBench{newBenchOf(t, newTracker(), trackerSDL, Config{}, memstore.New()), nil, nil}
	h.put(t, "Person", row{"id": "p1", "name": "Kim"}, row{"id": "p2"})
	h.put(t, "Milestone", row{"id": "m1", "project": "P", "name": "Beta", "assigneeId": "p1"},
		row{"id": "m2", "project": "P", "assigneeId": "none"}, row{"id": "m3", "project": "Q", "name": "Launch"})
	h.put(t, "Story", row{"id": "s1", "project": "P", "name": "Search", "size": 2, "assigneeId": "p1"},
		row{"id": "s2", "project": "P", "name": "Login", "size": 1, "assigneeId": "p2"})
	h.put(t, "Task", row{"id": "t1", "project": "P", "owner": "ann"}, row{"id": "t2", "project": "P", "owner": "bob"},
		row{"id": "t3", "project": "Q", "owner": "ann"})
	manager, ann := as(t.Context(), "root", "Manager"), as(t.Context(), "ann")
	tests := []struct {
		name    string
		manager bool
		query   string
		want    result
		gets    int64
		ranges  int64
	}{
		{"in stored order, by fragments on types, interfaces and the union", true,
			`{ Project(project: "p") { items { __typename ...A ... on Named { name } ... on Item { ... on Task { owner } } } ` +
				`nextToken } } fragment A on Item { ... on Story { size } }`,
			result{Data: wantJSON(t,
				`{"Project":{"items":[{"__typename":"Story","size":1,"name":"Login"},{"__typename":"Story","size":2,"name":"Search"},{"__typename":"Task","owner":"ann"},{"__typename":"Task","owner":"bob"},
				{"__typename":"Milestone","name":"Beta"},{"__typename":"Milestone","name":null}],"nextToken":null}}`)}, 0, 1},
		{"joins of all members in one batch", true,
			`{ Project(project: "P", only: [Milestone, Story]) { items { ... on Milestone { assignee { name } } ` +
				`... on Story { assignee { id } } } } }`,
			result{Data: wantJSON(t,
				`{"Project":{"items":[{"assignee":{"id":"p2"}},{"assignee":{"id":"p1"}},{"assignee":{"name":"Kim"}},{"assignee":null}]}}`)},
			1, 2},
		{"a page that the first member fills reads no other, but whether it has rows", true,
			`{ Roadmap(project: "P", only: [Milestone, Story], limit: 1) { a: items { ... on Milestone { id } } ` +
				`b: items { ... on Milestone { name } } } }`,
			result{Data: wantJSON(t, `{"Roadmap":{"a":[{"id":"m1"}],"b":[{"name":"Beta"}]}}`)}, 0, 2},
		{"rows that lack a part of the index are not in it", true,
			`{ Roadmap(project: "P", only: Milestone) { items { ... on Milestone { id } } } }`,
			result{Data: wantJSON(t, `{"Roadmap":{"items":[{"id":"m1"}]}}`)}, 0, 1},
		{"entries that lack a field are completed in one batch", true,
			`{ Roadmap(project: "P") { items { ... on Story { size assignee { id } } ... on Milestone { id } } } }`,
			result{Data: wantJSON(t,
				`{"Roadmap":{"items":[{"id":"m1"},{"size":1,"assignee":{"id":"p2"}},{"size":2,"assignee":{"id":"p1"}},{},{}]}}`)}, 2, 1},
		{"an inner collection", true,
			`{ Backlog(project: "P", reverse: true, limit: 3) { items { ... on Task { id } ... on Story { id } } } }`,
			result{Data: wantJSON(t, `{"Backlog":{"items":[{"id":"t2"},{"id":"t1"},{"id":"s1"}]}}`)}, 0, 1},
		{"a member that is another's", false, `{ Project(project: "P") { items { __typename } } }`,
			result{Data: nil, Errors: []string{"FORBIDDEN Project"}}, 0, 0},
		{"a member that is the caller's, in a partition that is not", false,
			`{ Project(project: "Q") { items { __typename } } }`,
			result{Data: nil, Errors: []string{"FORBIDDEN Project"}}, 0, 0},
		{"members without a rule", false, `{ Project(project: "P", only: [Milestone]) { items { __typename } } }`,
			result{Data: wantJSON(t, `{"Project":{"items":[{"__typename":"Milestone"},{"__typename":"Milestone"}]}}`)}, 0, 1},
		{"no member", true, `{ Project(project: "P", only: []) { items { __typename } } }`,
			result{Errors: []string{"BAD_USER_INPUT Project"}}, 0, 0},
		{"an empty partition key's value", true, `{ Project(project: "") { items { __typename } } }`,
			result{Data: wantJSON(t, `{"Project":{"items":[]}}`)}, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h.store.reset()
			ctx := ann
			if tt.manager {
				ctx = manager
			}
			if diff := gocmp.Diff(tt.want, h.do(ctx, tt.query, nil)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if g, q := h.store.gets.Load(), h.store.queries.Load(); g != tt.gets || q > tt.ranges {
				t.Errorf("%d gets and %d ranges, wanted %d and at most %d", g, q, tt.gets, tt.ranges)
			}
		})
	}
	if got := h.do(t.Context(), `{ Project(project: "P") { items { __typename } } }`, nil); !slices.Equal(got.Errors,
		[]string{"UNAUTHENTICATED Project"}) {
		t.Errorf("nobody is answered %v", got)
	}
}

// TestVariablesInsideListLiteralsAreReadAgain in every operation: a plan that is made for one value must not keep it.
func TestVariablesInsideListLiteralsAreReadAgain(t *testing.T) {
	h := &trackerBench{newBenchOf(t, newTracker(), trackerSDL, Config{AuthOff: true}, memstore.New()), nil, nil}
	h.put(t, "Milestone", row{"id": "m1", "project": "P", "name": "Beta"})
	h.put(t, "Story", row{"id": "s1", "project": "P", "name": "Search", "size": 2})
	h.put(t, "Task", row{"id": "t1", "project": "P"})
	const query = `query($k: ItemKind! = Milestone, $l: ItemKind = Milestone) {
		Project(project: "P", only: [$k, $l]) { items { __typename } } }`
	for _, tt := range []struct {
		vars map[string]any
		want string
	}{
		{nil, `{"Project":{"items":[{"__typename":"Milestone"}]}}`},
		{map[string]any{"k": "Story"}, `{"Project":{"items":[{"__typename":"Story"},{"__typename":"Milestone"}]}}`},
		{map[string]any{"k": "Task", "l": "Story"}, `{"Project":{"items":[{"__typename":"Story"},{"__typename":"Task"}]}}`},
		{map[string]any{"k": "Story", "l": "Story"}, `{"Project":{"items":[{"__typename":"Story"}]}}`},
	} {
		if diff := gocmp.Diff(result{Data: wantJSON(t, tt.want)}, h.do(t.Context(), query, tt.vars)); diff != "" {
			t.Errorf("%v: -want +got:\n%s", tt.vars, diff)
		}
	}
	one := h.do(t.Context(), `query($only: [ItemKind!]) { Project(project: "P", only: $only) { items { __typename } } }`,
		map[string]any{"only": "Story"})
	if diff := gocmp.Diff(result{Data: wantJSON(t, `{"Project":{"items":[{"__typename":"Story"}]}}`)}, one); diff != "" {
		t.Errorf("one value for a list: -want +got:\n%s", diff)
	}
	got := h.do(t.Context(), query, map[string]any{"l": nil})
	if diff := gocmp.Diff(result{Errors: []string{"BAD_USER_INPUT Project: argument only[1]"}}, got); diff != "" {
		t.Errorf("null in the list: -want +got:\n%s", diff)
	}
}
