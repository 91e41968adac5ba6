package projection_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/record"
)

func ctx() context.Context { return context.Background() }

// foldDevices folds events of one projection in windows of a size, and returns its runner.
func foldDevices(t *testing.T, store driver.Driver, o *DeviceOps, window int, events ...eventlog.Event) (*querydb.DB,
	*projection.Runner) {
	t.Helper()
	db := open(t, store, o.Codec.Model)
	cfg := quick()
	cfg.WindowEvents = window
	r, err := projection.NewRunner(deviceProjection("devices", o), logOf(t, events...), db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	return db, r
}

// stores are a store of each kind, as a test begins with it.
var stores = map[string]func() driver.Driver{
	"one process": func() driver.Driver { return memstore.New() },
	"several": func() driver.Driver {
		return memstore.NewMultiWriter(memstore.Options{Now: func() time.Time { return epoch }})
	},
}

// TestAFieldThatARowIsNeverWithoutStaysInTheKeyThatAPatchComposes: no query would find the row under less.
func TestAFieldThatARowIsNeverWithoutStaysInTheKeyThatAPatchComposes(t *testing.T) {
	for what, acts := range map[string][]Act{
		"the first half of the key": {{Op: "set", Account: ptr("acme"), State: ptr("a"), At: ptr(7)},
			{Op: "patch", State: ptr("active")}},
		"the last": {{Op: "set", Account: ptr("acme"), State: ptr("active"), At: ptr(6)},
			{Op: "patch", At: ptr(7)}},
		"of a row that a patch has created": {{Op: "patch", State: ptr("a"), At: ptr(7)},
			{Op: "patch", State: ptr("active")}},
	} {
		for kind, store := range stores {
			for _, window := range []int{1, 100} {
				var events []eventlog.Event
				for _, a := range acts {
					a.ID = "D1"
					events = append(events, deviceEvent("devices", "", a))
				}
				m := deviceModel()
				m.Fields[deviceState].Nullable, m.Fields[deviceAt].Nullable = false, false
				o := deviceOps(m)
				db, _ := foldDevices(t, store(), o, window, events...)
				rows, err := devicesOf(db, o, "D1")
				if err != nil {
					t.Fatal(err)
				}
				want := entityText("state_active#at_0000000000000007")
				if x := rows["D1"].Indexes[slotByAlert]; x.SK != want {
					t.Errorf("%s, %s, window %d: the key is %+v, want %q", what, kind, window, x, want)
				}
			}
		}
	}
}

// TestAKeyIsCutShortAtTheFirstFieldWithoutAValue, whatever the row has in those behind it.
func TestAKeyIsCutShortAtTheFirstFieldWithoutAValue(t *testing.T) {
	patch := Act{Op: "patch", ID: "D1", State: ptr("active")}
	clears, removes, early := patch, patch, patch
	clears.Clear, removes.Remove, early.State = []string{"email"}, []string{"email"}, ptr("early")
	for what, acts := range map[string][]Act{
		"that the patch does not name": {patch},
		"that it clears":               {clears},
		"that it removes":              {removes},
		"that an update leaves without a value": {early, {Op: "update", ID: "D1", Account: ptr("acme"), State: ptr("active"),
			At: ptr(7)}},
	} {
		for kind, store := range stores {
			m := deviceModel()
			m.Indexes[0].SK = entityHalf(keys.PolicyPreserve, deviceState, deviceEmail, deviceAt)
			m.Fields[deviceState].Nullable, m.Fields[deviceAt].Nullable = false, false
			o := deviceOps(m)
			full := Act{Op: "set", ID: "D1", Account: ptr("acme"), State: ptr("open"), Email: ptr("e"), At: ptr(7)}
			if len(acts) > 1 {
				full.Email = nil
			}
			events := []eventlog.Event{deviceEvent("devices", "", full)}
			for _, a := range acts {
				events = append(events, deviceEvent("devices", "", a))
			}
			db, _ := foldDevices(t, store(), o, 1, events...)
			rows, err := devicesOf(db, o, "D1")
			if err != nil {
				t.Fatal(err)
			}
			if x := rows["D1"].Indexes[slotByAlert]; x.SK != entityText("state_active") {
				t.Errorf("before a field %s, %s: the key is %+v, want it cut short there", what, kind, x)
			}
		}
	}
}

// TestPatchesOfAnEntityAreJudgedByThePolicyOfEachHalf has the lifecycles of a row in an index whose pk is PRESERVE and
// whose sk is SPARSE.
func TestPatchesOfAnEntityAreJudgedByThePolicyOfEachHalf(t *testing.T) {
	full := Act{Op: "set", Account: ptr("acme"), State: ptr("Active"), At: ptr(7)}
	const acme, active, active7 = "account_acme", "state_active", "state_active#at_0000000000000007"
	for _, c := range []struct {
		name   string
		acts   []Act
		pk, sk string
	}{
		{"a full write has both halves", []Act{full}, acme, active7},
		{"a full write without a composite has neither", []Act{{Op: "set", Account: ptr("acme"), State: ptr("x")}}, "", ""},
		{"a full write forgets what was kept", []Act{full, {Op: "patch", Clear: []string{"account"}}, {Op: "set"}}, "", ""},
		{"a patch of neither half leaves both", []Act{full, {Op: "patch", Email: ptr("e")}}, acme, active7},
		{"a patch of one half leaves the other", []Act{full, {Op: "patch", Account: ptr("New")}}, "account_new", active7},
		{"trailing composites left out cut the key short", []Act{full, {Op: "patch", State: ptr("active")}}, acme, active},
		{"a hole under SPARSE takes the half", []Act{full, {Op: "patch", At: ptr(8)}}, acme, ""},
		{"clear under SPARSE takes the half", []Act{full, {Op: "patch", At: ptr(8), Clear: []string{"state"}}}, acme, ""},
		{"clear under PRESERVE leaves the half", []Act{full, {Op: "patch", Clear: []string{"account"}}}, acme, active7},
		{"remove takes a half under PRESERVE too", []Act{full, {Op: "patch", Remove: []string{"account"}}}, "", active7},
		{"remove with the others given cuts the key short", []Act{full, {Op: "patch", State: ptr("active"),
			Remove: []string{"at"}}}, acme, active},
		{"remove without them takes the half", []Act{full, {Op: "patch", Remove: []string{"at"}}}, acme, ""},
		{"a half comes back by its own patch", []Act{full, {Op: "patch", Clear: []string{"state"}},
			{Op: "patch", State: ptr("active"), At: ptr(7)}}, acme, active7},
		{"patches are not judged together", []Act{full, {Op: "patch", State: ptr("b")}, {Op: "patch", At: ptr(9)}}, acme, ""},
		{"a patch creates the row with what it gives", []Act{{Op: "patch", State: ptr("active")}}, "", active},
		{"an update composes what it changes", []Act{full, {Op: "patch", Clear: []string{"state"}},
			{Op: "update", Account: ptr("acme"), State: ptr("active"), At: ptr(7)}}, acme, active7},
		{"an update leaves the rest as it was cut", []Act{full, {Op: "patch", State: ptr("Active")},
			{Op: "update", Account: ptr("acme"), State: ptr("Active"), At: ptr(7), Email: ptr("e")}}, acme, active},
		{"an update of one half leaves the other as it was cut", []Act{full, {Op: "patch", State: ptr("Active"),
			Remove: []string{"at"}}, {Op: "update", Account: ptr("New"), State: ptr("Active")}}, "account_new", active},
		{"an update cuts short again what was", []Act{full, {Op: "patch", State: ptr("Active"), Remove: []string{"at"}},
			{Op: "update", Account: ptr("acme"), State: ptr("b")}}, acme, "state_b"},
		{"an update completes what was cut short", []Act{full, {Op: "patch", State: ptr("Active"), Remove: []string{"at"}},
			{Op: "update", Account: ptr("acme"), State: ptr("Active"), At: ptr(7)}}, acme, active7},
		{"an update that takes a composite of a whole half takes the half, and no other", []Act{full, {Op: "patch",
			Email: ptr("e")}, {Op: "update", Account: ptr("acme"), State: ptr("Active")}}, acme, ""},
		{"an update that leaves a hole takes the half", []Act{full, {Op: "patch", State: ptr("Active"),
			Remove: []string{"at"}}, {Op: "update", Account: ptr("acme"), At: ptr(7)}}, acme, ""},
		{"an update brings the half that a full write left out beside another", []Act{{Op: "set", Account: ptr("acme")},
			{Op: "patch", Email: ptr("e")}, {Op: "update", Account: ptr("acme"), State: ptr("Active"), At: ptr(7)}}, acme,
			active7},
		{"an update takes one half of what was written whole", []Act{full, {Op: "update", Account: ptr("acme"),
			State: ptr("Active")}}, acme, ""},
		{"a patch brings it back", []Act{full, {Op: "update", Account: ptr("acme"), State: ptr("Active")},
			{Op: "patch", State: ptr("Active"), At: ptr(7)}}, acme, active7},
		{"an update brings one half of what was written whole with neither", []Act{{Op: "set"}, {Op: "update",
			State: ptr("Active"), At: ptr(7)}}, "", active7},
	} {
		for kind, store := range stores {
			for _, window := range []int{1, 100} {
				t.Run(fmt.Sprint(c.name, "/", kind, "/", window), func(t *testing.T) {
					var events []eventlog.Event
					for _, a := range c.acts {
						a.ID = "D1"
						events = append(events, deviceEvent("devices", "", a))
					}
					o := deviceOps(deviceModel())
					db, _ := foldDevices(t, store(), o, window, events...)
					rows, err := devicesOf(db, o, "D1")
					if err != nil {
						t.Fatal(err)
					}
					got := rows["D1"].Indexes
					want := []string{entityText("id_d1"), "$t#v1#device", entityText(c.pk), entityText(c.sk)}
					if diff := cmp.Diff(want, []string{got[slotByID].PK, got[slotByID].SK, got[slotByAlert].PK,
						got[slotByAlert].SK}); diff != "" {
						t.Errorf("keys (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

// TestWindowsOfEveryLengthGiveAnEntityTheSameKeys, whatever is written, updated, patched and deleted in which order.
func TestWindowsOfEveryLengthGiveAnEntityTheSameKeys(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom([]*string{nil, nil, ptr("a"), ptr("B")})
		number := rapid.SampledFrom([]*int{nil, ptr(7), ptr(8)})
		fields := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"account", "state", "at", "email"}), 0, 2, rapid.ID)
		var events []eventlog.Event
		for range rapid.IntRange(1, 9).Draw(rt, "events") {
			a := Act{
				Op:      rapid.SampledFrom([]string{"set", "update", "update", "patch", "patch", "delete"}).Draw(rt, "op"),
				ID:      rapid.SampledFrom([]string{"D1", "D2"}).Draw(rt, "id"),
				Account: text.Draw(rt, "account"), State: text.Draw(rt, "state"), At: number.Draw(rt, "at"),
				Email: text.Draw(rt, "email"),
			}
			if a.Op == "patch" {
				given := map[string]bool{"account": a.Account != nil, "state": a.State != nil, "at": a.At != nil,
					"email": a.Email != nil}
				left := func(names []string) []string {
					return slices.DeleteFunc(names, func(name string) bool { return given[name] })
				}
				a.Clear = left(fields.Draw(rt, "clear"))
				for _, name := range a.Clear {
					given[name] = true
				}
				a.Remove = left(fields.Draw(rt, "remove"))
			}
			events = append(events, deviceEvent("devices", "", a))
		}
		m := deviceModel()
		m.Fields[deviceState].Nullable, m.Fields[deviceAt].Nullable = rapid.Bool().Draw(rt, "state may be null"),
			rapid.Bool().Draw(rt, "at may be null")
		unique := rapid.Bool().Draw(rt, "unique")
		m.Indexes[0].Unique, m.Atomic = unique, unique
		for kind, store := range stores {
			var want map[string]storedDevice
			var letters []string
			for _, window := range []int{1, rapid.IntRange(2, 5).Draw(rt, "window"), 100} {
				o := deviceOps(m)
				db, r := foldDevices(t, store(), o, window, events...)
				got, err := devicesOf(db, o, "D1", "D2")
				if err != nil {
					rt.Fatal(err)
				}
				if want == nil {
					want, letters = got, deadLettersOf(t, r)
				} else if diff := cmp.Diff(want, got) + cmp.Diff(letters, deadLettersOf(t, r)); diff != "" {
					rt.Fatalf("%s, windows of %d (-windows of one, +got):\n%s", kind, window, diff)
				}
			}
		}
	})
}

func entityText(values string) string {
	if values == "" {
		return ""
	}
	return "$t#v1#device#" + values
}

// TestAnEmptyPatchBringsTheHalvesThatNeedNothing as one of a row whose keys are missing does.
func TestAnEmptyPatchBringsTheHalvesThatNeedNothing(t *testing.T) {
	o := deviceOps(deviceModel())
	store := newFaultyStore()
	db := open(t, store, o.Codec.Model)
	id := "d1"
	log := openLog(t, deviceEvent("devices", "", Act{Op: "set", ID: id}), deviceEvent("devices", "",
		Act{Op: "patch", ID: id}))
	log.End()
	cfg := quick()
	cfg.WindowEvents = 1
	store.after = func(n int) error {
		if n != 2 { // the first begins the table, the second sets the row
			return nil
		}
		row, err := querydb.Encode(o.Codec, new(record.Builder), &Device{ID: &id})
		if err != nil {
			return err
		}
		row.Indexes = make([]querydb.IndexKey, 3) // as one has it that an older system wrote
		shape := store.last.Table
		return store.Driver.Apply(ctx(), driver.Batch{Writes: []driver.Write{{Table: shape, Row: row}}})
	}
	r, err := projection.NewRunner(deviceProjection("devices", o), log, db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx()); err != nil {
		t.Fatal(err)
	}
	rows, err := devicesOf(db, o, id)
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[id].Indexes[slotByID]; got.PK != entityText("id_d1") || got.SK != "$t#v1#device" {
		t.Errorf("the key by id is %+v", got)
	}
}

// TestTwoIDsWithOneKeyAreNotOneRow: the second is a dead letter, and the first stays.
func TestTwoIDsWithOneKeyAreNotOneRow(t *testing.T) {
	for _, op := range []string{"set", "create", "update", "patch"} {
		for kind, store := range stores {
			for _, window := range []int{1, 100} {
				t.Run(fmt.Sprint(op, "/", kind, "/", window), func(t *testing.T) {
					o := deviceOps(deviceModel())
					db, r := foldDevices(t, store(), o, window,
						deviceEvent("devices", "", Act{Op: "set", ID: "d1", Account: ptr("first")}),
						deviceEvent("devices", "", Act{Op: op, ID: "D1", Account: ptr("second")}),
						deviceEvent("devices", "", Act{Op: "delete", ID: "D1"}),
						deviceEvent("devices", "", Act{Op: "set", ID: "d1", Account: ptr("third")}))
					wantDeadLetter(t, r, "0@2", "conflict")
					rows, err := devicesOf(db, o, "d1")
					if err != nil {
						t.Fatal(err)
					}
					if got := rows["d1"].Device; got.ID == nil || *got.ID != "d1" || *got.Account != "third" {
						t.Errorf("the row is %+v", got)
					}
				})
			}
		}
	}
}

// wantLetters fails unless one event is a dead letter, for a reason that holds the text.
func wantDeadLetter(t *testing.T, r *projection.Runner, ref, reason string) {
	t.Helper()
	events, err := r.DeadLetters(ctx(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(events) != 1 || events[0].Ref != ref || !strings.Contains(events[0].Reason, reason) {
		t.Errorf("dead letters are %+v, want %s because of %q", events, ref, reason)
	}
}
