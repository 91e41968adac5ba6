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

// foldedAgain folds a log in windows of one length, has all of it folded again in windows of another, and compares what
// is left.
func foldedAgain(
	t *testing.T, s *gameStore, d *gameDraw, partitions int, events []eventlog.Event, windows [2]int,
) error {
	log := logOfGames(t, partitions, events)
	same := func(was standing) standing { return was.settled(s.mode) }
	if partitions > 1 {
		same = func(was standing) standing { return was.loose(s.mode) }
	}
	p := s.run(t, log, projection.RunnerConfig{WindowEvents: windows[0], MaxAggregateItems: fewItems})
	want, first := same(p.standing(t, d)), p.generation()
	again := s.process(t, log, projection.RunnerConfig{WindowEvents: windows[1], MaxAggregateItems: fewItems})
	err := again.Rebuild(t.Context())
	if err == nil {
		err = again.Run(t.Context())
	}
	if err != nil {
		return err
	}
	if again.generation() == first {
		return fmt.Errorf("%s: the games are those of generation %d still", s.name, first)
	}
	if diff := want.diff(same(again.standing(t, d))); diff != "" {
		return fmt.Errorf("%s, %d partitions, windows of %v (-first fold +again):\n%s\nof %s", s.name, partitions, windows,
			diff, texts(events))
	}
	return nil
}

var drawWindow = rapid.SampledFrom([]int{1, 3, 100})

// TestRandomGamesAreTheSameWhenTheyAreFoldedAgain: a rebuild makes what was there, in windows of another length too.
// What was retried is tried where it was before, whether it took effect there or failed again, and those behind it wait
// until then.
func TestRandomGamesAreTheSameWhenTheyAreFoldedAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events, mode := anyGames.events(rt, 40), drawGameMode(rt)
		windows := [2]int{drawWindow.Draw(rt, "window"), drawWindow.Draw(rt, "window again")}
		for _, s := range gameStores() {
			s.mode = mode
			if err := foldedAgain(t, s, &anyGames, 1, events, windows); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// TestRandomGamesOfTwoPartitionsAreTheSameWhenTheyAreFoldedAgain: but for copies that do not follow, which hold what
// the fold knew.
func TestRandomGamesOfTwoPartitionsAreTheSameWhenTheyAreFoldedAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := gamesApart.subjectsApart(rt, 30)
		windows := [2]int{drawWindow.Draw(rt, "window"), drawWindow.Draw(rt, "window again")}
		for _, s := range gameStores() {
			if err := foldedAgain(t, s, &gamesApart, 2, events, windows); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// againOnce folds drawn games again in stores of the kind: in one partition and in two, between windows of one event
// and of many.
func againOnce(t *testing.T, newStore func() *gameStore) {
	for _, windows := range [][2]int{{1, 100}, {100, 1}} {
		one := rapid.Custom(func(rt *rapid.T) []eventlog.Event { return anyGames.events(rt, 30) })
		if err := foldedAgain(t, newStore(), &anyGames, 1, one.Example(rand.Int()), windows); err != nil {
			t.Error(err)
		}
		two := rapid.Custom(func(rt *rapid.T) []eventlog.Event { return gamesApart.subjectsApart(rt, 30) })
		if err := foldedAgain(t, newStore(), &gamesApart, 2, two.Example(rand.Int()), windows); err != nil {
			t.Error(err)
		}
	}
}

func TestRandomGamesInPebbleAreTheSameWhenTheyAreFoldedAgain(t *testing.T) {
	for range 3 {
		againOnce(t, func() *gameStore { return pebbleGames(t) })
	}
}

func TestRandomGamesOnDynamoDBAreTheSameWhenTheyAreFoldedAgain(t *testing.T) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			at, n := dynamolocal.Start(t, e), 0
			at.Setenv(t)
			againOnce(t, func() *gameStore {
				n++
				return dynamoGames(t, fmt.Sprintf("%sagain%d.", at.Prefix, n))
			})
		})
	}
}
