package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
)

// between reads ranges in two pages, and has something happen between them, as long as it is told: DynamoDB reads the
// items of a range one after another, while others write them.
func between(times int, change func()) rangeReader {
	return func(q driver.Query, read func(driver.Query) (driver.Page, error)) (driver.Page, error) {
		if times--; times < 0 {
			return read(q)
		}
		first := q
		first.Limit = 5
		page, err := read(first)
		if err != nil || !page.More {
			change()
			return page, err
		}
		change()
		q.Start = &page.Starts[len(page.Starts)-1]
		rest, err := read(q)
		page.Rows, page.Starts, page.More = append(page.Rows, rest.Rows...), append(page.Starts, rest.Starts...), rest.More
		return page, err
	}
}

// halfApplied answers so many reads of ranges with items of which some are as they were before a change and the others
// as they are after it: DynamoDB applies a transaction item by item, and reads of ranges see that.
func halfApplied(times int, before []driver.Row) rangeReader {
	return func(q driver.Query, read func(driver.Query) (driver.Page, error)) (driver.Page, error) {
		page, err := read(q)
		if times--; times < 0 || err != nil {
			return page, err
		}
		for i := range page.Rows {
			at := slices.IndexFunc(before, func(r driver.Row) bool { return r.Key == page.Rows[i].Key })
			if i%2 == 0 && at >= 0 {
				page.Rows[i] = before[at]
			}
		}
		return page, err
	}
}

// read reads g1 as a query does.
func (p *gameProcess) read(t *testing.T) (Game, error) {
	t.Helper()
	key, err := querydb.KeyByIdentifier(gameModel, "g1")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := p.db.Get(t.Context(), gameModel, []keys.Key{key}, false)
	if err != nil || rows[0].Record == nil {
		return Game{}, err
	}
	var g Game
	return g, gameCodec.Decode(rows[0].Record, &g)
}

// positions sets the positions of all players of g1 to one number, which is its name too: so a mix is seen.
func positions(ids []string, n int) gameStep {
	s := gameOf("g1", ids...)
	s.Game.Name = fmt.Sprint(n)
	for i := range s.Game.Home.Players {
		s.Game.Home.Players[i].Position = n
	}
	return s
}

// checkWhole fails where a game is a mix of several changes.
func checkWhole(t *testing.T, g Game) {
	t.Helper()
	for _, p := range g.Home.Players {
		if fmt.Sprint(p.Position) != g.Name {
			t.Fatalf("a game of the name %s has the players %+v: it is a mix", g.Name, g.Home.Players)
		}
	}
}

// tornGames folds a first change of g1, and returns what folds others, each in a process of its own.
func tornGames(t *testing.T, s *gameStore) (p *gameProcess, change func()) {
	t.Helper()
	ids, people := eleven()
	events := []eventlog.Event{gameEvent("", people...), gameEvent("", positions(ids, 0))}
	n, calm := 0, s.ranges
	return s.run(t, logOf(t, events...), projection.RunnerConfig{}), func() {
		was := s.ranges
		s.ranges = calm
		n++
		events = append(events, gameEvent("", positions(ids, n)))
		s.run(t, logOf(t, events...), projection.RunnerConfig{})
		s.ranges = was
	}
}

// TestAReadBetweenTwoItemsOfACommitIsRepeated until it finds a whole, as it was before a commit or after it.
func TestAReadBetweenTwoItemsOfACommitIsRepeated(t *testing.T) {
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		s := newStore()
		p, change := tornGames(t, s)
		for times := 1; times <= 3; times++ {
			s.ranges = between(times, change)
			g, err := p.read(t)
			if s.ranges = nil; err != nil || len(g.Home.Players) != 11 {
				t.Fatalf("after %d reads amid commits: %+v, %v", times, g, err)
			}
			checkWhole(t, g)
		}
	})
}

// TestAnAggregateThatChangesFasterThanItCanBeReadIsUnavailable: whoever asks again finds it when it rests.
func TestAnAggregateThatChangesFasterThanItCanBeReadIsUnavailable(t *testing.T) {
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		s := newStore()
		p, change := tornGames(t, s)
		s.ranges = between(1000, change)
		_, err := p.read(t)
		if s.ranges = nil; !errors.Is(err, driver.ErrUnavailable) || errors.Is(err, driver.ErrDamaged) {
			t.Errorf("the answer is %v, want that it is unavailable", err)
		}
		var torn *aggregate.TornError
		if !errors.As(err, &torn) || !errors.Is(err, aggregate.ErrTorn) {
			t.Fatalf("the answer is %v, want that the aggregate is to blame, and not the store", err)
		}
		if torn.Root == nil || string(torn.Root.JSON(0)) != `"g1"` {
			t.Errorf("the answer is of the root %q, want that of g1", torn.Root)
		}
		g, err := p.read(t)
		if err != nil {
			t.Fatal(err)
		}
		checkWhole(t, g)
	})
}

