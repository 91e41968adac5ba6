package projection_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

// gameStep is one op that an event asks for.
type gameStep struct {
	Op      string       `json:"op"` // person, noperson; set, create, update, upsert, delete
	ID      string       `json:"id"`
	Text    string       `json:"text,omitempty"` // the name of a person
	Game    *Game        `json:"game,omitempty"` // of set, create, upsert
	Changes []gameChange `json:"changes,omitempty"`

	Cascade   *projection.Cascade `json:"cascade,omitempty"` // of a person
	NoCascade bool                `json:"noCascade,omitempty"`
}

// gameChange is one thing that an Update does to a game.
type gameChange struct {
	What   string `json:"what"` // name, season, coach, away, noaway, note; join, leave, cross; sub, unsub, clear, fill
	Away   bool   `json:"away,omitempty"`
	Person string `json:"person,omitempty"`
	Number int    `json:"number,omitempty"`
	Text   string `json:"text,omitempty"`
}

// to makes the change: plain code of a user.
func (c *gameChange) to(g *Game) {
	side, other := &g.Home, g.Away
	if c.Away && g.Away != nil {
		side, other = g.Away, &g.Home
	}
	is := func(p Player) bool { return p.PersonID == c.Person }
	numbered := func(s Sub) bool { return s.Number == c.Number }
	switch c.What {
	case "name":
		g.Name = c.Text
	case "season":
		g.Season = c.Text
	case "coach":
		g.CoachID = c.Person
	case "away":
		g.Away = &Side{Town: c.Text}
	case "noaway":
		g.Away = nil
	case "note":
		side.Bench.Note += c.Text
	case "join":
		side.Players = append(slices.DeleteFunc(side.Players, is), Player{PersonID: c.Person, Position: c.Number})
	case "twice":
		side.Players = append(side.Players, Player{PersonID: c.Person, Position: c.Number})
	case "leave":
		side.Players = slices.DeleteFunc(side.Players, is)
	case "cross":
		if i := slices.IndexFunc(side.Players, is); i >= 0 && other != nil && !slices.ContainsFunc(other.Players, is) {
			other.Players = append(other.Players, side.Players[i])
			side.Players = slices.Delete(side.Players, i, i+1)
		}
	case "sub":
		side.Bench.Subs = append(slices.DeleteFunc(side.Bench.Subs, numbered), Sub{Number: c.Number, PersonID: c.Person})
	case "unsub":
		side.Bench.Subs = slices.DeleteFunc(side.Bench.Subs, numbered)
	case "clear":
		side.Bench.Subs = nil
	case "fill": // the numbers from Number on, as many as Text has characters
		for i := range c.Text {
			side.Bench.Subs = append(side.Bench.Subs, Sub{Number: c.Number + i, PersonID: c.Person})
		}
	}
}

func (s *gameStep) change(g *Game) {
	if g.Coach != nil || slices.ContainsFunc(g.places(), func(p place) bool { return *p.copy != nil }) {
		seenCopies++
	}
	for i := range s.Changes {
		s.Changes[i].to(g)
	}
}

// places are all but that of the coach.
func (r *Game) places() []place {
	away := r.away()
	return slices.Concat(r.Home.places(), r.Home.Bench.places(), away.places(), away.Bench.places())
}

func (s *gameStep) op(gameOps *projection.AggregateOps[Game, string]) projection.Op {
	switch s.Op {
	case "person":
		return s.cascading(personOps.Set(Person{s.ID, s.Text}))
	case "noperson":
		return s.cascading(personOps.Delete(s.ID))
	case "set":
		return gameOps.Set(*s.Game)
	case "create":
		return gameOps.Create(*s.Game)
	case "update":
		return gameOps.Update(s.ID, s.change)
	case "upsert":
		return gameOps.Upsert(s.ID, *s.Game, s.change)
	}
	return gameOps.Delete(s.ID)
}

// cascading is the op of a person with the cascade that the event asks for.
func (s *gameStep) cascading(op projection.RowOp) projection.Op {
	switch {
	case s.Cascade != nil:
		return op.Cascade(*s.Cascade)
	case s.NoCascade:
		return op.NoCascade()
	}
	return op
}

// gameProjection is the projection of games and persons.
func gameProjection(mode gameMode) projection.Projection {
	gameOps := mode.ops()
	project := func(e *eventlog.Event, _ projection.Meta) (ops []projection.Op, err error) {
		var steps []gameStep
		err = json.Unmarshal(e.Data, &steps)
		for i := range steps {
			ops = append(ops, steps[i].op(gameOps))
		}
		return ops, err
	}
	return projection.Group([]projection.Projection{
		projection.NewAggregate(gameOps, projection.Projection{Name: "games", Events: []string{"Game"}, Project: project}),
		projection.New(personOps, projection.Projection{Name: "people", Events: []string{"Person"}, Project: project}),
	})[0]
}

