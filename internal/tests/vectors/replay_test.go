package vectors

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
	"github.com/foldql/foldql/internal/tests/exampleserver"
)

// eachReplayed runs a test at each engine, on a site whose tables the vectors' request makes: nothing of foldql is
// there, and no server runs.
func eachReplayed(t *testing.T, test func(t *testing.T, s *site)) {
	for _, e := range dynamolocal.Engines() {
		t.Run(string(e), func(t *testing.T) {
			s := &site{Server: exampleserver.New(t, e)}
			s.createTables(t)
			test(t, s)
		})
	}
}

// takeOver starts the server on the tables as they are. The one command before is "tables apply", which adds the table
// of notes, and that items expire by _ttl: it neither makes nor changes a table or an index that the vectors have.
func (s *site) takeOver(t *testing.T) {
	t.Helper()
	added := strings.Split(strings.TrimSpace(strings.ReplaceAll(s.ApplyTables(t), s.Prefix, "")), "\n")
	want := []string{
		"create table foldql (id, _subId), without indexes; billed on demand, protected from deletion",
		"let items of table foldql expire by _ttl, at no charge",
		"let items of table agg-table expire by _ttl, at no charge",
		"let items of table ent-table expire by _ttl, at no charge",
		"done: the tables are as the models need them",
	}
	if diff := cmp.Diff(want, added); diff != "" {
		t.Errorf("tables apply (-want +got):\n%s", diff)
	}
	s.Serve(t)
}

// TestATableWrittenByTheVectorsRequestsIsServedAsItIs: a match, made by the requests of the original system before the
// first server starts, changed and deleted by them while it runs.
func TestATableWrittenByTheVectorsRequestsIsServedAsItIs(t *testing.T) {
	v := load(t, aggregates)
	eachReplayed(t, func(t *testing.T, s *site) {
		s.put(t, "agg-table", v.ReferencedEntityItems...)
		create, update := v.step(t, "create"), v.step(t, "update-one-subaggregate")
		s.replay(t, create)
		s.takeOver(t)
		check := func(step string, want any) {
			t.Helper()
			got := s.answer(t, "Match", `{ Match(id: "bgt-2025-Test-1") `+wholeMatch+` }`)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after %s, the match (-want +got):\n%s", step, diff)
			}
		}
		check("create", whatIs(t, create.ReadBack))
		s.replay(t, update)
		check("update-one-subaggregate", whatIs(t, update.ReadBack))
		s.replay(t, v.step(t, "delete"))
		check("delete", nil)
	})
}

// TestRowsWrittenByTheVectorsRequestsAreServedAsTheyAre: a selection with copies, a copy that follows, and a time
// series with its history.
func TestRowsWrittenByTheVectorsRequestsAreServedAsTheyAre(t *testing.T) {
	v := load(t, rows)
	cascade := v.step(t, "cascade-eventual")
	second := under(cascade.Items, ofSelections)[1]
	eachReplayed(t, func(t *testing.T, s *site) {
		s.replayCalls(t, v.step(t, "ref-put"))
		s.replayCalls(t, v.step(t, "ts-append-1"))
		s.takeOver(t)
		check := func(query, want string) {
			t.Helper()
			if got := s.Ask(t, `{ a: `+query+` }`); got != `{"a":`+want+`}` {
				t.Errorf("%s\n gives %s,\n want  %s", query, got, want)
			}
		}
		const fields = `{ squadRole teamId team { name } playerId player { firstName } }`
		check(`Selection(squadId: "AUS#2025", selectionNumber: 1) `+fields,
			`{"squadRole":"bowler","teamId":"aus","team":{"name":"Australia"},"playerId":"cummins-01",`+
				`"player":{"firstName":"Pat"}}`)
		const history = `ReadingEvents(channel: "c1", deviceId: "d1") { items { ts level } }`
		check(history, `{"items":[{"ts":"2026-01-01T00:00:00Z","level":1}]}`)

		second["player"]["M"].(object)["firstName"] = object{"S": "Steve"}
		s.put(t, "ent-table", second)
		s.put(t, "ent-table", smith)
		const byPlayer = `SelectionByPlayer(playerId: "smith-01") { items { selectionNumber player { firstName } } }`
		check(byPlayer, `{"items":[{"selectionNumber":2,"player":{"firstName":"Steve"}}]}`)
		s.replayCalls(t, cascade)
		check(byPlayer, `{"items":[{"selectionNumber":2,"player":{"firstName":"Steven"}}]}`)
		check(`AppPlayer(id: "smith-01") { firstName lastName }`, `{"firstName":"Steven","lastName":"Smith"}`)

		s.replayCalls(t, v.step(t, "ts-enrich"))
		s.replayCalls(t, v.step(t, "ts-append-2"))
		s.replayCalls(t, v.step(t, "ts-history"))
		const row = `{"ts":"2026-01-02T00:00:00Z","level":2,"accountId":"acme"}`
		check(`Reading(channel: "c1", deviceId: "d1") { ts level accountId }`, row)
		check(`ReadingByAccount(accountId: "acme") { items { ts level accountId } }`, `{"items":[`+row+`]}`)
		check(history, `{"items":[{"ts":"2026-01-01T00:00:00Z","level":1},{"ts":"2026-01-02T00:00:00Z","level":2}]}`)
	})
}

// smith is the item of smith-01 before the cascade, which a step has put that the vectors leave out.
var smith = attributes{
	"id": {"S": "smith-01"}, "firstName": {"S": "Steve"}, "lastName": {"S": "Smith"}, "__edd_e__": {"S": "Player"},
	"pk": {"S": "$app#v1#player#id_smith-01"}, "sk": {"S": "$app#v1#player"},
}
