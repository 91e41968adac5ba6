package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/graph/catalog"
	"github.com/foldql/foldql/graph/graphqlerr"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
)

// The tests of ownership run on desks, which anybody may read, and on what lies in them, which is its owner's: slips
// under a whole key, papers in versions, and letters in a box of their owner.
const deskSDL = `
scalar DateTime
type Slip { id: ID! owner: String! }
type Paper { id: ID! version: String! owner: String! team: String! }
type Letter { owner: String! box: String! sentAt: DateTime! team: String! }
type Desk { id: ID! slipId: ID! slipIds: [ID!]! paperId: ID! person: ID! team: ID!
  slip: Slip slips: [Slip!] lastPaper: Paper firstOfPerson: Paper firstOfTeam: Paper }
type PaperConnection { items: [Paper!]! nextToken: String }
type LetterConnection { items: [Letter!]! nextToken: String }
input PaperKey { id: ID! version: String! }
type Query {
  Desk(id: ID!): Desk
  Slip(id: ID!): Slip
  SlipByIds(ids: [ID!]!): [Slip]!
  Paper(id: ID!, version: String): Paper
  PaperByKeys(keys: [PaperKey!]!): [Paper]!
  PaperById(id: ID!, eq: String, prefix: String, from: String, to: String, reverse: Boolean, limit: Int, nextToken: String): PaperConnection!
  PaperByOwner(owner: String!, reverse: Boolean, limit: Int, nextToken: String): PaperConnection!
  PaperByTeam(team: String!, reverse: Boolean, limit: Int, nextToken: String): PaperConnection!
  LetterById(id: ID!, eq: String, prefix: String, from: String, to: String, reverse: Boolean, limit: Int, nextToken: String): LetterConnection!
}
`

func newDesks() *catalog.Catalog {
	slip := stored("id", "ID", "owner", "String")
	paper := stored("id", "ID", "version", "String", "owner", "String", "team", "String")
	letter := stored("owner", "String", "box", "String", "sentAt", "DateTime", "team", "String")
	desk := stored("id", "ID", "slipId", "ID", "slipIds", "[ID]", "paperId", "ID", "person", "ID", "team", "ID")
	own := &catalog.Rule{Groups: []string{"Boss"}, Owner: true}
	types := map[string]*catalog.Type{
		"Slip": {Model: model("Slip", slip, []int{0}, nil), Owner: 1, Rule: own},
		"Paper": {Owner: 2, Rule: own, Model: model("Paper", paper, []int{0}, []int{1},
			querydb.Index{Name: "owner", PK: half(paper, 2)}, querydb.Index{Name: "team", PK: half(paper, 3)})},
		"Letter": {Model: model("Letter", letter, []int{0, 1}, []int{2}), Owner: 0, Rule: own},
		"Desk":   {Model: model("Desk", desk, []int{0}, nil), Owner: -1},
	}
	for name, t := range types {
		t.Name, t.Fields = name, map[string]*catalog.Field{}
		for i, f := range t.Model.Fields {
			t.Fields[f.Name] = &catalog.Field{Name: f.Name, Ordinal: i}
		}
	}
	for name, j := range map[string]struct {
		ordinal int
		join    catalog.Join
	}{
		"slip":          {1, catalog.Join{Target: "Slip", Index: driver.Primary}},
		"slips":         {2, catalog.Join{Target: "Slip", Many: true, Index: driver.Primary}},
		"lastPaper":     {3, catalog.Join{Target: "Paper", Index: driver.Primary}},
		"firstOfPerson": {4, catalog.Join{Target: "Paper", Index: 0}},
		"firstOfTeam":   {5, catalog.Join{Target: "Paper", Index: 1}},
	} {
		types["Desk"].Fields[name] = &catalog.Field{Name: name, Ordinal: j.ordinal, Join: &j.join}
	}
	arg := func(name string) []catalog.KeyArg { return []catalog.KeyArg{{Name: name, Kind: keys.KindString}} }
	queries := map[string]*catalog.Query{
		"Desk":      {Kind: catalog.QueryOne, Type: "Desk", Index: driver.Primary, PK: arg("id")},
		"Slip":      {Kind: catalog.QueryOne, Type: "Slip", Index: driver.Primary, PK: arg("id")},
		"SlipByIds": {Kind: catalog.QueryMany, Type: "Slip", Index: driver.Primary, PK: arg("ids")},
		"Paper":     {Kind: catalog.QueryOne, Type: "Paper", Index: driver.Primary, PK: arg("id"), SK: arg("version")},
		"PaperByKeys": {Kind: catalog.QueryMany, Type: "Paper", Index: driver.Primary, PK: arg("keys"),
			KeyFields: append(arg("id"), arg("version")...)},
		"PaperById":    {Kind: catalog.QueryPage, Type: "Paper", Index: driver.Primary, PK: arg("id"), HasOperands: true},
		"PaperByOwner": {Kind: catalog.QueryPage, Type: "Paper", Index: 0, PK: arg("owner")},
		"PaperByTeam":  {Kind: catalog.QueryPage, Type: "Paper", Index: 1, PK: arg("team")},
		"LetterById":   {Kind: catalog.QueryPage, Type: "Letter", Index: driver.Primary, PK: arg("id"), HasOperands: true},
	}
	for name, q := range queries {
		q.Name = name
		if q.Kind == catalog.QueryPage {
			q.Connection = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "ById"), "ByOwner"), "ByTeam") +
				"Connection"
		}
	}
	return &catalog.Catalog{Types: types, Queries: queries, Secured: true}
}

