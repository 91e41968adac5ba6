package projection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// seriesOracle folds events of devices one by one, as the documents say.
type seriesOracle struct {
	rows   map[string]seriesRow
	events map[string][]DeviceEvent
	failed int
	single bool      // one projection writes all fields
	began  time.Time // of the first event
}

type seriesRow struct {
	Account, State        *string
	At                    *int
	Telemetry, Enrichment bool // who has written it
}

func newSeriesOracle(single bool) *seriesOracle {
	return &seriesOracle{rows: map[string]seriesRow{}, events: map[string][]DeviceEvent{}, single: single,
		began: epoch}
}

func (o *seriesOracle) fold(log []eventlog.Event) {
	for i, e := range log {
		var acts []seriesAct
		if err := json.Unmarshal(e.Data, &acts); err != nil {
			panic(err)
		}
		rows, events := maps.Clone(o.rows), maps.Clone(o.events)
		appended := map[string]bool{}
		for _, a := range acts {
			if !o.take(a, e.Type == "telemetry", int64(i+1), appended) {
				o.rows, o.events = rows, events
				o.failed++
				break
			}
		}
	}
}

// take folds one op; it fails where the event has appended to the device at that moment already.
func (o *seriesOracle) take(a seriesAct, telemetry bool, offset int64, appended map[string]bool) bool {
	r := o.rows[a.ID]
	mine := &r.Enrichment
	if telemetry || o.single {
		mine = &r.Telemetry
	}
	switch a.Op {
	case "append":
		at := fmt.Sprint(a.ID, a.When)
		if appended[at] {
			return false
		}
		appended[at] = true
		ends := o.began.Add(time.Duration(offset-1) * time.Second).Add(keep)
		e := DeviceEvent{ID: a.ID, At: a.When, State: a.State, Partition: "0", Offset: offset, Ends: &ends}
		o.events[a.ID] = append(slices.Clone(o.events[a.ID]), e)
		if r.At != nil && *r.At >= a.When {
			return true
		}
		r.At, r.State, *mine = &a.When, a.State, true
	case "patch":
		*mine = true
		if a.Account != nil {
			r.Account = a.Account
		}
	case "wipe", "delete":
		if a.Op == "wipe" && (telemetry || o.single) {
			o.events[a.ID] = nil
			maps.DeleteFunc(appended, func(at string, _ bool) bool { return strings.HasPrefix(at, a.ID) })
		}
		*mine = false
		if telemetry || o.single {
			r.At, r.State = nil, nil
		}
		if !telemetry || o.single {
			r.Account = nil
		}
	}
	if o.rows[a.ID] = r; !r.Telemetry && !r.Enrichment {
		delete(o.rows, a.ID)
	}
	return true
}

// drawSeries draws events of a few devices, many of them late, and some of one moment.
func drawSeries(r *rand.Rand, n int) []eventlog.Event {
	log := make([]eventlog.Event, n)
	text := func() *string { return []*string{nil, ptr("x"), ptr("y")}[r.IntN(3)] }
	for i := range log {
		projection := []string{"telemetry", "telemetry", "telemetry", "enrichment"}[r.IntN(4)]
		var acts []seriesAct
		for range 1 + r.IntN(3) {
			a := seriesAct{Act: Act{ID: deviceIDs[r.IntN(len(deviceIDs))], Op: "append"}, When: r.IntN(2*n) - n}
			switch pick := r.IntN(12); {
			case pick == 0:
				a.Op = "wipe"
			case pick == 1:
				a.Op = "delete"
			case pick < 5 || projection == "enrichment":
				a.Op = "patch"
				if projection == "enrichment" {
					a.Account = text()
				}
			case pick < 7:
				a.State, a.When = text(), r.IntN(2)
			default:
				a.State = text()
			}
			acts = append(acts, a)
		}
		log[i] = seriesEvent(projection, acts...)
	}
	return log
}

