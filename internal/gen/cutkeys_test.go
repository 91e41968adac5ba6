package gen

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/gen/code"
	"github.com/foldql/foldql/internal/schema/parse"
)

// TestRowsWhoseKeysPatchesMayHaveCutShortAreFoldedAgain: the version says that patches leave keys to the row, where
// they do and former programs did not. All other models keep the version that they had.
func TestRowsWhoseKeysPatchesMayHaveCutShortAreFoldedAgain(t *testing.T) {
	for _, tt := range []struct {
		why   string
		index string
		again bool
	}{
		{"two fields, neither of which can be null", `sk: ["state", "at"]`, true},
		{"two fields, one of which can be null", `sk: ["state", "note"]`, true},
		{"two fields that can be null", `sk: ["label", "note"]`, false},
		{"two fields of a unique index that can be null", `sk: ["label", "note"], unique: true`, true},
		{"one field", `sk: ["state"]`, false},
		{"one field of a unique index", `sk: ["state"], unique: true`, false},
		{"one field beside the row's key", `sk: ["state", "id"]`, false},
		{"one field beside a time that the server fills", `sk: ["state", "changed"]`, false},
		{"fields of halves that are each of one", `sk: ["at"]`, false},
	} {
		readModels := `extend schema @table(name: "T", schema: "t", version: 1)
			type Device @entity(table: "T") @readModel(events: ["E"]) @primaryKey(pk: ["id"], sk: [])
			@gsi(as: "by", name: "gsi1", pk: ["owner"], ` + tt.index + `) { id: ID! owner: String! state: String! at: Int!
			label: String note: String changed: DateTime @updatedAt }`
		m, found := parse.Load([]*ast.Source{{Name: "schema.graphqls", Input: readModels}},
			[]*ast.Source{{Name: "events.graphqls", Input: `type E { id: ID! @tag }`}})
		if err := found.Err(); err != nil {
			t.Fatalf("%s: %v", tt.why, err)
		}
		text := code.VersionText(m, m.ReadModels[0])
		if again := strings.Contains(text, "\nfilled\n"); again != tt.again {
			t.Errorf("%s: folded again is %t, want %t:\n%s", tt.why, again, tt.again, text)
		}
	}
}
