package projection_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/projection"
)

type refOracle struct {
	mode    refMode
	clubs   map[string]Club
	picks   map[string]Pick
	waiting []waitingEvent // in order
	failed  int            // events that cannot be folded, whatever comes
}

type waitingEvent struct {
	ops   []ref
	club  string
	woken bool // the club has come
}

func newRefOracle(mode refMode) *refOracle {
	return &refOracle{mode: mode, clubs: map[string]Club{}, picks: map[string]Pick{}}
}

func (o *refOracle) fold(events []eventlog.Event) {
	for _, e := range events {
		var ops []ref
		if err := json.Unmarshal(e.Data, &ops); err != nil {
			panic(err)
		}
		o.take(ops)
	}
	for id, p := range o.picks {
		c, there := o.clubs[p.ClubID]
		switch {
		case there && (o.mode.cascade || o.mode.nullIfMissing && p.Club == nil):
			p.Club = &ClubCopy{c.ID, c.Name}
		case !there && o.mode.nullIfMissing:
			p.Club = nil
		}
		o.picks[id] = p
	}
}

// take folds an event, and then those that have waited for a club which it has brought, and so on.

func (o *refOracle) take(ops []ref) {
	missing, ok := o.apply(ops)
	switch {
	case ok:
		o.wake(ops)
	case missing == "":
		o.failed++
	default:
		o.waiting = append(o.waiting, waitingEvent{ops: ops, club: missing})
	}
	for {
		i := slices.IndexFunc(o.waiting, func(w waitingEvent) bool { return w.woken })
		if i < 0 {
			return
		}
		w := &o.waiting[i]
		w.woken = false
		if _, there := o.clubs[w.club]; !there {
			continue // another that waited before it has deleted the club again
		}
		missing, ok := o.apply(w.ops)
		if missing != "" {
			w.club = missing
			continue
		}
		if !ok {
			o.failed++
		}
		done := w.ops
		o.waiting = slices.Delete(o.waiting, i, i+1)
		if ok {
			o.wake(done)
		}
	}
}

// wake marks the events that wait for a club which the ops have brought.

func (o *refOracle) wake(ops []ref) {
	for _, r := range ops {
		for i := range o.waiting {
			if _, there := o.clubs[r.ID]; there && r.Op == "club" && r.ID == o.waiting[i].club {
				o.waiting[i].woken = true
			}
		}
	}
}

// apply folds the ops of an event, all or none. Of what is missing it names the first club.

func (o *refOracle) apply(ops []ref) (missing string, ok bool) {
	clubs, picks := cloneMap(o.clubs), cloneMap(o.picks)
	var touched []string       // picks, in order
	asked := map[string]bool{} // clubs whose copies are to follow in the commit
	for _, r := range ops {
		p, there := picks[r.ID]
		was := p.ClubID
		anew := !there
		switch r.Op {
		case "club":
			clubs[r.ID], asked[r.ID] = Club{r.ID, r.Text}, asked[r.ID] || r.Cascade != nil
			continue
		case "noclub":
			delete(clubs, r.ID)
			continue
		case "delete":
			delete(picks, r.ID)
			touched = append(touched, r.ID)
			continue
		case "set":
			p, anew = Pick{ID: r.ID, ClubID: r.Club, Note: r.Text}, true
		case "update", "note":
			if !there {
				return "", false
			}
			p.Note += r.Text
			if r.Op == "update" {
				p.ClubID = r.Club
			}
		case "upsert":
			p.ID, p.ClubID, p.Note = r.ID, r.Club, p.Note+r.Text
		case "patch":
			p.ID, p.ClubID, p.Note, p.Club = r.ID, r.Club, r.Text, nil // it gives the identifier
		}
		if anew || p.ClubID != was {
			p.Club = nil
		}
		picks[r.ID], touched = p, append(touched, r.ID)
	}
	for _, id := range touched {
		p, there := picks[id]
		if !there || p.ClubID == "" || p.Club != nil {
			continue
		}
		c, there := clubs[p.ClubID]
		if !there && o.mode.nullIfMissing {
			continue
		}
		if !there && slices.ContainsFunc(ops, func(r ref) bool { return r.Op == "noclub" && r.ID == p.ClubID }) {
			return "", false // of its own doing
		}
		if !there {
			return p.ClubID, false
		}
		p.Club = &ClubCopy{c.ID, c.Name}
		picks[id] = p
	}
	for id, p := range picks {
		if o.mode.transactional || asked[p.ClubID] {
			picks[id] = o.followed(p, clubs)
		}
	}
	o.clubs, o.picks = clubs, picks
	return "", true
}

// followed is the pick with its copy as its club is now.
func (o *refOracle) followed(p Pick, clubs map[string]Club) Pick {
	c, there := clubs[p.ClubID]
	switch {
	case there:
		p.Club = &ClubCopy{c.ID, c.Name}
	case o.mode.nullIfMissing:
		p.Club = nil
	}
	return p
}

func cloneMap[V any](m map[string]V) map[string]V {
	c := make(map[string]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// drawRefEvents draws events of a few clubs and picks. No two events are of one subject, so that none blocks another.

func drawRefEvents(r *rand.Rand, n int) []eventlog.Event {
	club := func() string { return string(rune('A' + r.IntN(4))) }
	one := func(i int) ref {
		text := fmt.Sprint(i)
		switch r.IntN(10) {
		case 0, 1:
			return ref{Op: "club", ID: club(), Text: text}
		case 2:
			return ref{Op: "noclub", ID: club()}
		}
		op := []string{"set", "update", "upsert", "patch", "note", "delete"}[r.IntN(6)]
		o := ref{Op: op, ID: string(rune('a' + r.IntN(5))), Club: club(), Text: text}
		if r.IntN(6) == 0 {
			o.Club = ""
		}
		return o
	}
	events := make([]eventlog.Event, n)
	for i := range events {
		var ops []ref
		for range 1 + r.IntN(3) {
			ops = append(ops, one(i))
		}
		events[i] = refEvent("", ops...)
	}
	return events
}

// askForCascades has every other event ask that copies of its clubs follow in the commit.
func askForCascades(events []eventlog.Event) {
	for i := range events {
		var ops []ref
		if err := json.Unmarshal(events[i].Data, &ops); err != nil {
			panic(err)
		}
		for j := range ops {
			if ops[j].Op == "club" && i%2 == 0 {
				ops[j].Cascade = &projection.Cascade{Mode: projection.Transactional}
			}
		}
		events[i] = refEvent(events[i].Subject, ops...)
	}
}

// refRows reads all clubs and picks.

func atRest(o *refOracle, picks map[string]Pick) map[string]Pick {
	all := map[string]Pick{}
	for id, p := range picks {
		_, there := o.clubs[p.ClubID]
		if p.Club != nil && !o.mode.transactional && (o.mode.cascade && !there || o.mode.nullIfMissing && !o.mode.cascade) {
			p.Club = &ClubCopy{ID: p.Club.ID}
		}
		all[id] = p
	}
	return all
}
