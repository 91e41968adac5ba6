// Package cricket runs the server of examples/cricket over DynamoDB, and looks past it at the items that are stored.
package cricket

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/exampleserver"
)

// project is the folder of the example.
const project = "../../../../examples/cricket"

func TestMain(m *testing.M) { exampleserver.Main(m, project) }

// number is a number as DynamoDB keeps it, and item what other programs see of an item or of a map in it.
type (
	number string
	item   map[string]any
)

// begin is how keys begin.
const begin = "$cricket#v1#"

// smith is a selection, with the ids of its team and its player and a map for the copy of each. The team has taken
// another name since, which its copy does not follow; the player too, which his copy does.
var smith = item{
	"pk":        begin + "squad_selection#squadid_aus%232024-25%23bgt",
	"sk":        begin + "squad_selection#selectionnumber_0000000000000002",
	"gsi1pk":    begin + "squad_selection#playerid_smith-01",
	"gsi1sk":    begin + "squad_selection#squadid_aus%232024-25%23bgt#selectionnumber_0000000000000002",
	"__edd_e__": "squad_selection",
	"squadId":   "aus#2024-25#BGT", "selectionNumber": number("2"), "squadRole": "BATTER", "isCaptain": false,
	"teamId": "aus", "team": item{"id": "aus", "name": "Australia", "country": "Australia", "ranking": number("1")},
	"playerId": "smith-01",
	"player":   item{"id": "smith-01", "firstName": "Steven", "lastName": "Smith", "role": "BATTER"},
}

// match are the items of a match, in the order of their keys. Each has the season, and those of a team say which. The
// venue and the players have taken other names since, which their items follow.
var match = []item{
	part("MatchCoach", "#teamnumber#0000000000000001", item{"teamNumber": number("1"),
		"id": "mcdonald", "name": "Andrew McDonald", "teamId": "aus"}),
	part("MatchCoach", "#teamnumber#0000000000000002", item{"teamNumber": number("2"),
		"id": "gambhir", "name": "Gautam Gambhir", "teamId": "ind"}),
	part("MatchItem", "", item{"lsi1sk": begin + "match#aus v ind, 1st test",
		"gsi1pk": begin + "matches#2024-25", "gsi1sk": begin + "matches#2024-11-22",
		"id": "bgt-2024-1", "name": "AUS v IND, 1st Test", "startsOn": "2024-11-22", "venueId": "mcg"}),
	plays("1", "1", true, item{"id": "cummins-01", "firstName": "Patrick", "lastName": "Cummins", "role": "BOWLER"}),
	plays("1", "2", false, item{"id": "smith-01", "firstName": "Steven", "lastName": "Smith", "role": "BATTER"}),
	plays("2", "2", true, item{"id": "bumrah-01", "firstName": "Jasprit", "lastName": "Bumrah", "role": "BOWLER"}),
	plays("2", "1", false, item{"id": "kohli-01", "firstName": "Virat", "lastName": "Kohli", "role": "BATTER"}),
	part("MatchTeam", "#teamnumber#0000000000000001", item{"teamNumber": number("1"),
		"homeTeam": true, "coachId": "mcdonald", "teamId": "aus",
		"team": item{"id": "aus", "name": "Australia Men", "country": "Australia", "ranking": number("1")}}),
	part("MatchTeam", "#teamnumber#0000000000000002", item{"teamNumber": number("2"),
		"homeTeam": false, "coachId": "gambhir", "teamId": "ind",
		"team": item{"id": "ind", "name": "India", "country": "India", "ranking": number("2")}}),
	part("MatchVenue", "", item{"id": "mcg", "name": "The MCG", "city": "Melbourne"}),
}

// part adds to an item what it has as a part of the match; its key is that of its type, and what follows.
func part(kind, key string, it item) item {
	it["__edd_e__"], it["season"] = kind, "2024-25"
	it["pk"], it["sk"] = begin+"match#bgt-2024-1", begin+strings.ToLower(kind)+key
	if it["lsi1sk"] == nil {
		it["lsi1sk"] = it["sk"]
	}
	return it
}

func plays(team, position number, captain bool, player item) item {
	return part("MatchPlayer", "#teamnumber#000000000000000"+string(team)+"#"+player["id"].(string), item{
		"teamNumber": team, "battingPosition": position, "isCaptain": captain, "playerId": player["id"], "player": player,
	})
}

