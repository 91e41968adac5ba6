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

func venueRegistered(id, name string) projectiontest.Event {
	return of("VenueRegistered", id, data{"venueId": id, "name": name, "city": "Melbourne"})
}

func venueRenamed(id, name string) projectiontest.Event {
	return of("VenueRenamed", id, data{"venueId": id, "name": name})
}

func venueDeleted(id string) projectiontest.Event { return of("VenueDeleted", id, data{"venueId": id}) }

func coachRenamed(id, name string) projectiontest.Event {
	return of("CoachRenamed", id, data{"coachId": id, "name": name})
}

// scheduled is a match of aus against ind at mcg.
func scheduled() projectiontest.Event {
	return of("MatchScheduled", "m1", data{"matchId": "m1", "name": "1st Test", "season": "2024-25",
		"startsOn": "2024-12-26", "venueId": "mcg",
		"team1": data{"teamId": "aus", "coachId": "mcdonald", "homeTeam": true},
		"team2": data{"teamId": "ind", "coachId": "gambhir", "homeTeam": false}})
}

// squadNamed names players in batting order, of whom the first is the captain.
func squadNamed(team string, players ...string) projectiontest.Event {
	return of("SquadNamed", "m1", data{"matchId": "m1", "teamId": team, "playerIds": players, "captainId": players[0]})
}

func captainChanged(team, player string) projectiontest.Event {
	return of("CaptainChanged", "m1", data{"matchId": "m1", "teamId": team, "playerId": player})
}

func playerReplaced(team, former, player string) projectiontest.Event {
	return of("PlayerReplaced", "m1", data{"matchId": "m1", "teamId": team, "playerId": player, "inPlaceOf": former})
}

func rescheduled(day string) projectiontest.Event {
	return of("MatchRescheduled", "m1", data{"matchId": "m1", "startsOn": day})
}

func moved(day, venue string) projectiontest.Event {
	return of("MatchRescheduled", "m1", data{"matchId": "m1", "startsOn": day, "venueId": venue})
}

func abandoned() projectiontest.Event { return of("MatchAbandoned", "m1", data{"matchId": "m1"}) }

func of(kind, subject string, d data) projectiontest.Event {
	return projectiontest.Event{Type: kind, Subject: subject, Data: d}
}