// desks are a store with ann's rows, and, where others is true, with bob's under keys beside them and between them.
func desks(t *testing.T, others bool) *bench {
	b := newBenchOf(t, newDesks(), deskSDL, Config{}, memstore.New())
	b.put(t, "Desk",
		row{"id": "d1", "slipId": "s-bob", "slipIds": []string{"s-ann", "s-bob"}, "paperId": "shared", "person": "bob",
			"team": "x"},
		row{"id": "d2", "slipId": "s-ann", "slipIds": []string{"s-ann", "s-ann2"}, "paperId": "p-bob", "person": "ann",
			"team": "y"})
	b.put(t, "Slip", row{"id": "s-ann", "owner": "ann"}, row{"id": "s-ann2", "owner": "ann"})
	for _, version := range []string{"v1", "v3", "v5"} {
		b.put(t, "Paper", row{"id": "shared", "version": version, "owner": "ann", "team": "x"})
	}
	b.put(t, "Letter", row{"owner": "ann", "box": "in", "sentAt": day(1), "team": "x"}, row{"owner": "ann", "box": "in",
		"sentAt": day(3), "team": "x"})
	if others {
		b.put(t, "Slip", row{"id": "s-bob", "owner": "bob"})
		b.put(t, "Paper", row{"id": "shared", "version": "v2", "owner": "bob", "team": "x"},
			row{"id": "shared", "version": "v6", "owner": "bob", "team": "x"}, row{"id": "p-bob", "version": "v1",
				"owner": "bob", "team": "y"})
		b.put(t, "Letter", row{"owner": "bob", "box": "in", "sentAt": day(2), "team": "x"}, row{"owner": "ann/in",
			"box": "in", "sentAt": day(2), "team": "x"})
	}
	return b
}

