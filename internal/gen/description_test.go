package gen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema/parse"
)

// TestTheSchemaIsDescribed by the project, or else by its read models.
func TestTheSchemaIsDescribed(t *testing.T) {
	var many strings.Builder
	for i := range 14 {
		fmt.Fprintf(&many, "type M%d @readModel(events: [\"E\"]) { mId: ID! @id }\n", i)
	}
	for _, tt := range []struct{ schema, want string }{
		{versionedModel, "Queries of the read model Order, whose rows are folded from events."},
		{"schema { query: Query }\n" + versionedModel,
			"Queries of the read model Order, whose rows are folded from events."},
		{"\"What a shop\\nsells.\" schema { query: Query }\n" + versionedModel, "What a shop\nsells."},
		{many.String(), "Queries of the read models M0, M1, M2, M3, M4, M5, M6, M7, M8, M9, M10, M11 and 2 more, whose " +
			"rows are folded from events."},
	} {
		src := []*ast.Source{{Name: "schema.graphqls", Input: tt.schema}}
		model, found := parse.Load(src, []*ast.Source{{Name: "events.graphqls", Input: versionedInput}})
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		s, text, err := served.Schema(model, src)
		if err != nil {
			t.Fatal(err)
		}
		if s.Description != tt.want {
			t.Errorf("%s\nis described by %q, want %q", tt.schema, s.Description, tt.want)
		}
		if !strings.Contains(text, "\"\"\"\n"+tt.want+"\n\"\"\"\nschema {\n  query: Query\n}\n") {
			t.Errorf("%s\nis printed without its description:\n%s", tt.schema, text)
		}
	}
}
