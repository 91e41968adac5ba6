package projectors

import (
	"github.com/foldql/foldql/internal/tests/vectors/project/event"
	"github.com/foldql/foldql/internal/tests/vectors/project/model"
	"github.com/foldql/foldql/internal/tests/vectors/project/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Match keeps the matches.
type Match struct{}

// MatchPut writes the whole match.
func (Match) MatchPut(e event.MatchPut, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Match.Set(model.Match{ID: e.ID, Name: e.Name, Season: e.Season, VenueID: e.VenueID,
		UmpireIDs: e.Umpires, Team1: sheetOf(e.Team1), Team2: sheetOf(e.Team2)})}
}

func sheetOf(e event.Sheet) model.TeamSheet {
	sheet := model.TeamSheet{TeamID: e.TeamID, CoachID: e.CoachID, HomeTeam: e.HomeTeam}
	for _, p := range e.Players {
		sheet.Players = append(sheet.Players, model.PlayerSheet{
			PlayerID: p.PlayerID, BattingPosition: p.BattingPosition, IsCaptain: p.IsCaptain,
		})
	}
	return sheet
}

// MatchRenamed changes the root, and its place in both indexes.
func (Match) MatchRenamed(e event.MatchRenamed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Match.Update(e.ID, func(m *model.Match) { m.Name = e.Name })}
}

// SeasonChanged changes what all items hold.
func (Match) SeasonChanged(e event.SeasonChanged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Match.Update(e.ID, func(m *model.Match) { m.Season = e.Season })}
}

// CaptainChanged changes players of the first team.
func (Match) CaptainChanged(e event.CaptainChanged, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Match.Update(e.ID, func(m *model.Match) {
		for i := range m.Team1.Players {
			m.Team1.Players[i].IsCaptain = m.Team1.Players[i].PlayerID == e.PlayerID
		}
	})}
}

// MatchDeleted removes the match.
func (Match) MatchDeleted(e event.MatchDeleted, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Match.Delete(e.ID)}
}

// Camp keeps the camps.
type Camp struct{}

// CampPut writes the whole camp.
func (Camp) CampPut(e event.CampPut, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Camp.Set(model.Camp{ID: e.ID, Name: e.Name, VenueID: e.VenueID, CoachID: e.CoachID,
		Sheet: model.CampSheet{Skill: e.Skill, Note: e.Note}})}
}
