package projection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/internal/cascade"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/dynamostore"
	"github.com/foldql/foldql/querydb/memstore"
	"github.com/foldql/foldql/querydb/pebblestore"
)

// gameStore is a store of games that processes open one after another, and in whose commits they may end.
type gameStore struct {
	name   string
	mode   gameMode // of those who fold
	join   func() driver.Driver
	around func(apply func() error) error // what happens to each Apply
	now    func() time.Time               // of the DB
	ranges rangeReader                    // how ranges of games are read; nil is as the store does
	calls  gameCalls
}

// interrupted is a store whose Apply is what around makes of it, and whose calls may be noted.
type (
	interruptedOne struct {
		driver.Driver
		*gameStore
	}
	interruptedMany struct {
		*memstore.MultiWriter
		*gameStore
	}
	interruptedDynamo struct {
		*dynamostore.Store
		*gameStore
	}
)

func (s interruptedOne) Apply(ctx context.Context, b driver.Batch) error {
	return s.apply(b, func() error { return s.Driver.Apply(ctx, b) })
}

func (interruptedOne) Close() error { return nil }

func (s interruptedOne) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	s.calls.get(&g)
	return s.Driver.Get(ctx, g)
}

func (s interruptedOne) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	return s.query(q, func(q driver.Query) (driver.Page, error) { return s.Driver.Query(ctx, q) })
}

func (s interruptedMany) Apply(ctx context.Context, b driver.Batch) error {
	return s.apply(b, func() error { return s.MultiWriter.Apply(ctx, b) })
}

func (s interruptedMany) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	s.calls.get(&g)
	return s.MultiWriter.Get(ctx, g)
}

func (s interruptedMany) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	return s.query(q, func(q driver.Query) (driver.Page, error) { return s.MultiWriter.Query(ctx, q) })
}

func (s interruptedDynamo) Apply(ctx context.Context, b driver.Batch) error {
	return s.apply(b, func() error { return s.Store.Apply(ctx, b) })
}

func (s interruptedDynamo) Get(ctx context.Context, g driver.Get) ([]driver.Row, error) {
	s.calls.get(&g)
	return s.Store.Get(ctx, g)
}

func (s interruptedDynamo) Query(ctx context.Context, q driver.Query) (driver.Page, error) {
	return s.query(q, func(q driver.Query) (driver.Page, error) { return s.Store.Query(ctx, q) })
}

// rangeReader reads a range as it is told, by reads of the store.
type rangeReader func(q driver.Query, read func(driver.Query) (driver.Page, error)) (driver.Page, error)

func (s *gameStore) query(q driver.Query, read func(driver.Query) (driver.Page, error)) (driver.Page, error) {
	s.calls.query(&q)
	if s.ranges == nil || q.Table.Kind != "GameItem" {
		return read(q)
	}
	return s.ranges(q, read)
}

func (s *gameStore) apply(b driver.Batch, apply func() error) error {
	s.calls.apply(&b)
	return s.around(apply)
}

func undisturbed(apply func() error) error { return apply() }

// gameStores are in memory: of one process, and of several.
func gameStores() []*gameStore {
	one, several := &gameStore{name: "one writer"}, &gameStore{name: "several writers"}
	for _, s := range []*gameStore{one, several} {
		s.around, s.now = undisturbed, func() time.Time { return epoch }
	}
	alone, opts := memstore.New(), memstore.Options{Now: one.now}
	one.join = func() driver.Driver { return interruptedOne{alone, one} }
	shared := memstore.NewMultiWriter(opts)
	several.join = func() driver.Driver { return interruptedMany{shared.Join(opts), several} }
	return []*gameStore{one, several}
}

