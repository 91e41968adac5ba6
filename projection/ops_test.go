package projection_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/projection/projectiontest"
	"github.com/foldql/foldql/querydb"
)

// minute is the time of the n-th event of a spec, counted from 1.
func minute(n int) time.Time {
	return time.Date(2024, 1, 1, 0, n-1, 0, 0, time.UTC)
}

// given makes one event of a spec per list of steps.
func given(events ...[]Step) []projectiontest.Event {
	all := make([]projectiontest.Event, len(events))
	for i, steps := range events {
		all[i] = projectiontest.Event{Type: EventType, Data: JSON(steps...)}
	}
	return all
}

type steps = []Step

func TestEachOpLeavesTheRowAndItsTimesAsItSays(t *testing.T) {
	a1 := func(s Step) Step { s.ID, s.Version = "a", "v1"; return s }
	for _, c := range []struct {
		name        string
		given       []projectiontest.Event
		want        []Row
		deadLetters []projectiontest.DeadLetter
	}{
		{
			name: "set replaces the whole row and keeps its creation",
			given: given(
				steps{a1(Step{Op: "set", Total: 1, Customer: ptr("x")})},
				steps{a1(Step{Op: "set", Total: 2})}),
			want: []Row{{ID: "a", Version: "v1", Total: 2, CreatedAt: minute(1), UpdatedAt: minute(2)}},
		},
		{
			name: "create keeps a row that exists",
			given: given(
				steps{a1(Step{Op: "create", Total: 1})},
				steps{a1(Step{Op: "create", Total: 2})}),
			want: []Row{{ID: "a", Version: "v1", Total: 1, CreatedAt: minute(1), UpdatedAt: minute(1)}},
		},
		{
			name:        "update of a missing row makes the event a dead letter",
			given:       given(steps{a1(Step{Op: "update", Total: 1})}),
			deadLetters: []projectiontest.DeadLetter{{ID: "1", Reason: "there is no such row"}},
		},
		{
			name: "update that changes the key makes the event a dead letter",
			given: given(
				steps{a1(Step{Op: "set", Total: 1})},
				steps{a1(Step{Op: "update", Note: "rename"})}),
			want:        []Row{{ID: "a", Version: "v1", Total: 1, CreatedAt: minute(1), UpdatedAt: minute(1)}},
			deadLetters: []projectiontest.DeadLetter{{ID: "2", Reason: "a row keeps its key"}},
		},
		{
			name: "upsert counts every event once",
			given: given(
				steps{a1(Step{Op: "upsert", Total: 1})},
				steps{a1(Step{Op: "upsert", Total: 2})},
				steps{a1(Step{Op: "upsert", Total: 3})}),
			want: []Row{{ID: "a", Version: "v1", Total: 6, CreatedAt: minute(1), UpdatedAt: minute(3)}},
		},
		{
			name: "follow continues from the row written last, without sentinels",
			given: given(
				steps{
					{Op: "set", ID: "a", Version: "v1", Customer: ptr("x"), Total: 1},
					{Op: "set", ID: "a", Version: "~current", Customer: ptr("nobody"), Total: 100},
				},
				steps{{Op: "follow", ID: "a", Version: "v2", Total: 2}},
				steps{{Op: "set", ID: "a", Version: "~current", Total: 200}},
				steps{{Op: "follow", ID: "a", Version: "v0", Total: 3}},
				steps{{Op: "follow", ID: "a", Version: "v3", Total: 4}}),
			want: []Row{
				{ID: "a", Version: "v0", Customer: ptr("x"), Total: 6, CreatedAt: minute(4), UpdatedAt: minute(4)},
				{ID: "a", Version: "v1", Customer: ptr("x"), Total: 1, CreatedAt: minute(1), UpdatedAt: minute(1)},
				{ID: "a", Version: "v2", Customer: ptr("x"), Total: 3, CreatedAt: minute(2), UpdatedAt: minute(2)},
				{ID: "a", Version: "v3", Customer: ptr("x"), Total: 10, CreatedAt: minute(5), UpdatedAt: minute(5)},
				{ID: "a", Version: "~current", Total: 200, CreatedAt: minute(1), UpdatedAt: minute(3)},
			},
		},
		{
			name: "two follows of one event continue the same row",
			given: given(
				steps{{Op: "set", ID: "a", Version: "v1", Customer: ptr("x"), Total: 1}},
				steps{{Op: "follow", ID: "a", Version: "v2", Total: 1}, {Op: "follow", ID: "a", Version: "v3", Total: 5}}),
			want: []Row{
				{ID: "a", Version: "v1", Customer: ptr("x"), Total: 1, CreatedAt: minute(1), UpdatedAt: minute(1)},
				{ID: "a", Version: "v2", Customer: ptr("x"), Total: 2, CreatedAt: minute(2), UpdatedAt: minute(2)},
				{ID: "a", Version: "v3", Customer: ptr("x"), Total: 6, CreatedAt: minute(2), UpdatedAt: minute(2)},
			},
		},
		{
			name: "of two rows of one event follow continues the one with the greater sort key",
			given: given(
				steps{
					{Op: "set", ID: "a", Version: "v1", Total: 1}, {Op: "set", ID: "a", Version: "v3", Total: 3},
					{Op: "set", ID: "a", Version: "v2", Total: 2},
				},
				steps{{Op: "follow", ID: "a", Version: "v0", Total: 10}}),
			want: []Row{
				{ID: "a", Version: "v0", Total: 13, CreatedAt: minute(2), UpdatedAt: minute(2)},
				{ID: "a", Version: "v1", Total: 1, CreatedAt: minute(1), UpdatedAt: minute(1)},
				{ID: "a", Version: "v2", Total: 2, CreatedAt: minute(1), UpdatedAt: minute(1)},
				{ID: "a", Version: "v3", Total: 3, CreatedAt: minute(1), UpdatedAt: minute(1)},
			},
		},
		{
			name:  "follow of nothing starts from the zero row",
			given: given(steps{{Op: "follow", ID: "a", Version: "v1", Total: 1}}),
			want:  []Row{{ID: "a", Version: "v1", Total: 1, CreatedAt: minute(1), UpdatedAt: minute(1)}},
		},
		{
			name: "patch leaves other fields alone and creates the row",
			given: given(
				steps{a1(Step{Op: "patch", Total: 1})},
				steps{a1(Step{Op: "patch", Customer: ptr("x")})}),
			want: []Row{{ID: "a", Version: "v1", Total: 1, Customer: ptr("x"), CreatedAt: minute(1), UpdatedAt: minute(2)}},
		},
		{
			name: "clearing what cannot be null, or a key, makes the event a dead letter",
			given: given(
				steps{a1(Step{Op: "patch", Clear: []string{"total"}})},
				steps{a1(Step{Op: "patch", Remove: []string{"id"}})}),
			deadLetters: []projectiontest.DeadLetter{
				{ID: "1", Reason: "field total is not nullable"},
				{ID: "2", Reason: "field id is part of the key"},
			},
		},
		{
			name: "delete and delete of the partition take rows away",
			given: given(
				steps{{Op: "set", ID: "a", Version: "v1"}, {Op: "set", ID: "a", Version: "v2"},
					{Op: "set", ID: "b", Version: "v1"}},
				steps{{Op: "set", ID: "a", Version: "v3"}, {Op: "wipe", ID: "a"}, {Op: "set", ID: "a", Version: "v4"}},
				steps{{Op: "delete", ID: "b", Version: "v1"}, {Op: "delete", ID: "b", Version: "v9"}}),
			want: []Row{{ID: "a", Version: "v4", CreatedAt: minute(2), UpdatedAt: minute(2)}},
		},
		{
			name: "half an event is taken back",
			given: given(
				steps{{Op: "set", ID: "a", Version: "v1", Total: 1}},
				steps{
					{Op: "set", ID: "a", Version: "v1", Total: 9}, {Op: "wipe", ID: "a"}, {Op: "set", ID: "b", Version: "v1"},
					{Op: "update", ID: "c", Version: "v1"},
				}),
			want:        []Row{{ID: "a", Version: "v1", Total: 1, CreatedAt: minute(1), UpdatedAt: minute(1)}},
			deadLetters: []projectiontest.DeadLetter{{ID: "2", Reason: "there is no such row"}},
		},
		{
			name:        "a panic of the projector makes the event a dead letter",
			given:       given(steps{{Op: "panic"}}, steps{{Op: "set", ID: "a", Version: "v1"}}),
			want:        []Row{{ID: "a", Version: "v1", CreatedAt: minute(2), UpdatedAt: minute(2)}},
			deadLetters: []projectiontest.DeadLetter{{ID: "1", Reason: "panic: as the script says"}},
		},
		{
			name:        "a row without a key makes the event a dead letter",
			given:       given(steps{{Op: "set", ID: "", Version: "v1"}}),
			deadLetters: []projectiontest.DeadLetter{{ID: "1", Reason: ""}},
		},
		{
			name: "a row that expired before the event is not there for it",
			given: given(
				steps{a1(Step{Op: "set", Total: 1, Expires: ptr(minute(3))})},
				steps{a1(Step{Op: "upsert", Total: 1})},
				steps{a1(Step{Op: "upsert", Total: 5})},
			),
			want: []Row{{ID: "a", Version: "v1", Total: 5, CreatedAt: minute(3), UpdatedAt: minute(3)}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			projectiontest.Run(t, projectiontest.Spec[Row]{
				Projection:      Projection("script"),
				Codec:           Codec,
				Given:           c.given,
				Want:            c.want,
				WantDeadLetters: c.deadLetters,
			})
		})
	}
}

