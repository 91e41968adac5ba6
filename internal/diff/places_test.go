package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/eventlock"
	"github.com/foldql/foldql/internal/schema/parse"
)

// schemasOf are those of a text, which may name the event E, and two models that name the owner of a key.
func schemasOf(t *testing.T, text string) *Schemas {
	t.Helper()
	const owners = `
type Ownership @readModel(events: ["E"]) { key: ID! @id user: ID! @owner }
type Deputy @readModel(events: ["E"]) { key: ID! @id user: ID! @owner }
`
	api := []*ast.Source{{Name: "schema.graphqls", Input: text + owners}}
	m, found := parse.Load(api, []*ast.Source{{Name: "events.graphqls", Input: "type E { id: ID! }\n"}})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	s, _, err := served.Schema(m, api)
	if err != nil {
		t.Fatal(err)
	}
	return &Schemas{API: s, Model: m, Lock: &eventlock.Lock{Model: &schema.Model{}}}
}

// effectAt is the worst effect of the changes at a place, "" for none.
func effectAt(r Report, at string) Effect {
	for _, c := range r.API { // the worst come first
		if c.At == at || strings.HasPrefix(c.At, at+"(") {
			return c.Effect
		}
	}
	return ""
}

// TestTheRuleOfAnIndexSaysWhoBreaks: those who could read through it, and cannot any more, whatever the type says.
func TestTheRuleOfAnIndexSaysWhoBreaks(t *testing.T) {
	const (
		open   = ``
		admins = `, group: "Admin"`
		staff  = `, group: "Staff"`
		owners = `, group: "Admin", authTable: "Ownership"`
		deputy = `, group: "Admin", authTable: "Deputy"`
	)
	for _, test := range []struct {
		auth, was, now string
		there, back    Effect // from was to now, and from now to was
	}{
		{``, open, admins, Breaking, Noticeable},
		{``, open, owners, Breaking, Noticeable},
		{``, admins, staff, Breaking, Breaking},
		{``, admins, owners, Breaking, Breaking},
		{``, owners, deputy, Breaking, Breaking},
		{``, owners, owners, "", ""},
		{`@auth`, open, admins, Breaking, Noticeable},
		{`@auth(groups: ["Admin"])`, open, admins, "", ""},
		{`@auth(groups: ["Admin"])`, open, owners, "", ""},
		{`@auth(groups: ["Admin"])`, open, staff, Breaking, Noticeable},
		{`@auth(groups: ["Admin", "Staff"])`, open, admins, Breaking, Noticeable},
		{`@auth(groups: ["Admin"])`, staff, owners, Noticeable, Breaking},
		// The key does not say whose the rows are: owners of rows read by it where they own the key.
		{`@auth(groups: ["Admin"], owner: true)`, open, admins, Noticeable, Breaking},
	} {
		schema := func(rule string) *Schemas {
			return schemasOf(t, fmt.Sprintf(`type Task @readModel(events: ["E"]) %s {
				id: ID! @id
				holder: ID! @owner
				key: ID! @index(name: "byKey"%s)
			}`, test.auth, rule))
		}
		was, now := schema(test.was), schema(test.now)
		if got := effectAt(Compare(was, now), "Query.TaskByKey"); got != test.there {
			t.Errorf("%s from %q to %q: %q, want %q", test.auth, test.was, test.now, got, test.there)
		}
		if got := effectAt(Compare(now, was), "Query.TaskByKey"); got != test.back {
			t.Errorf("%s from %q to %q: %q, want %q", test.auth, test.now, test.was, got, test.back)
		}
	}
}

// TestOwnersOfTheirKeyStayWhereAGroupComes: the key names the owner of the rows, whom the type admits.
func TestOwnersOfTheirKeyStayWhereAGroupComes(t *testing.T) {
	schema := func(rule string) *Schemas {
		return schemasOf(t, fmt.Sprintf(`type Task @readModel(events: ["E"]) @auth(owner: true) {
			id: ID! @id
			holder: ID! @owner @index(name: "byHolder"%s)
		}`, rule))
	}
	was, now := schema(``), schema(`, group: "Admin"`)
	for _, r := range []Report{Compare(was, now), Compare(now, was)} {
		if len(r.API) > 0 {
			t.Errorf("nobody is shut out or let in, and it says: %+v", r.API)
		}
	}
}

// TestARuleInPlaceOfAGuardShutsNobodyOut: whom the type admits now, it did not admit before.
func TestARuleInPlaceOfAGuardShutsNobodyOut(t *testing.T) {
	r := Compare(
		schemasOf(t, `type Task @readModel(events: ["E"]) @auth(groups: ["Admin"]) { id: ID! @id key: ID! @index }`),
		schemasOf(t, `type Task @readModel(events: ["E"]) { id: ID! @id key: ID! @index(group: "Admin") }`))
	if r.Breaks() {
		t.Errorf("it breaks nobody, and says: %+v", r.API)
	}
}

