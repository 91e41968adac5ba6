package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// accounts are a shop in which ann owns accounts, by rows that say so. Bills of acc1 are hers, and, where others
// is true, of others too: large ones before, between and after hers, and more than are judged at a time. A bill
// leads to the first of its account.
func accounts(t *testing.T, others bool, projected []int) *bench {
	api := newShop()
	api.Types["Invoice"].Model.Indexes[0].Projected = projected
	api.Types["Invoice"].Fields["bill"].Join.Index = 0
	api.Types["Invoice"].Fields["bill"].Ordinal = 1
	b := newBenchOf(t, api, shopSDL, Config{}, memstore.New())
	b.put(t, "Ownership", row{"ownerId": "acc1", "subject": "ann"}, row{"ownerId": "acc2", "subject": "ann"},
		row{"ownerId": "acc3", "subject": "ann"})
	b.put(t, "Invoice", row{"invoiceId": "mine", "ownerId": "acc3", "subject": "ann", "amount": 1})
	for i := range 5 {
		b.put(t, "Invoice", row{"invoiceId": fmt.Sprintf("i%d", 2*i), "ownerId": "acc1", "subject": "ann", "amount": i})
	}
	if others {
		for i := range 60 {
			b.put(t, "Invoice", row{"invoiceId": fmt.Sprintf("i%d-%02d", i%11, i), "ownerId": "acc1",
				"subject": strings.Repeat("bob", 500), "amount": i})
		}
		b.put(t, "Invoice", row{"invoiceId": "a", "ownerId": "acc1", "subject": "bob", "amount": 0},
			row{"invoiceId": "b", "ownerId": "acc2", "subject": "bob", "amount": 0})
	}
	return b
}

// TestRowsOfOthersInOnesOwnPartitionAreAsMissing: to the owner of a key of an index with a group, to whom the type
// gives own rows only, pages, tokens, joins, counts and what is left of a budget are what they would be without
// rows of others.
func TestRowsOfOthersInOnesOwnPartitionAreAsMissing(t *testing.T) {
	for _, projected := range [][]int{nil, {0, 1}} { // an index that has whole rows, and one whose rows are completed
		alone, among := accounts(t, false, projected), accounts(t, true, projected)
		walk := func(ctx context.Context, b *bench) string { return pagesOf(ctx, b) }
		for name, ask := range map[string]func(context.Context, *bench) string{
			"pages": walk,
			"an account without own rows": func(ctx context.Context, b *bench) string {
				return sealed(b.do(ctx, `{ r: InvoiceByOwnerId(ownerId: "acc2") { items { amount } nextToken } }`, nil))
			},
			"a join to the first": func(ctx context.Context, b *bench) string {
				return sealed(b.do(ctx, `{ r: Invoice(id: "mine") { bill { invoiceId } } }`, nil))
			},
			"a join to the first of others": func(ctx context.Context, b *bench) string {
				return sealed(b.do(ctx, `{ r: Invoice(id: "i2") { bill { invoiceId } } }`, nil))
			},
		} {
			sameCost(t, name, alone, among, ask)
			alone, among := accounts(t, false, projected), accounts(t, true, projected)
			ann := as(t.Context(), "ann")
			ask(ann, alone)
			ask(ann, among)
			if diff := cmp.Diff(counts(alone), counts(among)); diff != "" {
				t.Errorf("%s: counted\n-without and +with rows of others:\n%s", name, diff)
			}
		}
		if got, want := pagesOf(as(t.Context(), "ann"), among), "0 1|2 3|4|; 4 3|2 1|0|; 0 1 2 3 4|; "; got != want {
			t.Errorf("ann reads pages %q, want %q", got, want)
		}
		const whole = `{ r: InvoiceByOwnerId(ownerId: "acc1", limit: 1000) { items { amount } } }`
		all := among.do(as(t.Context(), "eve", "Admin"), whole, nil)
		if n := strings.Count(fmt.Sprint(all.Data), "amount"); n != 66 || all.Errors != nil {
			t.Errorf("the group reads %d rows, errors %v; want all 66", n, all.Errors)
		}
	}
}

