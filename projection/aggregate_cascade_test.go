package projection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// A is the coach of games g1 and g3 of season 24, plays in g1 and in g2, of season 25, and may replace others in g2.
func gamesWithA() []eventlog.Event {
	games := []*Game{
		{ID: "g1", Name: "Final", Season: "24", CoachID: "A",
			Home: Side{Players: []Player{{PersonID: "A"}, {PersonID: "B"}}}},
		{ID: "g2", Name: "Final", Season: "25", Away: &Side{
			Players: []Player{{PersonID: "A"}}, Bench: Bench{Subs: []Sub{{Number: 1, PersonID: "A"}}}}},
		{ID: "g3", Name: "Semi", Season: "24", CoachID: "A"},
	}
	events := []eventlog.Event{gameEvent("", person("A", "old"), person("B", "Bob"))}
	for _, g := range games {
		events = append(events, gameEvent("", gameStep{Op: "set", ID: g.ID, Game: g}))
	}
	return events
}

// namesOfA are the names in copies of A: in g1 of the coach and of the player, in g2 of the player and of the one who
// may replace others, in g3 of the coach; - for none.
func (s standing) namesOfA() string {
	names := []string{}
	for _, id := range []string{"g1", "g2", "g3"} {
		g := s.Games[id]
		for _, c := range copiesOf(&g) {
			switch {
			case c.id != "A":
			case *c.copy == nil:
				names = append(names, "-")
			default:
				names = append(names, (*c.copy).Name)
			}
		}
	}
	return strings.Join(names, " ")
}

// TestAnOpSaysWhichCopiesInAggregatesFollowItsChange, by all references of them, with windows of one event and of all.
func TestAnOpSaysWhichCopiesInAggregatesFollowItsChange(t *testing.T) {
	asking := func(op string, how projection.Cascade) gameStep {
		return gameStep{Op: op, ID: "A", Text: "new", Cascade: &how}
	}
	silent := func(op string) gameStep { return gameStep{Op: op, ID: "A", Text: "new", NoCascade: true} }
	by := func(field, value string, mode projection.CascadeMode) projection.Cascade {
		return projection.Cascade{Targets: []string{"Game"}, Filter: map[string]any{field: value}, Mode: mode}
	}
	everybody, inIt := projection.Cascade{Targets: []string{"Game"}}, projection.Cascade{Mode: projection.Transactional}
	for _, tt := range []struct {
		name string
		mode gameMode
		then gameStep
		want string // g1's coach and player, g2's player and sub, g3's coach
	}{
		{"nobody unless an op asks", onRequest, person("A", "new"), "old old old old old"},
		{"all of a model", onRequest, asking("person", everybody), "new new new old new"},
		{"all in the commit", onRequest, asking("person", inIt), "new new new old new"},
		{"by a filter", onRequest, asking("person", by("season", "24", projection.Eventual)), "new new old old new"},
		{"by a filter in the commit", onRequest, asking("person", by("season", "25", projection.Transactional)),
			"old old new old old"},
		{"by a filter that none passes", onRequest, asking("person", by("name", "Third", projection.Transactional)),
			"old old old old old"},
		{"some in place of all", afterCommit, asking("person", by("name", "Semi", projection.Eventual)),
			"old old old old new"},
		{"in the commit in place of after it", afterCommit, asking("person", inIt), "new new new old new"},
		{"none in place of all", afterCommit, silent("person"), "old old old old old"},
		{"after the commit in place of in it", inCommit, asking("person", everybody), "new new new old new"},
		{"some in the commit in place of all", inCommit, asking("person", by("id", "g1", projection.Transactional)),
			"new new old old old"},
		{"none in place of those in the commit", inCommit, silent("person"), "old old old old old"},
		{"a deletion after the commit", afterCommit, gameStep{Op: "noperson", ID: "A"}, "- old old old -"},
		{"a deletion in the commit", inCommit, gameStep{Op: "noperson", ID: "A"}, "- old old old -"},
		{"no deletion", inCommit, silent("noperson"), "old old old old old"},
		{"a deletion for some", afterCommit, asking("noperson", by("id", "g3", projection.Transactional)),
			"old old old old -"},
	} {
		for _, window := range []int{1, 100} {
			for _, s := range append(gameStores(), pebbleGames(t)) {
				s.mode = tt.mode
				events, cfg := gamesWithA(), projection.RunnerConfig{WindowEvents: window}
				s.run(t, logOf(t, events...), cfg)
				got := s.run(t, logOf(t, append(events, gameEvent("", tt.then))...), cfg).standing(t, &anyGames)
				if diff := cmp.Diff(tt.want, got.namesOfA()); diff != "" || len(got.Letters) > 0 || got.Tasks > 0 {
					t.Errorf("%s, on the store of %s, windows of %d: dead letters %v, %d tasks, names (-want +got):\n%s",
						tt.name, s.name, window, got.Letters, got.Tasks, diff)
				}
				if got.Games["g1"].Home.Players[1].Person.Name != "Bob" {
					t.Errorf("%s: B is %+v", tt.name, got.Games["g1"].Home.Players[1].Person)
				}
			}
		}
	}
}