// TestRowsOfOthersChangeNothingForAnOwner: to whoever is admitted to own rows only, all answers, with their errors and
// page tokens, and all counts are what they would be if there were no rows of others: forbidden and missing are the
// same.
func TestRowsOfOthersChangeNothingForAnOwner(t *testing.T) {
	alone, among := desks(t, false), desks(t, true)
	const forbidden = "FORBIDDEN "
	for _, tc := range []struct {
		query string
		errs  []string // nil where ann is answered
	}{
		{`{ r: Slip(id: "s-ann") { owner } }`, nil},
		{`{ r: Slip(id: "s-bob") { owner } }`, []string{forbidden + "r"}},
		{`{ r: SlipByIds(ids: ["s-ann2", "s-bob", "s-ann"]) { id } }`, nil},
		{`{ r: SlipByIds(ids: [` + strings.Repeat(`"s-bob", `, 40) + `"s-ann"]) { id } }`, nil},
		{`{ r: Paper(id: "shared", version: "v3") { version } }`, nil},
		{`{ r: Paper(id: "shared", version: "v2") { version } }`, []string{forbidden + "r"}},
		{`{ r: Paper(id: "shared", version: "v4") { version } }`, []string{forbidden + "r"}},
		{`{ r: PaperByKeys(keys: [{id: "shared", version: "v2"}, {id: "shared", version: "v3"}, {id: "p-bob",
			version: "v1"}]) { version } }`, nil},
		{`{ r: Paper(id: "shared") { version } }`, []string{forbidden + "r"}},
		{`{ r: PaperById(id: "shared") { items { version } } }`, []string{forbidden + "r"}},
		{`{ r: PaperById(id: "shared", from: "v3", to: "v5") { items { version } } }`, []string{forbidden + "r"}},
		{`{ r: PaperById(id: "shared", eq: "v3") { items { version } nextToken } }`, []string{forbidden + "r"}},
		{`{ r: PaperById(id: "shared", limit: 1) { items { version } nextToken } }`, []string{forbidden + "r"}},
		{`{ r: PaperById(id: "p-bob") { items { version } nextToken } }`, []string{forbidden + "r"}},
		{`{ r: PaperById(id: "none") { items { version } nextToken } }`, []string{forbidden + "r"}},
		{`{ r: PaperByOwner(owner: "ann", limit: 3) { items { version } nextToken } }`, nil},
		{`{ r: PaperByOwner(owner: "bob", limit: 1) { items { version } nextToken } }`, []string{forbidden + "r"}},
		{`{ r: PaperByTeam(team: "x", limit: 1) { items { version } nextToken } }`, []string{forbidden + "r"}},
		{`{ r: PaperByTeam(team: "y") { items { version } nextToken } }`, []string{forbidden + "r"}},
		{`{ r: LetterById(id: "ann/in", reverse: true, limit: 2) { items { sentAt } nextToken } }`, nil},
		{`{ r: LetterById(id: "ann/out") { items { sentAt } nextToken } }`, nil},
		{`{ r: LetterById(id: "bob/in") { items { sentAt } nextToken } }`, []string{forbidden + "r"}},
		{`{ r: LetterById(id: "ann%2Fin/in") { items { sentAt } nextToken } }`, []string{forbidden + "r"}},
		{`{ r: LetterById(id: "out/ann") { items { sentAt } nextToken } }`, []string{forbidden + "r"}},
		{`{ r: Desk(id: "d2") { slip { id } slips { id } firstOfPerson { version } } }`, nil},
		{`{ r: Desk(id: "d1") { slip { id } } }`, []string{forbidden + "r.slip"}},
		{`{ r: Desk(id: "d1") { slips { id } } }`, []string{forbidden + "r.slips"}},
		{`{ r: Desk(id: "d1") { lastPaper { version } } }`, []string{forbidden + "r.lastPaper"}},
		{`{ r: Desk(id: "d2") { lastPaper { version } } }`, []string{forbidden + "r.lastPaper"}},
		{`{ r: Desk(id: "d1") { firstOfPerson { version } } }`, []string{forbidden + "r.firstOfPerson"}},
		{`{ r: Desk(id: "d1") { firstOfTeam { version } } }`, []string{forbidden + "r.firstOfTeam"}},
		{`{ r: Desk(id: "d2") { firstOfTeam { version } } }`, []string{forbidden + "r.firstOfTeam"}},
	} {
		ann := as(t.Context(), "ann")
		want, got := alone.do(ann, tc.query, nil), among.do(ann, tc.query, nil)
		if diff := cmp.Diff(sealed(want), sealed(got)); diff != "" {
			t.Errorf("%s\n-without and +with rows of others:\n%s", tc.query, diff)
		}
		if !slices.Equal(got.Errors, tc.errs) {
			t.Errorf("%s: errors %v, want %v", tc.query, got.Errors, tc.errs)
		}
		if diff := cmp.Diff(counts(alone), counts(among)); diff != "" {
			t.Errorf("%s: counted\n-without and +with rows of others:\n%s", tc.query, diff)
		}
		boss := among.do(as(t.Context(), "eve", "Boss"), tc.query, nil)
		if boss.Errors != nil {
			t.Errorf("%s: whoever is admitted to all rows gets %v", tc.query, boss.Errors)
		}
		among, alone = desks(t, true), desks(t, false)
	}
}