// compareSeries fails unless the rows and their histories are those of the oracle.
func compareSeries(t rapid.TB, db *querydb.DB, o *seriesOps, want *seriesOracle) {
	t.Helper()
	rows, events := map[string]seriesRow{}, map[string][]DeviceEvent{}
	stored, err := devicesOf(db, &o.Ops, deviceIDs...)
	if err != nil {
		t.Fatal(err)
	}
	for id, d := range stored {
		rows[id] = seriesRow{Account: d.Device.Account, State: d.Device.State, At: d.Device.At,
			Telemetry:  want.single || slices.Contains(d.Writers, "telemetry"),
			Enrichment: slices.Contains(d.Writers, "enrichment")}
	}
	for _, id := range deviceIDs {
		if kept := eventsOf(t, db, o, id); kept != nil {
			events[id] = kept
		}
	}
	wanted := map[string][]DeviceEvent{}
	for id, kept := range want.events {
		if len(kept) > 0 {
			wanted[id] = slices.SortedFunc(slices.Values(kept), func(a, b DeviceEvent) int {
				if a.At != b.At {
					return a.At - b.At
				}
				return int(a.Offset - b.Offset)
			})
		}
	}
	if d := cmp.Diff(want.rows, rows); d != "" {
		t.Errorf("rows differ (-want +got):\n%s", d)
	}
	if d := cmp.Diff(wanted, events); d != "" {
		t.Errorf("histories differ (-want +got):\n%s", d)
	}
}

