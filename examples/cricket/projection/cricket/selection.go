package cricket

import (
	"github.com/foldql/foldql/projection"

	"example.com/cricket/event"
	"example.com/cricket/model"
	"example.com/cricket/projection/ops"
)

// SquadSelection keeps who is in which squad. It gives the ids of team and player; their copies are filled in.
type SquadSelection struct{}

// PlayerSelected puts a player into a squad. It waits until team and player are registered.
func (SquadSelection) PlayerSelected(e event.PlayerSelected, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.SquadSelection.Set(model.SquadSelection{
		SquadID: e.SquadID, SelectionNumber: e.SelectionNumber, TeamID: e.TeamID, PlayerID: e.PlayerID,
		SquadRole: model.Role(e.SquadRole),
	})}
}

// CaptainMade makes a player the captain. It concerns neither copy.
func (SquadSelection) CaptainMade(e event.CaptainMade, _ projection.Meta) []projection.Op {
	captain := func(number int, is bool) projection.Op {
		return ops.SquadSelection.Update(selection(e.SquadID, number), func(s *model.SquadSelection) { s.IsCaptain = is })
	}
	made := []projection.Op{captain(e.SelectionNumber, true)}
	if e.InPlaceOf != nil {
		made = append(made, captain(*e.InPlaceOf, false))
	}
	return made
}

// PlayerDropped takes a player out of a squad.
func (SquadSelection) PlayerDropped(e event.PlayerDropped, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.SquadSelection.Delete(selection(e.SquadID, e.SelectionNumber))}
}

func selection(squad string, number int) model.SquadSelectionKey {
	return model.SquadSelectionKey{SquadID: squad, SelectionNumber: number}
}
