package projection_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// An aggregate and the model of the rows that it refers to, written by hand as the generator would write them. A game
// has a coach, who may be missing, and one side or two; a side has players, and in a part of its own, its bench, those
// who may replace them. Copies of the coach and of players follow, and those of who is on the bench do not.

// Person is a row that is copied.
type Person struct{ ID, Name string }

// PersonCopy is what a Game holds of a Person.
type PersonCopy struct{ ID, Name string }

// Game is an aggregate.
type Game struct {
	ID, Name, Season string
	CoachID          string // "" for none
	Coach            *PersonCopy
	Home             Side
	Away             *Side
}

// Side is a sub-aggregate.
type Side struct {
	Town    string
	Bench   Bench
	Players []Player // by Position
}

// Bench is a sub-aggregate of a sub-aggregate.
type Bench struct {
	Note string
	Subs []Sub // by Number, which is their key
}

// Player is an element whose key is the identifier of the person.
type Player struct {
	PersonID string
	Person   *PersonCopy
	Position int
}

// Sub is an element with a key of its own.
type Sub struct {
	Number   int
	PersonID string
	Person   *PersonCopy
}

// gameMode is when the copies of coaches and players follow.
type gameMode int

const (
	afterCommit gameMode = iota
	inCommit
	onRequest
)

func (m gameMode) String() string {
	return [...]string{"after the commit", "in the commit", "on request"}[m]
}

// ops are those of games whose copies follow so.
func (m gameMode) ops() *projection.AggregateOps[Game, string] {
	codec, ops := *gameCodec, *gameOps
	refs := slices.Clone(gameCodec.References.(querydb.ReferencesOf[Game]))
	codec.References = refs
	for i := range refs {
		ref := &refs[i]
		ref.Transactional = ref.Cascade && m == inCommit
		ref.OnRequest = ref.Cascade && m == onRequest
		ref.Cascade = ref.Cascade && m != onRequest
	}
	ops.Codec = &codec
	return &ops
}

const gamePrefix = "$games#v1#"

// gameTable is the table that both models share.
var gameTable = &querydb.SharedTable{
	Name: "Games", KeyNames: driver.KeyNames{PK: "pk", SK: "sk", Kind: "__edd_e__"},
	Indexes: []querydb.SharedIndex{
		{Name: "gsi1", AlwaysSorted: true, KeyNames: driver.KeyNames{PK: "gsi1pk", SK: "gsi1sk"}},
	},
}

func gameKey(head string, field string, kind keys.Kind) keys.Layout {
	l := keys.Layout{Head: gamePrefix + head}
	if field != "" {
		l.Sep, l.Segments = "#", []keys.Segment{{Field: field, Kind: kind}}
	}
	return l
}

var (
	fieldsOfPerson = []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"}}
	fieldsOfPlayer = []driver.Field{{Name: "personId", Scalar: "ID"},
		{Name: "person", Object: fieldsOfPerson, Nullable: true}, {Name: "position", Scalar: "Int"}}
	fieldsOfSub = []driver.Field{{Name: "number", Scalar: "Int"}, {Name: "personId", Scalar: "ID"},
		{Name: "person", Object: fieldsOfPerson, Nullable: true}}
	fieldsOfBench = []driver.Field{{Name: "note", Scalar: "String"}, {Name: "subs", Object: fieldsOfSub, List: true}}
	fieldsOfSide  = []driver.Field{{Name: "town", Scalar: "String"}, {Name: "bench", Object: fieldsOfBench},
		{Name: "players", Object: fieldsOfPlayer, List: true}}
	fieldsOfGame = []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"},
		{Name: "season", Scalar: "String"}, {Name: "coachId", Scalar: "ID", Nullable: true},
		{Name: "coach", Object: fieldsOfPerson, Nullable: true}, {Name: "home", Object: fieldsOfSide},
		{Name: "away", Object: fieldsOfSide, Nullable: true}}
)

