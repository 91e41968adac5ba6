package eventlock_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/internal/schema/eventlock"
	"github.com/foldql/foldql/internal/schema/parse"
)

// next checks a model against a lock, and writes the lock that follows.
func next(t *testing.T, lock string, m *schema.Model) string {
	t.Helper()
	l, found := eventlock.Read(lock)
	if err := found.Err(); err != nil {
		t.Fatalf("%v\nof\n%s", err, lock)
	}
	if err := l.Check(m).Err(); err != nil {
		t.Fatalf("%v\nagainst\n%s", err, lock)
	}
	return l.Next(m)
}

// TestALockSuitsTheSchemaThatItIsOf, for every schema that there is a case of: it is read again, finds nothing, and
// becomes itself.
func TestALockSuitsTheSchemaThatItIsOf(t *testing.T) {
	dirs, err := filepath.Glob("../parse/testdata/good/*")
	if err != nil || len(dirs) < 25 {
		t.Fatalf("%d cases, error %v", len(dirs), err)
	}
	generated, err := filepath.Glob("../../gen/testdata/cases/*")
	if err != nil || len(generated) < 20 {
		t.Fatalf("%d cases of the generator, error %v", len(generated), err)
	}
	for _, dir := range append(dirs, generated...) {
		m := load(t, dir)
		former, err := os.ReadFile(filepath.Join(dir, eventlock.File))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		lock := next(t, string(former), m)
		if again := next(t, lock, m); again != lock {
			t.Errorf("%s: again, it is another: %s", dir, cmp.Diff(lock, again))
		}
	}
}

func load(t *testing.T, dir string) *schema.Model {
	t.Helper()
	source := func(pattern string) (all []*ast.Source) {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, &ast.Source{Name: filepath.Base(file), Input: string(text)})
		}
		return all
	}
	relay, err := os.ReadFile(filepath.Join(dir, "relay")) // see the cases of the generator
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s := parse.Settings{RelayID: strings.TrimSpace(string(relay))}
	m, found := s.Load(source("schema*.graphqls"), source("events*.graphqls"))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}

// evolve makes a lock of schemas that follow one another.
func evolve(t *testing.T, events ...string) (lock string) {
	t.Helper()
	for _, text := range events {
		lock = next(t, lock, modelOf(t, text))
	}
	return lock
}