// TestAnOpHasCopiesInAggregatesFollowOnEveryStore, after the commit of the change or in it, in whole aggregates.
func TestAnOpHasCopiesInAggregatesFollowOnEveryStore(t *testing.T) {
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		for _, mode := range []projection.CascadeMode{projection.Eventual, projection.Transactional} {
			s := newStore()
			s.mode = onRequest
			how := &projection.Cascade{Filter: map[string]any{"season": "24"}, Mode: mode}
			events := append(gamesWithA(), gameEvent("", gameStep{Op: "person", ID: "A", Text: "new", Cascade: how}))
			s.run(t, logOf(t, events[:4]...), projection.RunnerConfig{})
			s.calls.forget()
			got := s.run(t, logOf(t, events...), projection.RunnerConfig{}).standing(t, &anyGames)
			if names := got.namesOfA(); names != "new new old old new" || len(got.Letters) > 0 {
				t.Errorf("mode %d: names are %s, and dead letters %v", mode, names, got.Letters)
			}
			want := [][]string{{"game#g1/gamecoach", "game#g1/gameitem", "game#g1/gameplayer#side#home#A",
				"game#g3/gamecoach", "game#g3/gameitem", "person#A/person"}}
			if mode == projection.Eventual {
				want = [][]string{{"person#A/person"}, {"game#g1/gamecoach", "game#g1/gameitem",
					"game#g1/gameplayer#side#home#A", "game#g3/gamecoach", "game#g3/gameitem"}}
			}
			if diff := cmp.Diff(want, s.calls.commits); diff != "" {
				t.Errorf("mode %d: items of each commit (-want +got):\n%s", mode, diff)
			}
		}
	})
}

// TestACascadeToAggregatesThatCannotBeIsADeadLetter: an op that asks for what games do not provide for says so.
func TestACascadeToAggregatesThatCannotBeIsADeadLetter(t *testing.T) {
	for _, tt := range []struct {
		how  projection.Cascade
		want string
	}{
		{projection.Cascade{Targets: []string{"Match"}},
			"cascade of Person to Match: its rows hold no copies of it on record"},
		{projection.Cascade{Filter: map[string]any{"town": "Bern"}}, "rows of Game cannot be chosen by town = Bern"},
		{projection.Cascade{Filter: map[string]any{"home": "Bern"}}, "rows of Game cannot be chosen by home = Bern"},
		{projection.Cascade{Filter: map[string]any{"season": 24}}, "rows of Game cannot be chosen by season = 24"},
	} {
		s := gameStores()[0]
		events := append(gamesWithA(), gameEvent("", gameStep{Op: "person", ID: "A", Text: "new", Cascade: &tt.how}))
		p := s.run(t, logOf(t, events...), projection.RunnerConfig{})
		letters, err := p.DeadLetters(t.Context(), "", 10)
		if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, tt.want) {
			t.Errorf("dead letters %s, %v: want one with %q", fmt.Sprint(letters), err, tt.want)
		}
		if got := p.standing(t, &anyGames); got.People["A"] != "old" {
			t.Errorf("%q: A has the name %s, want the old one", tt.want, got.People["A"])
		}
	}
}
