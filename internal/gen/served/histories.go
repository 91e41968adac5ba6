package served

import (
	"fmt"
	"strings"

	"github.com/foldql/foldql/internal/schema"
)

// writeHistory writes the type of the events of a time series.
func writeHistory(b *strings.Builder, r *schema.ReadModel) {
	describe(b, r.Description)
	fmt.Fprintf(b, "type %s {\n", r.Name)
	for _, f := range r.Fields {
		if !f.Hidden {
			writeStoredField(b, f)
		}
	}
	b.WriteString("}\n")
}

// historyDescription describes the query of the events of a row.
func historyDescription(r *schema.ReadModel) string {
	of := r.SeriesOf
	text := "The events that were appended to one row of " + of.Name
	if key := schema.Composites(of.PK, of.SK); len(key) > 0 {
		text += ", by its " + Listed(key)
	}
	return text + ", in the order of " + of.Series.OrderBy.Name + "."
}
