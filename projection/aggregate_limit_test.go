package projection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/projection"
)

// eachGameStore runs a test on every store that games are folded on.
func eachGameStore(t *testing.T, test func(t *testing.T, newStore func() *gameStore)) {
	for i, s := range gameStores() {
		t.Run(s.name, func(t *testing.T) { test(t, func() *gameStore { return gameStores()[i] }) })
	}
	t.Run("pebble", func(t *testing.T) { test(t, func() *gameStore { return pebbleGames(t) }) })
	for _, e := range dynamolocal.Engines() {
		t.Run("DynamoDB "+string(e), func(t *testing.T) {
			at := dynamolocal.Start(t, e)
			at.Setenv(t)
			n := 0
			test(t, func() *gameStore {
				n++
				return dynamoGames(t, fmt.Sprintf("%s%d.", at.Prefix, n))
			})
		})
	}
}

// bench changes who is on the bench of g1: those of before, if any, make way for so many from a number on.
func bench(from, n int) gameStep {
	return gameStep{Op: "update", ID: "g1", Changes: []gameChange{{What: "clear"},
		{What: "fill", Number: from, Person: "A", Text: strings.Repeat("x", n)}}}
}

// emptyBench has nobody replace those who are on the bench.
var emptyBench = gameStep{Op: "update", ID: "g1", Changes: []gameChange{{What: "clear"}}}

// newGame makes a game with so many on its bench.
func newGame(id string, n int) gameStep {
	g := &Game{ID: id, Name: "Final", Season: "24"}
	for i := range n {
		g.Home.Bench.Subs = append(g.Home.Bench.Subs, Sub{Number: i + 1, PersonID: "A"})
	}
	return gameStep{Op: "set", ID: id, Game: g}
}

func person(id, name string) gameStep { return gameStep{Op: "person", ID: id, Text: name} }

// numbersOnBench are those of g1.
func numbersOnBench(s standing) (numbers []int) {
	for _, sub := range s.Games["g1"].Home.Bench.Subs {
		numbers = append(numbers, sub.Number)
	}
	return numbers
}

func numbersFrom(from, n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, from+i)
	}
	return numbers
}

// TestAggregateTransactionOverflow: an event that changes more items of an aggregate than a transaction holds becomes
// a dead letter that says so, on every store. Nothing of it is written, those of its subject wait behind it, and others
// go on.
func TestAggregateTransactionOverflow(t *testing.T) {
	events := []eventlog.Event{
		gameEvent("", person("A", "Ann")),
		gameEvent("s", newGame("g1", 60)),
		gameEvent("s", person("B", "Bob"), bench(61, 60)),
		gameEvent("s", gameStep{Op: "update", ID: "g1", Changes: []gameChange{{What: "name", Text: "Semi"}}}),
		gameEvent("", gameStep{Op: "update", ID: "g1", Changes: []gameChange{{What: "season", Text: "25"}}}),
		gameEvent("", newGame("g2", 93)), // 96 with the root, the side and the bench
		gameEvent("", newGame("g3", 92)),
	}
	want := map[string]*projection.AggregateOverflowError{
		"3": {Aggregate: "Game", SubAggregate: "home", Items: 121, Limit: 95},
		"4": nil,
		"6": {Aggregate: "Game", SubAggregate: "home", Items: 96, Limit: 95},
	}
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		for _, window := range []int{1, 2, 100} {
			p := newStore().run(t, logOf(t, events...), projection.RunnerConfig{WindowEvents: window})
			letters, err := p.DeadLetters(t.Context(), "", 10)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]*projection.AggregateOverflowError{}
			for _, l := range letters {
				if got[l.ID] = l.AggregateTransactionOverflow; l.ID == "4" && l.BlockedBy != "0@3" {
					t.Errorf("windows of %d: the event behind it waits for %q", window, l.BlockedBy)
				}
			}
			if diff := cmp.Diff(want, got, cmp.Comparer(sameOverflow)); diff != "" {
				t.Errorf("windows of %d: dead letters (-want +got):\n%s", window, diff)
			}
			s := p.standing(t, &anyGames)
			g := s.Games["g1"]
			if g.Name != "Final" || g.Season != "25" || !slices.Equal(numbersOnBench(s), numbersFrom(1, 60)) ||
				s.People["B"] != "" || len(s.Items["g2"]) > 0 || len(s.Items["g3"]) != 95 {
				t.Errorf("windows of %d: stored are %+v, people %v, %d items of g2 and %d of g3", window, g, s.People,
					len(s.Items["g2"]), len(s.Items["g3"]))
			}
			if err := p.Skip(t.Context(), "0@3"); err != nil {
				t.Fatal(err)
			}
			if s := p.standing(t, &anyGames); s.Games["g1"].Name != "Semi" || len(s.Letters) != 1 {
				t.Errorf("windows of %d: once it is skipped the game is %q, and dead letters are %v", window,
					s.Games["g1"].Name, s.Letters)
			}
		}
	})
}

