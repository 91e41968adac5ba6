package projection_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
)

// gameCalls notes what a store of games is asked for about their table.
type gameCalls struct {
	mu      sync.Mutex
	batches [][]string // the keys of each Get
	ranges  []string   // the partition of each Query
	commits [][]string // what each Apply writes
}

func (c *gameCalls) get(g *driver.Get) {
	if g.Table.Name != "Games" {
		return
	}
	var batch []string
	for _, k := range g.Keys {
		batch = append(batch, shortKey(k))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches = append(c.batches, batch)
}

func (c *gameCalls) query(q *driver.Query) {
	if q.Table.Name != "Games" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ranges = append(c.ranges, strings.TrimPrefix(q.PK, gamePrefix))
}

func (c *gameCalls) apply(b *driver.Batch) {
	var commit []string
	for _, w := range b.Writes {
		commit = append(commit, shortKey(w.Row.Key))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Sort(commit); len(commit) > 0 {
		c.commits = append(c.commits, commit)
	}
}

func shortKey(k keys.Key) string {
	return strings.TrimPrefix(k.PK, gamePrefix) + "/" + strings.TrimPrefix(k.SK, gamePrefix)
}

// forget forgets what was noted so far.
func (c *gameCalls) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches, c.ranges, c.commits = nil, nil, nil
}

// want compares what was noted with what is to be, in any order.
func (c *gameCalls) want(t *testing.T, batches [][]string, ranges []string, commits [][]string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	sorted := []cmp.Option{cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b string) bool { return a < b })}
	if diff := cmp.Diff(batches, c.batches, sorted...); diff != "" {
		t.Errorf("batches of rows that are read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(ranges, c.ranges, sorted...); diff != "" {
		t.Errorf("ranges that are read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(commits, c.commits, sorted...); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
}

// wire counts the requests to an engine that are about the table of games, and in transactions what they write of it.
type wire struct {
	mu       sync.Mutex
	requests map[string]int // by operation; of BatchGetItem the keys are counted too, as "keys"
}

// between puts the wire between the stores of a test and the engine.
func (w *wire) between(t *testing.T, at dynamolocal.Endpoint) dynamolocal.Endpoint {
	t.Helper()
	to, err := url.Parse(at.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		_, operation, _ := strings.Cut(q.Header.Get("X-Amz-Target"), ".")
		w.note(operation, body)
		q.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(rw, q)
	}))
	t.Cleanup(server.Close)
	at.URL = server.URL
	return at
}

