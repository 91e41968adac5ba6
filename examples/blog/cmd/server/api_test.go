package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb/driver"
)

// eachWay runs a test against what the server answers with, and against the generated resolvers alone.
func eachWay(t *testing.T, s *site, test func(t *testing.T, api http.Handler)) {
	t.Run("as served", func(t *testing.T) { test(t, s.api(false)) })
	t.Run("by resolvers", func(t *testing.T) { test(t, s.api(true)) })
}

// TestEachQueryIsOneRange of one partition of the table or of an index, and answers with the rows of that range.
func TestEachQueryIsOneRange(t *testing.T) {
	s := sample(t)
	prefix := func(text string) keys.Range { return keys.Range{Op: keys.RangePrefix, Lo: text} }
	for name, tt := range map[string]struct {
		query string
		index int // of the table
		pk    string
		rng   keys.Range
		want  []string
	}{
		"a user's posts": {
			`PostByPrimary(authorId: "123"`, driver.Primary, "user#123", prefix("post#"), []string{"abc", "jkl", "pqr"},
		},
		"a user's posts at one time": {
			`PostByPrimary(authorId: "123", createdAt: "2024-02-01T08:00:00Z"`, driver.Primary, "user#123",
			prefix("post#2024-02-01T08:00:00.000Z#"), []string{"jkl"},
		},
		"all posts": {`PostAll(limit: 1000`, 0, "post", keys.Range{}, []string{"abc", "def", "jkl", "mno", "pqr", "stu"}},
		"all users": {`UserAll(limit: 1000`, 0, "user", keys.Range{}, []string{"123", "124", "127"}},
		"the feed": {
			`PostFeed(limit: 1000`, 1, "post#feed", keys.Range{}, []string{"abc", "def", "jkl", "mno", "pqr", "stu"},
		},
		"the feed at one time": {
			`PostFeed(createdAt: "2024-02-03T10:00:00Z"`, 1, "post#feed", prefix("2024-02-03T10:00:00.000Z#"), []string{"mno",
				"pqr"},
		},
		"a post by its id": {`PostById(id: "mno"`, 2, "post#id", keys.Range{Op: keys.RangeEqual, Lo: "mno"}, []string{"mno"}},
		"published posts": {`PostByStatus(status: published`, 3, "post#status#published", keys.Range{},
			[]string{"abc", "def", "jkl", "stu"}},
		"drafts":         {`PostByStatus(status: draft`, 3, "post#status#draft", keys.Range{}, []string{"pqr"}},
		"archived posts": {`PostByStatus(status: archived`, 3, "post#status#archived", keys.Range{}, []string{"mno"}},
		"members of an organisation": {
			`MemberByPrimary(orgId: "acme"`, driver.Primary, "org#acme", prefix("team#"),
			[]string{"editors 123", "editors 124", "editors-at-large 127", "writers 124"},
		},
		"members of a team, and not of one whose name begins so": {
			`MemberByPrimary(orgId: "acme", teamId: "editors"`, driver.Primary, "org#acme", prefix("team#editors#member#"),
			[]string{"editors 123", "editors 124"},
		},
		"members whose ids begin so": {
			`MemberByPrimary(orgId: "acme", teamId: "editors", prefix: "12"`, driver.Primary, "org#acme",
			prefix("team#editors#member#12"), []string{"editors 123", "editors 124"},
		},
		"teams whose names begin so": {
			`MemberByPrimary(orgId: "acme", prefix: "edit"`, driver.Primary, "org#acme", prefix("team#edit"),
			[]string{"editors 123", "editors 124", "editors-at-large 127"},
		},
		"an organisation of nobody": {`MemberByPrimary(orgId: "globex"`, driver.Primary, "org#globex", prefix("team#"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			eachWay(t, s, func(t *testing.T, api http.Handler) {
				s.store.take()
				forward := ids(t, api, tt.query+")")
				if diff := cmp.Diff(tt.want, forward, anyOrder(tt.pk)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tt.query, diff)
				}
				asked := s.store.take()
				if len(asked) != 1 || asked[0].Index != tt.index || asked[0].PK != tt.pk {
					t.Fatalf("asked %+v, want one query of %q in index %d", asked, tt.pk, tt.index)
				}
				if diff := cmp.Diff(tt.rng, asked[0].Range); diff != "" {
					t.Errorf("range (-want +got):\n%s", diff)
				}
				backward := ids(t, api, tt.query+", reverse: true)")
				slices.Reverse(backward)
				if diff := cmp.Diff(forward, backward); diff != "" {
					t.Errorf("backward (-forward +backward):\n%s", diff)
				}
			})
		})
	}
}