// gameNode is a part whose items hold own fields of its object, constants by their names, and the season.
func gameNode(n aggregate.Node, constants ...string) *aggregate.Node {
	for _, f := range n.Own {
		n.Fields = append(n.Fields, n.Object[f])
	}
	for i := 0; i < len(constants); i += 2 {
		n.Constants = append(n.Constants, aggregate.Constant{Field: len(n.Fields), JSON: constants[i+1]})
		n.Fields = append(n.Fields, driver.Field{Name: constants[i], Scalar: "String"})
	}
	n.Context = []aggregate.Context{{Field: len(n.Fields), Of: 2}}
	n.Fields = append(n.Fields, driver.Field{Name: "season", Scalar: "String"})
	return &n
}

func sideNode(side string) *aggregate.Node {
	which, text := "#side#"+side, `"`+side+`"`
	subs := gameNode(aggregate.Node{Name: side + ".bench.subs", Kind: "GameSub",
		SK: gameKey("gamesub"+which+"#place#bench", "number", keys.KindInt), SKFields: []int{0},
		Object: fieldsOfSub, Own: []int{0, 1, 2}, Copies: []aggregate.Copy{{ID: 1, Copy: 2}}},
		"side", text, "place", `"bench"`)
	bench := gameNode(aggregate.Node{Name: side + ".bench", Kind: "GameBench",
		SK: gameKey("gamebench"+which+"#place#bench", "", 0), Object: fieldsOfBench, Own: []int{0},
		Children: []aggregate.Child{{Node: subs, Field: 1, Many: true, ID: -1, Identifier: -1, OrderBy: -1}}},
		"side", text, "place", `"bench"`)
	players := gameNode(aggregate.Node{Name: side + ".players", Kind: "GamePlayer",
		SK: gameKey("gameplayer"+which, "personId", keys.KindString), SKFields: []int{0},
		Object: fieldsOfPlayer, Own: []int{0, 1, 2}, Copies: []aggregate.Copy{{ID: 0, Copy: 1}}}, "side", text)
	return gameNode(aggregate.Node{Name: side, Kind: "GameSide", SK: gameKey("gameside"+which, "", 0),
		Object: fieldsOfSide, Own: []int{0}, Children: []aggregate.Child{
			{Node: bench, Field: 1, ID: -1, Identifier: -1, OrderBy: -1},
			{Node: players, Field: 2, Many: true, ID: -1, Identifier: -1, OrderBy: 2},
		}}, "side", text)
}

var gameShape = &aggregate.Shape{Root: &aggregate.Node{
	Kind: "GameItem", SK: gameKey("gameitem", "", 0), Object: fieldsOfGame, Fields: fieldsOfGame[:4],
	Own: []int{0, 1, 2, 3},
	Children: []aggregate.Child{
		{Node: gameNode(aggregate.Node{Name: "coach", Kind: "GameCoach", SK: gameKey("gamecoach", "", 0),
			Object: fieldsOfPerson, Own: []int{0, 1}}), Field: 4, Optional: true, ID: 3, OrderBy: -1},
		{Node: sideNode("home"), Field: 5, ID: -1, Identifier: -1, OrderBy: -1},
		{Node: sideNode("away"), Field: 6, Optional: true, ID: -1, Identifier: -1, OrderBy: -1},
	},
}}

var gameModel = &querydb.Model{
	Name: "Game", Table: "Games", Version: "1", Fields: fieldsOfGame, TTL: -1, CreatedAt: -1, UpdatedAt: -1,
	PK: querydb.Half{Layout: gameKey("game", "id", keys.KindString), Fields: []int{0}},
	SK: querydb.Half{Layout: gameKey("gameitem", "", 0)},
	Indexes: []querydb.Index{{Name: "bySeason",
		PK: querydb.Half{Layout: gameKey("games", "season", keys.KindString), Fields: []int{2}},
		SK: querydb.Half{Layout: gameKey("games", "name", keys.KindString), Fields: []int{1}}}},
	Entity:    &querydb.Entity{Table: gameTable, Kind: "GameItem", PhysicalIndexes: []int{0}},
	Aggregate: gameShape,
}

var personModel = &querydb.Model{
	Name: "Person", Table: "Games", Version: "1", Fields: fieldsOfPerson, TTL: -1, CreatedAt: -1, UpdatedAt: -1,
	PK:     querydb.Half{Layout: gameKey("person", "id", keys.KindString), Fields: []int{0}},
	SK:     querydb.Half{Layout: gameKey("person", "", 0)},
	Entity: &querydb.Entity{Table: gameTable, Kind: "Person"},
}

