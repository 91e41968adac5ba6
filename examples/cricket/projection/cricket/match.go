package cricket

import (
	"fmt"
	"slices"

	"github.com/foldql/foldql/projection"

	"example.com/cricket/event"
	"example.com/cricket/model"
	"example.com/cricket/projection/ops"
)

// Match keeps the matches, each one object with all of its parts. It gives ids of venues, teams, coaches and players;
// their copies are filled in.
type Match struct{}

// MatchScheduled adds a match, in which nobody plays yet.
func (Match) MatchScheduled(e event.MatchScheduled, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Match.Set(model.Match{
		ID: e.MatchID, Name: e.Name, Season: e.Season, StartsOn: e.StartsOn, VenueID: e.VenueID,
		Team1: sheetOf(e.Team1), Team2: sheetOf(e.Team2),
	})}
}

func sheetOf(s event.Side) model.TeamSheet {
	return model.TeamSheet{TeamID: s.TeamID, CoachID: s.CoachID, HomeTeam: s.HomeTeam}
}

// SquadNamed fills in the players of a team. It waits until all of them are registered.
func (Match) SquadNamed(e event.SquadNamed, _ projection.Meta) []projection.Op {
	return inSheet(e.MatchID, e.TeamID, func(sheet *model.TeamSheet) {
		sheet.Players = nil
		for i, id := range e.PlayerIds {
			sheet.Players = append(sheet.Players, model.PlayerSheet{
				PlayerID: id, BattingPosition: i + 1, IsCaptain: id == e.CaptainID,
			})
		}
	})
}

// CaptainChanged has one player of a team lead it, and no other.
func (Match) CaptainChanged(e event.CaptainChanged, _ projection.Meta) []projection.Op {
	return inSheet(e.MatchID, e.TeamID, func(sheet *model.TeamSheet) {
		captain := player(sheet, e.PlayerID)
		for i := range sheet.Players {
			sheet.Players[i].IsCaptain = i == captain
		}
	})
}

// PlayerReplaced has another player take the place of one.
func (Match) PlayerReplaced(e event.PlayerReplaced, _ projection.Meta) []projection.Op {
	return inSheet(e.MatchID, e.TeamID, func(sheet *model.TeamSheet) {
		sheet.Players[player(sheet, e.InPlaceOf)].PlayerID = e.PlayerID
	})
}

// MatchRescheduled has a match played on another day, and perhaps elsewhere.
func (Match) MatchRescheduled(e event.MatchRescheduled, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Match.Update(e.MatchID, func(m *model.Match) {
		m.StartsOn = e.StartsOn
		if e.VenueID != nil {
			m.VenueID = *e.VenueID
		}
	})}
}

// MatchAbandoned removes a match with all of its parts.
func (Match) MatchAbandoned(e event.MatchAbandoned, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Match.Delete(e.MatchID)}
}

// inSheet changes the sheet of a team. An event about a team that does not play becomes a dead letter.
func inSheet(match, team string, change func(*model.TeamSheet)) []projection.Op {
	return []projection.Op{ops.Match.Update(match, func(m *model.Match) {
		switch team {
		case m.Team1.TeamID:
			change(&m.Team1)
		case m.Team2.TeamID:
			change(&m.Team2)
		default:
			panic(fmt.Sprintf("team %s does not play in match %s", team, match))
		}
	})}
}

// player returns where a player is in a sheet. An event about one who is not there becomes a dead letter.
func player(sheet *model.TeamSheet, id string) int {
	i := slices.IndexFunc(sheet.Players, func(p model.PlayerSheet) bool { return p.PlayerID == id })
	if i < 0 {
		panic(fmt.Sprintf("player %s is not in the squad of team %s", id, sheet.TeamID))
	}
	return i
}