// TestWhatOtherProgramsSee of the sample, on each engine.
func TestWhatOtherProgramsSee(t *testing.T) {
	events := sample(t)
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			s := exampleserver.Start(t, e)
			s.Append(t, events...)
			t.Run("copies are maps in their items, beside the ids that they follow", func(t *testing.T) {
				squad := partition(t, s, smith["pk"].(string))
				if !slices.ContainsFunc(squad, func(got item) bool { return cmp.Equal(smith, got) }) {
					t.Errorf("no selection is %v, but they are %v", smith, squad)
				}
			})
			t.Run("a match is an item for each of its parts", func(t *testing.T) {
				if diff := cmp.Diff(match, partition(t, s, begin+"match#bgt-2024-1")); diff != "" {
					t.Errorf("its partition (-want +got):\n%s", diff)
				}
			})
			t.Run("a mark is left of an abandoned match, and none of its parts", func(t *testing.T) {
				left := partition(t, s, begin+"match#bgt-2024-2")
				if len(left) != 1 || left[0]["_deleted"] != true || left[0]["sk"] != begin+"matchitem" {
					t.Errorf("there are %v", left)
				}
			})
			t.Run("copies follow a correction of what they are of", func(t *testing.T) {
				squad := partition(t, s, begin+"squad_selection#squadid_eng%232025-26%23ashes")
				wantCopy(t, squad, begin+"squad_selection#selectionnumber_0000000000000002", "team", "England")
				sheets := partition(t, s, begin+"match#ashes-2025-1")
				wantCopy(t, sheets, begin+"matchteam#teamnumber#0000000000000002", "team", "England")
			})
			t.Run("copies of what is deleted stay, and go where they may be null", func(t *testing.T) {
				squad := partition(t, s, begin+"squad_selection#squadid_sco%232025%23t20")
				wantCopy(t, squad, begin+"squad_selection#selectionnumber_0000000000000001", "team", "Scotland")
				parts := partition(t, s, begin+"match#ashes-2025-1")
				wantCopy(t, parts, begin+"matchvenue", "", "WACA Ground")
				wantCopy(t, parts, begin+"matchcoach#teamnumber#0000000000000002", "", "Chris Silverwood")
				coach := partition(t, s, begin+"coach#id_watson")
				if len(coach) != 1 || coach[0]["teamId"] != "sco" || coach[0]["team"] != nil {
					t.Errorf("the coach of the deleted team is %v", coach)
				}
			})
			t.Run("a match without one of its parts is an error that says which match, and which part", func(t *testing.T) {
				remove(t, s, begin+"match#bgt-2024-3", begin+"matchvenue")
				for _, query := range []string{
					`{ Match(id: "bgt-2024-3") { name } }`, `{ MatchBySeason(season: "2024-25") { items { id } } }`,
				} {
					_, errors := s.Answer(t, query)
					for _, said := range []string{`"AGGREGATE_INCOMPLETE"`, `match#bgt-2024-3",`, "it has no venue"} {
						if !strings.Contains(errors, said) {
							t.Errorf("%s has the errors %s, which do not say %s", query, errors, said)
						}
					}
				}
				s.Ask(t, `{ Match(id: "bgt-2024-1") { name } }`)
			})
		})
	}
}

// wantCopy fails unless the item with a sort key holds a copy of that name in a field, or is one itself.
func wantCopy(t *testing.T, items []item, sk, field, name string) {
	t.Helper()
	i := slices.IndexFunc(items, func(it item) bool { return it["sk"] == sk })
	if i < 0 {
		t.Fatalf("no item has the sort key %s: %v", sk, items)
	}
	copied := items[i]
	if field != "" {
		copied, _ = copied[field].(item)
	}
	if copied["name"] != name {
		t.Errorf("%s of %v is not called %s", field, items[i], name)
	}
}

// remove deletes an item, as another program may.
func remove(t *testing.T, s *exampleserver.Server, pk, sk string) {
	t.Helper()
	_, err := s.DynamoDB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String(s.Prefix + "Cricket"),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sample are the events of the example, players first, so that none is a dead letter for a while.
func sample(t *testing.T) [][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(project, "data", "sample.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var players, others [][]byte
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); bytes.Contains(line, []byte(`"PlayerRegistered"`)) {
			players = append(players, line)
		} else {
			others = append(others, line)
		}
	}
	return append(players, others...)
}

// own are the attributes of an item that are this system's own.
var own = regexp.MustCompile(`^(_pos\..*|_by|_rev|_own)$`)

// partition reads the items of a partition, in order, without the attributes that are this system's own.
func partition(t *testing.T, s *exampleserver.Server, pk string) []item {
	t.Helper()
	out, err := s.DynamoDB.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String(s.Prefix + "Cricket"), ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var items []item
	for _, attributes := range out.Items {
		items = append(items, read(t, attributes))
	}
	return items
}

func read(t *testing.T, attributes map[string]types.AttributeValue) item {
	t.Helper()
	it := item{}
	for name, v := range attributes {
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			it[name] = v.Value
		case *types.AttributeValueMemberN:
			it[name] = number(v.Value)
		case *types.AttributeValueMemberBOOL:
			it[name] = v.Value
		case *types.AttributeValueMemberM:
			it[name] = read(t, v.Value)
		default:
			t.Fatalf("attribute %s is a %T", name, v)
		}
		if own.MatchString(name) {
			delete(it, name)
		}
	}
	return it
}
