package projection_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
)

// TestATakenUniqueKeyMakesADeadLetter whatever the window: the rest goes on, and what is given up is free.
func TestATakenUniqueKeyMakesADeadLetter(t *testing.T) {
	set := func(id, email string) Act { return Act{Op: "set", ID: id, Email: &email} }
	for _, c := range []struct {
		name        string
		acts        [][]Act // of each event
		deadLetters []string
		want        map[string]string // email by id
	}{
		{"a second row under a key", [][]Act{{set("a", "x")}, {set("b", "x")}, {set("c", "y")}},
			[]string{"0@2"}, map[string]string{"a": "x", "c": "y"}},
		{"all of the event or nothing", [][]Act{{set("a", "x")}, {set("c", "y"), set("b", "x")}},
			[]string{"0@2"}, map[string]string{"a": "x"}},
		{"it is judged before the key is given up", [][]Act{{set("a", "x")}, {set("b", "x")}, {set("a", "z")}},
			[]string{"0@2"}, map[string]string{"a": "z"}},
		{"it is judged although the row gives the key up later", [][]Act{{set("a", "x")}, {set("b", "x")}, {set("b", "y")}},
			[]string{"0@2"}, map[string]string{"a": "x", "b": "y"}},
		{"a change frees", [][]Act{{set("a", "x")}, {set("a", "y")}, {set("b", "x")}}, nil,
			map[string]string{"a": "y", "b": "x"}},
		{"remove frees", [][]Act{{set("a", "x")}, {{Op: "patch", ID: "a", Remove: []string{"email"}}}, {set("b", "x")}},
			nil, map[string]string{"a": "", "b": "x"}},
		{"delete frees", [][]Act{{set("a", "x")}, {{Op: "delete", ID: "a"}}, {set("b", "x")}}, nil,
			map[string]string{"b": "x"}},
		{"delete comes too late", [][]Act{{set("a", "x")}, {set("b", "x")}, {{Op: "delete", ID: "a"}}},
			[]string{"0@2"}, map[string]string{}},
		{"one event may swap", [][]Act{{set("a", "x")}, {set("b", "y")}, {set("a", "y"), set("b", "x")}},
			nil, map[string]string{"a": "y", "b": "x"}},
		{"the same again", [][]Act{{set("a", "x")}, {set("a", "x")}, {set("b", "y")}}, nil,
			map[string]string{"a": "x", "b": "y"}},
		{"two rows of one event", [][]Act{{set("a", "x"), set("b", "x")}, {set("b", "x")}}, []string{"0@1"},
			map[string]string{"b": "x"}},
		{"one of them has it already, and another event sets the other apart",
			[][]Act{{set("a", "x")}, {set("b", "x"), set("a", "x")}, {set("b", "y")}},
			[]string{"0@2"}, map[string]string{"a": "x", "b": "y"}},
	} {
		for kind, store := range stores {
			for _, window := range []int{1, 2, 100} {
				t.Run(fmt.Sprint(c.name, "/", kind, "/", window), func(t *testing.T) {
					var events []eventlog.Event
					for _, acts := range c.acts {
						events = append(events, deviceEvent("devices", "", acts...))
					}
					o := deviceOps(uniqueModel())
					db, r := foldDevices(t, store(), o, window, events...)
					if diff := cmp.Diff(c.deadLetters, deadLettersOf(t, r)); diff != "" {
						t.Errorf("dead letters (-want +got):\n%s", diff)
					}
					rows, err := devicesOf(db, o, "a", "b", "c")
					if err != nil {
						t.Fatal(err)
					}
					got := map[string]string{}
					for id, row := range rows {
						if got[id] = ""; row.Device.Email != nil {
							got[id] = *row.Device.Email
						}
					}
					if diff := cmp.Diff(c.want, got); diff != "" {
						t.Errorf("rows (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

// uniqueModel is a model of devices no two of which have the same email.
func uniqueModel() *querydb.Model {
	m := deviceModel()
	m.Indexes[2].Unique, m.Atomic = true, true
	return m
}

// TestAPatchOfPartOfAUniqueKeyIsComposedWithTheRest, so that the row is found by what it has, and keeps out those that
// would have the same.
func TestAPatchOfPartOfAUniqueKeyIsComposedWithTheRest(t *testing.T) {
	m := deviceModel()
	m.Indexes[0].Unique, m.Atomic = true, true
	set := func(id, state string) Act {
		return Act{Op: "set", ID: id, Account: ptr("acme"), State: &state, At: ptr(7)}
	}
	for kind, store := range stores {
		o := deviceOps(m)
		db, r := foldDevices(t, store(), o, 1, deviceEvent("devices", "", set("a", "x")),
			deviceEvent("devices", "", Act{Op: "patch", ID: "a", State: ptr("y")}),
			deviceEvent("devices", "", set("b", "x")), deviceEvent("devices", "", set("c", "y")))
		if diff := cmp.Diff([]string{"0@4"}, deadLettersOf(t, r)); diff != "" {
			t.Errorf("%s: dead letters (-want +got):\n%s", kind, diff)
		}
		rows, err := devicesOf(db, o, "a", "b", "c")
		if err != nil {
			t.Fatal(err)
		}
		want := entityText("state_y#at_0000000000000007")
		if x := rows["a"].Indexes[slotByAlert]; x.SK != want || len(rows) != 2 {
			t.Errorf("%s: of %d rows the patched one has the key %+v, want 2 and %q", kind, len(rows), x, want)
		}
	}
}

// TestARowThatNoLongerHasAUniqueKeyGivesItUp where a patch gives it another value, and the rest of the key is null.
func TestARowThatNoLongerHasAUniqueKeyGivesItUp(t *testing.T) {
	m := deviceModel()
	m.Indexes[0].Unique, m.Atomic = true, true
	m.Indexes[0].SK.Policy = keys.PolicyPreserve
	set := func(id string) Act {
		return Act{Op: "set", ID: id, Account: ptr("acme"), State: ptr("x"), At: ptr(7)}
	}
	for kind, store := range stores {
		o := deviceOps(m)
		_, r := foldDevices(t, store(), o, 1, deviceEvent("devices", "", set("a")),
			deviceEvent("devices", "", Act{Op: "patch", ID: "a", Clear: []string{"at"}}),
			deviceEvent("devices", "", set("b")),
			deviceEvent("devices", "", Act{Op: "patch", ID: "a", State: ptr("y")}),
			deviceEvent("devices", "", set("c")))
		if diff := cmp.Diff([]string{"0@3"}, deadLettersOf(t, r)); diff != "" {
			t.Errorf("%s: dead letters (-want +got):\n%s", kind, diff)
		}
	}
}

// TestAKeyThatAPatchWouldCutShortKeepsNoOtherRowOut: it is none, whatever the policy of its half.
func TestAKeyThatAPatchWouldCutShortKeepsNoOtherRowOut(t *testing.T) {
	part := func(id string) Act { return Act{Op: "patch", ID: id, Account: ptr("acme"), State: ptr("active")} }
	for _, policy := range []keys.Policy{keys.PolicyPreserve, keys.PolicySparse} {
		m := deviceModel()
		m.Indexes[0].Unique = true
		m.Indexes[0].SK.Policy = policy
		for kind, store := range stores {
			o := deviceOps(m)
			db, r := foldDevices(t, store(), o, 1, deviceEvent("devices", "", part("a")), deviceEvent("devices", "", part("b")))
			if letters := deadLettersOf(t, r); len(letters) > 0 {
				t.Errorf("%s, policy %v: set dead letters %v", kind, policy, letters)
			}
			rows, err := devicesOf(db, o, "a", "b")
			if err != nil {
				t.Fatal(err)
			}
			for id, row := range rows {
				if x := row.Indexes[slotByAlert]; !x.HasPK || x.HasSK {
					t.Errorf("%s, policy %v: row %s has the key %+v, want no sort half of it", kind, policy, id, x)
				}
			}
		}
	}
}