func modelOf(t *testing.T, events string) *schema.Model {
	t.Helper()
	m, found := parse.Load(
		[]*ast.Source{{Name: "schema.graphqls", Input: `type Seen @readModel(events: ["Met"]) { id: ID! @id }`}},
		[]*ast.Source{{Name: "events.graphqls", Input: "type Met { id: ID! }\n" + events}})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWhatWasIsRemembered(t *testing.T) {
	lock := evolve(t,
		`type Ordered { id: ID! total: Int! note: String at: Date! lines: [Line!]! by: Channel! }
		 type Line { sku: ID! count: Int } enum Channel { WEB }`,
		`"It was renamed." type Placed @was(name: "Ordered") { orderId: ID! @was(name: "id") @tag total: Decimal! at: Date!
		   lines: [Item!]! currency: String! @default(value: "EUR") by: Channel! }
		 type Item { sku: ID! } enum Channel { WEB SHOP }`,
		`type Placed @was(name: "Ordered") { orderId: ID! @was(name: "id") currency: String! @default(value: "USD") }
		 type Used @retired { of: Thing! } type Thing { id: ID! }`,
	)
	const want = `
type Met {
  id: ID!
}

type Placed @was(name: "Ordered")
    @removed(field: "at", type: "Date")
    @removed(field: "by", type: "Channel", values: ["WEB", "SHOP"])
    @removed(field: "lines", type: "[Item!]", form: "unknown")
    @removed(field: "note", type: "String")
    @removed(field: "total", type: "Decimal") {
  orderId: ID! @was(name: "id")
  currency: String! @default(value: "USD") @added(as: "884d3da96c41")
}

type Used @retired
`
	if _, got, _ := strings.Cut(lock, "it.\n"); got != want {
		t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
	}
}

// TestWhatWasRemovedLongAgoIsStillKnown: what a field once held is found whatever the schemas between.
func TestWhatWasRemovedLongAgoIsStillKnown(t *testing.T) {
	lock := evolve(t, `type Placed { id: ID! line: Line! } type Line { sku: ID! weight: Float! }`,
		`type Placed { id: ID! line: Item! } type Item { sku: ID! }`,
		`type Placed { id: ID! line: Piece! } type Piece { sku: ID! name: String }`)
	l, found := eventlock.Read(lock)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if err := l.Check(modelOf(t, `type Placed { id: ID! line: Piece! } type Piece { sku: ID! weight: Float }`)).Err(); err != nil {
		t.Errorf("the field comes back as it was: %v", err)
	}
	found = l.Check(modelOf(t, `type Placed { id: ID! line: Piece! } type Piece { sku: ID! weight: Float! }`))
	if len(found) != 1 || found[0].Code != "lock-removed" {
		t.Errorf("the field comes back required: %v", found)
	}
	found = l.Check(modelOf(t, `type Placed { id: ID! line: Piece! } type Piece { sku: ID! weight: Boolean }`))
	if len(found) != 1 || found[0].Code != "lock-type" {
		t.Errorf("the field comes back with another type: %v", found)
	}
}

// TestARemovedFieldThatNoEventLacksIsGivenBack to its type in the lock, as the message of its rule says: it may have
// been removed and put back before anything was appended.
func TestARemovedFieldThatNoEventLacksIsGivenBack(t *testing.T) {
	const with = `type E { id: ID! lines: [Line!]! } type Line { sku: ID! n: Int! }`
	lock := evolve(t, with, `type E { id: ID! lines: [Line!]! } type Line { sku: ID! }`)
	l, _ := eventlock.Read(lock)
	found := l.Check(modelOf(t, with))
	if len(found) != 1 || !strings.Contains(found[0].Fix,
		`write n: Int! into type Line of events.lock, in place of @removed(field: "n", …)`) {
		t.Fatalf("%v", found)
	}
	given := strings.Replace(lock, "\n    @removed(field: \"n\", type: \"Int\") {\n", " {\n  n: Int!\n", 1)
	refusedBy(t, given, with, "")
}

// TestAFieldTakesOverOnlyRemovedOnesThatItCanRead: old events have them under the name that it is said to have had.
func TestAFieldTakesOverOnlyRemovedOnesThatItCanRead(t *testing.T) {
	lock := evolve(t, `type E { id: ID! a: String c: Int d: String }`, `type E { id: ID! a: String }`)
	for _, c := range []struct {
		field string
		fits  bool
	}{
		{`a: String @was(name: "c")`, false},
		{`a: String @was(name: "d")`, true},
		{`a: String @was(name: "e")`, true},
		{`c: String @was(name: "a")`, false},
		{`d: String @was(name: "a")`, true},
	} {
		l, found := eventlock.Read(lock)
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		err := l.Check(modelOf(t, `type E { id: ID! `+c.field+` }`)).Err()
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "Int") {
			t.Errorf("%s: %v; want it refused: %t", c.field, err, !c.fits)
		}
	}
}

