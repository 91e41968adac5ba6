package projection_test

import (
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
)

// TestAllWritersOfATableFoldAgainWhenOneBeginsAgain since the rows that they share are gone.
func TestAllWritersOfATableFoldAgainWhenOneBeginsAgain(t *testing.T) {
	events := []eventlog.Event{
		deviceEvent("telemetry", "", Act{Op: "set", ID: "a", State: ptr("x"), At: ptr(1)}),
		deviceEvent("enrichment", "", Act{Op: "patch", ID: "a", Account: ptr("acme")}),
	}
	for kind, store := range stores {
		t.Run(kind, func(t *testing.T) {
			o, folded := writtenProjections(writtenModel())
			db := open(t, store(), o.Codec.Model)
			fold := func(p projection.Projection) {
				t.Helper()
				r, err := projection.NewRunner(p, logOf(t, events...), db, quick())
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Run(ctx()); err != nil {
					t.Fatal(err)
				}
			}
			fold(folded[0])
			fold(folded[1])
			compareDevices(t, db, o, events)
			if err := db.Apply(ctx(), querydb.Batch{Notes: []querydb.Note{projection.NewResetNote("telemetry")}}); err != nil {
				t.Fatal(err)
			}
			fold(folded[1])
			compareDevices(t, db, o, events[:1]) // what is telemetry's alone
			fold(folded[0])
			compareDevices(t, db, o, events)
		})
	}
}
