package projection_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
)

// TestAnEventThatNoTransactionOfDynamoDBHoldsBecomesADeadLetter: it follows and deletes a partition of 120 rows. It
// ends no start, and can be skipped.
func TestAnEventThatNoTransactionOfDynamoDBHoldsBecomesADeadLetter(t *testing.T) {
	const rows = 120
	var events []eventlog.Event
	var ks []keys.Key
	for i := range rows {
		version := fmt.Sprintf("v%03d", i)
		events = append(events, event("", Step{Op: "set", ID: "a", Version: version, Total: 1}))
		ks = append(ks, keys.Key{PK: "a", SK: version})
	}
	events = append(events,
		event("s", Step{Op: "follow", ID: "a", Version: "v999"}, Step{Op: "wipe", ID: "a"}),
		event("s", set("c", 1)), event("", set("b", 1)))
	ks = append(ks, keys.Key{PK: "a", SK: "v999"}, keys.Key{PK: "b", SK: "v1"}, keys.Key{PK: "c", SK: "v1"})
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			place := dynamolocal.Start(t, e)
			place.Setenv(t)
			store, err := dynamostore.Open(t.Context(), dynamostore.Config{Prefix: place.Prefix, Concurrency: 8})
			if err != nil {
				t.Fatal(err)
			}
			tables := dynamostore.Tables{Needed: []*driver.Table{querydb.NotesTable(), Model.DriverTable(0)}}
			if err := store.ApplyTables(t.Context(), tables, false, func(string) {}); err != nil {
				t.Fatal(err)
			}
			db := open(t, store)
			cfg := projection.RunnerConfig{WindowEvents: 50, MinBackoff: time.Nanosecond, MaxBackoff: time.Nanosecond}
			log := logOf(t, events...)
			var r *projection.Runner
			for range 2 {
				r = run(t, log, db, cfg)
				letters, err := r.DeadLetters(t.Context(), "", 10)
				if err != nil || len(letters) != 2 || letters[0].Ref != "0@121" || !strings.Contains(letters[0].Reason,
					"changes 121 rows") {
					t.Fatalf("dead letters %+v, %v: want the event that no transaction holds, and the one behind it", letters, err)
				}
				if got := rowsOf(t, db, ks); len(got) != rows+1 {
					t.Errorf("there are %d rows, want those of a, and b", len(got))
				}
			}
			if err := r.Skip(t.Context(), "0@121"); err != nil {
				t.Fatal(err)
			}
			if got := rowsOf(t, db, ks); len(got) != rows+2 {
				t.Errorf("once it is skipped there are %d rows, want c too", len(got))
			}
		})
	}
}

// A group folds on DynamoDB as it does elsewhere: rows, links, tasks and the checkpoint in one transaction.
func TestAGroupFoldsOnDynamoDB(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			place := dynamolocal.Start(t, e)
			place.Setenv(t)
			for i, mode := range []refMode{
				{}, {cascade: true}, {nullIfMissing: true}, {cascade: true, nullIfMissing: true},
				transactional, {cascade: true, transactional: true, nullIfMissing: true}, {onRequest: true},
			} {
				events := drawRefEvents(r, 25)
				if mode.onRequest {
					askForCascades(events)
				}
				want := newRefOracle(mode)
				want.fold(events)
				join := func() *dynamostore.Store {
					store, err := dynamostore.Open(t.Context(),
						dynamostore.Config{Prefix: fmt.Sprint(place.Prefix, i), Concurrency: 8})
					if err != nil {
						t.Fatal(err)
					}
					return store
				}
				tables := dynamostore.Tables{Needed: []*driver.Table{
					querydb.NotesTable(), clubModel.DriverTable(0), pickModel.DriverTable(0),
				}}
				if err := join().ApplyTables(t.Context(), tables, false, func(string) {}); err != nil {
					t.Fatal(err)
				}
				var db *querydb.DB
				for _, log := range [2]eventlog.Source{logOf(t, events[:r.IntN(25)]...), logOf(t, events...)} {
					db = openAt(t, time.Now, join(), clubModel, pickModel)
					cfg := quick()
					cfg.WindowEvents, cfg.Now = 1+r.IntN(8), nil
					runner, err := projection.NewRunner(refGroup(mode), log, db, cfg)
					if err == nil {
						err = runner.Run(t.Context())
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				clubs, picks := refRows(t, db)
				if d := cmp.Diff(want.clubs, clubs) + cmp.Diff(atRest(want, want.picks), atRest(want, picks)); d != "" {
					for _, e := range events {
						t.Logf("%s", e.Data)
					}
					t.Errorf("%+v: rows differ (-want +got):\n%s", mode, d)
				}
			}
		})
	}
}