// TestARemovedFieldComesBackAsItWas, also one of an enum or an object, and not as something that events do not fit.
func TestARemovedFieldComesBackAsItWas(t *testing.T) {
	const (
		line = ` type Line { sku: ID! n: Int was: Kind of: [Line!] }`
		kind = ` enum Kind { A B }`
	)
	lock := evolve(t,
		`type E { id: ID! k: Kind! ks: [Kind!]! l: Line! ls: [Line] } type Line { sku: ID! was: Kind of: [Line!] }`+kind,
		`type E { id: ID! k: Kind! ks: [Kind!]! l: Line! ls: [Line] }`+line+kind,
		`type E { id: ID! }`, `type E { id: ID! x: Int }`)
	for fields, code := range map[string]string{
		`k: Kind ks: [Kind!] l: Line ls: [Line] }` + line + kind:                               "",
		`k: Sort l: Row } enum Sort { B A } type Row { of: [Row!] was: Sort n: Int sku: ID! }`: "",
		`kind: Kind @was(name: "k") line: Line @was(name: "l") }` + line + kind:                "",
		`k: Kind } enum Kind { A B C }`:                                                        "",
		`k: String ks: [ID!] }`:                                                                "",
		`k: Kind } enum Kind { A }`:                                                            "lock-enum",
		`k: Kind! }` + kind:                                                                    "lock-removed",
		`k: [Kind!] }` + kind:                                                                  "lock-type",
		`ks: [Kind] }` + kind:                                                                  "",
		`k: Int }`:                                                                             "lock-type",
		`k: Line }` + line + kind:                                                              "lock-type",
		`ls: [Line!] }` + line + kind:                                                          "lock-object",
		`l: Line } type Line { sku: ID! n: String was: Kind of: [Line!] }` + kind:              "lock-object",
		`l: Line } type Line { sku: ID! was: Kind of: [Line!] }` + kind:                        "lock-object",
		`l: Line }` + line + ` enum Kind { A }`:                                                "lock-object",
		`l: Line } type Line { code: ID! @was(name: "sku") n: Int was: Kind of: [Line!] }` + kind: "lock-object",
		`l: Kind }` + kind: "lock-object",
		`l: String }`:      "lock-object",
	} {
		refusedBy(t, lock, `type E { id: ID! `+fields, code)
	}
	const held = `type E { l: Line } type Line { sku: ID! }`
	back := evolve(t, held, `type E { id: ID }`, held)
	refusedBy(t, back, `type E { l: Line } type Line { sku: Int! }`, "lock-type")
	// What the field n held before is not in what the object was at last, and would be forgotten with it.
	lost := evolve(t, `type E { l: Line } type Line { sku: ID! n: Int }`, `type E { l: Line } type Line { sku: ID! }`,
		`type E { id: ID }`)
	refusedBy(t, lost, `type E { l: Line } type Line { sku: ID! }`, "lock-object")
	const old = `type Met { id: ID! }
type E @removed(field: "k", type: "String") @removed(field: "l", type: "Object") { id: ID! }`
	if kept := next(t, old, modelOf(t, `type E { id: ID! }`)); !strings.Contains(kept, `type: "Object") {`) {
		t.Errorf("what a former version has remembered is kept as\n%s", kept)
	}
	refusedBy(t, old, `type E { id: ID! k: String }`, "")
	refusedBy(t, old, `type E { id: ID! k: Kind }`+kind, "lock-type")
	refusedBy(t, old, `type E { id: ID! l: Line } type Line { sku: ID! }`, "lock-object")
}

// TestFormerNamesOfWhatIsRemovedAreNotTakenOver by fields of other types, in the very change that removes it.
func TestFormerNamesOfWhatIsRemovedAreNotTakenOver(t *testing.T) {
	lock := evolve(t, `type E { id: ID! sum: Int! }`, `type E { id: ID! total: Int! @was(name: "sum") }`)
	for _, c := range []struct {
		fields, code string
	}{
		{`sum: String`, "lock-type"},
		{`note: String @was(name: "sum")`, "lock-type"},
		{`sum: Decimal`, ""},
		{`other: String`, ""},
		{`total: Int!`, "lock-name"},
		{`sum: Int!`, "lock-missing"},
	} {
		refusedBy(t, lock, `type E { id: ID! `+c.fields+` }`, c.code)
	}
	const types = ` type Line { sku: ID! } enum Kind { A B }`
	lock = evolve(t, `type E { id: ID! k: Kind l: Line }`+types,
		`type E { id: ID! kind: Kind @was(name: "k") line: Line @was(name: "l") }`+types)
	for fields, code := range map[string]string{
		`k: Kind l: Line }` + types:         "", // as it was called before
		`k: Kind } enum Kind { A B C }`:     "",
		`k: Kind } enum Kind { A }`:         "lock-enum",
		`k: Int }`:                          "lock-type",
		`l: Line } type Line { sku: Int! }`: "lock-type",
		`l: String }`:                       "lock-type",
		`line: Line @was(name: "l") } type Line { sku: ID! n: String }`: "",
	} {
		refusedBy(t, lock, `type E { id: ID! `+fields, code)
	}
}