// eventsOf reads the history of a device.
func eventsOf(t rapid.TB, db *querydb.DB, o *seriesOps, id string) (all []DeviceEvent) {
	t.Helper()
	pk, err := o.Partition(id)
	if err != nil {
		t.Fatal(err)
	}
	page, err := db.ForFold(historyWriter(o)).Query(context.Background(), o.History.Model, querydb.Query{
		Index: driver.Primary, PK: pk, Limit: 1000, Consistent: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range page.Rows {
		if row.Record == nil {
			continue
		}
		var e DeviceEvent
		if err := o.History.Decode(row.Record, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func historyWriter(o *seriesOps) string {
	if w := o.History.Model.Writers; len(w) > 0 {
		return w[0].Name
	}
	return ""
}

// TestAppendKeepsEveryEventAndTheNewestInTheRow folds drawn logs on each kind of store, of events that come late or
// share a moment, by processes that end in the middle.
func TestAppendKeepsEveryEventAndTheNewestInTheRow(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 25 {
		log := drawSeries(r, 1+r.IntN(40))
		cut := r.IntN(len(log) + 1)
		all := allSeries()
		for _, model := range slices.Sorted(maps.Keys(all)) {
			for _, name := range []string{"one writer", "several writers", "one directory"} {
				// A test of its own removes its directory when it ends.
				if !t.Run(fmt.Sprintf("%s on a store of %s", model, name), func(t *testing.T) {
					join := refStores()[name]
					if name == "one directory" {
						join = embedded(t)
					}
					foldSeriesInParts(t, all[model], join, r, log[:cut], log)
				}) {
					return
				}
			}
		}
	}
}

// foldSeriesInParts folds each of parts, which goes on where the one before ended, and compares what has become of the
// last.
func foldSeriesInParts(
	t *testing.T, o *seriesOps, join func() driver.Driver, r *rand.Rand, parts ...[]eventlog.Event,
) {
	var db *querydb.DB
	for _, part := range parts {
		db = open(t, join(), o.Codec.Model, o.History.Model)
		for _, p := range seriesProjections(o) {
			cfg := quick()
			cfg.WindowEvents, cfg.MaxDeadLetterPercent = 1+r.IntN(8), 100
			runProjection(t, p, logOf(t, part...), db, cfg)
		}
	}
	log := parts[len(parts)-1]
	want := newSeriesOracle(len(o.Codec.Model.Writers) == 0)
	want.fold(log)
	compareSeries(t, db, o, want)
	if t.Failed() {
		for i, e := range log {
			t.Logf("%d %s %s", i+1, e.Type, e.Data)
		}
		t.Logf("the first part has %d events", len(parts[0]))
	}
}

// allSeries are the series of each form.
func allSeries() map[string]*seriesOps {
	return map[string]*seriesOps{
		"entity": writtenSeries(), "own table": ownSeries(), "own table of two writers": sharedSeries(),
	}
}

// A rebuild by any of the writers makes the same rows and the same history.
func TestARebuildMakesTheSameHistory(t *testing.T) {
	log := drawSeries(rand.New(rand.NewPCG(7, 0)), 60)
	for model, o := range allSeries() {
		for name, join := range refStores() {
			t.Run(model+" on a store of "+name, func(t *testing.T) {
				want := newSeriesOracle(len(o.Codec.Model.Writers) == 0)
				want.fold(log)
				db := open(t, join(), o.Codec.Model, o.History.Model)
				cfg := quick()
				cfg.MaxDeadLetterPercent = 100
				var runners []*projection.Runner
				for _, p := range seriesProjections(o) {
					runners = append(runners, runProjection(t, p, logOf(t, log...), db, cfg))
				}
				for _, again := range runners {
					if err := again.Rebuild(t.Context()); err != nil {
						t.Fatal(err)
					}
					for _, r := range runners {
						if err := r.Run(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					compareSeries(t, db, o, want)
				}
			})
		}
	}
}

// embedded is a store on disk, which each call opens again.
func embedded(t *testing.T) func() driver.Driver {
	t.Helper()
	dir := t.TempDir()
	var last *pebblestore.Store
	t.Cleanup(func() {
		if err := last.Close(); err != nil {
			t.Error(err)
		}
	})
	return func() driver.Driver {
		if last != nil {
			if err := last.Close(); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if last, err = pebblestore.Open(pebblestore.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)}); err != nil {
			t.Fatal(err)
		}
		return keptStore{last}
	}
}

func runProjection(t testing.TB, p projection.Projection, src eventlog.Source, db *querydb.DB,
	cfg projection.RunnerConfig) *projection.Runner {
	t.Helper()
	runner, err := projection.NewRunner(p, src, db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return runner
}

// TestWritersOfASeriesGiveOneHistory has processes of both projections fold a log on a store that they share, while
// answers are lost and processes end.
func TestWritersOfASeriesGiveOneHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		log := drawSeries(rand.New(rand.NewPCG(seed, 1)), rapid.IntRange(1, 24).Draw(rt, "events"))
		o := writtenSeries()
		sim := newSimulation(seed, logOf(t, log...), Ops, memstore.Options{MostWrites: 16})
		sim.models, sim.folded = []*querydb.Model{o.Codec.Model, o.History.Model}, seriesProjections(o)
		sim.faults = rapid.IntRange(0, 12).Draw(rt, "faults")
		if err := sim.run(rapid.IntRange(2, 4).Draw(rt, "processes")); err != nil {
			rt.Fatal(err)
		}
		sim.faults = 0
		a, err := sim.process(sim.folded[0])
		if err != nil {
			rt.Fatal(err)
		}
		want := newSeriesOracle(false)
		want.fold(log)
		compareSeries(rt, a.db, o, want)
	})
}

func appendOf(id string, when int, state string) seriesAct {
	return seriesAct{Act: Act{Op: "append", ID: id, State: &state}, When: when}
}

func TestTheHistoryLiesInThePartitionOfTheRowAndInNoIndex(t *testing.T) {
	store := newFaultyStore()
	o := writtenSeries()
	db := open(t, store, o.Codec.Model, o.History.Model)
	runProjection(t, seriesProjections(o)[0], logOf(t, seriesEvent("telemetry", appendOf("A", -5, "x"))), db, quick())
	want := []keys.Key{
		{PK: "$t#v1#device#id_a", SK: "$t#v1#device"},
		{PK: "$t#v1#device#id_a", SK: "$t#v1#device#e#-9999999999999994~#0#0000000000000001"},
	}
	got := store.keys()
	got = slices.DeleteFunc(got, func(k keys.Key) bool { return !strings.HasPrefix(k.PK, "$t") })
	if d := cmp.Diff(want, got, cmpopts.SortSlices(func(a, b keys.Key) bool { return a.SK < b.SK })); d != "" {
		t.Errorf("keys differ (-want +got):\n%s", d)
	}
	rows, err := db.ForFold("telemetry").Get(t.Context(), o.History.Model, want[1:], true)
	if err != nil || len(rows) != 1 || rows[0].Record == nil {
		t.Fatalf("the history has %v, %v", rows, err)
	}
	for _, x := range rows[0].Indexes {
		if x.HasPK || x.HasSK {
			t.Errorf("a row of the history has the key %v in an index", x)
		}
	}
}

// No query of the model itself returns rows of its history, though they lie in its partitions.
func TestRangesOfAModelHoldNoHistory(t *testing.T) {
	o := writtenSeries()
	db := open(t, memstore.New(), o.Codec.Model, o.History.Model)
	log := logOf(t, seriesEvent("telemetry", appendOf("a", 1, "x"), appendOf("a", 2, "x")))
	runProjection(t, seriesProjections(o)[0], log, db, quick())
	page, err := db.ForFold("telemetry").Query(t.Context(), o.Codec.Model, querydb.Query{
		Index: driver.Primary, PK: "$t#v1#device#id_a", Limit: 10,
	})
	if err != nil || len(page.Rows) != 1 || page.Rows[0].Kind != "device" {
		t.Errorf("the partition has %d rows, %v, want that of the device alone", len(page.Rows), err)
	}
	if n := len(eventsOf(t, db, o, "a")); n != 2 {
		t.Errorf("the history has %d events, want 2", n)
	}
}

// Events of several partitions of the source have offsets of their own, and may have one moment.
func TestEventsOfOneMomentAreAllKept(t *testing.T) {
	o := ownSeries()
	log := memlog.New(memlog.Options{Partitions: 4})
	t.Cleanup(func() { log.Close() })
	for i := range 12 {
		e := seriesEvent("telemetry", appendOf("a", 7, fmt.Sprint(i)))
		e.ID, e.Subject, e.Time = fmt.Sprint(i), fmt.Sprint(i), epoch
		if _, err := log.Append(t.Context(), []eventlog.Event{e}); err != nil {
			t.Fatal(err)
		}
	}
	log.End()
	db := open(t, memstore.New(), o.Codec.Model, o.History.Model)
	runProjection(t, seriesProjections(o)[0], log, db, quick())
	places := map[string]int{}
	for _, e := range eventsOf(t, db, o, "a") {
		places[*e.State]++
	}
	if len(places) != 12 {
		t.Errorf("the history has %v, want each of 12 events", places)
	}
}

// A dead letter that is retried is kept under its own place in the source, in a rebuild too.
func TestARetriedEventIsKeptUnderItsOwnPlace(t *testing.T) {
	log := logOf(t,
		seriesEvent("telemetry", appendOf("a", 5, "late"), seriesAct{Act: Act{Op: "update", ID: "b"}}),
		seriesEvent("telemetry", appendOf("a", 3, "first"), appendOf("b", 1, "x")),
		seriesEvent("telemetry", appendOf("a", 4, "second")),
	)
	for name, join := range refStores() {
		t.Run(name, func(t *testing.T) {
			o := ownSeries()
			db := open(t, join(), o.Codec.Model, o.History.Model)
			cfg := quick()
			cfg.MaxDeadLetterPercent = 100
			runner := runProjection(t, seriesProjections(o)[0], log, db, cfg)
			if err := runner.Retry(t.Context(), "0@1"); err != nil {
				t.Fatal(err)
			}
			for _, when := range []string{"after the retry", "after a rebuild"} {
				var got []string
				for _, e := range eventsOf(t, db, o, "a") {
					got = append(got, fmt.Sprintf("%d %s @%d", e.At, *e.State, e.Offset))
				}
				if want := []string{"3 first @2", "4 second @3", "5 late @1"}; !slices.Equal(got, want) {
					t.Errorf("%s the history is %q, want %q", when, got, want)
				}
				row, err := devicesOf(db, &o.Ops, "a")
				if err != nil || *row["a"].Device.State != "late" {
					t.Errorf("%s the row is %+v, %v", when, row["a"].Device, err)
				}
				if err := runner.Rebuild(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := runner.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestAnEventAppendsToARowOnceAtEachMoment(t *testing.T) {
	o := ownSeries()
	db := open(t, memstore.New(), o.Codec.Model, o.History.Model)
	cfg := quick()
	cfg.MaxDeadLetterPercent = 100
	runner := runProjection(t, seriesProjections(o)[0],
		logOf(t, seriesEvent("telemetry", appendOf("a", 1, "x"), appendOf("a", 1, "y"))), db, cfg)
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, "twice at one at") {
		t.Errorf("dead letters are %+v, %v", letters, err)
	}
	if left := eventsOf(t, db, o, "a"); left != nil {
		t.Errorf("the history has %v of an event that failed", left)
	}
}

// The other writers of a row do not fold its history, so they cannot append.
func TestOnlyTheProjectorThatWritesTheFieldsAppends(t *testing.T) {
	o := writtenSeries()
	db := open(t, memstore.New(), o.Codec.Model, o.History.Model)
	cfg := quick()
	cfg.MaxDeadLetterPercent = 100
	log := logOf(t, seriesEvent("enrichment", appendOf("a", 1, "x")))
	runner := runProjection(t, seriesProjections(o)[1], log, db, cfg)
	letters, err := runner.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, "another projector writes") {
		t.Errorf("dead letters are %+v, %v", letters, err)
	}
}

// Ids that differ in casing have one key here, so an append to one never reaches the row of the other.
func TestAppendTakesNoRowOfAnotherID(t *testing.T) {
	o := writtenSeries()
	db := open(t, memstore.New(), o.Codec.Model, o.History.Model)
	cfg := quick()
	cfg.MaxDeadLetterPercent = 100
	runner := runProjection(t, seriesProjections(o)[0],
		logOf(t, seriesEvent("telemetry", appendOf("a", 2, "x")), seriesEvent("telemetry", appendOf("A", 1, "y"))), db, cfg)
	if left := deadLettersOf(t, runner); len(left) != 1 {
		t.Errorf("dead letters are %v, want the second event, though it is late", left)
	}
	if kept := eventsOf(t, db, o, "a"); len(kept) != 1 {
		t.Errorf("the history has %v, want the first event alone", kept)
	}
}

// The history ends by the clock, as every row does that expires.
func TestTheHistoryIsHiddenWhenItHasBeenKept(t *testing.T) {
	o := ownSeries()
	now := epoch
	db := openAt(t, func() time.Time { return now }, memstore.New(), o.Codec.Model, o.History.Model)
	log := logOf(t, seriesEvent("telemetry", appendOf("a", 1, "x")), seriesEvent("telemetry", appendOf("a", 2, "y")))
	runProjection(t, seriesProjections(o)[0], log, db, quick())
	for after, want := range map[time.Duration]int{keep - time.Second: 2, keep: 1, keep + time.Second: 0} {
		now = epoch.Add(after)
		page, err := db.Query(t.Context(), o.History.Model, querydb.Query{Index: driver.Primary, PK: "a", Limit: 10})
		if err != nil || len(page.Rows) != want {
			t.Errorf("%v later the history has %d events, %v, want %d", after, len(page.Rows), err, want)
		}
	}
}
