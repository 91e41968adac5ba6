package cricket

import (
	"github.com/foldql/foldql/projection"

	"example.com/cricket/event"
	"example.com/cricket/model"
	"example.com/cricket/projection/ops"
)

// Team keeps the teams.
type Team struct{}

// TeamRegistered adds a team.
func (Team) TeamRegistered(e event.TeamRegistered, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Team.Set(model.Team{ID: e.TeamID, Name: e.Name, Country: e.Country, Ranking: e.Ranking})}
}

// TeamRenamed gives a team another name. Coaches follow; selections and matches keep the team as it was.
func (Team) TeamRenamed(e event.TeamRenamed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Team.Update(e.TeamID, func(r *model.Team) { r.Name = e.Name })}
}

// TeamCorrected puts right what was misspelt. Selections and matches hold a name that the team never had,
// so they follow too.
func (Team) TeamCorrected(e event.TeamCorrected, _ projection.Meta) []projection.Op {
	correct := ops.Team.Update(e.TeamID, func(r *model.Team) { r.Name = e.Name })
	return []projection.Op{correct.Cascade(projection.Cascade{
		Targets: []string{"SquadSelection", "Match", "Coach"}, Mode: projection.Transactional,
	})}
}

// TeamDeleted removes a team. Selections keep it, and its coaches have no team until there is one of that id again.
func (Team) TeamDeleted(e event.TeamDeleted, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Team.Delete(e.TeamID)}
}