// refusedBy wants a schema to be refused by the one rule, or by none.
func refusedBy(t *testing.T, lock, events, code string) {
	t.Helper()
	l, found := eventlock.Read(lock)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, d := range l.Check(modelOf(t, events)) {
		codes = append(codes, d.Code)
	}
	if got := strings.Join(codes, " "); got != code {
		t.Errorf("%s: %q, want %q", events, got, code)
	}
}

// TestNamesOfRetiredEventsStayTheirs: another event under a former one would be read from events of the retired one.
func TestNamesOfRetiredEventsStayTheirs(t *testing.T) {
	lock := evolve(t, `type Ordered { id: ID! }`, `type OrderPlaced @was(name: "Ordered") { id: ID! }`,
		`type OrderPlaced @retired @was(name: "Ordered") { id: ID! }`)
	for events, code := range map[string]string{
		`type OrderPlaced @retired @was(name: "Ordered") { id: ID! }`:           "",
		`type OrderPlaced @retired { id: ID! }`:                                 "lock-name",
		`type OrderPlaced @retired { id: ID! } type Ordered { id: ID! n: Int }`: "lock-name",
		`type OrderPlaced @was(name: "Ordered") { id: ID! }`:                    "lock-retired",
	} {
		refusedBy(t, lock, events, code)
	}
}

// TestAnEventWithVersionsTakesInNoOther: events of the other one would be read as a former version that they never
// were.
func TestAnEventWithVersionsTakesInNoOther(t *testing.T) {
	first := evolve(t, `type A { x: Int! } type B { y: String! }`)
	raised := next(t, first, modelOf(t, `type A @version(n: 2) { x: Int! } type B { y: String! }`))
	behind := evolve(t, `type B { y: String! } type A { x: Int! }`,
		`type B { y: String! } type A @version(n: 2) { x: Int! }`)
	const joined = `type A @version(n: 2) @was(name: "B") { x: Int }`
	refusedBy(t, first, joined, "lock-version-joined")
	refusedBy(t, raised, joined, "lock-version-joined")
	refusedBy(t, behind, joined, "lock-version-joined")
	refusedBy(t, raised, `type A @version(n: 2) { x: Int! } type B @retired { y: String! }`, "")
	refusedBy(t, raised, `type C @version(n: 2) @was(name: "A") { x: Int! } type B { y: String! }`, "")

	same := evolve(t, `type A { x: Int! } type B { x: Int! }`, `type A @was(name: "B") { x: Int! }`)
	refusedBy(t, same, `type A @version(n: 2) @was(name: "B") { z: Int! }`, "")
}

// TestALockIsReadWhereAnObjectHasTheFormerNameOfAnEvent: its marks are its own.
func TestALockIsReadWhereAnObjectHasTheFormerNameOfAnEvent(t *testing.T) {
	const last = `type Placed @was(name: "Line") { id: ID! lines: [Line!] note: String }
		type Line { sku: ID! weight: Int note: String }`
	lock := evolve(t, `type Line { id: ID! }`,
		`type Placed @was(name: "Line") { id: ID! lines: [Line!] note: String } type Line { sku: ID! }`, last)
	if again := next(t, lock, modelOf(t, last)); again != lock {
		t.Errorf("again, it is another: %s", cmp.Diff(lock, again))
	}
	if !strings.Contains(lock, "weight: Int @added") {
		t.Errorf("the field of the object is not marked: %s", lock)
	}
}

// TestAnEventInsideOfAnotherIsAnEvent: events that a read model takes, and others hold.
func TestAnEventInsideOfAnotherIsAnEvent(t *testing.T) {
	lock := evolve(t, `type Batch { all: [Met!]! }`)
	l, found := eventlock.Read(lock)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	m, found := parse.Load(
		[]*ast.Source{{Name: "schema.graphqls", Input: `type Seen @readModel(events: ["Batch"]) { id: ID! @id }`}},
		[]*ast.Source{{Name: "events.graphqls", Input: "type Batch { all: [Other!]! } type Other { id: ID! }"}})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if found := l.Check(m); len(found) != 1 || found[0].Code != "lock-gone" || found[0].Type != "Met" {
		t.Errorf("the event is gone, and found is %v\nby\n%s", found, lock)
	}
}