func TestEachIndexHalfHasTheKeyThatPartialWritesLeaveIt(t *testing.T) {
	one := Step{ID: "a", Version: "v1", Op: "set", Customer: ptr("x"), Rank: ptr(1)}
	patch := func(s Step) Step { s.Op, s.ID, s.Version = "patch", "a", "v1"; return s }
	for _, c := range []struct {
		name     string
		steps    steps  // each in an event of its own, after one
		customer string // key of the first half, "" for none
		rank     int    // that the key of the second is made of, 0 for none
	}{
		{"set composes both", nil, "x", 1},
		{"clear keeps the key", steps{patch(Step{Clear: []string{"customer"}})}, "x", 1},
		{"set after clear composes again", steps{
			patch(Step{Clear: []string{"customer"}}), patch(Step{Customer: ptr("y")})}, "y", 1},
		{"clear keeps the key that a patch before it made", steps{
			patch(Step{Customer: ptr("y")}), patch(Step{Clear: []string{"customer"}})}, "y", 1},
		{"of set and clear at once the last counts", steps{
			patch(Step{Customer: ptr("y"), Clear: []string{"customer"}})}, "x", 1},
		{"a patch composes again", steps{patch(Step{Customer: ptr("y"), Rank: ptr(2)})}, "y", 2},
		{"remove drops the half and no other", steps{patch(Step{Remove: []string{"customer"}})}, "", 1},
		{"remove after clear drops the half", steps{
			patch(Step{Clear: []string{"rank"}}), patch(Step{Remove: []string{"rank"}})}, "x", 0},
		{"an empty text drops the half", steps{patch(Step{Customer: ptr("")})}, "", 1},
		{"an empty text drops a kept key", steps{
			patch(Step{Clear: []string{"customer"}}), patch(Step{Customer: ptr("")})}, "", 1},
		{"clear after an empty text keeps nothing", steps{
			patch(Step{Customer: ptr("")}), patch(Step{Clear: []string{"customer"}})}, "", 1},
		{"a patch elsewhere keeps a kept key", steps{
			patch(Step{Clear: []string{"customer"}}), patch(Step{Total: 3})}, "x", 1},
		{"an update elsewhere keeps a kept key", steps{
			patch(Step{Clear: []string{"customer"}}), {Op: "update", ID: "a", Version: "v1", Rank: ptr(1)}}, "x", 1},
		{"an update to null drops the half", steps{{Op: "update", ID: "a", Version: "v1", Rank: ptr(1)}}, "", 1},
		{"set without a composite drops a kept key", steps{
			patch(Step{Clear: []string{"customer"}}), {Op: "set", ID: "a", Version: "v1", Rank: ptr(1)}}, "", 1},
	} {
		for _, window := range []int{1, 100} {
			store := newFaultyStore()
			db := open(t, store)
			log := openLog(t, event("", one))
			for i, s := range c.steps {
				add(t, log, i+1, event("", s))
			}
			log.End()
			cfg := quick()
			cfg.WindowEvents = window
			run(t, log, db, cfg)
			var composed Row
			if c.customer != "" {
				composed.Customer = &c.customer
			}
			if c.rank != 0 {
				composed.Rank = &c.rank
			}
			want := []querydb.IndexKey{indexOf(composed)}
			got := rowsOf(t, db, store.keys())[Key{ID: "a", Version: "v1"}].Indexes
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, windows of %d: index keys (-want +got):\n%s", c.name, window, diff)
			}
		}
	}
}
