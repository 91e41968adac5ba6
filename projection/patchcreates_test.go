package projection_test

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/memstore"
)

// TestADeadLetterSaysThatAPatchWouldHaveCreatedTheRow, where a field of it has no value, and nothing of that where the
// row is there.
func TestADeadLetterSaysThatAPatchWouldHaveCreatedTheRow(t *testing.T) {
	ops := Shaped(func(m *querydb.Model) {
		m.Indexes, m.Fields = nil, append([]querydb.Field{}, m.Fields...)
		m.Fields[fieldCustomer].Enum = "Customer"
		m.Enums = []querydb.Enum{{Name: "Customer", Values: []string{"ONE"}}}
	})
	patch := Step{Op: "patch", ID: "a", Version: "v1", Customer: ptr("")}
	const created = " (there is no row, which the patch would create: where there must be one, use Update)"
	for want, given := range map[string][]Step{
		created: {patch}, "": {{Op: "set", ID: "a", Version: "v1"}, patch},
	} {
		db := open(t, memstore.New(), ops.Codec.Model)
		r, err := projection.NewRunner(ProjectionOf("script", ops), logOf(t, event("", given...)), db, quick())
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		letters, err := r.DeadLetters(t.Context(), "", 10)
		if err != nil || len(letters) != 1 || !strings.HasSuffix(letters[0].Reason, "or let the field be null"+want) {
			t.Errorf("the dead letters are %+v, %v, want one whose reason ends in %q", letters, err, want)
		}
	}
}
