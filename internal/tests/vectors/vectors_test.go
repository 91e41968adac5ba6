package vectors

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// vectors are a file of steps that the original system was watched at.
type vectors struct {
	CreateTable           json.RawMessage
	ReferencedEntityItems []attributes
	Steps                 []*step
}

// step is what it was asked, what it answered, what it sent, and what was in the table then.
type step struct {
	Name                    string
	Input, Result, ReadBack json.RawMessage
	StoredItems, Items      []attributes
	Writes                  []keysOfRequest // of aggregates
	Calls                   []call          // of rows: the whole requests
}

// keysOfRequest are the items of a request that writes several, each by its kind and its sort key.
type keysOfRequest struct {
	Op             string
	Keys, Requests []struct{ Kind, SK string }
}

// call is a request.
type call struct {
	Op    string
	Input json.RawMessage
}

// attributes are an item, each attribute in DynamoDB's form: a value under the letters of its type.
type attributes map[string]map[string]any

func (it attributes) text(name string) string {
	text, _ := it[name]["S"].(string)
	return text
}

func load(t *testing.T, file string) vectors {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// step returns the one of that name.
func (v vectors) step(t *testing.T, name string) *step {
	t.Helper()
	for _, s := range v.Steps {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("the vectors have no step %s", name)
	return nil
}

// under are the items of the partitions that keys begin so, in the order of their keys.
func under(items []attributes, pk string) (some []attributes) {
	for _, it := range items {
		if strings.HasPrefix(it.text("pk"), pk) {
			some = append(some, it)
		}
	}
	slices.SortFunc(some, compareKeys)
	return some
}

// The files, and the partitions in them that are looked at.
const (
	aggregates = "testdata/effect-aggregates.json"
	rows       = "../../schema/parse/testdata/vectors/effect-refs-timeseries.json"

	ofMatch      = "$cricket#v1#match#bgt-2025-test-1"
	ofCamp       = "$cricket#v1#camp#c-1"
	ofSelections = "$app#v1#selection#"
	ofReadings   = "$app#v1#reading#"
)