func sameOverflow(a, b *projection.AggregateOverflowError) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Aggregate == b.Aggregate && a.SubAggregate == b.SubAggregate && a.Items == b.Items && a.Limit == b.Limit
}

// TestWhetherAnAggregateIsTooLargeIsForItsEventAloneToSay, and not for those that share its commit: neither what they
// change too, nor what they change back.
func TestWhetherAnAggregateIsTooLargeIsForItsEventAloneToSay(t *testing.T) {
	events := []eventlog.Event{
		gameEvent("", person("A", "Ann"), newGame("g1", 60)),
		gameEvent("", emptyBench),
		gameEvent("", bench(61, 60)), // with the one before, 121 items
		gameEvent("", bench(1, 60)),  // by itself 121 items, and with those before, one
		gameEvent("", emptyBench),
		gameEvent("", bench(61, 50)),
	}
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		overNetwork := strings.Contains(t.Name(), "DynamoDB")
		for _, window := range []int{1, 2, 3, 100} {
			for cut := range len(events) {
				if cut > 0 && (window == 1 || overNetwork && cut != 3) {
					continue
				}
				store, cfg := newStore(), projection.RunnerConfig{WindowEvents: window}
				store.run(t, logOf(t, events[:cut]...), cfg)
				s := store.run(t, logOf(t, events...), cfg).standing(t, &anyGames)
				if !slices.Equal(numbersOnBench(s), numbersFrom(61, 50)) ||
					!cmp.Equal(s.Letters, map[string]string{"4": "121 items"}) {
					t.Errorf("windows of %d, the first of them from event %d: the bench is %v, and dead letters are %v: want only "+
						"the fourth", window, cut+1, numbersOnBench(s), s.Letters)
				}
			}
		}
	})
}

// TestWhatCopiesHoldMakesNoAggregateTooLarge: whether they have followed their rows by the time of an event, or are to.
func TestWhatCopiesHoldMakesNoAggregateTooLarge(t *testing.T) {
	var people, renames []gameStep
	game := newGame("g1", 6)
	for i := range 10 {
		id := fmt.Sprint("P", i)
		people, renames = append(people, person(id, "old")), append(renames, person(id, "new"))
		game.Game.Home.Players = append(game.Game.Home.Players, Player{PersonID: id})
	}
	other := game
	other.Game = new(cloneGame(game.Game))
	for i := range other.Game.Home.Bench.Subs {
		other.Game.Home.Bench.Subs[i].Number += 6
	}
	few, many := newGame("g2", 16), newGame("g3", 17) // 20 items and 21, with those of the coaches
	few.Game.CoachID, many.Game.CoachID = "X", "X"
	events := []eventlog.Event{
		gameEvent("", append(people, person("A", "Ann"))...), gameEvent("", game), gameEvent("", renames...),
		gameEvent("", other), // 13 items, and of 10 others the copies
		gameEvent("", few), gameEvent("", many), gameEvent("", person("X", "Xi")), gameEvent("", many),
	}
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		for _, window := range []int{1, 2, 3, 100} {
			p := newStore().run(t, logOf(t, events...), projection.RunnerConfig{WindowEvents: window, MaxAggregateItems: 20})
			s := p.standing(t, &anyGames)
			if diff := cmp.Diff(map[string]string{"6": "21 items", "8": "21 items"}, s.Letters); diff != "" {
				t.Errorf("windows of %d: dead letters (-want +got):\n%s", window, diff)
			}
			failed, err := p.FailedCascades(t.Context())
			if err != nil || len(failed) > 0 {
				t.Errorf("windows of %d: cascades have failed: %v, %v", window, failed, err)
			}
			if c := s.Games["g2"].Coach; c == nil || len(s.Items["g2"]) != 20 {
				t.Errorf("windows of %d: the coach of g2 is %v, and it has %d items, want 20", window, c, len(s.Items["g2"]))
			}
			for _, p := range s.Games["g1"].Home.Players {
				if p.Person == nil || p.Person.Name != "new" {
					t.Errorf("windows of %d: a player is %+v", window, p)
				}
			}
		}
	})
}

