package gen

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/code"
)

// versionAfter is the version of the first model after schemas of the events that followed one another, and the lock
// that they leave.
func versionAfter(t *testing.T, readModels string, events ...string) (version, lock string) {
	t.Helper()
	for _, text := range events {
		p := &project{lock: lock, readModels: []*ast.Source{{Name: "schema.graphqls", Input: readModels}},
			events: []*ast.Source{{Name: "events.graphqls", Input: text}}}
		m, found := p.load()
		if err := found.Err(); err != nil {
			t.Fatalf("%v\nof\n%s\nagainst\n%s", err, text, lock)
		}
		version, lock = code.Version(m, m.ReadModels[0]), p.nextLock
	}
	return version, lock
}

// TestVersionStaysWhereEventsGetAFieldThatTheyMayLack: rows of before are those of the new schema. Where the field
// becomes another than it was then, or goes, they are not.
func TestVersionStaysWhereEventsGetAFieldThatTheyMayLack(t *testing.T) {
	const (
		first = `type E { orderId: ID! @tag lines: [Line!] } type Line { product: ID! of: Line } enum State { NEW }`
		head  = `orderId: ID! @tag`
		note  = head + ` note: String`
		one   = head + ` n: Int! @default(value: 1)`
		tail  = `lines: [Line!] }`
		to    = `lines: [Line!] to: To } type To { x: Int! }`
	)
	for name, tt := range map[string]struct {
		steps   []string // what becomes what, one after the other
		changes bool
	}{
		"optional":                     {[]string{head, note}, false},
		"with a default":               {[]string{head, one}, false},
		"an enum":                      {[]string{head, head + ` state: State`}, false},
		"a tag":                        {[]string{head, note + ` @tag`}, false},
		"within an object":             {[]string{`product: ID!`, `product: ID! note: String`}, false},
		"an object":                    {[]string{head, head + ` line: Line`}, false},
		"an object of a new type":      {[]string{tail, to}, false},
		"and is renamed":               {[]string{head, note, `note: String`, `text: String @was(name: "note")`}, false},
		"and then another":             {[]string{head, note, `note:`, `at: Date note:`}, false},
		"and is tagged":                {[]string{head, note, `note: String`, `note: String @tag`}, false},
		"whose default changes":        {[]string{head, one, `value: 1`, `value: 2`}, true},
		"whose default changes back":   {[]string{head, one, `value: 1`, `value: 2`, `value: 2`, `value: 1`}, false},
		"that gets a default":          {[]string{head, head + ` n: Int`, `n: Int`, `n: Int! @default(value: 2)`}, true},
		"whose type changes":           {[]string{head, head + ` n: Int`, `n: Int`, `n: Int64`}, true},
		"whose enum grows":             {[]string{head, head + ` state: State`, `NEW`, `NEW DONE`}, true},
		"that goes":                    {[]string{head, note, note, head}, true},
		"that goes and returns":        {[]string{head, note, note, head, head, note}, true},
		"whose object gets a field":    {[]string{tail, to, `x: Int!`, `x: Int! y: Int`}, false},
		"whose object changes":         {[]string{tail, to, `x: Int!`, `x: Int64!`}, true},
		"whose object has one changed": {[]string{tail, to, `x: Int!`, `x: Int! y: Int`, `y: Int`, `y: Int64`}, true},
		"whose object has one gone":    {[]string{tail, to, `x: Int!`, `x: Int! y: Int`, `y: Int`, ``}, true},
		"of which events have a name":  {[]string{head, note + ` @was(name: "text")`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			events := []string{first}
			for i := 0; i < len(tt.steps); i += 2 {
				before := events[len(events)-1]
				if !strings.Contains(before, tt.steps[i]) {
					t.Fatalf("the events have no %s", tt.steps[i])
				}
				events = append(events, strings.Replace(before, tt.steps[i], tt.steps[i+1], 1))
			}
			for _, readModels := range []string{
				`type Order @readModel(events: ["E"]) { orderId: ID! @id }`,
				`type Order @stateView(events: ["E"], tags: ["orderId:1"]) { orderId: ID! @id }`,
			} {
				was, _ := versionAfter(t, readModels, first)
				now, lock := versionAfter(t, readModels, events...)
				if changed := now != was; changed != tt.changes {
					t.Errorf("changed is %t, want %t; the lock is\n%s", changed, tt.changes, lock)
				}
			}
		})
	}
}

// TestVersionChangesWhereAFieldIsGivenTheNameOfOneThatIsGone: of events that lack it, some have that one. To call it
// otherwise after that changes nothing.
func TestVersionChangesWhereAFieldIsGivenTheNameOfOneThatIsGone(t *testing.T) {
	const view = `type Order @readModel(events: ["E"]) { orderId: ID! @id }`
	for name, steps := range map[string][]string{
		"that has former names": {`a: String b: String`, `a: String`, `c: String @was(name: "a")`,
			`c: String @was(name: "a") @was(name: "b")`, `d: String @was(name: "a") @was(name: "b") @was(name: "c")`},
		"that takes its name": {`a: String b: String`, `a: String`, `a: String`, `b: String @was(name: "a")`,
			`c: String @was(name: "a") @was(name: "b")`},
		"that was added": {`b: String`, ``, `c: String`, `c: String @was(name: "b")`,
			`d: String @was(name: "b") @was(name: "c")`},
		"inside of an object": {`in: In } type In { a: String b: String`, `in: In } type In { a: String`,
			`in: In } type In { c: String @was(name: "a")`, `in: In } type In { c: String @was(name: "a") @was(name: "b")`,
			`in: In } type In { d: String @was(name: "a") @was(name: "b") @was(name: "c")`},
		"inside of an added object": {``, `in: In } type In { a: String`, `in: In } type In { a: String b: String`,
			`in: In } type In { a: String`, `in: In } type In { c: String @was(name: "a")`,
			`in: In } type In { c: String @was(name: "a") @was(name: "b")`,
			`in: In } type In { d: String @was(name: "a") @was(name: "b") @was(name: "c")`},
	} {
		t.Run(name, func(t *testing.T) {
			var versions, events []string
			for _, fields := range steps {
				events = append(events, `type E { orderId: ID! `+fields+` }`)
				version, _ := versionAfter(t, view, events...)
				versions = append(versions, version)
			}
			last := versions[len(versions)-4:]
			if last[0] != last[1] || last[1] == last[2] || last[2] != last[3] {
				t.Errorf("the versions are %v, want another at the last step but one, and none before and after", versions)
			}
			if slices.Contains(versions[:len(versions)-2], last[2]) { // who deploys fewer steps must find another one too
				t.Errorf("the versions are %v, want one at the last step but one that was none before", versions)
			}
		})
	}
}

// TestVersionChangesWhereAViewFiltersByTheFieldThatIsAdded: it took none of the events before.
func TestVersionChangesWhereAViewFiltersByTheFieldThatIsAdded(t *testing.T) {
	const view = `type Order @stateView(events: ["E", "F"], tags: ["place:x"]) { orderId: ID! @id }`
	first := `type F { place: ID! @tag } type E { orderId: ID! }`
	was, _ := versionAfter(t, view, first)
	now, _ := versionAfter(t, view, first, `type F { place: ID! @tag } type E { orderId: ID! place: String @tag }`)
	if was == now {
		t.Error("the version is the same")
	}
}
