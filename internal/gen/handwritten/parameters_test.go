package handwritten

import (
	"fmt"
	"strings"
	"testing"
)

// TestAParameterIsNeverTakenOverByAnotherArgument: what the body of a resolver means by a name, it goes on to mean, or
// does not compile. An argument that was there keeps its number, and a new one gets one.
func TestAParameterIsNeverTakenOverByAnotherArgument(t *testing.T) {
	const text = "package graph\n\nimport \"context\"\n\nfunc (r *queryResolver) Find(ctx context.Context, %s) " +
		"(int, error) {\n\treturn 0, nil\n}\n"
	const generated = "package generated\n\nimport \"context\"\n\ntype QueryResolver interface {\n" +
		"\tFind(ctx context.Context, %s) (int, error)\n}\n"
	for _, c := range []struct{ was, former, now, want string }{
		{"r1 int", "r int", "r int, r1 int", "r1 int, r11 int"},
		{"r1 int", "r int", "r1 int, r int", "r11 int, r1 int"},
		{"r1 int, own int", "r int, r1 int", "r int, r1 int, n int", "r1 int, r11 int, n int"},
		{"r1 int", "r1 int", "r int", "r2 int"},
		{"t int", "title int", "title int, t int", "title int, t1 int"},
		{"t int, by int", "title int, by int", "by int, t int", "by int, t1 int"},
		{"t int", "title int", "t int", "t int"},
	} {
		w := Wanted{Stubs: fmt.Appendf(nil, text, c.now), Names: guessed{},
			Former: Former{Path: "example.com/own/graph/generated", Text: fmt.Appendf(nil, generated, c.former)}}
		merged := func(was string) string {
			files := map[string]string{"schema.resolvers.go": fmt.Sprintf(text, was)}
			return mergeWanted(t, files, w)["schema.resolvers.go"]
		}
		if got := merged(c.was); !strings.Contains(got, "Context, "+c.want+")") {
			t.Errorf("where (%s) was (%s) and the schema wants (%s), it becomes\n%s", c.former, c.was, c.now, got)
		}
		for _, known := range [][]byte{fmt.Appendf(nil, generated, c.now), nil} {
			w.Former.Text = known
			if got := merged(c.want); !strings.Contains(got, "Context, "+c.want+")") {
				t.Errorf("where nothing changes, (%s) becomes\n%s", c.want, got)
			}
		}
	}
}
