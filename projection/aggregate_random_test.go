package projection_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/memlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb/driver"
)

// fewItems is how many a game may have here, so that some have too many.
const fewItems = 11

var anyGames = gameDraw{games: []string{"g1", "g2", "g3"}, people: []string{"A", "B", "C", "D", "E"},
	coaches: []string{"A", "X"}, subjects: []string{"", "", "s", "u"}}

// upTo folds a log until the process ends at a commit, before it happens or after; at commit 0 it does not end.
func (s *gameStore) upTo(t *testing.T, log eventlog.Source, window, commit int, after bool) *gameProcess {
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	n := 0
	s.around = func(apply func() error) error {
		if n++; commit == 0 || n < commit {
			return apply()
		}
		if after && n == commit {
			if err := apply(); err != nil {
				return err
			}
		}
		end(errCrash)
		return driver.ErrUnavailable
	}
	p := s.process(t, log, projection.RunnerConfig{WindowEvents: window, MaxAggregateItems: fewItems})
	if err := p.Run(ctx); err != nil && context.Cause(ctx) != errCrash {
		t.Fatalf("run: %v", err)
	}
	s.around = undisturbed
	return p
}

// gameTrial is what processes fold, and where they end.
type gameTrial struct {
	draw       *gameDraw
	mode       gameMode
	partitions int
	events     []eventlog.Event
	ends       []gameEnd
	window     int // of the last process, which does not end
}

// gameEnd says at which of its commits a process ends.
type gameEnd struct {
	window, commit int
	after          bool
}

func drawGameMode(t *rapid.T) gameMode {
	return rapid.SampledFrom([]gameMode{afterCommit, inCommit}).Draw(t, "mode")
}

func (d *gameDraw) trial(t *rapid.T) (g gameTrial) {
	g = gameTrial{draw: d, partitions: 1}
	if d.apart {
		g.partitions = rapid.IntRange(2, 4).Draw(t, "partitions")
		g.events = d.subjectsApart(t, 40)
	} else {
		g.events = d.events(t, 40)
	}
	windows := rapid.SampledFrom([]int{1, 2, 3, 5, 8, 100})
	for range rapid.IntRange(0, 3).Draw(t, "ends") {
		g.ends = append(g.ends, gameEnd{windows.Draw(t, "window"), rapid.IntRange(1, 8).Draw(t, "commit"),
			rapid.Bool().Draw(t, "after")})
	}
	g.window = windows.Draw(t, "last window")
	return g
}

// check folds the events in a store, and compares what is left in the end with what the oracle says.
func (g *gameTrial) check(t *testing.T, s *gameStore) error {
	s.mode = g.mode
	log := logOfGames(t, g.partitions, g.events)
	for _, e := range g.ends {
		s.upTo(t, log, e.window, e.commit, e.after)
	}
	got := s.upTo(t, log, g.window, 0, false).standing(t, g.draw)
	oracle := newGameOracle(fewItems, g.mode)
	oracle.fold(g.events)
	want := oracle.standing(log, t)
	same := standing.settled
	if g.draw.apart {
		same = standing.loose
	}
	diff := same(want, g.mode).diff(same(got, g.mode))
	if diff == "" {
		return nil
	}
	return fmt.Errorf("%s, copies that follow %s, processes that end at %+v, and a last of windows of %d: "+
		"what is stored differs (-want +got):\n"+
		"%s\nof %s", s.name, g.mode, g.ends, g.window, diff, texts(g.events))
}

// texts are events as they read.
func texts(events []eventlog.Event) string {
	var text strings.Builder
	for i, e := range events {
		fmt.Fprintf(&text, "\n%d %q %s", i+1, e.Subject, e.Data)
	}
	return text.String()
}

func logOfGames(t *testing.T, partitions int, events []eventlog.Event) *memlog.Log {
	t.Helper()
	log := memlog.New(memlog.Options{Partitions: partitions})
	t.Cleanup(func() { log.Close() })
	add(t, log, 0, events...)
	log.End()
	return log
}

// TestRandomGamesAreAsTheOracleSays: rows, items, links, dead letters and checkpoints, wherever processes end and
// windows do.
func TestRandomGamesAreAsTheOracleSays(t *testing.T) { checkRandomGames(t, &anyGames) }

