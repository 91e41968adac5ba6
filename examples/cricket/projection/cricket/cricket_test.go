package cricket_test

import (
	"strconv"
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/cricket/model"
	"example.com/cricket/projection/cricket"
)

// folded checks what events fold into.
func folded(t *testing.T, given []projectiontest.Event, want ...projectiontest.Rows) {
	t.Helper()
	projectiontest.RunGroup(t, projectiontest.GroupSpec{
		Projections: cricket.Projections(), Given: given, Want: want,
	})
}

// deadLetter checks that the last of the events becomes a dead letter for a reason, and what the others fold into.
func deadLetter(t *testing.T, given []projectiontest.Event, reason string, want ...projectiontest.Rows) {
	t.Helper()
	projectiontest.RunGroup(t, projectiontest.GroupSpec{
		Projections: cricket.Projections(), Given: given, Want: want,
		WantDeadLetters: []projectiontest.DeadLetter{{ID: strconv.Itoa(len(given)), Reason: reason}},
	})
}

func selections(all ...model.SquadSelection) projectiontest.Rows {
	return projectiontest.RowsOf(model.SquadSelectionCodec, all...)
}

// selection is one with copies of the team and the player under these names.
func selection(number int, team, player string) model.SquadSelection {
	return model.SquadSelection{
		SquadID: squad, SelectionNumber: number, SquadRole: model.RoleBatter,
		TeamID: "aus", Team: &model.TeamCopy{ID: "aus", Name: team, Country: "Australia", Ranking: 1},
		PlayerID: "smith",
		Player:   &model.PlayerCopy{ID: "smith", FirstName: player, LastName: "Smith", Role: model.RoleBatter},
	}
}

func TestSelectionsKeepTheTeamAsItWasAndFollowThePlayer(t *testing.T) {
	folded(t, []projectiontest.Event{
		teamRegistered("aus", "Australia"), playerRegistered("smith", "Steve"), selected(1, "aus", "smith"),
		teamRenamed("aus", "Australia Men"), playerRenamed("smith", "Steven"), selected(2, "aus", "smith"),
	}, selections(selection(1, "Australia", "Steven"), selection(2, "Australia Men", "Steven")))
}

func TestSelectionsFollowACorrectionOfTheTeam(t *testing.T) {
	folded(t, []projectiontest.Event{
		teamRegistered("aus", "Austria"), playerRegistered("smith", "Steve"), selected(1, "aus", "smith"),
		teamCorrected("aus", "Australia"), teamRenamed("aus", "Australia Men"),
	}, selections(selection(1, "Australia", "Steve")))
}

func TestASelectionWaitsForItsPlayerAndIsRetriedByItself(t *testing.T) {
	captain := selection(1, "Australia", "Steve")
	captain.IsCaptain = true
	folded(t, []projectiontest.Event{
		teamRegistered("aus", "Australia"), selected(1, "aus", "smith"), captainMade(1), playerRegistered("smith", "Steve"),
	}, selections(captain))
}

func TestASelectionOfNobodyIsADeadLetter(t *testing.T) {
	deadLetter(t, []projectiontest.Event{teamRegistered("aus", "Australia"), selected(1, "aus", "nobody")},
		`no Player with the identifier "nobody"`, selections())
}

func TestSelectionsKeepAPlayerWhoIsDeleted(t *testing.T) {
	folded(t, []projectiontest.Event{
		teamRegistered("aus", "Australia"), playerRegistered("smith", "Steve"), selected(1, "aus", "smith"),
		playerDeleted("smith"),
	}, selections(selection(1, "Australia", "Steve")), projectiontest.RowsOf(model.PlayerCodec))
}

func TestACaptainTakesThePlaceOfAnother(t *testing.T) {
	second := selection(2, "Australia", "Steve")
	second.IsCaptain = true
	folded(t, []projectiontest.Event{
		teamRegistered("aus", "Australia"), playerRegistered("smith", "Steve"), selected(1, "aus", "smith"),
		selected(2, "aus", "smith"), captainMade(1), captainReplaced(2, 1),
	}, selections(selection(1, "Australia", "Steve"), second))
}

func TestADroppedPlayerIsInTheSquadNoMore(t *testing.T) {
	folded(t, []projectiontest.Event{
		teamRegistered("aus", "Australia"), playerRegistered("smith", "Steve"), selected(1, "aus", "smith"),
		selected(2, "aus", "smith"), dropped(1), dropped(7), playerRenamed("smith", "Steven"),
	}, selections(selection(2, "Australia", "Steven")))
}

func TestACoachHasATeamAsLongAsThereIsOne(t *testing.T) {
	aus := "aus"
	coach := model.Coach{ID: "c", Name: "Coach", TeamID: &aus}
	before := []projectiontest.Event{coachRegistered("c", "aus")}
	folded(t, before, projectiontest.RowsOf(model.CoachCodec, coach))

	registered := append(before, teamRegistered("aus", "Australia"), teamRenamed("aus", "Australia Men"))
	with := coach
	with.Team = &model.TeamCopy{ID: "aus", Name: "Australia Men", Country: "Australia", Ranking: 1}
	folded(t, registered, projectiontest.RowsOf(model.CoachCodec, with))

	folded(t, append(registered, teamDeleted("aus")), projectiontest.RowsOf(model.CoachCodec, coach))
}

func TestVenuesHaveTheNameThatTheyWereGivenLast(t *testing.T) {
	folded(t, []projectiontest.Event{
		venueRegistered("gabba", "Brisbane Cricket Ground"), venueRegistered("waca", "WACA Ground"),
		venueRenamed("gabba", "The Gabba"), venueDeleted("waca"),
	}, projectiontest.RowsOf(model.VenueCodec, model.Venue{ID: "gabba", Name: "The Gabba", City: "Melbourne"}))
}
