package peers

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// MatchQuestions are asked of examples/cricket, whose matches are kept as several items each.
var MatchQuestions = []Question{
	{"match", fmt.Sprintf("a match of two teams with %d players each, all fields: an aggregate of 28 items", SquadSize),
		`query Match($id: ID!) { Match(id: $id) { id name season startsOn venueId venue { id name city } ` +
			`team1 { ...sheet } team2 { ...sheet } } } ` +
			`fragment sheet on TeamSheet { teamId team { id name country ranking } coachId coach { id name teamId } ` +
			`homeTeam players { playerId player { id firstName lastName role } battingPosition isCaptain } }`,
		aMatch},
}

// matches answers what a match is as a developer would who has the store and no GraphQL: it reads the range of the
// match's items, sees what each is, and appends the answer's JSON field by field.
type matches struct {
	store driver.Driver
}

func (h matches) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /match", func(w http.ResponseWriter, r *http.Request) { serve(w, r, h.match) })
	return mux
}

// The items of a match, by type. Ordinals below are those of their fields, as the schema of the example has them.
var (
	matchItems = itemsOf("MatchItem")
	matchParts = []*driver.Table{matchItems, itemsOf("MatchVenue"), itemsOf("MatchTeam"), itemsOf("MatchCoach"),
		itemsOf("MatchPlayer")}
)

func itemsOf(kind string) *driver.Table {
	return &driver.Table{Name: "Cricket", Sorted: true, NoExpiry: true, Kind: kind}
}

// storedMatch are the items of a match, each where it stands in the answer.
type storedMatch struct {
	root, venue record.Record
	sheets      [2]storedSheet
}

type storedSheet struct {
	team, coach record.Record
	players     [SquadSize]record.Record // in batting order
}

func (h matches) match(r *http.Request, v variables, b []byte) ([]byte, error) {
	page, err := h.store.Query(r.Context(), driver.Query{
		Table: matchItems, Members: matchParts, Index: driver.Primary, Limit: 100,
		PK: "$cricket#v1#match#" + strings.ToLower(v.ID),
	})
	if err != nil {
		return nil, err
	}
	if len(page.Rows) == 0 {
		return append(b, `{"Match":null}`...), nil
	}
	m, err := sorted(page.Rows)
	if err != nil {
		return nil, err
	}
	b = append(b, `{"Match":`...)
	b = append(appendRecord(b, m.root, matchFields), `,"venue":`...)
	b = append(appendRecord(b, m.venue, venueFields), `},"team1":`...)
	if b, err = appendSheet(b, &m.sheets[0]); err != nil {
		return nil, err
	}
	if b, err = appendSheet(append(b, `,"team2":`...), &m.sheets[1]); err != nil {
		return nil, err
	}
	return append(b, "}}"...), nil
}

// sorted finds the place of each item.
func sorted(items []driver.Row) (m storedMatch, err error) {
	for i := range items {
		rec := items[i].Record
		switch items[i].Kind {
		case "MatchItem":
			m.root = rec
		case "MatchVenue":
			m.venue = rec
		case "MatchTeam":
			m.sheets[teamOf(items[i].Key)].team = rec
		case "MatchCoach":
			m.sheets[teamOf(items[i].Key)].coach = rec
		case "MatchPlayer":
			position, ok := record.Int(rec.JSON(2))
			if !ok || position < 1 || position > SquadSize {
				return m, fmt.Errorf("%s bats in no position of a squad", items[i].Key.SK)
			}
			m.sheets[teamOf(items[i].Key)].players[position-1] = rec
		}
	}
	return m, nil
}

// teamOf is which team's an item is, by its key.
func teamOf(key keys.Key) int {
	const before = "#teamnumber#000000000000000"
	at := strings.Index(key.SK, before) + len(before)
	return int(key.SK[at]-'1') & 1
}

var (
	matchFields = []field{{`"id":`, 0}, {`"name":`, 1}, {`"season":`, 2}, {`"startsOn":`, 3}, {`"venueId":`, 4}}
	venueFields = []field{{`"id":`, 0}, {`"name":`, 1}, {`"city":`, 2}}
	coachFields = []field{{`"id":`, 0}, {`"name":`, 1}, {`"teamId":`, 2}}

	teamNames   = []string{`{"id":`, `,"name":`, `,"country":`, `,"ranking":`}
	playerNames = []string{`{"id":`, `,"firstName":`, `,"lastName":`, `,"role":`}
)

func appendSheet(b []byte, s *storedSheet) (_ []byte, err error) {
	b = append(append(b, `{"teamId":`...), s.team.JSON(0)...)
	if b, err = appendCopy(append(b, `,"team":`...), s.team.JSON(1), teamNames); err != nil {
		return nil, err
	}
	b = append(append(b, `,"coachId":`...), s.team.JSON(2)...)
	b = append(appendRecord(append(b, `,"coach":`...), s.coach, coachFields), `},"homeTeam":`...)
	b = append(append(b, s.team.JSON(3)...), `,"players":[`...)
	for i, player := range s.players {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `{"playerId":`...), player.JSON(0)...)
		if b, err = appendCopy(append(b, `,"player":`...), player.JSON(1), playerNames); err != nil {
			return nil, err
		}
		b = append(append(b, `,"battingPosition":`...), player.JSON(2)...)
		b = append(append(b, `,"isCaptain":`...), player.JSON(3)...)
		b = append(b, '}')
	}
	return append(b, "]}"...), nil
}

// appendCopy appends a copy within an item, which is stored as the list of its four values.
func appendCopy(b, stored []byte, names []string) ([]byte, error) {
	var values [4][]byte
	if !record.Object(stored, values[:]) {
		return nil, fmt.Errorf("the copy %s is damaged", stored)
	}
	for i, name := range names {
		b = append(append(b, name...), values[i]...)
	}
	return append(b, '}'), nil
}