// pebbleGames keeps games in a folder.
func pebbleGames(t testing.TB) *gameStore {
	t.Helper()
	store, err := pebblestore.Open(pebblestore.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := &gameStore{name: "pebble", around: undisturbed, now: func() time.Time { return epoch }}
	s.join = func() driver.Driver { return interruptedOne{store, s} }
	return s
}

// dynamoGames keeps games in tables of that prefix, which it makes.
func dynamoGames(t testing.TB, prefix string) *gameStore {
	t.Helper()
	open := func() *dynamostore.Store {
		store, err := dynamostore.Open(t.Context(), dynamostore.Config{Prefix: prefix, Concurrency: 8})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	tables := dynamostore.Tables{Needed: []*driver.Table{
		querydb.NotesTable(), gameModel.DriverTable(0), personModel.DriverTable(0),
		gameModel.DriverTable(1), personModel.DriverTable(1), // for a rebuild
	}}
	if err := open().ApplyTables(t.Context(), tables, false, func(string) {}); err != nil {
		t.Fatal(err)
	}
	s := &gameStore{name: "DynamoDB", around: undisturbed, now: time.Now}
	s.join = func() driver.Driver { return interruptedDynamo{open(), s} }
	return s
}

// gameProcess is a process that folds games.
type gameProcess struct {
	*projection.Runner
	drv driver.Driver
	db  *querydb.DB
}

// process begins a process.
func (s *gameStore) process(t testing.TB, src eventlog.Source, cfg projection.RunnerConfig) *gameProcess {
	t.Helper()
	p := &gameProcess{drv: s.join()}
	p.db = openAt(t, s.now, p.drv, gameModel, personModel)
	cfg.MinBackoff, cfg.MaxBackoff, cfg.Now = time.Nanosecond, time.Nanosecond, s.now
	var err error
	if p.Runner, err = projection.NewRunner(gameProjection(s.mode), src, p.db, cfg); err != nil {
		t.Fatal(err)
	}
	return p
}

// run is process, to the end of the log.
func (s *gameStore) run(t testing.TB, src eventlog.Source, cfg projection.RunnerConfig) *gameProcess {
	t.Helper()
	p := s.process(t, src, cfg)
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// standing is all that is stored of games, or is to be.
type standing struct {
	Games       map[string]Game
	People      map[string]string
	Items       map[string][]string // by game: the sort keys of its items
	Links       []string            // path, person, game
	Letters     map[string]string   // by the id of the event: why it waits
	Tasks       int                 // cascades that are not done
	Checkpoints map[string]uint64   // by partition
}

// standing reads what is stored.
func (p *gameProcess) standing(t testing.TB, d *gameDraw) standing {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	got := standing{map[string]Game{}, map[string]string{}, map[string][]string{}, nil, map[string]string{}, 0,
		map[string]uint64{}}
	for _, id := range slices.Concat(d.people, d.coaches) {
		key, err := querydb.KeyByIdentifier(personModel, id)
		must(err)
		rows, err := p.db.ForFold("").Get(t.Context(), personModel, []keys.Key{key}, true)
		must(err)
		if rows[0].Record != nil {
			var r Person
			must(personCodec.Decode(rows[0].Record, &r))
			got.People[r.ID] = r.Name
		}
	}
	for _, id := range d.games {
		key, err := querydb.KeyByIdentifier(gameModel, id)
		must(err)
		rows, err := p.db.ForFold("").Get(t.Context(), gameModel, []keys.Key{key}, true)
		must(err)
		if rows[0].Record != nil {
			var r Game
			must(gameCodec.Decode(rows[0].Record, &r))
			got.Games[r.ID] = r
		}
		for _, item := range p.items(t, key.PK) {
			got.Items[id] = append(got.Items[id], item.Key.SK)
		}
	}
	for _, n := range p.notes(t, "link:") {
		key, err := cascade.ParseLink(&n)
		must(err)
		got.Links = append(got.Links, nameOfLink(n.ID, key, d))
	}
	slices.Sort(got.Links)
	got.Tasks = len(p.notes(t, "cascade:"))
	for _, n := range p.notes(t, "checkpoint:") {
		var at struct{ Offset uint64 }
		must(json.Unmarshal(n.Value, &at))
		got.Checkpoints[n.ID] = at.Offset
	}
	letters, err := p.DeadLetters(t.Context(), "", 1000)
	must(err)
	for _, l := range letters {
		switch {
		case l.BlockedBy != "":
			got.Letters[l.ID] = "behind"
		case l.RefNotFound != nil:
			got.Letters[l.ID] = "waits for " + l.RefNotFound.RefID
		case l.AggregateTransactionOverflow != nil:
			got.Letters[l.ID] = fmt.Sprint(l.AggregateTransactionOverflow.Items, " items")
		default:
			got.Letters[l.ID] = "failed"
		}
	}
	return got
}

// items are those that are stored in a partition of the table.
func (p *gameProcess) items(t testing.TB, pk string) []driver.Row {
	t.Helper()
	root := gameModel.DriverTable(p.generation())
	page, err := p.drv.Query(t.Context(), driver.Query{Table: root, Index: driver.Primary, PK: pk, Limit: 1000,
		Consistent: true, Members: gameShape.Plan(func() *driver.Table { return root }).Tables})
	if err != nil {
		t.Fatal(err)
	}
	return page.Rows
}

// generation is that of the table of games.
func (p *gameProcess) generation() int { return p.db.Generations().InUse(gameModel) }

func (p *gameProcess) notes(t testing.TB, kind string) []querydb.Note {
	t.Helper()
	kind += "Games.g" + strconv.Itoa(p.generation()) + ":" + gameProjection(afterCommit).Name
	notes, err := p.db.Notes().List(t.Context(), kind, "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

// nameOfLink says what a link is of, and its ID where it is none that there may be.
func nameOfLink(id string, key keys.Key, d *gameDraw) string {
	game := strings.TrimPrefix(key.PK, gamePrefix+"game#")
	for _, path := range []string{"coach", "home.players.person", "away.players.person"} {
		for _, person := range slices.Concat(d.people, d.coaches) {
			l := cascade.Link{Reference: cascade.Reference{Model: "Game", Field: path}, Identifier: person, Key: key}
			if l.ID() == id {
				return fmt.Sprint(path, " ", person, " in ", game)
			}
		}
	}
	return fmt.Sprintf("%q", id)
}

// standing is what the oracle says that is to be stored of the events of a log.
func (o *gameOracle) standing(log eventlog.Source, t testing.TB) standing {
	t.Helper()
	want := standing{maps.Clone(o.games), o.people, map[string][]string{}, nil, map[string]string{}, 0,
		map[string]uint64{}}
	for id, g := range o.games {
		items := itemsOf(&g)
		if g.Coach == nil {
			delete(items, gamePrefix+"gamecoach")
		}
		want.Items[id] = slices.Sorted(maps.Keys(items))
		linked := map[string]bool{}
		for _, c := range copiesOf(&g) {
			if c.follows && c.id != "" {
				linked[fmt.Sprint(c.path, " ", c.id, " in ", id)] = true
			}
		}
		want.Links = slices.AppendSeq(want.Links, maps.Keys(linked))
	}
	slices.Sort(want.Links)
	for _, l := range o.letters {
		why := "failed"
		switch {
		case l.behind:
			why = "behind"
		case l.missing != "":
			why = "waits for " + l.missing
		case l.overflow > 0:
			why = fmt.Sprint(l.overflow, " items")
		}
		want.Letters[strconv.Itoa(l.number)] = why
	}
	partitions, err := log.Partitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range partitions {
		head, err := log.Head(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if head > 0 {
			want.Checkpoints[p] = head
		}
	}
	return want
}

// settled is a standing without what hangs on when copies followed: the names of players who were renamed and are gone.
// In the commit of each change nothing does.
func (s standing) settled(mode gameMode) standing {
	if mode == inCommit {
		return s
	}
	s.Games = maps.Clone(s.Games)
	for id, g := range s.Games {
		g = cloneGame(&g)
		for _, c := range copiesOf(&g) {
			if _, there := s.People[c.id]; !there && *c.copy != nil && c.follows {
				(*c.copy).Name = ""
			}
		}
		s.Games[id] = g
	}
	return s
}

// loose is a standing without what hangs on the order of partitions: the names in copies that do not follow.
func (s standing) loose(mode gameMode) standing {
	s = s.settled(mode)
	s.Games = maps.Clone(s.Games)
	for id, g := range s.Games {
		g = cloneGame(&g)
		s.Games[id] = g
		for _, c := range copiesOf(&g) {
			if !c.follows && *c.copy != nil {
				(*c.copy).Name = ""
			}
		}
	}
	return s
}

func (s standing) diff(got standing) string { return cmp.Diff(s, got, cmpopts.EquateEmpty()) }
