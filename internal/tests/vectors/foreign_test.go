package vectors

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answer returns a field of the answer to a query, which has no errors.
func (s *site) answer(t *testing.T, field, query string) any {
	t.Helper()
	var data map[string]any
	if err := json.Unmarshal([]byte(s.Ask(t, query)), &data); err != nil {
		t.Fatal(err)
	}
	return data[field]
}

// whatIs reads JSON of the vectors.
func whatIs(t *testing.T, text json.RawMessage) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The whole match, with and without the ids that are beside copies.
const (
	wholeSheet = `{ team { id name country ranking } coach { id name } homeTeam
		players { player { id firstName lastName role } battingPosition isCaptain } }`
	wholeMatch = `{ id name season venue { id name city } umpires { id name } team1 ` + wholeSheet + ` team2 ` +
		wholeSheet + ` }`
	idsOfSheet = `{ teamId coachId players { playerId } }`
	idsOfMatch = `{ venueId umpireIds team1 ` + idsOfSheet + ` team2 ` + idsOfSheet + ` }`
)

// TestAnAggregateOfTheOriginalSystemIsReadAsItIs: by its id and by the list, with what that system itself answers, and
// with the ids that its items do not have.
func TestAnAggregateOfTheOriginalSystemIsReadAsItIs(t *testing.T) {
	v := load(t, aggregates)
	eachEngine(t, func(t *testing.T, s *site) {
		s.put(t, "agg-table", v.ReferencedEntityItems...)
		check := func(step, season string, want any) {
			t.Helper()
			s.put(t, "agg-table", v.step(t, step).StoredItems...)
			one := s.answer(t, "Match", `{ Match(id: "bgt-2025-Test-1") `+wholeMatch+` }`)
			if diff := cmp.Diff(want, one); diff != "" {
				t.Errorf("after %s, the match (-want +got):\n%s", step, diff)
			}
			list := s.answer(t, "MatchBySeason", `{ MatchBySeason(season: "`+season+`") { items `+wholeMatch+` } }`)
			if diff := cmp.Diff(any(object{"items": []any{want}}), list); diff != "" {
				t.Errorf("after %s, the list (-want +got):\n%s", step, diff)
			}
		}
		check("create", "2025", whatIs(t, v.step(t, "create").ReadBack))
		check("update-one-subaggregate", "2025", whatIs(t, v.step(t, "update-one-subaggregate").Result))
		list := whatIs(t, v.step(t, "list").Result).(object)["data"].([]any)
		check("list", "2026", list[0])
		const ids = `{"Match":{"venueId":"mcg","umpireIds":["ump-a","ump-b"],` +
			`"team1":{"teamId":"aus","coachId":"mcdonald","players":[{"playerId":"cummins-01"},{"playerId":"smith-01"}]},` +
			`"team2":{"teamId":"ind","coachId":"gambhir","players":[{"playerId":"kohli-01"}]}}}`
		if got := s.Ask(t, `{ Match(id: "bgt-2025-Test-1") `+idsOfMatch+` }`); got != ids {
			t.Errorf("the ids are %s, want %s", got, ids)
		}
	})
}

// TestAnAggregateOfTheOriginalSystemIsChangedInPlace: an event after its items leaves those of the vectors, as if they
// had been written here.
func TestAnAggregateOfTheOriginalSystemIsChangedInPlace(t *testing.T) {
	v := load(t, aggregates)
	eachEngine(t, func(t *testing.T, s *site) {
		s.put(t, "agg-table", v.ReferencedEntityItems...)
		s.put(t, "agg-table", v.step(t, "update-one-subaggregate").StoredItems...)
		s.fold(t, "SeasonChanged", object{"id": "bgt-2025-Test-1", "season": "2026"})
		same(t, under(v.step(t, "list").StoredItems, ofMatch), under(s.items(t, "agg-table"), ofMatch), differencesOfMatches)
	})
}

