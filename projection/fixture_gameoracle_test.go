package projection_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/foldql/foldql/eventlog"
)

// gameOracle folds events of games and persons one by one, as the documents say, with maps.
type gameOracle struct {
	limit   int // items that a game may have, and an event change of one
	mode    gameMode
	people  map[string]string
	games   map[string]Game
	letters []*gameLetter // in order
}

// gameLetter is an event that cannot be folded.
type gameLetter struct {
	number   int // of the event, from 1
	steps    []gameStep
	subject  string
	missing  string // the person that it waits for
	overflow int    // items, where they are too many
	behind   bool   // it waits for another of its subject
	woken    bool
}

func newGameOracle(limit int, mode gameMode) *gameOracle {
	return &gameOracle{limit: limit, mode: mode, people: map[string]string{}, games: map[string]Game{}}
}

// refusal is why an event cannot be folded: a person who is not there, too many items, or neither, for good.
type refusal struct {
	missing  string
	overflow int
}

func (o *gameOracle) fold(events []eventlog.Event) {
	for i, e := range events {
		l := &gameLetter{number: i + 1, subject: e.Subject}
		if err := json.Unmarshal(e.Data, &l.steps); err != nil {
			panic(err)
		}
		l.behind = e.Subject != "" && slices.ContainsFunc(o.letters, func(h *gameLetter) bool {
			return h.subject == e.Subject
		})
		if l.behind || !o.try(l) {
			o.letters = append(o.letters, l)
		}
		o.release()
	}
	o.follow()
}

// try folds an event, and wakes those that wait for the persons it brings.
func (o *gameOracle) try(l *gameLetter) bool {
	no := o.apply(l.steps)
	l.missing, l.overflow = "", 0
	if no != nil {
		l.missing, l.overflow = no.missing, no.overflow
		return false
	}
	for _, s := range l.steps {
		if _, there := o.people[s.ID]; there && s.Op == "person" {
			for _, w := range o.letters {
				w.woken = w.woken || w.missing == s.ID
			}
		}
	}
	return true
}

// release folds the events whose person has come, and is still there when it is their turn, and those of their subjects
// behind them.
func (o *gameOracle) release() {
	for {
		i := slices.IndexFunc(o.letters, func(l *gameLetter) bool { return l.woken })
		if i < 0 {
			return
		}
		l := o.letters[i]
		l.woken = false
		if _, there := o.people[l.missing]; !there || !o.try(l) {
			continue
		}
		o.letters = slices.Delete(o.letters, i, i+1)
		o.goOn(l.subject)
	}
}

// goOn folds the events of a subject of which none is a dead letter any more but by those before it.
func (o *gameOracle) goOn(subject string) {
	for subject != "" {
		i := slices.IndexFunc(o.letters, func(l *gameLetter) bool { return l.subject == subject })
		if i < 0 {
			return
		}
		l := o.letters[i]
		if l.behind = false; !o.try(l) {
			return
		}
		o.letters = slices.Delete(o.letters, i, i+1)
	}
}

// follow has the copies follow that do.
func (o *gameOracle) follow() {
	for id, g := range o.games {
		g = cloneGame(&g)
		for _, c := range copiesOf(&g) {
			name, there := o.people[c.id]
			switch {
			case there && c.follows:
				*c.copy = &PersonCopy{c.id, name}
			case !there && c.nullable:
				*c.copy = nil
			}
		}
		o.games[id] = g
	}
}

// heldCopy is a copy in a game, and how it behaves.
type heldCopy struct {
	path              string
	follows, nullable bool
	place
}

// copiesOf are the copies in a game, in the order in which they are filled in.
func copiesOf(g *Game) []heldCopy {
	all := []heldCopy{{"coach", true, true, place{g.CoachID, &g.Coach}}}
	add := func(path string, follows bool, places []place) {
		for _, p := range places {
			all = append(all, heldCopy{path, follows, false, p})
		}
	}
	add("home.players.person", true, g.Home.places())
	add("home.bench.subs.person", false, g.Home.Bench.places())
	if g.Away != nil {
		add("away.players.person", true, g.Away.places())
		add("away.bench.subs.person", false, g.Away.Bench.places())
	}
	return all
}

// write replaces a game. Unless it is written anew it keeps the copies of the persons whom it referred to already.
func write(was, g Game, anew bool, unfilled map[string]bool) (Game, map[string]bool) {
	g = cloneGame(&g)
	now := map[string]bool{}
	for _, c := range copiesOf(&g) {
		*c.copy = nil
		if c.id == "" {
			continue
		}
		name := c.path + " " + c.id
		at := slices.IndexFunc(copiesOf(&was), func(h heldCopy) bool { return h.path == c.path && h.id == c.id })
		if anew || at < 0 || unfilled[name] {
			now[name] = true
		} else {
			*c.copy = *copiesOf(&was)[at].copy
		}
	}
	return g, now
}

