package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestRowsAnswerWithTheirCopies, and are found by the ids of what they refer to.
func TestRowsAnswerWithTheirCopies(t *testing.T) {
	db := sample(t)
	for _, tt := range []struct{ query, want string }{
		{ // the team as it was, the player as he is
			`SquadSelection(squadId: "aus#2024-25#BGT", selectionNumber: 2) { teamId team { name } player { firstName } }`,
			`{"teamId":"aus","team":{"name":"Australia"},"player":{"firstName":"Steven"}}`,
		},
		{
			`SquadSelectionByPlayer(playerId: "smith-01") { items { squadId team { name } player { firstName } } }`,
			`{"items":[{"squadId":"aus#2024-25#BGT","team":{"name":"Australia"},"player":{"firstName":"Steven"}},` +
				`{"squadId":"aus#2025-26#Ashes","team":{"name":"Australia Men"},"player":{"firstName":"Steven"}}]}`,
		},
		{
			`SquadSelectionByPlayer(playerId: "smith-01", prefix: "aus#2025") { items { squadId } }`,
			`{"items":[{"squadId":"aus#2025-26#Ashes"}]}`,
		},
		{
			`SquadSelectionByPlayer(playerId: "smith-01", squadId: "aus#2024-25#BGT") { items { selectionNumber } }`,
			`{"items":[{"selectionNumber":2}]}`,
		},
		{ // who was dropped
			`SquadSelectionByPlayer(playerId: "marsh-01") { items { squadId } }`,
			`{"items":[]}`,
		},
		{ // who was selected, and made captain, before he was registered
			`SquadSelection(squadId: "ind#2024-25#BGT", selectionNumber: 1) { isCaptain player { lastName role } }`,
			`{"isCaptain":true,"player":{"lastName":"Kohli","role":"BATTER"}}`,
		},
		{
			`SquadSelectionByPrimary(squadId: "aus#2025-26#Ashes") { items { playerId isCaptain } }`,
			`{"items":[{"playerId":"smith-01","isCaptain":false},{"playerId":"cummins-01","isCaptain":true}]}`,
		},
		{ // a match is one object: the team as it was, the venue and the players as they are
			`Match(id: "bgt-2024-1") { season venue { name } team1 { team { name } coach { name } homeTeam ` +
				`players { player { firstName } battingPosition isCaptain } } }`,
			`{"season":"2024-25","venue":{"name":"The MCG"},"team1":{"team":{"name":"Australia Men"},` +
				`"coach":{"name":"Andrew McDonald"},"homeTeam":true,"players":[` +
				`{"player":{"firstName":"Patrick"},"battingPosition":1,"isCaptain":true},` +
				`{"player":{"firstName":"Steven"},"battingPosition":2,"isCaptain":false}]}}`,
		},
		{ // whose squad was named, and captain changed, before the captain was registered
			`Match(id: "bgt-2024-1") { team2 { players { playerId player { lastName } isCaptain } } }`,
			`{"team2":{"players":[{"playerId":"kohli-01","player":{"lastName":"Kohli"},"isCaptain":false},` +
				`{"playerId":"bumrah-01","player":{"lastName":"Bumrah"},"isCaptain":true}]}}`,
		},
		{ // whose squads are not named
			`Match(id: "bgt-2024-3") { team1 { teamId players { playerId } } team2 { teamId players { playerId } } }`,
			`{"team1":{"teamId":"aus","players":[]},"team2":{"teamId":"ind","players":[]}}`,
		},
		{`Match(id: "bgt-2024-2") { id }`, `null`}, // abandoned
		{ // by the days on which they are to be played
			`MatchBySeason(season: "2024-25") { items { id startsOn team2 { players { playerId } } } }`,
			`{"items":[{"id":"bgt-2024-1","startsOn":"2024-11-22","team2":{"players":[{"playerId":"kohli-01"},` +
				`{"playerId":"bumrah-01"}]}},{"id":"bgt-2024-3","startsOn":"2024-12-26","team2":{"players":[]}}]}`,
		},
		{`MatchBySeason(season: "2024-25", from: "2024-12") { items { id } }`, `{"items":[{"id":"bgt-2024-3"}]}`},
		{`MatchBySeason(season: "2023-24") { items { id } }`, `{"items":[]}`},
		{`Team(id: "aus") { name }`, `{"name":"Australia Men"}`},
		{`Coach(id: "mcdonald") { team { name } }`, `{"team":{"name":"Australia Men"}}`},
		{`Coach(id: "stead") { teamId team { name } }`, `{"teamId":"nz","team":null}`},
		{`Venue(id: "gabba") { name city }`, `{"name":"The Gabba","city":"Brisbane"}`},
		{ // what was misspelt is correct in every squad, of which none follows another name of a team
			`SquadSelectionByPrimary(squadId: "eng#2025-26#Ashes") { items { team { name } } }`,
			`{"items":[{"team":{"name":"England"}},{"team":{"name":"England"}}]}`,
		},
		{ // and in matches; the venue, a coach and a player of this one are deleted
			`Match(id: "ashes-2025-1") { venue { name } team1 { team { name } } team2 { team { name } coach { name } ` +
				`players { player { lastName } } } }`,
			`{"venue":{"name":"WACA Ground"},"team1":{"team":{"name":"Australia Men"}},"team2":{"team":{"name":"England"},` +
				`"coach":{"name":"Chris Silverwood"},"players":[{"player":{"lastName":"Root"}},` +
				`{"player":{"lastName":"Anderson"}}]}}`,
		},
		{`Coach(id: "mccullum") { team { name } }`, `{"team":{"name":"England"}}`},
		{`Player(id: "anderson-01") { lastName }`, `null`},
		{`Coach(id: "silverwood") { name }`, `null`},
		{`Venue(id: "waca") { name }`, `null`},
		{`Team(id: "sco") { name }`, `null`},
		{ // of a team that is deleted
			`SquadSelection(squadId: "sco#2025#T20", selectionNumber: 1) { teamId team { name } }`,
			`{"teamId":"sco","team":{"name":"Scotland"}}`,
		},
		{`Coach(id: "watson") { teamId team { name } }`, `{"teamId":"sco","team":null}`},
	} {
		for _, resolvers := range []bool{false, true} {
			got := post(t, api(db, resolvers), map[string]any{"query": "{ answer: " + tt.query + " }"})
			if got != `{"answer":`+tt.want+`}` {
				t.Errorf("by resolvers: %t\n%s gives\n%s, want\n%s", resolvers, tt.query, got, tt.want)
			}
		}
	}
}

