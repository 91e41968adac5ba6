package projection_test

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// TestFollowGoesOnFromNoRowOfAnotherId has two ids that differ in casing alone, and so make one key.
func TestFollowGoesOnFromNoRowOfAnotherId(t *testing.T) {
	ops := Shaped(func(m *querydb.Model) {
		m.PK.Layout.Casing = keys.CasingLower
	})
	ops.Partition = func(id string) (string, error) { return ops.Codec.Model.PK.Layout.Compose(keys.String(id)) }
	store := newFaultyStore()
	db := open(t, store, ops.Codec.Model)
	log := openLog(t, event("",
		Step{Op: "follow", ID: "Acme", Version: "v1", Customer: ptr("secret")}), event("",
		Step{Op: "follow", ID: "ACME", Version: "v2"}), event("",
		Step{Op: "follow", ID: "Acme", Version: "v3"}))
	log.End()
	r, err := projection.NewRunner(ProjectionOf("follows", ops), log, db, quick())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := readRows(db, ops.Codec.Model, store.keys())
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[Key{ID: "Acme", Version: "v3"}].Row.ID != "Acme" {
		t.Errorf("rows %v, want v1 and v3 of Acme", rows)
	}
	letters, err := r.DeadLetters(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(letters) != 1 || !strings.Contains(letters[0].Reason,
		`of another id: its id is "Acme" and that of the event is "ACME", `+
			"which differ in casing alone") {
		t.Errorf("set dead letters %v, want the second event alone, for the casing of its id", letters)
	}
}
