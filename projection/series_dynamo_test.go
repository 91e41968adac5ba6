package projection_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
)

// A series folds on DynamoDB as it does elsewhere: row, history and checkpoint in one transaction.
func TestASeriesFoldsOnDynamoDB(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			place := dynamolocal.Start(t, e)
			place.Setenv(t)
			for i, o := range []*seriesOps{writtenSeries(), ownSeries()} {
				began := time.Now().UTC().Truncate(time.Second) // DynamoDB removes what has expired by its own clock
				events := drawSeries(r, 25)
				for n := range events {
					events[n].Time = began.Add(time.Duration(n) * time.Second)
				}
				want := newSeriesOracle(len(o.Codec.Model.Writers) == 0)
				want.began = began
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
					querydb.NotesTable(), o.Codec.Model.DriverTable(0), o.History.Model.DriverTable(0),
				}}
				if err := join().ApplyTables(t.Context(), tables, false, func(string) {}); err != nil {
					t.Fatal(err)
				}
				var db *querydb.DB
				for _, log := range [2]eventlog.Source{logOf(t, events[:r.IntN(25)]...), logOf(t, events...)} {
					db = openAt(t, time.Now, join(), o.Codec.Model, o.History.Model)
					for _, p := range seriesProjections(o) {
						cfg := quick()
						cfg.WindowEvents, cfg.Now, cfg.MaxDeadLetterPercent = 1+r.IntN(8), nil, 100
						runProjection(t, p, log, db, cfg)
					}
				}
				compareSeries(t, db, o, want)
				if t.Failed() {
					for n, e := range events {
						t.Logf("%d %s %s", n+1, e.Type, e.Data)
					}
					t.FailNow()
				}
			}
		})
	}
}