// anyOrder lets rows that an index gives no order come in any.
func anyOrder(pk string) cmp.Options {
	if pk == "user" || pk == "post" {
		return cmp.Options{cmpopts.SortSlices(strings.Compare)}
	}
	return nil
}

// TestPagesFollowOneAnother, with rows of other types between those asked for, and posts of one time.
func TestPagesFollowOneAnother(t *testing.T) {
	s := sample(t)
	eachWay(t, s, func(t *testing.T, api http.Handler) {
		for _, query := range []string{
			`PostFeed(reverse: true`, `PostFeed(reverse: false`, `PostAll(reverse: false`,
			`PostByPrimary(authorId: "123", reverse: true`,
			`UserAll(reverse: false`, `MemberByPrimary(orgId: "acme", reverse: false`,
		} {
			all := ids(t, api, query+")")
			for _, limit := range []string{"1", "2", "3", "7"} {
				var got []string
				for next := "null"; next != ""; {
					items, token := page(t, api, query+", limit: "+limit+", nextToken: "+next+")")
					got, next = append(got, items...), ""
					if token != nil {
						next = `"` + *token + `"`
					}
				}
				if diff := cmp.Diff(all, got); diff != "" {
					t.Errorf("%s, pages of %s (-at once +page by page):\n%s", query, limit, diff)
				}
			}
		}
	})
}

// TestOneRowIsFound by its key, and by what only one row has.
func TestOneRowIsFound(t *testing.T) {
	s := sample(t)
	eachWay(t, s, func(t *testing.T, api http.Handler) {
		for query, want := range map[string]string{
			`User(id: "123") { email username name }`:        `{"email":"alice@example.com","username":"alice","name":"Alice"}`,
			`User(id: "125") { name }`:                       `null`,
			`UserByEmail(email: "alice@example.com") { id }`: `{"id":"123"}`,
			`UserByEmail(email: "bob@work.example") { id }`:  `{"id":"124"}`,
			`UserByEmail(email: "bob@example.com") { id }`:   `null`,
			`UserByEmail(email: "alice") { id }`:             `null`,
			`UserByUsername(username: "carol") { id name }`:  `{"id":"127","name":"Dave"}`,
			`UserByUsername(username: "mallory") { id }`:     `null`,
			`PostById(id: "jkl") { items { title author { name } updatedAt } }`: `{"items":[{"title":"Time, ` +
				`and offsets","author":{"name":"Alice"},"updatedAt":"2024-02-06T08:00:00.000Z"}]}`,
			`PostById(id: "ghi") { items { title } }`: `{"items":[]}`,
			`PostById(id: "ab") { items { title } }`:  `{"items":[]}`,
			`Member(orgId: "acme", teamId: "editors", userId: "123") { role user { ` +
				`username } }`: `{"role":"lead","user":{"username":"alice"}}`,
			`Post(authorId: "123", createdAt: "2024-01-15T11:30:00+01:00", id: "abc") { title }`: `{"title":"Hello"}`,
		} {
			if got := ask(t, api, query); got != want {
				t.Errorf("%s gives %s, want %s", query, got, want)
			}
		}
	})
}

