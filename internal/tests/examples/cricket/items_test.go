// Package cricket runs the server of examples/cricket over DynamoDB, and looks past it at the items that are stored.
package cricket

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
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

// begin is how the keys of selections begin.
const begin = "$cricket#v1#squad_selection#"

// smith is a selection, with the ids of its team and its player and a map for the copy of each. The team has taken
// another name since, which its copy does not follow; the player too, which his copy does.
var smith = item{
	"pk": begin + "squadid_aus%232024-25%23bgt", "sk": begin + "selectionnumber_0000000000000002",
	"gsi1pk": begin + "playerid_smith-01",
	"gsi1sk": begin + "squadid_aus%232024-25%23bgt#selectionnumber_0000000000000002", "__edd_e__": "squad_selection",
	"squadId": "aus#2024-25#BGT", "selectionNumber": number("2"), "squadRole": "BATTER", "isCaptain": false,
	"teamId": "aus", "team": item{"id": "aus", "name": "Australia", "country": "Australia", "ranking": number("1")},
	"playerId": "smith-01",
	"player":   item{"id": "smith-01", "firstName": "Steven", "lastName": "Smith", "role": "BATTER"},
}

// TestCopiesAreMapsInTheirItems, beside the ids that they follow.
func TestCopiesAreMapsInTheirItems(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(project, "data", "sample.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var events [][]byte
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte(`"squad/ind`)) { // whose first event is a dead letter for a while
			events = append(events, bytes.TrimSpace(line))
		}
	}
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			s := exampleserver.Start(t, e)
			s.Append(t, events...)
			if diff := cmp.Diff(smith, get(t, s, smith["pk"].(string), smith["sk"].(string))); diff != "" {
				t.Errorf("the selection (-want +got):\n%s", diff)
			}
		})
	}
}

// own are the attributes of an item that are this system's own.
var own = regexp.MustCompile(`^(_pos\..*|_by|_rev)$`)

// get reads an item, without the attributes that are this system's own.
func get(t *testing.T, s *exampleserver.Server, pk, sk string) item {
	t.Helper()
	out, err := s.DynamoDB.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(s.Prefix + "Cricket"), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return read(t, out.Item)
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