// gameEvent is an event of games and persons.
func gameEvent(subject string, steps ...gameStep) eventlog.Event {
	typ := "Person"
	if slices.ContainsFunc(steps, func(s gameStep) bool { return s.Op != "person" && s.Op != "noperson" }) {
		typ = "Game"
	}
	data, err := json.Marshal(steps)
	if err != nil {
		panic(err)
	}
	return eventlog.Event{Source: "/test", Type: typ, Subject: subject, Data: data}
}

// gameDraw says what games and persons are drawn of.
type gameDraw struct {
	games, people, coaches []string
	apart                  bool // each event has a subject of its own game or person, and no people are deleted
	subjects               []string
}

func (d *gameDraw) person(t *rapid.T) string {
	if rapid.IntRange(0, 30).Draw(t, "unset") == 0 {
		return ""
	}
	return rapid.SampledFrom(d.people).Draw(t, "person")
}

func (d *gameDraw) coach(t *rapid.T) string {
	return rapid.SampledFrom(append([]string{""}, d.coaches...)).Draw(t, "coach")
}

func (d *gameDraw) side(t *rapid.T) Side {
	s := Side{Town: rapid.SampledFrom([]string{"Bern", "Rome"}).Draw(t, "town")}
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(d.people), 0, 4, rapid.ID).Draw(t, "players") {
		s.Players = append(s.Players, Player{PersonID: id, Position: rapid.IntRange(0, 3).Draw(t, "position")})
	}
	for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(1, 6), 0, 3, rapid.ID).Draw(t, "numbers") {
		s.Bench.Subs = append(s.Bench.Subs, Sub{Number: n, PersonID: rapid.SampledFrom(d.people).Draw(t, "sub")})
	}
	return s
}

func (d *gameDraw) game(t *rapid.T, id string) *Game {
	g := &Game{ID: id, Name: rapid.SampledFrom([]string{"Final", "Semi"}).Draw(t, "name"),
		Season: rapid.SampledFrom([]string{"24", "25"}).Draw(t, "season"), CoachID: d.coach(t), Home: d.side(t)}
	if rapid.Bool().Draw(t, "away") {
		g.Away = new(d.side(t))
	}
	return g
}

func (d *gameDraw) change(t *rapid.T) gameChange {
	c := gameChange{
		What: rapid.SampledFrom([]string{"join", "join", "join", "leave", "leave", "cross", "sub", "sub", "unsub",
			"clear", "fill", "name", "season", "coach", "away", "noaway", "note", "twice"}).Draw(t, "what"),
		Away:   rapid.Bool().Draw(t, "of away"),
		Number: rapid.IntRange(1, 6).Draw(t, "number"),
		Text:   rapid.SampledFrom([]string{"a", "bb", "cccc"}).Draw(t, "text"),
	}
	if c.What == "coach" {
		c.Person = d.coach(t)
	} else {
		c.Person = d.person(t)
	}
	return c
}

func (d *gameDraw) step(t *rapid.T, game string, n int) gameStep {
	s := gameStep{ID: game, Op: rapid.SampledFrom([]string{"person", "person", "noperson", "set", "set", "create",
		"upsert", "update", "update", "update", "update", "delete"}).Draw(t, "op")}
	switch s.Op {
	case "person":
		all := append(slices.Clone(d.people), d.coaches...)
		s.ID, s.Text = rapid.SampledFrom(all).Draw(t, "id"), fmt.Sprint("name ", n)
	case "noperson":
		all := d.coaches
		if !d.apart {
			all = append(slices.Clone(d.people), d.coaches...)
		}
		s.ID = rapid.SampledFrom(all).Draw(t, "id")
	case "set", "create", "upsert":
		s.Game = d.game(t, game)
	}
	if s.Op == "update" || s.Op == "upsert" {
		s.Changes = rapid.SliceOfN(rapid.Custom(d.change), 1, 3).Draw(t, "changes")
	}
	return s
}

// events draws events of any steps.
func (d *gameDraw) events(t *rapid.T, most int) []eventlog.Event {
	events := make([]eventlog.Event, rapid.IntRange(1, most).Draw(t, "events"))
	for i := range events {
		var steps []gameStep
		for range rapid.IntRange(1, 3).Draw(t, "steps") {
			steps = append(steps, d.step(t, rapid.SampledFrom(d.games).Draw(t, "game"), i))
		}
		events[i] = gameEvent(rapid.SampledFrom(append([]string{""}, d.subjects...)).Draw(t, "subject"), steps...)
	}
	return events
}
