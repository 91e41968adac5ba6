package crash

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// releases is how many versions of each package were published, by the events that were appended.
type releases map[string]int

// read counts the versions of an appended batch, and asks for the package of its last event from the position on that
// the answer has given: whatever happens to servers meanwhile, an answer has what was written.
func (r releases) read(t *testing.T, client *http.Client, url func() string, body []byte, position string) {
	if position == "" {
		t.Error("an answer to events has no position")
	}
	var events []struct {
		Type string
		Data struct{ Package string }
	}
	if err := json.Unmarshal(body, &events); err != nil {
		t.Error(err)
		return
	}
	for _, e := range events {
		if e.Type == "VersionPublished" {
			r[e.Data.Package]++
		}
	}
	name := events[len(events)-1].Data.Package
	for t.Context().Err() == nil {
		got, ok := releasesOf(client, url(), name, position)
		switch {
		case !ok:
			time.Sleep(5 * time.Millisecond) // the server is being started again, or catches up
		case got != r[name]:
			t.Errorf("package %s has %d releases at the position of its %d-th", name, got, r[name])
			return
		default:
			return
		}
	}
}

// releasesOf asks for the releases of a package. It is not ok where there is no answer, or an error in place of one.
func releasesOf(client *http.Client, url, name, position string) (n int, ok bool) {
	body, err := json.Marshal(map[string]any{
		"query": "query($id: ID!) { Package(id: $id) { releases } }", "variables": map[string]string{"id": name},
	})
	if err != nil {
		return 0, false
	}
	req, err := http.NewRequest(http.MethodPost, url+"/graphql", bytes.NewReader(body))
	if err != nil {
		return 0, false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Foldql-Min-Position", position)
	res, err := client.Do(req)
	if err != nil {
		return 0, false
	}
	defer res.Body.Close()
	var answer struct {
		Data   struct{ Package *struct{ Releases int } }
		Errors []json.RawMessage
	}
	if json.NewDecoder(res.Body).Decode(&answer) != nil || len(answer.Errors) > 0 {
		return 0, false
	}
	if answer.Data.Package != nil {
		n = answer.Data.Package.Releases
	}
	return n, true
}