// TestAReadAmidATransactionThatTakesAWhileIsRepeated: also where several reads in a row find the same items, half of
// them changed. A fold makes no dead letter of it.
func TestAReadAmidATransactionThatTakesAWhileIsRepeated(t *testing.T) {
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		s := newStore()
		p, change := tornGames(t, s)
		if !p.db.MultiWriter() {
			t.Skip("its commits are seen whole")
		}
		before := p.items(t, gamePrefix+"game#g1")
		change()
		s.ranges = halfApplied(4, before)
		g, err := p.read(t)
		if err != nil {
			t.Fatal(err)
		}
		checkWhole(t, g)
		ids, people := eleven()
		s.ranges = halfApplied(4, before)
		last := s.run(t, logOf(t, gameEvent("", people...), gameEvent("", positions(ids, 0)),
			gameEvent("", positions(ids, 1)), gameEvent("", gameStep{Op: "update", ID: "g1",
				Changes: []gameChange{{What: "season", Text: "26"}}})), projection.RunnerConfig{})
		s.ranges = nil
		if got := last.standing(t, &anyGames); len(got.Letters) > 0 || got.Games["g1"].Season != "26" {
			t.Errorf("dead letters are %v, and the season is %s, want the fold to go on", got.Letters,
				got.Games["g1"].Season)
		}
	})
}

// TestAListOfAggregatesIsAsOfAReadThatIsConsistent where the context asks for that: the items of each are read so too,
// and not only the index that leads to them.
func TestAListOfAggregatesIsAsOfAReadThatIsConsistent(t *testing.T) {
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		s := newStore()
		ids, people := eleven()
		was, is := gameOf("g1", ids...), gameOf("g1", ids...)
		was.Game.Home.Town, is.Game.Home.Town = "then", "now"
		events := []eventlog.Event{gameEvent("", people...), gameEvent("", was), gameEvent("", is)}
		p := s.run(t, logOf(t, events[:2]...), projection.RunnerConfig{})
		if !p.db.MultiWriter() {
			t.Skip("each of its reads is consistent")
		}
		partition, err := gameModel.Indexes[0].PK.Layout.Compose(keys.String(is.Game.Season))
		if err != nil {
			t.Fatal(err)
		}
		before := p.items(t, gamePrefix+"game#g1")
		s.run(t, logOf(t, events...), projection.RunnerConfig{})
		s.ranges = func(q driver.Query, read func(driver.Query) (driver.Page, error)) (driver.Page, error) {
			page, err := read(q)
			if q.Index == driver.Primary && !q.Consistent { // a copy of the table that lags behind
				page.Rows = slices.Clone(before)
			}
			return page, err
		}
		defer func() { s.ranges = nil }()
		for ctx, want := range map[context.Context]string{
			t.Context(): "then", querydb.WithConsistentReads(t.Context()): "now",
		} {
			page, err := p.db.Query(ctx, gameModel, querydb.Query{PK: partition, Limit: 10})
			if err != nil || len(page.Rows) != 1 {
				t.Fatalf("%d games, %v", len(page.Rows), err)
			}
			var g Game
			if err := gameCodec.Decode(page.Rows[0].Record, &g); err != nil {
				t.Fatal(err)
			}
			if g.Home.Town != want {
				t.Errorf("the game is as it was %s, want as it is %s", g.Home.Town, want)
			}
		}
	})
}

// TestItemsThatStayTornAreIncomplete: no commit is to blame, and the answer says what is wrong.
func TestItemsThatStayTornAreIncomplete(t *testing.T) {
	eachGameStore(t, func(t *testing.T, newStore func() *gameStore) {
		s := newStore()
		p, change := tornGames(t, s)
		before := p.items(t, gamePrefix+"game#g1")
		change()
		s.ranges = halfApplied(1000, before)
		_, err := p.read(t)
		s.ranges = nil
		if part := (*aggregate.IncompleteError)(nil); !errors.As(err, &part) || errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("the answer is %v, want that it is no whole", err)
		}
	})
}
