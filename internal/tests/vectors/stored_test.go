package vectors

import (
	"testing"
)

type object = map[string]any

// TestItemsOfAnAggregateAreThoseOfTheVectors, after each of their steps, and none is left when it is deleted but the
// mark that it was.
func TestItemsOfAnAggregateAreThoseOfTheVectors(t *testing.T) {
	v := load(t, aggregates)
	eachEngine(t, func(t *testing.T, s *site) {
		for _, it := range v.ReferencedEntityItems {
			s.fold(t, it.text("__edd_e__")+"Put", it.plain())
		}
		check := func(step string) {
			t.Helper()
			same(t, under(v.step(t, step).StoredItems, ofMatch), under(s.items(t, "agg-table"), ofMatch), differencesOfMatches)
		}
		const match = "bgt-2025-Test-1"
		s.fold(t, "MatchPut", v.step(t, "create").Input)
		check("create")
		s.fold(t, "MatchRenamed", object{"id": match, "name": "Boxing Day Test"})
		s.fold(t, "CaptainChanged", object{"id": match, "playerId": "smith-01"})
		check("update-one-subaggregate")
		s.fold(t, "SeasonChanged", object{"id": match, "season": "2026"})
		check("list")
		s.fold(t, "MatchDeleted", object{"id": match})
		if theirs := under(v.step(t, "delete").StoredItems, ofMatch); len(theirs) > 0 {
			t.Errorf("the vectors have %v left", theirs)
		}
		left := under(s.items(t, "agg-table"), ofMatch)
		if len(left) != 1 || left[0]["_deleted"]["BOOL"] != true || left[0]["name"] != nil || left[0]["gsi1pk"] != nil {
			t.Errorf("there are left %v", left)
		}
	})
}

// TestItemsOfACampAreThoseOfTheVectors, which has members with a field of the context's name, and one whose name begins
// as those of keys do.
func TestItemsOfACampAreThoseOfTheVectors(t *testing.T) {
	v := load(t, aggregates)
	eachEngine(t, func(t *testing.T, s *site) {
		for _, it := range v.ReferencedEntityItems {
			s.fold(t, it.text("__edd_e__")+"Put", it.plain())
		}
		s.fold(t, "CampPut", object{"id": "c-1", "name": "Summer Camp", "venueId": "mcg", "coachId": "gambhir",
			"skill": "spin", "note": "n"})
		same(t, under(v.step(t, "delete").StoredItems, ofCamp), under(s.items(t, "agg-table"), ofCamp), differencesOfCamps)
	})
}

// TestItemsOfReferredRowsAreThoseOfTheVectors, which name the fields in their keys.
func TestItemsOfReferredRowsAreThoseOfTheVectors(t *testing.T) {
	v := load(t, aggregates)
	eachEngine(t, func(t *testing.T, s *site) {
		for _, it := range v.ReferencedEntityItems {
			s.fold(t, it.text("__edd_e__")+"Put", it.plain())
		}
		same(t, under(v.ReferencedEntityItems, "$"), under(s.items(t, "agg-table"), "$"),
			[]difference{revision, position.of(".*"), writer.of(".*")})
	})
}

// TestItemsWithReferencesAreThoseOfTheVectors, when they are made, and when what they refer to has changed.
func TestItemsWithReferencesAreThoseOfTheVectors(t *testing.T) {
	v := load(t, rows)
	eachEngine(t, func(t *testing.T, s *site) {
		smith := object{"id": "smith-01", "firstName": "Steve", "lastName": "Smith"}
		s.fold(t, "AppTeamPut", object{"id": "aus", "name": "Australia"})
		s.fold(t, "AppPlayerPut", object{"id": "cummins-01", "firstName": "Pat", "lastName": "Cummins"})
		s.fold(t, "AppPlayerPut", smith)
		put := func(number int, player, role string) {
			s.fold(t, "SelectionPut", object{"squadId": "AUS#2025", "selectionNumber": number, "teamId": "aus",
				"playerId": player, "squadRole": role})
		}
		check := func(step string, differences []difference) {
			t.Helper()
			same(t, under(v.step(t, step).Items, ofSelections), under(s.items(t, "ent-table"), ofSelections), differences)
		}
		put(1, "cummins-01", "bowler")
		check("ref-put", differencesOfSelections)
		put(1, "smith-01", "bowler")
		put(2, "smith-01", "batter")
		put(3, "smith-01", "batter")
		smith["firstName"] = "Steven"
		s.fold(t, "AppPlayerPut", smith)
		check("cascade-eventual", differencesAfterCascade)
	})
}

// TestItemsOfATimeSeriesAreThoseOfTheVectors, rows and history.
func TestItemsOfATimeSeriesAreThoseOfTheVectors(t *testing.T) {
	v := load(t, rows)
	eachEngine(t, func(t *testing.T, s *site) {
		check := func(step string) {
			t.Helper()
			same(t, under(v.step(t, step).Items, ofReadings), under(s.items(t, "ent-table"), ofReadings),
				differencesOfReadings)
		}
		reading := func(ts string, level int) {
			s.fold(t, "Read", object{"channel": "c1", "deviceId": "d1", "ts": ts, "level": level})
		}
		reading("2026-01-01T00:00:00Z", 1)
		check("ts-append-1")
		s.fold(t, "AccountFound", object{"channel": "c1", "deviceId": "d1", "accountId": "acme"})
		check("ts-enrich")
		reading("2026-01-02T00:00:00Z", 2)
		check("ts-append-2")
		check("ts-history")
	})
}