// TestRowsOfTheOriginalSystemAreReadAsTheyAre: those that matches refer to.
func TestRowsOfTheOriginalSystemAreReadAsTheyAre(t *testing.T) {
	v := load(t, aggregates)
	eachEngine(t, func(t *testing.T, s *site) {
		s.put(t, "agg-table", v.ReferencedEntityItems...)
		got := s.Ask(t, `{ Venue(id: "scg") { id name city } CricketPlayer(id: "kohli-01") { lastName role } }`)
		const want = `{"Venue":{"id":"scg","name":"Sydney Cricket Ground","city":"Sydney"},` +
			`"CricketPlayer":{"lastName":"Kohli","role":"batter"}}`
		if got != want {
			t.Errorf("they are %s", got)
		}
	})
}

// TestWhatTheOriginalSystemLeftOfAnAggregateIsNoWhole: of two matches it has written one group of items, and the next
// groups were refused.
func TestWhatTheOriginalSystemLeftOfAnAggregateIsNoWhole(t *testing.T) {
	v := load(t, aggregates)
	eachEngine(t, func(t *testing.T, s *site) {
		s.put(t, "agg-table", v.step(t, "delete").StoredItems...)
		for _, id := range []string{"big-1", "dup-1"} {
			_, errors := s.Answer(t, `{ Match(id: "`+id+`") { id } }`)
			if !strings.Contains(errors, `"AGGREGATE_INCOMPLETE"`) || !strings.Contains(errors, "it has no team1") {
				t.Errorf("match %s has the errors %s", id, errors)
			}
		}
		const camp = `{"Camp":{"name":"Summer Camp","coachId":"gambhir","sheet":{"skill":"spin","note":"n"}}}`
		if got := s.Ask(t, `{ Camp(id: "c-1") { name coachId sheet { skill note } } }`); got != camp {
			t.Errorf("the camp, which that system itself cannot read, is %s", got)
		}
	})
}

// TestRowsWithReferencesOfTheOriginalSystemAreReadAsTheyAre: by id, by the list and in their partition, with the ids
// that its items have in their copies alone.
func TestRowsWithReferencesOfTheOriginalSystemAreReadAsTheyAre(t *testing.T) {
	v := load(t, rows)
	const fields = ` { squadId selectionNumber squadRole teamId team { id name } playerId player { id firstName lastName }
		createdAt updatedAt }`
	const cummins = `{"squadId":"AUS#2025","selectionNumber":1,"squadRole":"bowler",` +
		`"teamId":"aus","team":{"id":"aus","name":"Australia"},` +
		`"playerId":"cummins-01","player":{"id":"cummins-01","firstName":"Pat","lastName":"Cummins"},` +
		`"createdAt":"` + timeOfItems + `","updatedAt":"` + timeOfItems + `"}`
	const smith = `{"squadId":"AUS#2025","selectionNumber":2,"squadRole":"batter",` +
		`"teamId":"aus","team":{"id":"aus","name":"Australia"},` +
		`"playerId":"smith-01","player":{"id":"smith-01","firstName":"Steven","lastName":"Smith"},` +
		`"createdAt":"` + timeOfItems + `","updatedAt":"` + timeOfItems + `"}`
	eachEngine(t, func(t *testing.T, s *site) {
		later := under(v.step(t, "cascade-eventual").Items, ofSelections)
		s.put(t, "ent-table", under(v.step(t, "ref-put").Items, ofSelections)...)
		s.put(t, "ent-table", later[1])
		for query, want := range map[string]string{
			`Selection(squadId: "AUS#2025", selectionNumber: 1)` + fields:                 cummins,
			`SelectionByPlayer(playerId: "smith-01") { items` + fields + ` }`:             `{"items":[` + smith + `]}`,
			`SelectionByPlayer(playerId: "cummins-01") { items` + fields + ` }`:           `{"items":[` + cummins + `]}`,
			`SelectionByPrimary(squadId: "AUS#2025") { items` + fields + ` }`:             `{"items":[` + cummins + `,` + smith + `]}`,
			`SelectionByPrimary(squadId: "AUS#2025") { items { teamId } }`:                `{"items":[{"teamId":"aus"},{"teamId":"aus"}]}`,
			`SelectionByPlayer(playerId: "smith-01") { items { selectionNumber teamId }}`: `{"items":[{"selectionNumber":2,"teamId":"aus"}]}`,
		} {
			if got := s.Ask(t, `{ a: `+query+` }`); got != `{"a":`+want+`}` {
				t.Errorf("%s\n gives %s,\n want  %s", query, got, want)
			}
		}
	})
}