// TestAnEventThatAnotherBeginsToHoldStaysOneByEvent, as the message for it says, which knows it from one that is gone.
func TestAnEventThatAnotherBeginsToHoldStaysOneByEvent(t *testing.T) {
	const held = "type OrderPlaced { address: AddressChanged } type AddressChanged { street: String! }"
	lock := evolve(t, "type OrderPlaced { id: ID } type AddressChanged { street: String! }")
	l, found := eventlock.Read(lock)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	found = l.Check(modelOf(t, held))
	if len(found) != 1 || found[0].Code != "lock-held" || !strings.Contains(found[0].Fix, "add @event") {
		t.Errorf("where another type holds the event, found is %v", found)
	}
	after := next(t, lock, modelOf(t, strings.Replace(held, "AddressChanged {", "AddressChanged @event {", 1)))
	if !strings.Contains(after, "type AddressChanged @event {") {
		t.Errorf("the lock does not have it as an event:\n%s", after)
	}
}

// TestWhatAnEventWasInEachVersionIsKept, with all that was inside of it, as it was.
func TestWhatAnEventWasInEachVersionIsKept(t *testing.T) {
	lock := evolve(t,
		`type Ordered { id: ID! total: Int! note: String by: Channel! @default(value: WEB) lines: [Line!]! }
		 type Line { sku: ID! of: Line to: Channel } enum Channel { WEB FAX } type Other { line: Line }`,
		`type Ordered { id: ID! total: Int! by: Channel! @default(value: WEB) lines: [Line!]! }
		 type Line { sku: ID! of: Line to: Channel } enum Channel { WEB FAX } type Other { line: Line }`,
		`type Ordered @version(n: 2) { id: Int! lines: [Line!]! }
		 type Line { sku: ID! of: Line to: Channel n: Int } enum Channel { WEB FAX } type Other { line: Line }`,
		`type Placed @was(name: "Ordered") @version(n: 3) { id: Int! n: Int! } type Other { line: Line }
		 type Line { sku: ID! of: Line to: Channel n: Int m: Int } enum Channel { WEB FAX }`,
		`type Placed @was(name: "Ordered") @version(n: 3) { id: Int! n: Int! more: Int } type Other { line: Line }
		 type Line { sku: ID! of: Line to: Channel n: Int m: Int } enum Channel { WEB FAX }`,
	)
	const want = `
type Met {
  id: ID!
}

type Placed @was(name: "Ordered") @version(n: 3) {
  id: Int!
  n: Int!
  more: Int @added(as: "89f4dcfe78cf")
}

type Other {
  line: Line
}

type Line {
  sku: ID!
  of: Line
  to: Channel
  n: Int @added(as: "89f4dcfe78cf")
  m: Int @added(as: "89f4dcfe78cf")
}

enum Channel {
  WEB
  FAX
}

type PlacedV1 @former(of: "Placed", version: 1, sum: "%") {
  id: ID!
  total: Int!
  by: PlacedV1Channel! @default(value: WEB)
  lines: [PlacedV1Line!]!
}

type PlacedV1Line {
  sku: ID!
  of: PlacedV1Line
  to: PlacedV1Channel
}

enum PlacedV1Channel {
  WEB
  FAX
}

type PlacedV2 @former(of: "Placed", version: 2, sum: "%") {
  id: Int!
  lines: [PlacedV2Line!]!
}

type PlacedV2Line {
  sku: ID!
  of: PlacedV2Line
  to: PlacedV2Channel
  n: Int
}

enum PlacedV2Channel {
  WEB
  FAX
}
`
	_, got, _ := strings.Cut(lock, "it.\n")
	got = regexp.MustCompile(`sum: "[0-9a-f]{12}"`).ReplaceAllString(got, `sum: "%"`)
	if got != want {
		t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
	}
}

