package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema/parse"
)

// TestAnotherKeyEndsTheGlobalIdentifiersOfAType that clients have kept, where both APIs have them.
func TestAnotherKeyEndsTheGlobalIdentifiersOfAType(t *testing.T) {
	with := func(relayID, key string) *Schemas {
		t.Helper()
		text := fmt.Sprintf("type Task @readModel(events: [\"E\"]) { %s }", key)
		api := []*ast.Source{{Name: "schema.graphqls", Input: text}}
		m, found := parse.Settings{RelayID: relayID}.Load(api,
			[]*ast.Source{{Name: "events.graphqls", Input: "type E { n: ID! }"}})
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		s, _, err := served.Schema(m, api)
		if err != nil {
			t.Fatal(err)
		}
		return &Schemas{s, m, mark(t, m, "no such file")}
	}
	const byTask, bySlug = "taskId: ID! @id slug: ID!", "taskId: ID! slug: ID! @id"
	for name, c := range map[string]struct {
		was, now *Schemas
		want     []string
	}{
		"another key": {with("uid", byTask), with("uid", bySlug), []string{
			"breaking Task.uid names rows by slug, and before by taskId"}},
		"the same key":            {with("uid", byTask), with("uid", byTask), nil},
		"identifiers are new":     {with("", byTask), with("uid", bySlug), nil},
		"there are none any more": {with("uid", byTask), with("", bySlug), nil},
	} {
		var got []string
		for _, change := range Compare(c.was, c.now).API {
			if strings.HasPrefix(change.What, "names rows by") {
				got = append(got, fmt.Sprint(change.Effect, " ", change.At, " ", change.What))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}