// TestKeysThatReadTheSameAreNoChange: of fields in one order and of one kind, whatever they are called in the API.
func TestKeysThatReadTheSameAreNoChange(t *testing.T) {
	for _, test := range []struct {
		what, was, now, at string
		want               Effect
	}{
		{"a type of the same kind",
			`type T @readModel(events: ["E"]) { id: ID! @id k: ID! @index(name: "byK") s: ID! @indexSubId(name: "byK") }`,
			`type T @readModel(events: ["E"]) { id: ID! @id k: ID! @index(name: "byK") s: String! @indexSubId(name: "byK") }`,
			"Query.TByK", ""},
		{"a type of another kind",
			`type T @readModel(events: ["E"]) { id: ID! @id k: ID! @index(name: "byK") s: Int! @indexSubId(name: "byK") }`,
			`type T @readModel(events: ["E"]) { id: ID! @id k: ID! @index(name: "byK") s: Float! @indexSubId(name: "byK") }`,
			"Query.TByK", Breaking},
		{"a partition key of one more field",
			`type T @readModel(events: ["E"]) { a: ID! @compositeId b: ID! @compositeId c: ID! }`,
			`type T @readModel(events: ["E"]) { a: ID! @compositeId b: ID! @compositeId c: ID! @compositeId }`,
			"Query.T(a:)", Breaking},
		{"a separator of a sort key",
			`type T @readModel(events: ["E"]) { id: ID! @id a: ID! @compositeSubId b: ID! @compositeSubId }`,
			`type T @readModel(events: ["E"]) { id: ID! @id a: ID! @compositeSubId(sep: "#") b: ID! @compositeSubId(sep: "#") }`,
			"Query.TById", Breaking},
		{"an index of the same key under another name of the table",
			`type T @readModel(events: ["E"]) { id: ID! @id k: ID! @index(name: "byK") s: ID! @indexSubId(name: "byK") }`,
			`type T @readModel(events: ["E"], table: "Other") {
				s: ID! @indexSubId(name: "byK") id: ID! @id k: ID! @index(name: "byK") }`,
			"Query.TByK", ""},
	} {
		r := Compare(schemasOf(t, test.was), schemasOf(t, test.now))
		if got := effectAt(r, test.at); got != test.want {
			t.Errorf("%s: %q, want %q: %+v", test.what, got, test.want, r.API)
		}
	}
}

// TestRowsOfARemovedModelGoWithTheirTable, and stay where no model has it.
func TestRowsOfARemovedModelGoWithTheirTable(t *testing.T) {
	r := Compare(read(t, "testdata/cases/tables", "old"), read(t, "testdata/cases/tables", "new"))
	want := map[string]Start{
		"Match": Dropped, "Former": Dropped, "Called": Nothing, "Alone": Unused, "Gone": Unused, "Team": Rebuild,
		"Other": Rebuild, "CalledSo": Nothing,
	}
	for _, m := range r.Models {
		if m.Start != want[m.Name] {
			t.Errorf("%s: %q, want %q", m.Name, m.Start, want[m.Name])
		}
	}
	if len(r.Models) != len(want) {
		t.Errorf("it says something of %d models, want %d", len(r.Models), len(want))
	}
}

// TestAnotherOwnerBreaksThoseWhomARuleAsksFor, and nobody where no rule asks for the owner.
func TestAnotherOwnerBreaksThoseWhomARuleAsksFor(t *testing.T) {
	for _, test := range []struct {
		text   string // of a type whose owner is in the field a, or in b
		breaks bool
	}{
		{`type Task @readModel(events: ["E"]) { id: ID! @id a: ID! %[1]s b: ID! %[2]s }`, false},
		{`type Task @readModel(events: ["E"]) @auth(groups: ["Admin"]) { id: ID! @id a: ID! %[1]s b: ID! %[2]s }`, false},
		{`type Task @readModel(events: ["E"]) @auth(owner: true) { id: ID! @id a: ID! %[1]s b: ID! %[2]s }`, true},
		{`type Task @readModel(events: ["E"]) { id: ID! @id a: ID! %[1]s b: ID! %[2]s c: Int @auth(owner: true) }`, true},
		{`type Task @readModel(events: ["E"]) { id: ID! @id a: ID! %[1]s b: ID! %[2]s }
		  type Other @readModel(events: ["E"]) {
		    id: ID! @id key: ID! @index(name: "byKey", group: "Admin", authTable: "Task")
		  }`, true},
		{`extend schema @table(name: "T", schema: "t")
		  type Task @aggregate(table: "T", pk: ["id"], root: "Item") @readModel(events: ["E"]) {
		    id: ID! a: ID! %[1]s b: ID! %[2]s part: Part @one(type: "Part")
		  }
		  type Part @member { c: Int @auth(owner: true) d: Int }`, true},
	} {
		r := Compare(schemasOf(t, fmt.Sprintf(test.text, "@owner", "")), schemasOf(t, fmt.Sprintf(test.text, "", "@owner")))
		if effect := effectAt(r, "Task"); r.Breaks() != test.breaks || (effect == Breaking) != test.breaks {
			t.Errorf("%s: breaks is %t, want %t: %+v", test.text, r.Breaks(), test.breaks, r.API)
		}
	}
}