var personCodec = &querydb.Codec[Person]{
	Model:  personModel,
	Encode: func(b *record.Builder, r *Person) { b.String(r.ID); b.String(r.Name) },
	Decode: func(rec record.Record, r *Person) error {
		r.ID, _ = record.String(rec.JSON(0))
		r.Name, _ = record.String(rec.JSON(1))
		return nil
	},
	Value:   func(r *Person, f int) keys.Value { return keys.String([...]string{r.ID, r.Name}[f]) },
	Clone:   func(r *Person) Person { return *r },
	Time:    func(*Person, int) time.Time { return time.Time{} },
	SetTime: func(*Person, int, time.Time) {},
}

var gameCodec = &querydb.Codec[Game]{
	Model: gameModel, Encode: encodeGame, Decode: decodeGame, Clone: cloneGame,
	Value: func(r *Game, f int) keys.Value {
		if f == 3 && r.CoachID == "" || f > 3 {
			return keys.Value{}
		}
		return keys.String([...]string{r.ID, r.Name, r.Season, r.CoachID}[f])
	},
	Time:    func(*Game, int) time.Time { return time.Time{} },
	SetTime: func(*Game, int, time.Time) {},
	References: querydb.ReferencesOf[Game]{
		gameReference("coach", func(r *Game) []place { return []place{{r.CoachID, &r.Coach}} }),
		gameReference("home.players.person", func(r *Game) []place { return r.Home.places() }),
		gameReference("home.bench.subs.person", func(r *Game) []place { return r.Home.Bench.places() }),
		gameReference("away.players.person", func(r *Game) []place { return r.away().places() }),
		gameReference("away.bench.subs.person", func(r *Game) []place { return r.away().Bench.places() }),
	},
}

// place is where a game holds a copy.
type place struct {
	id   string
	copy **PersonCopy
}

func (r *Game) away() *Side {
	if r.Away == nil {
		return &Side{}
	}
	return r.Away
}

func (s *Side) places() (all []place) {
	for i := range s.Players {
		all = append(all, place{s.Players[i].PersonID, &s.Players[i].Person})
	}
	return all
}

func (b *Bench) places() (all []place) {
	for i := range b.Subs {
		all = append(all, place{b.Subs[i].PersonID, &b.Subs[i].Person})
	}
	return all
}

// gameReference is a reference of the path: of the coach, who may be missing, of players, or of who is on a bench.
func gameReference(path string, places func(*Game) []place) querydb.Reference[Game] {
	ref := querydb.Reference[Game]{
		Path: path, Field: -1, ID: -1, Source: personModel,
		Count:      func(r *Game) int { return len(places(r)) },
		Identifier: func(r *Game, i int) string { return places(r)[i].id },
		Fill: func(r *Game, i int, source any) {
			to := places(r)[i].copy
			*to = nil
			if p, ok := source.(*Person); ok {
				*to = &PersonCopy{p.ID, p.Name}
			}
		},
		Keep: func(r *Game, i int, from *Game, j int) {
			*places(r)[i].copy = *places(from)[j].copy
		},
		Filled: func(r *Game, i int) bool { return *places(r)[i].copy != nil },
	}
	switch path {
	case "coach":
		ref.Field, ref.ID, ref.Count = 4, 3, nil
		ref.Cascade, ref.NullIfMissing = true, true
	case "home.players.person", "away.players.person":
		ref.Cascade, ref.Required = true, true
	default:
		ref.Required = true
	}
	return ref
}

func encodeGame(b *record.Builder, r *Game) {
	b.String(r.ID)
	b.String(r.Name)
	b.String(r.Season)
	if r.CoachID == "" {
		b.Null()
	} else {
		b.String(r.CoachID)
	}
	encodePersonCopy(b, r.Coach)
	encodeSide(b, &r.Home)
	if r.Away == nil {
		b.Null()
	} else {
		encodeSide(b, r.Away)
	}
}