// apply folds the steps of an event, all or none.
func (o *gameOracle) apply(steps []gameStep) *refusal {
	people, games := maps.Clone(o.people), maps.Clone(o.games)
	unfilled := map[string]map[string]bool{} // by game
	gone := map[string]bool{}                // people whom the event deletes
	var touched []string
	for _, s := range steps {
		was, there := games[s.ID]
		switch s.Op {
		case "person":
			people[s.ID] = s.Text
			delete(gone, s.ID)
			continue
		case "noperson":
			delete(people, s.ID)
			gone[s.ID] = true
			continue
		case "create":
			if there {
				continue
			}
		case "update":
			if !there {
				return &refusal{}
			}
		}
		if !slices.Contains(touched, s.ID) {
			touched = append(touched, s.ID)
		}
		if s.Op == "delete" {
			delete(games, s.ID)
			delete(unfilled, s.ID)
			continue
		}
		now, anew := was, !there || s.Op == "set"
		if anew {
			now = *s.Game
		}
		now = cloneGame(&now)
		if s.Op == "update" || s.Op == "upsert" {
			for i := range s.Changes {
				s.Changes[i].to(&now)
			}
		}
		games[s.ID], unfilled[s.ID] = write(was, now, anew, unfilled[s.ID])
	}
	for _, id := range touched {
		g, there := games[id]
		if !there {
			continue
		}
		if no := fill(&g, people, gone, unfilled[id]); no != nil {
			return no
		}
	}
	for _, id := range touched {
		was, g := o.games[id], games[id]
		if err := g.sort(); err != nil {
			return &refusal{}
		}
		if _, there := games[id]; there {
			games[id] = g
		}
		if n := max(len(itemsOf(&g)), changesOf(&was, &g)); n > o.limit {
			return &refusal{overflow: n}
		}
	}
	o.people, o.games = people, games
	if o.mode == inCommit {
		o.follow()
	}
	return nil
}

// fill fills in copies of persons.
func fill(g *Game, people map[string]string, gone, unfilled map[string]bool) *refusal {
	for _, c := range copiesOf(g) {
		if c.id == "" && !c.nullable {
			return &refusal{}
		}
	}
	for _, c := range copiesOf(g) {
		name, there := people[c.id]
		switch {
		case !unfilled[c.path+" "+c.id] || !there && c.nullable:
		case there:
			*c.copy = &PersonCopy{c.id, name}
		case gone[c.id]:
			return &refusal{}
		default:
			return &refusal{missing: c.id}
		}
	}
	return nil
}

// sort puts lists in order. It fails where two elements have one key.
func (r *Game) sort() error {
	for _, s := range []*Side{&r.Home, r.away()} {
		slices.SortFunc(s.Players, func(a, b Player) int {
			if a.Position != b.Position {
				return a.Position - b.Position
			}
			return compareText(a.PersonID, b.PersonID)
		})
		slices.SortFunc(s.Bench.Subs, func(a, b Sub) int { return a.Number - b.Number })
		seen := map[string]bool{}
		for _, p := range s.Players {
			if seen[p.PersonID] {
				return fmt.Errorf("%s plays twice", p.PersonID)
			}
			seen[p.PersonID] = true
		}
		for i := 1; i < len(s.Bench.Subs); i++ {
			if s.Bench.Subs[i].Number == s.Bench.Subs[i-1].Number {
				return fmt.Errorf("number %d is there twice", s.Bench.Subs[i].Number)
			}
		}
	}
	return nil
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// itemsOf are the items of a game by their sort keys, each with what it says but for what it copies; none of no game.
func itemsOf(g *Game) map[string]string {
	items := map[string]string{}
	if g.ID == "" {
		return items
	}
	add := func(key, says string, values ...any) {
		items[gamePrefix+key] = fmt.Sprintf(says, values...) + " in " + g.Season
	}
	add("gameitem", "%s %s", g.Name, g.CoachID)
	if g.CoachID != "" { // there is room for it also while the coach is not there
		add("gamecoach", "%s", g.CoachID)
	}
	for which, s := range map[string]*Side{"home": &g.Home, "away": g.Away} {
		if s == nil {
			continue
		}
		which = "#side#" + which
		add("gameside"+which, "%s", s.Town)
		add("gamebench"+which+"#place#bench", "%s", s.Bench.Note)
		for _, p := range s.Players {
			add("gameplayer"+which+"#"+p.PersonID, "%d", p.Position)
		}
		for _, sub := range s.Bench.Subs {
			add(fmt.Sprintf("gamesub%s#place#bench#%016d", which, sub.Number), "%s", sub.PersonID)
		}
	}
	return items
}

// changesOf is how many items are written to turn one game into another, or into none: the root always.
func changesOf(was, g *Game) int {
	before, now, n := itemsOf(was), itemsOf(g), 1
	for key, says := range before {
		if key != gamePrefix+"gameitem" && now[key] != says {
			n++
		}
	}
	for key := range now {
		if _, there := before[key]; key != gamePrefix+"gameitem" && !there {
			n++
		}
	}
	return n
}