// TestARowThatLacksItsKeyIsAnError: an update of the original system has made a row that was not there, without the
// fields of its key.
func TestARowThatLacksItsKeyIsAnError(t *testing.T) {
	v := load(t, rows)
	eachEngine(t, func(t *testing.T, s *site) {
		s.put(t, "ent-table", under(v.step(t, "cascade-eventual").Items, ofSelections)[2])
		_, errors := s.Answer(t, `{ Selection(squadId: "AUS#2025", selectionNumber: 3) { squadId } }`)
		if !strings.Contains(errors, "the value is absent in the stored row") {
			t.Errorf("the errors are %s", errors)
		}
		const want = `{"Selection":{"teamId":"aus","player":{"firstName":"Steve"}}}`
		got := s.Ask(t, `{ Selection(squadId: "AUS#2025", selectionNumber: 3) { teamId player { firstName } } }`)
		if got != want {
			t.Errorf("its other fields are %s", got)
		}
	})
}

// TestATimeSeriesOfTheOriginalSystemIsReadAsItIs: the row by id and by the list, and the history, from either end and
// page by page. Events that follow go on with it.
func TestATimeSeriesOfTheOriginalSystemIsReadAsItIs(t *testing.T) {
	v := load(t, rows)
	const reading = ` { channel deviceId ts level accountId createdAt }`
	const row = `{"channel":"c1","deviceId":"d1","ts":"2026-01-02T00:00:00Z","level":2,"accountId":"acme",` +
		`"createdAt":"` + timeOfItems + `"}`
	const history = `a: ReadingEvents(channel: "c1", deviceId: "d1"`
	eachEngine(t, func(t *testing.T, s *site) {
		s.put(t, "ent-table", v.step(t, "ts-history").Items...)
		if diff := cmp.Diff(object{"items": whatIs(t, v.step(t, "ts-history").Result)},
			s.answer(t, "a", `{ `+history+`) { items { channel deviceId ts level } } }`)); diff != "" {
			t.Errorf("the history (-want +got):\n%s", diff)
		}
		check := func(query, want string) {
			t.Helper()
			if got := s.Ask(t, `{ `+query+` }`); got != `{"a":`+want+`}` {
				t.Errorf("%s\n gives %s,\n want  %s", query, got, want)
			}
		}
		check(`a: Reading(channel: "c1", deviceId: "d1")`+reading, row)
		check(`a: ReadingByAccount(accountId: "acme") { items`+reading+` }`, `{"items":[`+row+`]}`)
		check(history+`, reverse: true) { items { level } }`, `{"items":[{"level":2},{"level":1}]}`)
		check(history+`, from: "2026-01-02T00:00:00Z") { items { level } }`, `{"items":[{"level":2}]}`)
		check(history+`, to: "2026-01-01T12:00:00Z") { items { level } }`, `{"items":[{"level":1}]}`)
		page := s.answer(t, "a", `{ `+history+`, limit: 1) { items { level } nextToken } }`).(object)
		check(history+`, limit: 1, nextToken: "`+page["nextToken"].(string)+`") { items { level } }`,
			`{"items":[{"level":2}]}`)

		s.fold(t, "Read", object{"channel": "c1", "deviceId": "d1", "ts": "2099-01-03T00:00:00Z", "level": 3})
		check(history+`) { items { level } }`, `{"items":[{"level":1},{"level":2},{"level":3}]}`)
		check(`a: Reading(channel: "c1", deviceId: "d1") { level accountId }`, `{"level":3,"accountId":"acme"}`)
		check(`a: ReadingByAccount(accountId: "acme") { items { level } }`, `{"items":[{"level":3}]}`)
	})
}