// manyGames are events that make a coach and so many games, each of which holds a copy of the coach as an item.
func manyGames(n int) []eventlog.Event {
	steps := make([]gameStep, n)
	for i := range steps {
		steps[i] = gameStep{Op: "set", ID: fmt.Sprint("g", i), Game: &Game{ID: fmt.Sprint("g", i), CoachID: "X"}}
	}
	events := []eventlog.Event{gameEvent("", person("X", "old"))}
	for some := range slices.Chunk(steps, 10) { // a game is four items and a link
		events = append(events, gameEvent("", some...))
	}
	return events
}

// TestACascadeOverflowThroughAggregates: each of them is two items of the commit, the root and the copy. As many as one
// holds follow in it; with one more, the change of the coach is a dead letter that says how many items there would be,
// nothing of it is written, and others go on. A store that bounds no commit has them all follow.
func TestACascadeOverflowThroughAggregates(t *testing.T) {
	const most = 45 // with the coach, and the versions of the links by three references, 94 items
	tooMany := &projection.CascadeOverflowError{Model: "Person", Count: 96, Limit: 95, Unit: "items"}
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		for _, n := range []int{most, most + 1} {
			for _, window := range []int{1, 100} {
				s, events, cfg := newStore(), manyGames(n), projection.RunnerConfig{WindowEvents: window}
				s.mode = inCommit
				s.run(t, logOf(t, events...), cfg)
				s.calls.forget()
				events = append(events, gameEvent("", person("X", "new")), gameEvent("", person("B", "Bob")))
				p := s.run(t, logOf(t, events...), cfg)
				name, overflow := "new", (*projection.CascadeOverflowError)(nil)
				if p.db.MultiWriter() && n > most {
					name, overflow = "old", tooMany
				}
				if diff := cmp.Diff(overflow, p.onlyOverflow(t)); diff != "" {
					t.Errorf("%d games, windows of %d: the dead letter (-want +got):\n%s", n, window, diff)
				}
				p.wantCoach(t, n, name)
				if first := s.calls.commits[0]; name == "new" && len(first) < 2*n+1 {
					t.Errorf("%d games, windows of %d: the first commit is of %v, want the coach and all games", n, window, first)
				}
			}
		}
	})
}

// onlyOverflow is that of the one dead letter, nil where there are none.
func (p *gameProcess) onlyOverflow(t *testing.T) *projection.CascadeOverflowError {
	t.Helper()
	letters, err := p.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) > 1 {
		t.Fatalf("dead letters are %+v, %v: want one at most", letters, err)
	}
	if len(letters) == 0 {
		return nil
	}
	return letters[0].CascadeOverflow
}

// wantCoach fails unless the coach X of so many games, and the copies in all of them, have that name, and B is Bob.
func (p *gameProcess) wantCoach(t *testing.T, n int, name string) {
	t.Helper()
	d := gameDraw{people: []string{"X", "B"}}
	for i := range n {
		d.games = append(d.games, fmt.Sprint("g", i))
	}
	s := p.standing(t, &d)
	if s.People["X"] != name || s.People["B"] != "Bob" || len(s.Games) != n || s.Tasks != 0 {
		t.Errorf("%d games of %d, people %v, %d tasks: want the %s coach", len(s.Games), n, s.People, s.Tasks, name)
	}
	for id, g := range s.Games {
		if g.Coach == nil || g.Coach.Name != name {
			t.Errorf("the coach of %s of %d games is %+v, want the %s name", id, n, g.Coach, name)
		}
	}
}