// TestALaterSchemaIsHeldToTheVersionsThatEventsWereOf, however many there were since, and whatever its own lock has
// lost.
func TestALaterSchemaIsHeldToTheVersionsThatEventsWereOf(t *testing.T) {
	const first = `type Ordered { id: ID! total: Int! by: Channel! } enum Channel { WEB FAX } type Gone { id: ID! }`
	former, found := eventlock.Read(evolve(t, first))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		steps []string
		want  string
	}{
		{[]string{first,
			`type Placed @was(name: "Ordered") @version(n: 2) { id: Int! } type Gone { id: ID! }`,
			`type Placed @was(name: "Ordered") @version(n: 3) { id: Date! } type Gone @retired { id: ID! }`,
			`type Placed @was(name: "Ordered") @version(n: 3) { id: Date! at: Date }
			 type Late { id: ID! } type Gone @retired { id: ID! }`,
			`type Placed @was(name: "Ordered") @version(n: 3) { id: Date! at: Date }
			 type Late @version(n: 2) { id: Date! } type Gone @retired { id: ID! }`}, ""},
		{[]string{ // the lock has begun anew
			`type Ordered { id: ID! total: String! by: Channel! } enum Channel { WEB }`,
			`type Ordered @version(n: 2) { id: ID! }`}, "lock-type OrderedV1.total, lock-enum OrderedV1.by, lock-gone Gone"},
	} {
		m := modelOf(t, tt.steps[len(tt.steps)-1])
		next(t, evolve(t, tt.steps[:len(tt.steps)-1]...), m)
		var got []string
		for _, d := range former.CheckLater(m) {
			got = append(got, strings.TrimSuffix(d.Code+" "+d.Type+"."+d.Field, "."))
		}
		if all := strings.Join(got, ", "); all != tt.want {
			t.Errorf("%s: found is %q, want %q", tt.steps[len(tt.steps)-1], all, tt.want)
		}
	}
	m := modelOf(t, first)
	next(t, "", m)
	raised, found := eventlock.Read(evolve(t, first, `type Ordered @version(n: 2) { id: ID! } type Gone { id: ID! }`))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if found := raised.CheckLater(m); len(found) != 1 || found[0].Code != "lock-version-lower" {
		t.Errorf("of a version below that of events, found is %v", found)
	}
}

// TestChangedNamesTheEventsThatALockHasNew: those of other definitions, with former names, and all where objects in
// them are others too.
func TestChangedNamesTheEventsThatALockHasNew(t *testing.T) {
	const base = "type A { id: ID! } type B { id: ID! of: V } type V { x: Int }"
	lockOf := func(events string) string { return next(t, "", modelOf(t, events)) }
	for events, want := range map[string][]string{
		base: nil,
		strings.Replace(base, "A { id: ID! }", "A { id: ID! at: Date }", 1):                              {"A"},
		strings.Replace(base, "type A", `type C @was(name: "A")`, 1):                                     {"A", "C"},
		base + " type D { id: ID! }":                                                                     {"D"},
		strings.Replace(base, "type A { id: ID! }", "", 1):                                               nil,
		strings.Replace(base, "x: Int", "x: Int y: Int", 1):                                              {"A", "B", "Met"},
		strings.NewReplacer("x: Int", "x: Int y: Int", "type A", `type C @was(name: "A")`).Replace(base): {"A", "B", "C", "Met"},
	} {
		if got := eventlock.Changed(lockOf(base), lockOf(events)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", events, got, want)
		}
	}
}

// TestWithDefinesAnEventOfAnotherText, with all that it holds and that it was, and nothing that is there otherwise.
func TestWithDefinesAnEventOfAnotherText(t *testing.T) {
	const (
		a      = "type A { id: ID! } "
		before = "type B { of: V! } type V { e: E! } enum E { X } "
		now    = "type B @version(n: 2) { e: E! } enum E { X Y } "
		c      = "type C { id: ID! } "
	)
	other := evolve(t, a+before+c, "type A { id: ID! n: Int } "+now+c)
	with := eventlock.With(evolve(t, a), other, "B")
	if _, found := eventlock.Read(with); found.Err() != nil {
		t.Fatalf("%v of\n%s", found.Err(), with)
	}
	want := evolve(t, a+before, a+now)
	if more, less := eventlock.Changed(want, with), eventlock.Changed(with, want); len(more)+len(less) > 0 {
		t.Errorf("it is\n%s\nwant\n%s", with, want)
	}
}