// TestTimesNarrowAFeed: by how they begin, and as bounds, with whatever offset they are given.
func TestTimesNarrowAFeed(t *testing.T) {
	s := sample(t)
	eachWay(t, s, func(t *testing.T, api http.Handler) {
		for arguments, want := range map[string][]string{
			`prefix: "2024-02"`:                                                       {"jkl", "mno", "pqr", "stu"},
			`prefix: "2024-01-1"`:                                                     {"abc", "def"},
			`to: "2024-01-15T10:30:00Z"`:                                              {"abc"},
			`from: "2024-02-03T11:00:00+01:00"`:                                       {"mno", "pqr", "stu"},
			`from: "2024-02-03T10:00:00.001Z"`:                                        {"stu"},
			`eq: "2024-02-03T10:00:00Z"`:                                              {"mno", "pqr"},
			`createdAt: "2024-02-03T10:00:00Z", from: "n"`:                            {"pqr"},
			`createdAt: "2024-02-03T10:00:00Z", id: "mno"`:                            {"mno"},
			`from: "2024-02-04T00:00:00Z", to: "2024-02-07T00:00:00Z"`:                nil,
			`from: "2024-01-16T00:00:00Z", to: "2024-02-01T23:59:59Z", reverse: true`: {"jkl", "def"},
		} {
			if diff := cmp.Diff(want, ids(t, api, "PostFeed("+arguments+")")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", arguments, diff)
			}
		}
	})
}

// TestExamplesAnswer with rows, each of them.
func TestExamplesAnswer(t *testing.T) {
	names := regexp.MustCompile(`(?m)^query (\w+)`).FindAllStringSubmatch(examples, -1)
	if len(names) == 0 {
		t.Fatal("there are no examples")
	}
	eachWay(t, sample(t), func(t *testing.T, api http.Handler) {
		for _, name := range names {
			answer := post(t, api, map[string]any{"query": examples, "operationName": name[1]})
			if strings.Contains(strings.ReplaceAll(string(answer), `"nextToken":null`, ""), "null") || bytes.Contains(answer,
				[]byte(`"items":[]`)) {
				t.Errorf("%s answers with nothing: %s", name[1], answer)
			}
		}
	})
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

// ids asks for all there is of a connection, and returns what its rows are known by.
func ids(t *testing.T, api http.Handler, query string) []string {
	t.Helper()
	items, next := page(t, api, query)
	if next != nil {
		t.Fatalf("%s has another page", query)
	}
	return items
}

// page asks for a page of a connection. A row is known by its id, a member by team and user.
func page(t *testing.T, api http.Handler, query string) (ids []string, next *string) {
	t.Helper()
	fields := "id"
	if strings.HasPrefix(query, "Member") {
		fields = "teamId userId"
	}
	var answer struct {
		Items     []struct{ ID, TeamID, UserID string }
		NextToken *string
	}
	text := ask(t, api, query+" { items { "+fields+" } nextToken }")
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	for _, i := range answer.Items {
		ids = append(ids, strings.TrimSpace(i.ID+i.TeamID+" "+i.UserID))
	}
	return ids, answer.NextToken
}

// ask returns the answer to one field of Query, as it is.
func ask(t *testing.T, api http.Handler, field string) string {
	t.Helper()
	var answer struct {
		Data struct{ Answer json.RawMessage }
	}
	if err := json.Unmarshal(post(t, api, map[string]any{"query": "{ answer: " + field + " }"}), &answer); err != nil {
		t.Fatal(err)
	}
	return string(answer.Data.Answer)
}

// post sends a request and returns an answer without errors.
func post(t *testing.T, api http.Handler, request map[string]any) []byte {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	if w.Code != http.StatusOK || bytes.Contains(w.Body.Bytes(), []byte(`"errors":[`)) {
		t.Fatalf("%v: status %d: %s", request, w.Code, w.Body)
	}
	return w.Body.Bytes()
}
