package aggregate_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/aggregate"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/querydb/record"
)

// A match has a venue, umpires and two team sheets, each with a coach, who may be missing, and players.

const prefix = "$cricket#v1#"

func single(sk string) keys.Layout { return keys.Layout{Head: prefix + sk} }

func element(sk, field string) keys.Layout {
	return keys.Layout{Head: prefix + sk, Sep: "#", Casing: keys.CasingLower,
		Segments: []keys.Segment{{Field: field, Kind: keys.KindString}}}
}

var (
	person = []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"}}
	member = []driver.Field{{Name: "playerId", Scalar: "ID"}, {Name: "player", Object: person, Nullable: true},
		{Name: "position", Scalar: "Int"}}
	sheet = []driver.Field{{Name: "teamId", Scalar: "ID"}, {Name: "team", Object: person, Nullable: true},
		{Name: "coachId", Scalar: "ID", Nullable: true}, {Name: "coach", Object: person, Nullable: true},
		{Name: "players", Object: member, List: true}}
	match = []driver.Field{{Name: "id", Scalar: "ID"}, {Name: "name", Scalar: "String"},
		{Name: "season", Scalar: "String"}, {Name: "venueId", Scalar: "ID"},
		{Name: "venue", Object: person, Nullable: true},
		{Name: "umpireIds", Scalar: "ID", List: true}, {Name: "umpires", Object: person, List: true},
		{Name: "team1", Object: sheet}, {Name: "team2", Object: sheet}}
	season = driver.Field{Name: "season", Scalar: "String"}
	number = driver.Field{Name: "teamNumber", Scalar: "Int"}
)

// copyOf is a node whose object is a copy of another row.
func copyOf(name, kind string, sk keys.Layout) *aggregate.Node {
	n := &aggregate.Node{Name: name, Kind: kind, SK: sk, Object: person, Fields: append(person[:2:2], season),
		Own: []int{0, 1}, Context: []aggregate.Context{{Field: 2, Of: 2}}}
	if len(sk.Segments) > 0 {
		n.SKFields = []int{0}
	}
	return n
}

func numbered(n *aggregate.Node, text string) *aggregate.Node {
	n.Fields = append(n.Fields, number)
	n.Constants = []aggregate.Constant{{Field: len(n.Fields) - 1, JSON: text}}
	return n
}

func teamSheet(name, text string) *aggregate.Node {
	under := "#teamnumber#000000000000000" + text
	players := numbered(&aggregate.Node{
		Name: name + ".players", Kind: "MatchPlayer", SK: element("matchplayer"+under, "playerId"), SKFields: []int{0},
		Object: member, Fields: append(member[:3:3], season), Own: []int{0, 1, 2},
		Context: []aggregate.Context{{Field: 3, Of: 2}}, Copies: []aggregate.Copy{{ID: 0, Copy: 1}},
	}, text)
	return numbered(&aggregate.Node{
		Name: name, Kind: "MatchTeam", SK: single("matchteam" + under), Object: sheet,
		Fields: []driver.Field{sheet[0], sheet[1], sheet[2], season}, Own: []int{0, 1, 2},
		Context: []aggregate.Context{{Field: 3, Of: 2}}, Copies: []aggregate.Copy{{ID: 0, Copy: 1}},
		Children: []aggregate.Child{
			{Node: numbered(copyOf(name+".coach", "MatchCoach", single("matchcoach"+under)), text), Field: 3, Optional: true,
				ID: 2, OrderBy: -1},
			{Node: players, Field: 4, Many: true, ID: -1, Identifier: -1, OrderBy: 2},
		},
	}, text)
}

var shape = &aggregate.Shape{
	Local: &aggregate.Local{Index: 0, SK: element("match", "name"), Fields: []int{1}},
	Root: &aggregate.Node{
		Kind: "MatchItem", SK: single("matchitem"), Object: match, Fields: match[:4], Own: []int{0, 1, 2, 3},
		Children: []aggregate.Child{
			{Node: copyOf("venue", "MatchVenue", single("matchvenue")), Field: 4, ID: 3, OrderBy: -1},
			{Node: copyOf("umpires", "MatchUmpire", element("matchumpire", "id")), Field: 6, Many: true, ID: 5, OrderBy: -1},
			{Node: teamSheet("team1", "1"), Field: 7, ID: -1, Identifier: -1, OrderBy: -1},
			{Node: teamSheet("team2", "2"), Field: 8, ID: -1, Identifier: -1, OrderBy: -1},
		},
	},
}

func newPlan() *aggregate.Plan {
	return aggregate.NewPlan(shape, &driver.Table{Name: "Cricket", Sorted: true, Kind: "MatchItem",
		Fields: shape.RootFields(), PK: []int{0}, Indexes: []driver.Index{{Name: "lsi1", AlwaysSorted: true}}})
}

// rowOf is a row with the fields of a match as texts.
func rowOf(fields ...string) driver.Row {
	var b record.Builder
	b.Begin(len(fields))
	for _, text := range fields {
		if text == "null" {
			b.Null()
		} else {
			b.JSON([]byte(text))
		}
	}
	rec, _, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return driver.Row{Key: keys.Key{PK: prefix + "match#m1", SK: prefix + "matchitem"}, Record: rec,
		Indexes: make([]driver.IndexKey, 1)}
}

func drawMatch(t *rapid.T) driver.Row {
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c][a-c0-9]?`), 0, 4, rapid.ID[string])
	copies := func(ids []string) string {
		var list []string
		for _, id := range ids {
			list = append(list, fmt.Sprintf(`[%q,"name of %s"]`, id, id))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	umpires := ids.Draw(t, "umpires")
	quoted := strings.ReplaceAll(strings.Trim(fmt.Sprintf("%q", umpires), "[]"), " ", ",")
	drawSheet := func(name string) string {
		coach := rapid.SampledFrom([]string{`null,null`, `"k","name of k"`}).Draw(t, name+" coach")
		if coach != "null,null" {
			coach = `"k",["k","name of k"]`
		}
		var players []string
		for _, id := range ids.Draw(t, name+" players") {
			players = append(players, fmt.Sprintf(`[%q,[%q,"P"],%d]`, id, id, rapid.IntRange(-3, 12).Draw(t, "position")))
		}
		return fmt.Sprintf(`["t",["t","Team"],%s,[%s]]`, coach, strings.Join(players, ","))
	}
	return rowOf(`"m1"`, `"Final"`, rapid.SampledFrom([]string{`"2025"`, `"2026"`}).Draw(t, "season"), `"v"`,
		`["v","Venue"]`, "["+quoted+"]", copies(umpires), drawSheet("team1"), drawSheet("team2"))
}
