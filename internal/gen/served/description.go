package served

import (
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/schema"
)

// mostNamed is how many read models the description of a schema names.
const mostNamed = 12

// schemaDescription describes the API of a project that does not do so itself.
func schemaDescription(m *schema.Model) string {
	var names []string
	for _, r := range m.ReadModels {
		if r.SeriesOf == nil {
			names = append(names, r.Name)
		}
	}
	if len(names) == 1 {
		return "Queries of the read model " + names[0] + ", whose rows are folded from events."
	}
	if more := len(names) - mostNamed; more > 1 {
		names = append(names[:mostNamed], fmt.Sprintf("%d more", more))
	}
	return "Queries of the read models " + enumerated(names) + ", whose rows are folded from events."
}

// schemaText writes the definition of the schema with its description, which the formatter leaves out.
func schemaText(s *ast.Schema) string {
	var b strings.Builder
	describe(&b, s.Description)
	fmt.Fprintf(&b, "schema {\n  query: %s\n}\n", s.Query.Name)
	return b.String()
}
