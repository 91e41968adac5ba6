package cricket_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/cricket/model"
)

// then are events that schedule a match after all that it refers to is there, and those that follow.
func then(events ...projectiontest.Event) []projectiontest.Event {
	return append([]projectiontest.Event{
		venueRegistered("mcg", "Melbourne Cricket Ground"), venueRegistered("gabba", "The Gabba"),
		teamRegistered("aus", "Australia"), coachRegistered("mcdonald", "aus"),
		teamRegistered("ind", "India"), coachRegistered("gambhir", "ind"),
		playerRegistered("cummins", "Pat"), playerRegistered("smith", "Steve"), playerRegistered("kohli", "Virat"),
		scheduled(),
	}, events...)
}

// thenNamed are those of then after which both squads are named.
func thenNamed(events ...projectiontest.Event) []projectiontest.Event {
	named := []projectiontest.Event{squadNamed("aus", "smith", "cummins"), squadNamed("ind", "kohli")}
	return then(append(named, events...)...)
}

func matches(all ...model.Match) projectiontest.Rows {
	return projectiontest.RowsOf(model.MatchCodec, all...)
}

// unnamed is the match of then.
func unnamed() model.Match {
	return model.Match{
		ID: "m1", Name: "1st Test", Season: "2024-25", StartsOn: "2024-12-26",
		VenueID: "mcg", Venue: &model.VenueCopy{ID: "mcg", Name: "Melbourne Cricket Ground", City: "Melbourne"},
		Team1: sheet("aus", "Australia", "mcdonald", true), Team2: sheet("ind", "India", "gambhir", false),
	}
}

// named is the match of thenNamed: smith leads one team, kohli the other.
func named() model.Match {
	m := unnamed()
	m.Team1.Players = []model.PlayerSheet{plays(1, "smith", "Steve"), plays(2, "cummins", "Pat")}
	m.Team2.Players = []model.PlayerSheet{plays(1, "kohli", "Virat")}
	m.Team1.Players[0].IsCaptain, m.Team2.Players[0].IsCaptain = true, true
	return m
}

func sheet(team, name, coach string, home bool) model.TeamSheet {
	return model.TeamSheet{
		TeamID: team, Team: &model.TeamCopy{ID: team, Name: name, Country: "Australia", Ranking: 1},
		CoachID: coach, Coach: &model.CoachCopy{ID: coach, Name: "Coach", TeamID: &team},
		HomeTeam: home,
	}
}

func plays(position int, id, first string) model.PlayerSheet {
	return model.PlayerSheet{
		PlayerID: id, Player: &model.PlayerCopy{ID: id, FirstName: first, LastName: "Smith", Role: model.RoleBatter},
		BattingPosition: position,
	}
}

func TestNobodyPlaysBeforeASquadIsNamed(t *testing.T) {
	folded(t, then(), matches(unnamed()))
}

func TestPlayersComeInBattingOrder(t *testing.T) {
	folded(t, thenNamed(), matches(named()))
}

func TestASquadThatIsNamedAgainTakesThePlaceOfTheFirst(t *testing.T) {
	want := named()
	want.Team1.Players = []model.PlayerSheet{plays(1, "cummins", "Pat")}
	want.Team1.Players[0].IsCaptain = true
	folded(t, thenNamed(squadNamed("aus", "cummins")), matches(want))
}

func TestATeamHasOneCaptain(t *testing.T) {
	want := named()
	want.Team1.Players[0].IsCaptain, want.Team1.Players[1].IsCaptain = false, true
	folded(t, thenNamed(captainChanged("aus", "cummins")), matches(want))
}

func TestAPlayerTakesThePositionAndTheCaptaincyOfAnother(t *testing.T) {
	want := named()
	want.Team1.Players[0] = plays(1, "marsh", "Mitchell")
	want.Team1.Players[0].IsCaptain = true
	folded(t, thenNamed(playerRegistered("marsh", "Mitchell"), playerReplaced("aus", "smith", "marsh")), matches(want))
}

func TestAMatchIsPlayedOnAnotherDayAndPerhapsElsewhere(t *testing.T) {
	want := named()
	want.StartsOn = "2025-01-03"
	folded(t, thenNamed(rescheduled("2025-01-03")), matches(want))

	want.VenueID, want.Venue = "gabba", &model.VenueCopy{ID: "gabba", Name: "The Gabba", City: "Melbourne"}
	folded(t, thenNamed(moved("2025-01-03", "gabba")), matches(want))
}

func TestNothingIsLeftOfAnAbandonedMatch(t *testing.T) {
	folded(t, thenNamed(abandoned()), matches())
	folded(t, thenNamed(abandoned(), scheduled()), matches(unnamed()))
}

func TestAMatchFollowsItsVenueAndPlayersAndKeepsTeamsAndCoachesAsTheyWere(t *testing.T) {
	want := named()
	want.Venue.Name = "The MCG"
	want.Team1.Players[0].Player.FirstName = "Steven"
	folded(t, thenNamed(
		teamRenamed("aus", "Australia Men"), coachRenamed("mcdonald", "Andrew McDonald"),
		venueRenamed("mcg", "The MCG"), playerRenamed("smith", "Steven"),
	), matches(want))
}

func TestAMatchFollowsACorrectionOfATeam(t *testing.T) {
	want := named()
	want.Team2.Team.Name = "Bharat"
	folded(t, thenNamed(teamCorrected("ind", "Bharat"), teamRenamed("ind", "India Men")), matches(want))
}

func TestAMatchKeepsVenuesAndPlayersThatAreDeleted(t *testing.T) {
	folded(t, thenNamed(venueDeleted("mcg"), playerDeleted("smith"), captainChanged("aus", "smith")), matches(named()))
}

func TestASquadWaitsUntilAllOfItsPlayersAreRegistered(t *testing.T) {
	want := named()
	want.Team2.Players = []model.PlayerSheet{plays(1, "kohli", "Virat"), plays(2, "bumrah", "Jasprit")}
	want.Team2.Players[1].IsCaptain = true
	folded(t, thenNamed(
		squadNamed("ind", "kohli", "bumrah"), captainChanged("ind", "bumrah"), playerRegistered("bumrah", "Jasprit"),
	), matches(want))
}

func TestEventsThatDoNotFitTheMatchAreDeadLetters(t *testing.T) {
	for _, tt := range []struct {
		given  projectiontest.Event
		reason string
	}{
		{squadNamed("nz", "smith"), "team nz does not play in match m1"},
		{squadNamed("aus", "smith", "smith"), "two elements of team1.players have"},
		{squadNamed("aus", "smith", "nobody"), `no Player with the identifier "nobody"`},
		{captainChanged("aus", "kohli"), "player kohli is not in the squad of team aus"},
		{playerReplaced("aus", "kohli", "smith"), "player kohli is not in the squad of team aus"},
		{playerReplaced("aus", "smith", "cummins"), "two elements of team1.players have"},
		{moved("2025-01-03", "nowhere"), `no Venue with the identifier "nowhere"`},
	} {
		deadLetter(t, thenNamed(tt.given), tt.reason, matches(named()))
	}
	deadLetter(t, []projectiontest.Event{rescheduled("2025-01-03")}, "there is no such row", matches())
}