// TestRowsThatChangeHandsWhileTheyAreReadAreNoLongerTheOwners: of many rows it is found out first whose they are.
func TestRowsThatChangeHandsWhileTheyAreReadAreNoLongerTheOwners(t *testing.T) {
	drv := &lastGet{Driver: memstore.New()}
	b := newBenchOf(t, newDesks(), deskSDL, Config{}, drv)
	given, kept := "s0", "s1"
	b.put(t, "Slip", row{"id": given, "owner": "ann"}, row{"id": kept, "owner": "ann"})
	drv.left, drv.then = 1, func() { b.put(t, "Slip", row{"id": given, "owner": "bob"}) }
	ids, err := json.Marshal(manySlips())
	if err != nil {
		t.Fatal(err)
	}
	got := b.do(as(t.Context(), "ann"), `{ r: SlipByIds(ids: `+string(ids)+`) { id owner } }`, nil)
	text := fmt.Sprint(got.Data)
	if got.Errors != nil || drv.left >= 0 || strings.Contains(text, "bob") || !strings.Contains(text, kept) {
		t.Errorf("%v, %s, %d reads left", got.Errors, text, drv.left)
	}
}

// sealed is an answer in which page tokens, which are never the same twice, are their lengths.
func sealed(r result) string {
	var b strings.Builder
	data, _ := r.Data.(map[string]any)
	if page, ok := data["r"].(map[string]any); ok {
		if token, ok := page["nextToken"].(string); ok {
			page["nextToken"] = len(token)
		}
	}
	fmt.Fprint(&b, data, r.Errors)
	return b.String()
}

// counts are what the store says that was read, but for times.
func counts(b *bench) map[string]querydb.Stats {
	all := map[string]querydb.Stats{}
	for _, s := range b.db.Stats() {
		all[s.Model] = querydb.Stats{Gets: s.Gets, KeysRequested: s.KeysRequested, Queries: s.Queries,
			RowsReturned: s.RowsReturned,
			Examined:     s.Examined}
	}
	return all
}

// TestResolversTellOwnersNoMoreThanPlans: the functions that generated resolvers call give the same answers.
func TestResolversTellOwnersNoMoreThanPlans(t *testing.T) {
	text := func(s string) []keys.Value { return []keys.Value{keys.String(s)} }
	for _, others := range []bool{false, true} {
		b := desks(t, others)
		ann := as(t.Context(), "ann")
		slip, paper := codec(b.catalog.Types["Slip"].Model), codec(b.catalog.Types["Paper"].Model)
		join := func(field, id string) func(context.Context) error {
			c := paper
			if strings.HasPrefix(field, "slip") {
				c = slip
			}
			return func(ctx context.Context) error {
				_, err := JoinMany(ctx, b.rt, "Desk", field, c, text(id))
				return err
			}
		}
		for name, tc := range map[string]struct {
			ask  func(context.Context) error
			want graphqlerr.Code
		}{
			"a row of another": {func(ctx context.Context) error {
				_, err := FetchOne(ctx, b.rt, slip, &QueryRequest{Name: "Slip", PK: text("s-bob")})
				return err
			}, graphqlerr.Forbidden},
			"the last row of a partition": {func(ctx context.Context) error {
				_, err := FetchOne(ctx, b.rt, paper, &QueryRequest{Name: "Paper", PK: text("shared"), SK: []keys.Value{{}}})
				return err
			}, graphqlerr.Forbidden},
			"a range of a shared partition": {func(ctx context.Context) error {
				from, to := "v3", "v3"
				_, err := FetchPage(ctx, b.rt, paper, &QueryRequest{Name: "PaperById", PK: text("shared"),
					Page: catalog.PageArgs{From: &from, To: &to}})
				return err
			}, graphqlerr.Forbidden},
			"a range of an own partition": {func(ctx context.Context) error {
				_, err := FetchPage(ctx, b.rt, paper, &QueryRequest{Name: "PaperByOwner", PK: text("ann")})
				return err
			}, ""},
			"a join to an own row":                {join("slip", "s-ann"), ""},
			"a join to a row of another":          {join("slip", "s-bob"), graphqlerr.Forbidden},
			"joins to rows of another":            {join("slips", "s-bob"), graphqlerr.Forbidden},
			"a join to the last row":              {join("lastPaper", "shared"), graphqlerr.Forbidden},
			"a join through an index to own rows": {join("firstOfPerson", "ann"), ""},
			"a join through an index to another":  {join("firstOfPerson", "bob"), graphqlerr.Forbidden},
			"a join through a shared index":       {join("firstOfTeam", "x"), graphqlerr.Forbidden},
		} {
			if got := graphqlerr.CodeOf(tc.ask(ann)); got != tc.want {
				t.Errorf("%s (others: %v): error %q, want %q", name, others, got, tc.want)
			}
		}
	}
}