// pagesOf reads the partition of acc1 to its end, forward, backward and in one page, and says which rows were in
// each page, and how long its token was where that can differ.
func pagesOf(ctx context.Context, b *bench) string {
	var all strings.Builder
	for _, args := range []string{"limit: 2", "limit: 2, reverse: true", "limit: 5"} {
		for token := ""; ; {
			q := fmt.Sprintf(`{ r: InvoiceByOwnerId(ownerId: "acc1", %s%s) { items { amount } nextToken } }`, args, token)
			got := b.do(ctx, q, nil)
			if got.Errors != nil {
				fmt.Fprint(&all, got.Errors)
				break
			}
			page := got.Data.(map[string]any)["r"].(map[string]any)
			var amounts []string
			for _, item := range page["items"].([]any) {
				amounts = append(amounts, fmt.Sprint(item.(map[string]any)["amount"]))
			}
			all.WriteString(strings.Join(amounts, " ") + "|")
			next, more := page["nextToken"].(string)
			if !more {
				break
			}
			token = fmt.Sprintf(", nextToken: %q", next)
		}
		all.WriteString("; ")
	}
	return all.String()
}

// TestTokensOfOnesOwnPartitionTellOfOwnRowsAlone: a token is as long as the keys that it holds, so it is made of
// the last own row.
func TestTokensOfOnesOwnPartitionTellOfOwnRowsAlone(t *testing.T) {
	const query = `{ r: InvoiceByOwnerId(ownerId: "acc1", limit: 1) { items { amount } nextToken } }`
	ann := as(t.Context(), "ann")
	want, got := sealed(accounts(t, false, nil).do(ann, query, nil)), sealed(accounts(t, true, nil).do(ann, query, nil))
	if want != got {
		t.Errorf("with rows of others %s, without %s", got, want)
	}
}

// TestCollectionsOfOnesOwnPartitionHideRowsOfOthers: and show those of members that have no rule.
func TestCollectionsOfOnesOwnPartitionHideRowsOfOthers(t *testing.T) {
	project := func(others bool) *bench {
		api := newTracker()
		for _, name := range []string{"Milestone", "Story", "Task"} {
			for i := range api.Types[name].Model.Indexes {
				api.Types[name].Model.Indexes[i].PK.Layout.Casing = keys.CasingNone
			}
		}
		api.Queries["Project"].Rule = &catalog.IndexRule{Group: "Auditor"}
		b := newBenchOf(t, api, trackerSDL, Config{}, memstore.New())
		b.put(t, "Task", row{"id": "t2", "project": "ann", "owner": "ann"}, row{"id": "t4", "project": "ann", "owner": "ann"})
		b.put(t, "Milestone", row{"id": "m1", "project": "ann"})
		if others {
			b.put(t, "Task", row{"id": "t1", "project": "ann", "owner": "bob"},
				row{"id": "t3", "project": "ann", "owner": "bob"}, row{"id": "t5", "project": "ann", "owner": "bob"})
		}
		return b
	}
	alone, among := project(false), project(true)
	ann := as(t.Context(), "ann") // without an authTable the owner of a key is whoever it names
	for _, limit := range []int{1, 2, 3, 4} {
		const of = `{ r: Project(project: "ann", limit: %d) { items { ... on Task { id } ... on Milestone { id } } nextToken } }`
		query := fmt.Sprintf(of, limit)
		want, got := alone.do(ann, query, nil), among.do(ann, query, nil)
		if diff := cmp.Diff(sealed(want), sealed(got)); diff != "" || got.Errors != nil {
			t.Errorf("%s: %v\n-without and +with rows of others:\n%s", query, got.Errors, diff)
		}
	}
	if diff := cmp.Diff(counts(alone), counts(among)); diff != "" {
		t.Errorf("counted\n-without and +with rows of others:\n%s", diff)
	}
}

