package parse

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/schema"
	"github.com/foldql/foldql/keys"
)

// The vectors are what the system of the seed's guides writes for a time series. These differences are meant:
//
//   - Keys of the history go on with the partition and the offset of the event, so that two events of one time are both
//     kept; there the later one takes the place of the other.
//   - The history is of a kind of its own, ReadingEvent, so that no query of the rows finds it; there it is of the kind
//     of the rows. Events that are so are read too.
//   - The order is that of a DateTime, whose text in a key has three fraction digits; there it is that of a text.
//   - An event that is not newer is kept in the history; there an append of it fails, and nothing of it stays.
const seriesOfVectors = `
extend schema @table(name: "ent", schema: "app", version: 1)
type Reading @entity(table: "ent") @primaryKey(pk: ["channel", "deviceId"], sk: [])
    @readModel(projector: "ingest", events: ["Read"], writes: ["ts", "level"])
    @readModel(projector: "enrichment", events: ["Read"], writes: ["accountId"])
    @timeSeries(orderBy: "ts", append: ["level"], keep: "P7D")
    @gsi(as: "byAccount", name: "gsi1", pk: ["accountId"], sk: ["ts"]) {
  channel: ID!
  deviceId: ID!
  accountId: ID
  ts: DateTime
  level: Int
}`

// TestKeysOfTimeSeriesAreThoseOfTheVectors composes the key of each item of the vectors, and of its index.
func TestKeysOfTimeSeriesAreThoseOfTheVectors(t *testing.T) {
	model, found := Load([]*ast.Source{{Name: "schema.graphqls", Input: seriesOfVectors}},
		[]*ast.Source{{Name: "events.graphqls", Input: "type Read { channel: ID! deviceId: ID! ts: DateTime! level: Int! }"}})
	if model == nil {
		t.Fatal(found)
	}
	row := model.ReadModels[0]
	items := map[bool]int{} // by whether they are of the history
	for _, item := range itemsOfSeries(t) {
		text := func(attribute string) string { return item[attribute]["S"] }
		isEvent := strings.Contains(text("sk"), "#e#")
		items[isEvent]++
		m, place := row, ""
		if isEvent {
			m, place = row.Series.History, "#0#0000000000000007"
		}
		check := func(attribute string, h schema.Half, suffix string) {
			t.Helper()
			want := strings.ReplaceAll(text(attribute), ":00z", ":00.000z") + suffix
			if got := composed(t, h, text); got != want {
				t.Errorf("%s is %q, and %q in the vectors", attribute, got, want)
			}
		}
		check("pk", m.PK, "")
		check("sk", m.SK, place)
		if len(m.Indexes) > 0 {
			check("gsi1sk", m.Indexes[0].SK, "")
		}
		if len(m.Indexes) > 0 && text("accountId") != "" {
			check("gsi1pk", m.Indexes[0].PK, "")
		}
		if isEvent && text("gsi1sk") != "" {
			t.Errorf("the vectors have an event in an index: %v", item)
		}
	}
	if items[false] != 4 || items[true] != 6 {
		t.Errorf("the vectors have %d rows and %d events, want 4 and 6", items[false], items[true])
	}
}

// composed is the text of a half for the fields of an item; the event stands at offset 7 of partition 0.
func composed(t *testing.T, h schema.Half, text func(attribute string) string) string {
	t.Helper()
	var values []keys.Value
	for _, f := range h.Fields {
		switch {
		case f.Scalar == "DateTime":
			at, err := time.Parse(time.RFC3339, text(f.Name))
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, keys.DateTime(at))
		case f.Hidden && f.Scalar == "Int64":
			values = append(values, keys.Int(7))
		case f.Hidden:
			values = append(values, keys.String("0"))
		default:
			values = append(values, keys.String(text(f.Name)))
		}
	}
	key, err := h.Layout.Compose(values...)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// itemsOfSeries are the items after each step of the vectors that is about a time series.
func itemsOfSeries(t *testing.T) (all []map[string]map[string]string) {
	t.Helper()
	file, err := os.ReadFile("testdata/vectors/effect-refs-timeseries.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Steps []struct {
			Name  string
			Items []json.RawMessage
		}
	}
	if err := json.Unmarshal(file, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, s := range vectors.Steps {
		if !strings.HasPrefix(s.Name, "ts-") {
			continue // it is about references
		}
		for _, text := range s.Items {
			var item map[string]map[string]string
			if err := json.Unmarshal(text, &item); err != nil {
				t.Fatal(err)
			}
			all = append(all, item)
		}
	}
	return all
}