func (w *wire) note(operation string, body []byte) {
	type of struct{ TableName string }
	var request struct {
		of
		RequestItems  map[string]struct{ Keys []json.RawMessage }
		TransactItems []map[string]of
	}
	if err := json.Unmarshal(body, &request); err != nil {
		panic(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.requests == nil {
		w.requests = map[string]int{}
	}
	isGames := func(table string) bool { return strings.HasSuffix(table, "Games") }
	if isGames(request.TableName) {
		w.requests[operation]++
	}
	for table, batch := range request.RequestItems {
		if isGames(table) {
			w.requests[operation]++
			w.requests["keys"] += len(batch.Keys)
		}
	}
	some := false
	for _, item := range request.TransactItems {
		for kind, of := range item {
			if isGames(of.TableName) {
				w.requests[kind]++
				some = true
			}
		}
	}
	if some {
		w.requests[operation]++
	}
}

func (w *wire) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = nil
}

// countedGames is a game store whose calls are counted after some events.
type countedGames struct {
	*gameStore
	wire   *wire // nil where there is none
	events []eventlog.Event
	last   *gameProcess
}

// eachCountedStore runs a test on every store, on DynamoDB with the requests on the wire counted too.
func eachCountedStore(t *testing.T, test func(t *testing.T, s *countedGames)) {
	for _, s := range gameStores() {
		t.Run(s.name, func(t *testing.T) { test(t, &countedGames{gameStore: s}) })
	}
	t.Run("pebble", func(t *testing.T) { test(t, &countedGames{gameStore: pebbleGames(t)}) })
	for _, e := range dynamolocal.Engines() {
		t.Run("DynamoDB "+string(e), func(t *testing.T) {
			w := &wire{}
			at := w.between(t, dynamolocal.Start(t, e))
			at.Setenv(t)
			test(t, &countedGames{gameStore: dynamoGames(t, at.Prefix), wire: w})
		})
	}
}

// fold folds more events, in one window, and counts that alone.
func (s *countedGames) fold(t *testing.T, more ...eventlog.Event) {
	t.Helper()
	s.events = append(s.events, more...)
	p := s.process(t, logOf(t, s.events...), projection.RunnerConfig{})
	if err := p.LoadCheckpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.forget()
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.last = p
	letters, err := p.DeadLetters(t.Context(), "", 10)
	if err != nil || len(letters) > 0 {
		t.Fatalf("dead letters %+v, %v: want none", letters, err)
	}
}

func (s *countedGames) forget() {
	s.calls.forget()
	if s.wire != nil {
		s.wire.forget()
	}
}

// eleven are the identifiers of so many players.
func eleven() (ids []string, all []gameStep) {
	for i := range 11 {
		id := fmt.Sprintf("P%02d", i)
		ids, all = append(ids, id), append(all, person(id, "old"))
	}
	return ids, all
}

// gameOf is a game of a team of players at home.
func gameOf(id string, players ...string) gameStep {
	g := &Game{ID: id, Name: "Final", Season: "24"}
	for i, p := range players {
		g.Home.Players = append(g.Home.Players, Player{PersonID: p, Position: i})
	}
	return gameStep{Op: "set", ID: id, Game: g}
}

func TestAnAggregateReadIsOneRange(t *testing.T) {
	ids, people := eleven()
	eachCountedStore(t, func(t *testing.T, s *countedGames) {
		s.fold(t, gameEvent("", people...), gameEvent("", gameOf("g1", ids...)))
		key, err := querydb.KeyByIdentifier(gameModel, "g1")
		if err != nil {
			t.Fatal(err)
		}
		for _, consistent := range []bool{false, true} {
			s.forget()
			rows, err := s.last.db.Get(t.Context(), gameModel, []keys.Key{key}, consistent)
			if err != nil || len(rows[0].Items) != 14 {
				t.Fatalf("read %d items, %v: want the root, a side, a bench and eleven players", len(rows[0].Items), err)
			}
			s.calls.want(t, nil, []string{"game#g1"}, nil)
			if s.wire != nil {
				s.wire.wantReads(t, map[string]int{"Query": 1})
			}
		}
		var changes []eventlog.Event // in one window, which reads the game once
		for i := range 5 {
			changes = append(changes, gameEvent("",
				gameStep{Op: "update", ID: "g1", Changes: []gameChange{{What: "name", Text: fmt.Sprint(i)}}}))
		}
		s.fold(t, changes...)
		s.calls.want(t, nil, []string{"game#g1"}, [][]string{{"game#g1/gameitem"}})
	})
}

func TestAnEventThatChangesOnePlayerOfElevenWritesTwoItems(t *testing.T) {
	ids, people := eleven()
	eachCountedStore(t, func(t *testing.T, s *countedGames) {
		s.fold(t, gameEvent("", people...), gameEvent("", gameOf("g1", ids...)))
		other := gameOf("g1", ids...)
		other.Game.Home.Players[3].Position = 42 // the whole object is set, and one player of it differs
		s.fold(t, gameEvent("", other))
		s.calls.want(t, [][]string{personKeys(ids)}, []string{"game#g1"},
			[][]string{{"game#g1/gameitem", "game#g1/gameplayer#side#home#P03"}})
		if s.wire != nil {
			s.wire.wantWrites(t, 1, 2)
		}
		s.fold(t, gameEvent("", gameStep{Op: "update", ID: "g1", Changes: []gameChange{
			{What: "join", Person: "P05", Number: 43}}}))
		s.calls.want(t, nil, []string{"game#g1"},
			[][]string{{"game#g1/gameitem", "game#g1/gameplayer#side#home#P05"}})
		if s.wire != nil {
			s.wire.wantWrites(t, 1, 2)
		}
	})
}

// wantReads compares the requests that read rows, but for what the store itself reads one by one of its tables.
func (w *wire) wantReads(t *testing.T, want map[string]int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	got := map[string]int{}
	for _, operation := range []string{"BatchGetItem", "keys", "Query", "TransactGetItems", "Scan"} {
		if n := w.requests[operation]; n > 0 {
			got[operation] = n
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests to the engine (-want +got):\n%s", diff)
	}
}

// wantWrites compares how many transactions there were, and how many items of the table of games they wrote.
func (w *wire) wantWrites(t *testing.T, transactions, items int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.requests
	got := r["Put"] + r["Update"] + r["Delete"]
	if r["TransactWriteItems"] != transactions || got != items || r["PutItem"]+r["UpdateItem"]+r["DeleteItem"] > 0 {
		t.Errorf("requests to the engine: %v, want %d transactions that write %d items", r, transactions, items)
	}
}

func personKeys(ids []string) (all []string) {
	for _, id := range ids {
		all = append(all, "person#"+id+"/person")
	}
	return all
}

func TestACascadeReadsAndWritesOncePerTarget(t *testing.T) {
	ids, people := eleven()
	eachCountedStore(t, func(t *testing.T, s *countedGames) {
		events, ranges := []eventlog.Event{gameEvent("", people...)}, []string(nil)
		for i := range 9 { // who refer to others alone
			events = append(events, gameEvent("", gameOf(fmt.Sprint("other", i), ids[1:]...)))
		}
		commit := []string(nil)
		for i := range 5 {
			game := fmt.Sprint("target", i)
			events = append(events, gameEvent("", gameOf(game, ids[:4]...)))
			ranges = append(ranges, "game#"+game)
			commit = append(commit, "game#"+game+"/gameitem", "game#"+game+"/gameplayer#side#home#P00")
		}
		for _, e := range events { // one by one, so that each commit has room
			s.fold(t, e)
		}
		s.fold(t, gameEvent("", person("P00", "new")))
		p00 := []string{"person#P00/person"}
		s.calls.want(t, [][]string{p00, p00}, ranges, [][]string{p00, commit})
		if s.wire != nil {
			s.wire.wantWrites(t, 2, 1+len(commit))
		}
	})
}

func TestReferencesOfAWindowAreReadInOneBatch(t *testing.T) {
	ids, people := eleven()
	eachCountedStore(t, func(t *testing.T, s *countedGames) {
		s.fold(t, gameEvent("", people...))
		s.fold(t, gameEvent("", gameOf("g1", ids[:5]...)), gameEvent("", gameOf("g2", ids[3:]...)),
			gameEvent("", gameOf("g1", ids[1:6]...)))
		s.calls.mu.Lock()
		batches, ranges := s.calls.batches, s.calls.ranges
		s.calls.mu.Unlock()
		sorted := []cmp.Option{cmpopts.SortSlices(func(a, b string) bool { return a < b })}
		if diff := cmp.Diff([][]string{personKeys(ids)}, batches, sorted...); diff != "" {
			t.Errorf("batches of rows that are read (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"game#g1", "game#g2"}, ranges, sorted...); diff != "" {
			t.Errorf("ranges that are read (-want +got):\n%s", diff)
		}
		if s.wire != nil {
			s.wire.wantReads(t, map[string]int{"BatchGetItem": 1, "keys": 11, "Query": 2})
		}
	})
}