// TestRandomGamesOfSeveralPartitions are as the oracle says, but for the names in copies that do not follow: persons
// and games are in partitions of the source between which there is no order.
func TestRandomGamesOfSeveralPartitions(t *testing.T) { checkRandomGames(t, &gamesApart) }

func checkRandomGames(t *testing.T, d *gameDraw) {
	for _, mode := range []gameMode{afterCommit, inCommit} {
		rapid.Check(t, func(rt *rapid.T) {
			trial := d.trial(rt)
			trial.mode = mode
			for _, s := range gameStores() {
				if err := trial.check(t, s); err != nil {
					rt.Fatal(err)
				}
			}
		})
	}
	noCopiesSeen(t)
}

func noCopiesSeen(t *testing.T) {
	t.Helper()
	if seenCopies > 0 {
		t.Errorf("functions of projectors saw %d copies, and are to see none", seenCopies)
	}
}

func TestRandomGamesInPebbleAreAsTheOracleSays(t *testing.T) {
	for i, d := range []*gameDraw{&anyGames, &gamesApart} {
		for n := range 10 {
			trial := rapid.Custom(d.trial).Example(rand.Int())
			trial.mode = gameMode(n % 2)
			if err := trial.check(t, pebbleGames(t)); err != nil {
				t.Fatal(i, n, err)
			}
		}
	}
}

