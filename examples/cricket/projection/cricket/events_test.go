package cricket_test

import "github.com/foldql/foldql/projection/projectiontest"

// The events of the specs. Whoever is registered has an id that says who it is.

type data = map[string]any

const squad = "aus#2024-25#BGT"

func teamRegistered(id, name string) projectiontest.Event {
	return of("TeamRegistered", id, data{"teamId": id, "name": name, "country": "Australia", "ranking": 1})
}

func teamRenamed(id, name string) projectiontest.Event {
	return of("TeamRenamed", id, data{"teamId": id, "name": name})
}

func teamCorrected(id, name string) projectiontest.Event {
	return of("TeamCorrected", id, data{"teamId": id, "name": name})
}

func teamDeleted(id string) projectiontest.Event { return of("TeamDeleted", id, data{"teamId": id}) }

func playerRegistered(id, first string) projectiontest.Event {
	return of("PlayerRegistered", id, data{"playerId": id, "firstName": first, "lastName": "Smith", "role": "BATTER"})
}

func playerRenamed(id, first string) projectiontest.Event {
	return of("PlayerRenamed", id, data{"playerId": id, "firstName": first, "lastName": "Smith"})
}

func playerDeleted(id string) projectiontest.Event {
	return of("PlayerDeleted", id, data{"playerId": id})
}

func coachRegistered(id, team string) projectiontest.Event {
	return of("CoachRegistered", id, data{"coachId": id, "name": "Coach", "teamId": team})
}

func selected(number int, team, player string) projectiontest.Event {
	return of("PlayerSelected", squad, data{"squadId": squad, "selectionNumber": number, "teamId": team,
		"playerId": player, "squadRole": "BATTER"})
}

func captainMade(number int) projectiontest.Event {
	return of("CaptainMade", squad, data{"squadId": squad, "selectionNumber": number})
}

func captainReplaced(number, former int) projectiontest.Event {
	return of("CaptainMade", squad, data{"squadId": squad, "selectionNumber": number, "inPlaceOf": former})
}

func dropped(number int) projectiontest.Event {
	return of("PlayerDropped", squad, data{"squadId": squad, "selectionNumber": number})
}

func of(kind, subject string, d data) projectiontest.Event {
	return projectiontest.Event{Type: kind, Subject: subject, Data: d}
}
