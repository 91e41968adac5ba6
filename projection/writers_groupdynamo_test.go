package projection_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
)

// TestAGroupFoldsWhatSeveralProjectionsWriteOnDynamoDB: rows with their writers, copies and the checkpoint are one
// transaction.
func TestAGroupFoldsWhatSeveralProjectionsWriteOnDynamoDB(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	models := []*querydb.Model{clubModel, badgeModel, wearerModel}
	needed := []*driver.Table{querydb.NotesTable()}
	for _, m := range models {
		needed = append(needed, m.DriverTable(0))
	}
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			place := dynamolocal.Start(t, e)
			place.Setenv(t)
			for i := range 3 {
				events := drawBadgeEvents(r, 25)
				join := func() *dynamostore.Store {
					store, err := dynamostore.Open(t.Context(),
						dynamostore.Config{Prefix: fmt.Sprint(place.Prefix, i), Concurrency: 8})
					if err != nil {
						t.Fatal(err)
					}
					return store
				}
				if err := join().ApplyTables(t.Context(), dynamostore.Tables{Needed: needed}, false, func(string) {}); err != nil {
					t.Fatal(err)
				}
				var db *querydb.DB
				for _, log := range [2]eventlog.Source{logOf(t, events[:r.IntN(25)]...), logOf(t, events...)} {
					db = openAt(t, time.Now, join(), models...)
					cfg := quick()
					cfg.WindowEvents, cfg.Now = 1+r.IntN(8), nil
					runner, err := projection.NewRunner(badgeGroup(), log, db, cfg)
					if err == nil {
						err = runner.Run(t.Context())
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(foldBadges(events), badgesIn(t, db), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s\nrows differ (-want +got):\n%s", spellBadges(events), diff)
				}
			}
		})
	}
}
