package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/querydb"
	"github.com/foldql/foldql/querydb/driver"
	"github.com/foldql/foldql/server"

	"example.com/devices/model"
)

// step is an event of the lifecycle, and what is to be seen when it is folded.
type step struct {
	Event   string // its id
	Section string // of the guide to index policies
	Says    string
	Ask     string
	Answer  json.RawMessage
	// Stored are the attributes of the row that hold keys, by name, and the one that tells its type. Where the row is
	// gone they are its own key.
	Stored map[string]string
	Gone   bool
}

func (s *step) name() string { return s.Event + " " + s.Section + " " + s.Says }

// lifecycle returns the steps, and the event of each.
func lifecycle(t *testing.T) (steps []step, events [][]byte) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/steps.json")
	if err != nil {
		t.Fatal(err)
	}
	decode(t, text, &steps)
	lines, err := os.ReadFile("../../data/lifecycle.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	events = bytes.Split(bytes.TrimSpace(lines), []byte("\n"))
	if len(steps) == 0 || len(steps) != len(events) {
		t.Fatalf("%d steps of %d events", len(steps), len(events))
	}
	for i, e := range events {
		var event struct{ ID string }
		decode(t, e, &event)
		if event.ID != steps[i].Event {
			t.Fatalf("step %d is of event %s, and the event there is %s", i, steps[i].Event, event.ID)
		}
	}
	return steps, events
}

// TestEachEventOfTheLifecycleLeavesTheAnswerAndTheKeysAsItSays appends one event after another, and looks after each at
// the API's answer and at the keys in the store.
func TestEachEventOfTheLifecycleLeavesTheAnswerAndTheKeysAsItSays(t *testing.T) {
	steps, events := lifecycle(t)
	for name, resolversOnly := range map[string]bool{"as served": false, "by resolvers": true} {
		t.Run(name, func(t *testing.T) {
			f := open(t, func(c *server.EmbedConfig) { c.ResolversOnly = resolversOnly })
			for i, s := range steps {
				f.append(t, events[i])
				t.Run(s.name(), func(t *testing.T) {
					if diff := cmp.Diff(asAny(t, s.Answer), asAny(t, f.ask(t, s.Ask))); diff != "" {
						t.Errorf("%s (-want +got):\n%s", s.Ask, diff)
					}
					if diff := cmp.Diff(s.Stored, f.stored(t, &s)); diff != "" {
						t.Errorf("attributes of keys (-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

// stored reads the row of the step, and returns its keys under the names of the table's attributes.
func (f *fleet) stored(t *testing.T, s *step) map[string]string {
	t.Helper()
	m, key := modelOf(t, s.Stored["pk"]), keys.Key{PK: s.Stored["pk"], SK: s.Stored["sk"]}
	rows, err := f.db.Get(t.Context(), m, []keys.Key{key}, true)
	if err != nil {
		t.Fatal(err)
	}
	row := &rows[0]
	if there := row.Record != nil; there == s.Gone {
		t.Fatalf("there is a row under %q: %t, and it should be: %t", key, there, !s.Gone)
	}
	table := m.Entity.Table
	got := attributes(table.KeyNames, driver.IndexKey{Key: key, HasPK: true, HasSK: true})
	if row.Record != nil {
		got[table.KeyNames.Kind] = m.Entity.Kind
	}
	for i, k := range row.Indexes {
		for name, text := range attributes(table.Indexes[i].KeyNames, k) {
			got[name] = text
		}
	}
	return got
}

// attributes returns the halves of a key that are present, by the names of their attributes.
func attributes(names driver.KeyNames, k driver.IndexKey) map[string]string {
	list := map[string]string{}
	if k.HasPK {
		list[names.PK] = k.PK
	}
	if k.HasSK {
		list[names.SK] = k.SK
	}
	return list
}

// modelOf returns the model that a partition key belongs to.
func modelOf(t *testing.T, pk string) *querydb.Model {
	t.Helper()
	for _, m := range model.All {
		if strings.HasPrefix(pk, m.PK.Layout.Head+"#") {
			return m
		}
	}
	t.Fatalf("no model has the key %q", pk)
	return nil
}

func asAny(t *testing.T, text []byte) (v any) {
	t.Helper()
	decode(t, text, &v)
	return v
}

// TestExamplesAnswer with rows, each of them, at the end of the lifecycle.
func TestExamplesAnswer(t *testing.T) {
	f := open(t)
	_, events := lifecycle(t)
	for _, e := range events {
		f.append(t, e)
	}
	names := regexp.MustCompile(`(?m)^query (\w+)`).FindAllStringSubmatch(examples, -1)
	if len(names) == 0 {
		t.Fatal("there are no examples")
	}
	for _, name := range names {
		var answer map[string]json.RawMessage
		decode(t, f.execute(t, map[string]any{"query": examples, "operationName": name[1]}), &answer)
		for field, got := range answer {
			if string(got) == "null" || bytes.Contains(got, []byte(`"items":[]`)) {
				t.Errorf("%s answers with nothing: %s: %s", name[1], field, got)
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