const badgeSDL = `
type Badge { id: ID! code: String! owner: String! }
type Wearer { id: ID! code: String! badge: Badge }
type Query { BadgeByCode(code: String!): Badge Wearer(id: ID!): Wearer }
`

// badges are entities of ann's under a unique index, and, where others is true, one of another.
func badges(t *testing.T, others bool) *bench {
	schema := keys.EntitySchema{Name: "club", Version: 1, Casing: keys.CasingLower}
	table := &querydb.SharedTable{
		Name: "Club", KeyNames: driver.KeyNames{PK: "pk", SK: "sk", Kind: "kind"},
		Indexes: []querydb.SharedIndex{{Name: "gsi1", KeyNames: driver.KeyNames{PK: "gsi1pk"}}},
	}
	badge := stored("id", "ID", "code", "String", "owner", "String")
	own := keys.EntityKey{Schema: schema, Type: "Badge", Casing: keys.CasingLower}
	wearer := stored("id", "ID", "code", "String")
	api := &catalog.Catalog{Secured: true, Types: map[string]*catalog.Type{
		"Badge": {Name: "Badge", Owner: 2, Rule: &catalog.Rule{Groups: []string{"Boss"}, Owner: true},
			Fields: map[string]*catalog.Field{},
			Model: &querydb.Model{
				Name: "Badge", Table: table.Name, Version: "1", Fields: badge, TTL: -1, CreatedAt: -1, UpdatedAt: -1,
				PK: entityHalf(badge, own.PK, 0), SK: entityHalf(badge, own.SK),
				Indexes: []querydb.Index{{Name: "byCode", PK: entityHalf(badge, own.PK, 1), Unique: true}},
				Entity:  &querydb.Entity{Table: table, Kind: "Badge", PhysicalIndexes: []int{0}},
			}},
		"Wearer": {Name: "Wearer", Owner: -1, Model: model("Wearer", wearer, []int{0}, nil),
			Fields: map[string]*catalog.Field{}},
	}, Queries: map[string]*catalog.Query{
		"BadgeByCode": {Kind: catalog.QueryOne, Type: "Badge", Index: 0,
			PK: []catalog.KeyArg{{Name: "code", Kind: keys.KindString}}},
		"Wearer": {Kind: catalog.QueryOne, Type: "Wearer", Index: driver.Primary,
			PK: []catalog.KeyArg{{Name: "id", Kind: keys.KindString}}},
	}}
	for name, q := range api.Queries {
		q.Name = name
	}
	for _, typ := range api.Types {
		for i, f := range typ.Model.Fields {
			typ.Fields[f.Name] = &catalog.Field{Name: f.Name, Ordinal: i}
		}
	}
	api.Types["Wearer"].Fields["badge"] = &catalog.Field{Name: "badge", Ordinal: 1,
		Join: &catalog.Join{Target: "Badge", Index: 0}}
	b := newBenchOf(t, api, badgeSDL, Config{}, memstore.New())
	b.put(t, "Badge", row{"id": "1", "code": "a", "owner": "ann"})
	b.put(t, "Wearer", row{"id": "1", "code": "a"}, row{"id": "2", "code": "b"})
	if others {
		b.put(t, "Badge", row{"id": "2", "code": "b", "owner": strings.Repeat("bob", 500)})
	}
	return b
}

