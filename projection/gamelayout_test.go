package projection_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/projection"
)

// gameLayout is how the same events lie in a source, and are folded.
type gameLayout struct{ partitions, window int }

var gameLayouts = []gameLayout{{1, 1}, {1, 100}, {3, 1}, {3, 100}}

// sourcesFirst puts the events of persons before those of games, and says how many they are. Each subject keeps its
// order.
func sourcesFirst(events []eventlog.Event) (ordered []eventlog.Event, sources int) {
	for _, typ := range []string{"Person", "Game"} {
		for _, e := range events {
			if e.Type == typ {
				ordered = append(ordered, e)
			}
		}
		if typ == "Person" {
			sources = len(ordered)
		}
	}
	return ordered, sources
}

// fold folds the first events of a log, and then all, and returns what is stored in the end but for how far partitions
// have come.
func (l gameLayout) fold(t *testing.T, s *gameStore, d *gameDraw, events []eventlog.Event, first int) standing {
	t.Helper()
	cfg := projection.RunnerConfig{WindowEvents: l.window, MaxAggregateItems: fewItems}
	s.run(t, logOfGames(t, l.partitions, events[:first]), cfg)
	got := s.run(t, logOfGames(t, l.partitions, events), cfg).standing(t, d)
	got.Checkpoints = nil
	return got
}

// sameInEveryLayout folds events in each layout, in a store of its own, and compares what is left.
func sameInEveryLayout(t *testing.T, newStore func() *gameStore, mode gameMode, drawn []eventlog.Event) error {
	store := func() *gameStore {
		s := newStore()
		s.mode = mode
		return s
	}
	ordered, sources := sourcesFirst(drawn)
	var want, wantMixed standing
	for i, l := range gameLayouts {
		got := l.fold(t, store(), &gamesApart, ordered, sources)
		mixed := l.fold(t, store(), &gamesApart, drawn, 0).loose(mode)
		if i == 0 {
			want, wantMixed = got, mixed
		}
		if diff := want.diff(got); diff != "" {
			return fmt.Errorf("%+v, with persons before games (-%+v +this):\n%s\nof %s", l, gameLayouts[0], diff, texts(ordered))
		}
		if diff := wantMixed.diff(mixed); diff != "" {
			return fmt.Errorf("%+v (-%+v +this):\n%s\nof %s", l, gameLayouts[0], diff, texts(drawn))
		}
	}
	return nil
}

// TestRandomGamesAreTheSameInEveryLayout: in one partition or spread over several by their subjects, in windows of one
// event or of many. Copies are the same too, but for those that do not follow where persons may come after games: these
// hold what the fold knew.
func TestRandomGamesAreTheSameInEveryLayout(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		drawn, mode := gamesApart.subjectsApart(rt, 30), drawGameMode(rt)
		for i := range gameStores() {
			if err := sameInEveryLayout(t, func() *gameStore { return gameStores()[i] }, mode, drawn); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

func TestRandomGamesOnDynamoDBAreTheSameInEveryLayout(t *testing.T) {
	draw := rapid.Custom(func(rt *rapid.T) []eventlog.Event { return gamesApart.subjectsApart(rt, 30) })
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			at, n := dynamolocal.Start(t, e), 0
			at.Setenv(t)
			newStore := func() *gameStore {
				n++
				return dynamoGames(t, fmt.Sprintf("%s%d.", at.Prefix, n))
			}
			for _, mode := range []gameMode{afterCommit, inCommit} {
				if err := sameInEveryLayout(t, newStore, mode, draw.Example(rand.Int())); err != nil {
					t.Errorf("%s: %v", mode, err)
				}
			}
		})
	}
}

// TestRandomGamesAreTheSameWhenTheyAreFoldedAgain: a rebuild makes what was there, in windows of another length too.
// What was retried is tried where it was before, whether it took effect there or failed again, and those behind it wait
// until then.
func TestRandomGamesAreTheSameWhenTheyAreFoldedAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events, mode := anyGames.events(rt, 40), drawGameMode(rt)
		log := logOfGames(t, 1, events)
		windows := [2]int{rapid.SampledFrom([]int{1, 3, 100}).Draw(rt, "window"),
			rapid.SampledFrom([]int{1, 3, 100}).Draw(rt, "window again")}
		for _, s := range gameStores() {
			s.mode = mode
			p := s.run(t, log, projection.RunnerConfig{WindowEvents: windows[0], MaxAggregateItems: fewItems})
			want := p.standing(t, &anyGames).settled(mode)
			again := s.process(t, log, projection.RunnerConfig{WindowEvents: windows[1], MaxAggregateItems: fewItems})
			if err := again.Rebuild(t.Context()); err != nil {
				rt.Fatal(err)
			}
			if err := again.Run(t.Context()); err != nil {
				rt.Fatal(err)
			}
			if diff := want.diff(again.standing(t, &anyGames).settled(mode)); diff != "" {
				rt.Fatalf("%s, copies that follow %s, windows of %v (-first fold +again):\n%s\nof %s", s.name, mode, windows, diff, texts(events))
			}
		}
	})
}