func TestRandomGamesOnDynamoDBAreAsTheOracleSays(t *testing.T) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			at := dynamolocal.Start(t, e)
			at.Setenv(t)
			for i, d := range []*gameDraw{&anyGames, &gamesApart} {
				for n := range 2 {
					trial := rapid.Custom(d.trial).Example(rand.Int())
					trial.mode = gameMode(n)
					if err := trial.check(t, dynamoGames(t, fmt.Sprintf("%s%d-%d.", at.Prefix, i, n))); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// subjectsApart draws events each of which is about one game or one person, who is its subject.
func (d *gameDraw) subjectsApart(t *rapid.T, most int) []eventlog.Event {
	events := make([]eventlog.Event, rapid.IntRange(1, most).Draw(t, "events"))
	for i := range events {
		s := d.step(t, rapid.SampledFrom(d.games).Draw(t, "game"), i)
		steps := []gameStep{s}
		if s.Op == "update" && rapid.Bool().Draw(t, "twice") {
			s.Changes = rapid.SliceOfN(rapid.Custom(d.change), 1, 3).Draw(t, "more changes")
			steps = append(steps, s)
		}
		events[i] = gameEvent(s.ID, steps...)
	}
	return events
}

var gamesApart = gameDraw{games: []string{"g1", "g2", "g3"}, people: []string{"A", "B", "C", "D", "E"},
	coaches: []string{"X", "Y"}, apart: true}

// TestWhatAProcessHasLeftBehindComesBeforeWhatElseIsWoken: a person comes for whom events of two subjects wait. The
// process ends between that of the first subject and the one behind it, which is retried before the other subject's,
// as it would have been.
func TestWhatAProcessHasLeftBehindComesBeforeWhatElseIsWoken(t *testing.T) {
	game := func(id, name string) gameStep {
		return gameStep{Op: "set", ID: id, Game: &Game{ID: id, Name: name, Home: Side{Players: []Player{{PersonID: "A"}}}}}
	}
	events := []eventlog.Event{
		gameEvent("s", game("g1", "of s")), gameEvent("u", game("g2", "of u")), gameEvent("s", game("g2", "of s")),
		gameEvent("", gameStep{Op: "person", ID: "A", Text: "Ann"}),
	}
	for commit := range 8 {
		for _, after := range []bool{false, true} {
			for _, s := range gameStores() {
				log := logOf(t, events...)
				s.upTo(t, log, 1, commit+1, after)
				p := s.run(t, log, projection.RunnerConfig{WindowEvents: 1})
				got := p.standing(t, &anyGames)
				if len(got.Letters) > 0 || got.Games["g2"].Name != "of u" {
					t.Errorf("%s, a process that ends at commit %d: dead letters %v, and g2 is %q, want what u says, which comes last",
						s.name, commit+1, got.Letters, got.Games["g2"].Name)
				}
			}
		}
	}
}

// TestARowThatIsDeletedAgainRetriesNobodyAfterThat: a person comes for whom two events wait, and the first of them
// takes another along that deletes the person. The second goes on waiting, wherever the process ends: the one after it
// does not know that there was a person for a moment.
func TestARowThatIsDeletedAgainRetriesNobodyAfterThat(t *testing.T) {
	with := func(op, id string) gameStep {
		return gameStep{Op: op, ID: id, Game: &Game{ID: id, Home: Side{Players: []Player{{PersonID: "D"}}}}}
	}
	events := []eventlog.Event{
		gameEvent("u", with("set", "g1")), gameEvent("u", gameStep{Op: "noperson", ID: "D"}),
		gameEvent("u", gameStep{Op: "set", ID: "g2", Game: &Game{ID: "g2"}}),
		gameEvent("", with("create", "g2")), // is there by its turn: it would come to nothing without a look at D
		gameEvent("", gameStep{Op: "person", ID: "D", Text: "Dan"}),
	}
	for commit := range 8 {
		for _, after := range []bool{false, true} {
			for _, s := range gameStores() {
				log := logOf(t, events...)
				s.upTo(t, log, 100, commit, after)
				got := s.run(t, log, projection.RunnerConfig{WindowEvents: 8}).standing(t, &anyGames)
				if diff := cmp.Diff(map[string]string{"4": "waits for D"}, got.Letters); diff != "" {
					t.Errorf("%s, a process that ends at commit %d: dead letters (-want +got):\n%s", s.name, commit, diff)
				}
			}
		}
	}
}

// TestARebuildRetriesNoEventBeforeAnEarlierOneOfItsSubject: in the first fold the second event of a game was retried,
// and failed again, after the third had come, which waits behind it. In the rebuild the first event waits too, and its
// person comes before it is the second's turn: the third is not retried with the first.
func TestARebuildRetriesNoEventBeforeAnEarlierOneOfItsSubject(t *testing.T) {
	set := func(name string, people ...string) eventlog.Event {
		g := Game{ID: "g1", Name: name}
		for _, p := range people {
			g.Home.Players = append(g.Home.Players, Player{PersonID: p})
		}
		return gameEvent("g1", gameStep{Op: "set", ID: "g1", Game: &g})
	}
	person := func(id string) eventlog.Event { return gameEvent(id, gameStep{Op: "person", ID: id, Text: id}) }
	log := logOfGames(t, 2, []eventlog.Event{
		person("E"), set("first", "E"), set("second", "A", "C"), set("third", "E"), person("B"), person("A"),
	})
	people, games := "0", "1"
	for _, s := range gameStores() {
		foldTo := func(heads eventlog.Offsets) *gameProcess {
			return s.run(t, earlyLog{log, heads}, projection.RunnerConfig{})
		}
		check := func(p *gameProcess, when string, letters map[string]string) {
			got := p.standing(t, &gamesApart)
			if diff := cmp.Diff(letters, got.Letters); diff != "" || got.Games["g1"].Name != "first" {
				t.Errorf("%s, %s: the game is the %q, want the first; dead letters (-want +got):\n%s", s.name, when,
					got.Games["g1"].Name, diff)
			}
		}
		foldTo(eventlog.Offsets{people: 1})
		foldTo(eventlog.Offsets{people: 1, games: 4})
		p := foldTo(eventlog.Offsets{people: 2, games: 4})
		check(p, "folded", map[string]string{"3": "waits for C", "4": "behind"})
		if err := p.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		foldTo(eventlog.Offsets{games: 3})
		p = foldTo(eventlog.Offsets{people: 1, games: 3})
		check(p, "amid the rebuild", map[string]string{"4": "behind"})
		p = foldTo(eventlog.Offsets{people: 2, games: 4})
		check(p, "folded again", map[string]string{"3": "waits for C", "4": "behind"})
	}
}

// earlyLog is a log of which no more has come than so many events of each partition.
type earlyLog struct {
	*memlog.Log
	heads eventlog.Offsets
}

func (l earlyLog) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	come := l.heads[partition]
	return l.Log.Read(ctx, partition, after, min(most, int(come-min(after, come))))
}

func (l earlyLog) Wait(_ context.Context, after eventlog.Offsets) error {
	if after.Behind(l.heads) {
		return nil
	}
	return io.EOF
}
