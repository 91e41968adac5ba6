// Package blog runs the server of examples/blog over DynamoDB, and looks past it at the items that are stored.
package blog

import (
	"bytes"
	"maps"
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
const project = "../../../../examples/blog"

func TestMain(m *testing.M) { exampleserver.Main(m, project) }

// item is an item as other programs see it, with texts alone.
type item map[string]string

// own are the attributes of an item that are this system's own: the last event applied, which projection applied it,
// and how many writes there were.
var own = regexp.MustCompile(`^(_pos\..*|_by|_rev)$`)

// The items of a user, a post and a member, as programs of the second key design guide write them.
var (
	alice = item{
		"pk": "user#123", "sk": "profile", "type": "user",
		"gsi1pk": "user#email", "gsi1sk": "alice@example.com", "gsi2pk": "user#username", "gsi2sk": "alice",
		"id": "123", "email": "alice@example.com", "username": "alice", "name": "Alice",
	}
	hello = item{
		"pk": "user#123", "sk": "post#2024-01-15T10:30:00.000Z#abc", "type": "post",
		"gsi1pk": "post#feed", "gsi1sk": "2024-01-15T10:30:00.000Z#abc", "gsi2pk": "post#id", "gsi2sk": "abc",
		"gsi3pk": "post#status#published", "gsi3sk": "2024-01-15T10:30:00.000Z#abc",
		"id": "abc", "authorId": "123", "createdAt": "2024-01-15T10:30:00.000Z", "title": "Hello",
		"content": "This is the first one.", "status": "published",
	}
	lead = item{
		"pk": "org#acme", "sk": "team#editors#member#123",
		"orgId": "acme", "teamId": "editors", "userId": "123", "role": "lead",
	}
)

// TestItemsAreAsTheGuideHasThem, attribute by attribute, and with one more for the type.
func TestItemsAreAsTheGuideHasThem(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(project, "data", "sample.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var events [][]byte
	for line := range bytes.Lines(text) {
		if !bytes.Contains(line, []byte(`"mallory"`)) { // whose event is a dead letter
			events = append(events, bytes.TrimSpace(line))
		}
	}
	eachEngine(t, func(t *testing.T, s *site) {
		s.Append(t, events...)
		for kind, want := range map[string]item{"user": alice, "post": hello, "member": lead} {
			want = maps.Clone(want)
			want["__edd_e__"] = kind
			if diff := cmp.Diff(want, s.get(t, want["pk"], want["sk"])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", kind, diff)
			}
		}
	})
}

// TestItemsOfOtherProgramsAreRows, though nothing but their keys tells their type.
func TestItemsOfOtherProgramsAreRows(t *testing.T) {
	eachEngine(t, func(t *testing.T, s *site) {
		for _, it := range []item{alice, hello, lead} {
			s.put(t, it)
		}
		for query, want := range map[string]string{
			`User(id: "123") { name }`:                       `{"name":"Alice"}`,
			`UserAll { items { name } }`:                     `{"items":[{"name":"Alice"}]}`,
			`UserByEmail(email: "alice@example.com") { id }`: `{"id":"123"}`,
			`UserByUsername(username: "alice") { id }`:       `{"id":"123"}`,
			`PostByPrimary(authorId: "123") { items { id author ` +
				`{ name } } }`: `{"items":[{"id":"abc","author":{"name":"Alice"}}]}`,
			`PostAll { items { id } }`: `{"items":[{"id":"abc"}]}`,
			`PostFeed(reverse: true) { items { id ` +
				`createdAt } }`: `{"items":[{"id":"abc","createdAt":"2024-01-15T10:30:00.000Z"}]}`,
			`PostById(id: "abc") { items { title } }`:                           `{"items":[{"title":"Hello"}]}`,
			`PostByStatus(status: published) { items { id } }`:                  `{"items":[{"id":"abc"}]}`,
			`PostByStatus(status: draft) { items { id } }`:                      `{"items":[]}`,
			`MemberByPrimary(orgId: "acme") { items { userId role } }`:          `{"items":[{"userId":"123","role":"lead"}]}`,
			`MemberByPrimary(orgId: "acme", teamId: "edit") { items { role } }`: `{"items":[]}`,
		} {
			if got := s.Ask(t, "{ a: "+query+" }"); got != `{"a":`+want+`}` {
				t.Errorf("%s\n gives %s,\n want  %s", query, got, want)
			}
		}
		s.Append(t, []byte(`{"specversion":"1.0","id":"1","source":"/blog","type":"PostArchived","subject":"post/abc",
			"time":"2024-02-01T00:00:00Z","data":{"postId":"abc","authorId":"123","createdAt":"2024-01-15T10:30:00Z"}}`))
		want := maps.Clone(hello)
		want["status"], want["gsi3pk"], want["__edd_e__"] = "archived", "post#status#archived", "post"
		if diff := cmp.Diff(want, s.get(t, hello["pk"], hello["sk"])); diff != "" {
			t.Errorf("the post that an event has changed (-want +got):\n%s", diff)
		}
	})
}

// site is a server, and the table of the example behind it.
type site struct {
	*exampleserver.Server
	table string
}

func eachEngine(t *testing.T, test func(t *testing.T, s *site)) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			s := exampleserver.Start(t, e)
			test(t, &site{s, s.Prefix + "Blog"})
		})
	}
}

// get reads an item, without the attributes that are this system's own.
func (s *site) get(t *testing.T, pk, sk string) item {
	t.Helper()
	out, err := s.DynamoDB.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true), Key: attributes(item{"pk": pk, "sk": sk}),
	})
	if err != nil {
		t.Fatal(err)
	}
	it := item{}
	for name, v := range out.Item {
		if own.MatchString(name) {
			continue
		}
		text, ok := v.(*types.AttributeValueMemberS)
		if !ok {
			t.Fatalf("attribute %s is a %T", name, v)
		}
		it[name] = text.Value
	}
	return it
}

// put writes an item past the server.
func (s *site) put(t *testing.T, it item) {
	t.Helper()
	in := &dynamodb.PutItemInput{TableName: &s.table, Item: attributes(it)}
	if _, err := s.DynamoDB.PutItem(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func attributes(it item) map[string]types.AttributeValue {
	all := map[string]types.AttributeValue{}
	for name, text := range it {
		all[name] = &types.AttributeValueMemberS{Value: text}
	}
	return all
}