// TestUniqueIndexesOfEntitiesTellOwnersOfOwnRowsAlone: the row of another under a unique key of an entity is as
// forbidden as one that is not there, in answers, joins, counts and cost.
func TestUniqueIndexesOfEntitiesTellOwnersOfOwnRowsAlone(t *testing.T) {
	for query, errs := range map[string][]string{
		`{ r: BadgeByCode(code: "a") { id } }`:      nil,
		`{ r: BadgeByCode(code: "b") { id } }`:      {"FORBIDDEN r"},
		`{ r: Wearer(id: "1") { badge { id } } }`:   nil,
		`{ r: Wearer(id: "2") { badge { id } } }`:   {"FORBIDDEN r.badge"},
		`{ r: BadgeByCode(code: "none") { id } }`:   {"FORBIDDEN r"},
		`{ r: BadgeByCode(code: "b") { code id } }`: {"FORBIDDEN r"},
	} {
		alone, among := badges(t, false), badges(t, true)
		sameCost(t, query, alone, among, func(ctx context.Context, b *bench) string { return sealed(b.do(ctx, query, nil)) })
		if diff := cmp.Diff(counts(alone), counts(among)); diff != "" {
			t.Errorf("%s: counted\n-without and +with rows of others:\n%s", query, diff)
		}
		if got := among.do(as(t.Context(), "ann"), query, nil); !slices.Equal(got.Errors, errs) {
			t.Errorf("%s: errors %v, want %v", query, got.Errors, errs)
		}
		if strings.Contains(query, "none") {
			continue
		}
		if got := among.do(as(t.Context(), "eve", "Boss"), query, nil); got.Errors != nil {
			t.Errorf("%s: whoever is admitted to all rows gets %v", query, got.Errors)
		}
	}
}

// TestOwnersFollowJoinsToKeysThatNameThem of several fields, one of which is the owner; and a join that begins at part
// of a key, though it is one of a unique index, tells them nothing of rows of others.
func TestOwnersFollowJoinsToKeysThatNameThem(t *testing.T) {
	project := func(others bool) *bench {
		api := newShop()
		m := api.Types["Invoice"].Model
		m.Indexes = append(m.Indexes,
			querydb.Index{Name: "both", PK: half(m.Fields, 1, 2), SK: half(m.Fields, 0)},
			querydb.Index{Name: "slot", PK: half(m.Fields, 1), SK: half(m.Fields, 0), Unique: true})
		fields := api.Types["Ownership"].Fields
		fields["both"] = &catalog.Field{Name: "both", Join: &catalog.Join{Target: "Invoice", Index: 2, By: []int{0, 1}}}
		fields["slot"] = &catalog.Field{Name: "slot", Join: &catalog.Join{Target: "Invoice", Index: 3}}
		sdl := strings.Replace(shopSDL, "type Ownership {", "type Ownership { both: Invoice slot: Invoice", 1)
		b := newBenchOf(t, api, sdl, Config{}, memstore.New())
		b.put(t, "Ownership", row{"ownerId": "acc1", "subject": "ann"}, row{"ownerId": "acc2", "subject": "bob"})
		b.put(t, "Invoice", row{"invoiceId": "i2", "ownerId": "acc1", "subject": "ann", "amount": 2})
		if others {
			b.put(t, "Invoice", row{"invoiceId": "i1", "ownerId": "acc1", "subject": "bob", "amount": 1},
				row{"invoiceId": "i3", "ownerId": "acc2", "subject": "bob", "amount": 3})
		}
		return b
	}
	for _, others := range []bool{false, true} {
		b := project(others)
		ann := as(t.Context(), "ann")
		for query, want := range map[string]result{
			`{ Ownership(id: "acc1") { both { invoiceId } } }`: {Data: map[string]any{"Ownership": map[string]any{
				"both": map[string]any{"invoiceId": "i2"}}}},
			`{ Ownership(id: "acc2") { both { invoiceId } } }`: {Errors: []string{"FORBIDDEN Ownership.both"},
				Data: map[string]any{"Ownership": map[string]any{"both": nil}}},
			`{ Ownership(id: "acc1") { slot { invoiceId } } }`: {Errors: []string{"FORBIDDEN Ownership.slot"},
				Data: map[string]any{"Ownership": map[string]any{"slot": nil}}},
		} {
			if diff := cmp.Diff(want, b.do(ann, query, nil)); diff != "" {
				t.Errorf("%s, with rows of others %t: -want +got:\n%s", query, others, diff)
			}
		}
	}
}