// TestTheExamplesFindSomething: each of the queries that GraphiQL shows is answered with rows.
func TestTheExamplesFindSomething(t *testing.T) {
	served := api(sample(t), false)
	names := regexp.MustCompile(`(?m)^query (\w+)`).FindAllStringSubmatch(examples, -1)
	if len(names) != 10 {
		t.Fatalf("%d examples, want 10", len(names))
	}
	for _, name := range names {
		var rows map[string]json.RawMessage
		answer := post(t, served, map[string]any{"query": examples, "operationName": name[1]})
		if err := json.Unmarshal([]byte(answer), &rows); err != nil {
			t.Fatal(err)
		}
		for field, found := range rows {
			if string(found) == "null" || strings.Contains(string(found), `"items":[]`) {
				t.Errorf("%s finds nothing in %s: %s", name[1], field, found)
			}
		}
	}
}

func TestReadmeShowsTheExamples(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```graphql\n"+examples+"```") {
		t.Error("README.md does not show cmd/server/examples.graphql as it is")
	}
}

// post sends a request and returns the data of an answer without errors.
func post(t *testing.T, api http.Handler, request map[string]any) string {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	var answer struct {
		Data   json.RawMessage
		Errors json.RawMessage
	}
	err = json.Unmarshal(w.Body.Bytes(), &answer)
	if err != nil || w.Code != http.StatusOK || answer.Errors != nil {
		t.Fatalf("%v: status %d: %s", request, w.Code, w.Body)
	}
	return string(answer.Data)
}
