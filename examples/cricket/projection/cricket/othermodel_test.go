package cricket_test

import (
	"testing"

	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/cricket/event"
	"example.com/cricket/model"
	"example.com/cricket/projection/cricket"
	"example.com/cricket/projection/ops"
)

// withPlayer selects players whom nobody has registered.
type withPlayer struct{ cricket.SquadSelection }

func (withPlayer) PlayerSelected(e event.PlayerSelected, _ projection.Meta) []projection.Op {
	return []projection.Op{
		ops.Player.Create(model.Player{ID: e.PlayerID, LastName: e.PlayerID, Role: model.Role(e.SquadRole)}),
		ops.SquadSelection.Set(model.SquadSelection{
			SquadID: e.SquadID, SelectionNumber: e.SelectionNumber, TeamID: e.TeamID, PlayerID: e.PlayerID,
			SquadRole: model.Role(e.SquadRole),
		}),
	}
}

func TestAProjectorChangesRowsOfAnotherModelOfItsGroup(t *testing.T) {
	unknown := selection(1, "Australia", "")
	unknown.Player.LastName = "smith"
	all := cricket.Projections()
	for i := range all {
		if all[i].Name == "SquadSelection" {
			all[i] = ops.ProjectSquadSelection(withPlayer{})
		}
	}
	projectiontest.RunGroup(t, projectiontest.GroupSpec{
		Projections: all,
		Given:       []projectiontest.Event{teamRegistered("aus", "Australia"), selected(1, "aus", "smith")},
		Want: []projectiontest.Rows{
			selections(unknown),
			projectiontest.RowsOf(model.PlayerCodec, model.Player{ID: "smith", LastName: "smith", Role: model.RoleBatter}),
		},
	})
}