func encodePersonCopy(b *record.Builder, c *PersonCopy) {
	if c == nil {
		b.Null()
		return
	}
	b.BeginObject()
	b.String(c.ID)
	b.String(c.Name)
	b.EndObject()
}

func encodeSide(b *record.Builder, s *Side) {
	b.BeginObject()
	b.String(s.Town)
	b.BeginObject()
	b.String(s.Bench.Note)
	b.BeginList()
	for _, sub := range s.Bench.Subs {
		b.BeginObject()
		b.Int(sub.Number)
		b.String(sub.PersonID)
		encodePersonCopy(b, sub.Person)
		b.EndObject()
	}
	b.EndList()
	b.EndObject()
	b.BeginList()
	for _, p := range s.Players {
		b.BeginObject()
		b.String(p.PersonID)
		encodePersonCopy(b, p.Person)
		b.Int(p.Position)
		b.EndObject()
	}
	b.EndList()
	b.EndObject()
}

func decodeGame(rec record.Record, r *Game) error {
	*r = Game{Home: decodeSide(rec.JSON(5)), Coach: decodePersonCopy(rec.JSON(4))}
	for i, to := range []*string{&r.ID, &r.Name, &r.Season, &r.CoachID} {
		*to, _ = record.String(rec.JSON(i))
	}
	if text := rec.JSON(6); text != nil {
		r.Away = new(decodeSide(text))
	}
	if rec.Len() != 7 {
		return fmt.Errorf("record of Game has %d fields", rec.Len())
	}
	return nil
}

func decodePersonCopy(text []byte) *PersonCopy {
	var fields [2][]byte
	if text == nil || !record.Object(text, fields[:]) {
		return nil
	}
	c := &PersonCopy{}
	c.ID, _ = record.String(fields[0])
	c.Name, _ = record.String(fields[1])
	return c
}

func decodeSide(text []byte) (s Side) {
	var side [3][]byte
	var bench [2][]byte
	if !record.Object(text, side[:]) || !record.Object(side[1], bench[:]) {
		panic(fmt.Sprintf("a side is %s", text))
	}
	s.Town, _ = record.String(side[0])
	s.Bench.Note, _ = record.String(bench[0])
	record.List(bench[1], func(elem []byte) bool {
		var f [3][]byte
		ok := record.Object(elem, f[:])
		sub := Sub{Person: decodePersonCopy(f[2])}
		sub.Number, _ = record.Int(f[0])
		sub.PersonID, _ = record.String(f[1])
		s.Bench.Subs = append(s.Bench.Subs, sub)
		return ok
	})
	record.List(side[2], func(elem []byte) bool {
		var f [3][]byte
		ok := record.Object(elem, f[:])
		p := Player{Person: decodePersonCopy(f[1])}
		p.PersonID, _ = record.String(f[0])
		p.Position, _ = record.Int(f[2])
		s.Players = append(s.Players, p)
		return ok
	})
	return s
}

func cloneGame(r *Game) Game {
	c := *r
	c.Coach = pointer(r.Coach)
	c.Home = cloneSide(&r.Home)
	if r.Away != nil {
		c.Away = new(cloneSide(r.Away))
	}
	return c
}

func cloneSide(s *Side) Side {
	c := *s
	c.Players, c.Bench.Subs = slices.Clone(s.Players), slices.Clone(s.Bench.Subs)
	for i := range c.Players {
		c.Players[i].Person = pointer(c.Players[i].Person)
	}
	for i := range c.Bench.Subs {
		c.Bench.Subs[i].Person = pointer(c.Bench.Subs[i].Person)
	}
	return c
}

var personOps = &projection.Ops[Person, string, string]{
	Codec:        personCodec,
	Key:          func(id string) (keys.Key, error) { return querydb.KeyByIdentifier(personModel, id) },
	Partition:    func(id string) (string, error) { return personModel.PK.Layout.Compose(keys.String(id)) },
	SetKeyFields: func(r *Person, id string) { r.ID = id },
}

var gameOps = &projection.AggregateOps[Game, string]{
	Codec:        gameCodec,
	Key:          func(id string) (keys.Key, error) { return querydb.KeyByIdentifier(gameModel, id) },
	SetKeyFields: func(r *Game, id string) { r.ID = id },
}
