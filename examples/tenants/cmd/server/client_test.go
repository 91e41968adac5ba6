package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// eachWay runs a test against what the server answers with, and against the generated resolvers alone.
func eachWay(t *testing.T, s *site, test func(t *testing.T, api http.Handler)) {
	t.Run("as served", func(t *testing.T) { test(t, s.api(false)) })
	t.Run("by resolvers", func(t *testing.T) { test(t, s.api(true)) })
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

// known says by which fields the rows of each type are known.
var known = map[string]string{
	"Employee": "employeeId", "Task": "taskId", "Equipment": "equipmentId",
	"ProjectMember": "employeeId projectId", "Membership": "role userId",
}

// members are the types of the items of each collection.
var members = map[string][]string{
	"TenantMembers": {"Employee", "Task"}, "DepartmentStaff": {"Employee", "Equipment"},
	"Contributions": {"Employee", "Task", "ProjectMember"}, "Assignments": {"Task", "ProjectMember"},
}

// fields are what a row of the answer to a query is known by.
func fields(query string) string {
	name, _, _ := strings.Cut(query, "(")
	var text strings.Builder
	for _, m := range members[name] {
		text.WriteString(" ... on " + m + " { " + known[m] + " }")
	}
	if text.Len() > 0 {
		return "__typename" + text.String()
	}
	for suffix := range members {
		name = strings.TrimSuffix(name, suffix)
	}
	for _, suffix := range []string{"ByEmail", "ByAssignee", "ByPrimary"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return known[name]
}

// page asks for a page of a connection.
func page(t *testing.T, api http.Handler, query string) (ids []string, next *string) {
	t.Helper()
	var answer struct {
		Items []struct {
			TypeName                                           string `json:"__typename"`
			EmployeeID, TaskID, EquipmentID, ProjectID, UserID string
			Role                                               string
		}
		NextToken *string
	}
	text := ask(t, api, query+" { items { "+fields(query)+" } nextToken }")
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	for _, i := range answer.Items {
		id := cmp.Or(i.TaskID, i.EquipmentID, i.EmployeeID, i.Role+":"+i.UserID)
		if i.ProjectID != "" {
			id += "/" + i.ProjectID
		}
		ids = append(ids, id)
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
	answer := send(t, api, request)
	if bytes.Contains(answer, []byte(`"errors":[`)) {
		t.Fatalf("%v: %s", request, answer)
	}
	return answer
}

// send sends a request and returns the answer.
func send(t *testing.T, api http.Handler, request map[string]any) []byte {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	if w.Code != http.StatusOK && w.Code != http.StatusUnprocessableEntity {
		t.Fatalf("%v: status %d: %s", request, w.Code, w.Body)
	}
	return w.Body.Bytes()
}