// TestGroupOfAnIndexDoesNotMakeAnOwner: a member of the group of an index, whom the type admits to own rows only, is
// told of no row of others either, nor that there is none.
func TestGroupOfAnIndexDoesNotMakeAnOwner(t *testing.T) {
	b := newBench(t, Config{})
	b.stock(t)
	clerk := as(t.Context(), "ann", "Clerk")
	b.catalog.Queries["InvoiceByOwnerId"].Rule.Group = "Clerk"
	for owner, want := range map[string][]string{"acc1": nil, "acc2": {"FORBIDDEN InvoiceByOwnerId"},
		"none": {"FORBIDDEN InvoiceByOwnerId"}} {
		got := b.do(clerk, fmt.Sprintf(`{ InvoiceByOwnerId(ownerId: %q) { items { amount } } }`, owner), nil)
		if !slices.Equal(got.Errors, want) {
			t.Errorf("%s: errors %v, want %v", owner, got.Errors, want)
		}
	}
	b.catalog.Queries["InvoiceByOwnerId"].Rule.GroupOnly = true
	if got := b.do(as(t.Context(), "ann"), `{ InvoiceByOwnerId(ownerId: "acc1") { items { amount } } }`,
		nil); !slices.Equal(got.Errors, []string{"FORBIDDEN InvoiceByOwnerId"}) {
		t.Errorf("an index for its group alone: errors %v", got.Errors)
	}
}

// TestOwnersReadCollectionsOfTheirOwnPartitions: and no others, whatever lies there; nor where a casing of keys puts
// the rows of two owners into one.
func TestOwnersReadCollectionsOfTheirOwnPartitions(t *testing.T) {
	for _, casing := range []keys.Casing{keys.CasingNone, keys.CasingLower} {
		for _, others := range []bool{false, true} {
			catalog := newTracker()
			catalog.Types["Task"].Owner = 1 // the project
			for _, name := range []string{"Milestone", "Story", "Task"} {
				for i := range catalog.Types[name].Model.Indexes {
					catalog.Types[name].Model.Indexes[i].PK.Layout.Casing = casing
				}
			}
			b := newBenchOf(t, catalog, trackerSDL, Config{}, memstore.New())
			b.put(t, "Task", row{"id": "t1", "project": "ann", "owner": "x"})
			if others {
				b.put(t, "Task", row{"id": "t2", "project": "Ann", "owner": "x"}, row{"id": "t3", "project": "bob", "owner": "x"})
			}
			for project, own := range map[string]bool{"ann": casing == keys.CasingNone, "Ann": false, "bob": false} {
				var want []string
				if !own {
					want = []string{"FORBIDDEN Project"}
				}
				got := b.do(as(t.Context(), "ann"), fmt.Sprintf(`{ Project(project: %q) { items { ... on Task { id } } } }`, project), nil)
				if !slices.Equal(got.Errors, want) {
					t.Errorf("casing %d, others %v, %s: errors %v, want %v", casing, others, project, got.Errors, want)
				}
				only := b.do(as(t.Context(), "ann"),
					fmt.Sprintf(`{ Project(project: %q, only: [Milestone, Story], limit: 1) { items { __typename } nextToken } }`, project), nil)
				if only.Errors != nil || fmt.Sprint(only.Data) != "map[Project:map[items:[] nextToken:<nil>]]" {
					t.Errorf("the members without a rule: %v", only)
				}
			}
		}
	}
}
