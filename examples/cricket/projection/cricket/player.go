package cricket

import (
	"github.com/foldql/foldql/projection"

	"example.com/cricket/event"
	"example.com/cricket/model"
	"example.com/cricket/projection/ops"
)

// Player keeps the players.
type Player struct{}

// PlayerRegistered adds a player.
func (Player) PlayerRegistered(e event.PlayerRegistered, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Player.Set(model.Player{
		ID: e.PlayerID, FirstName: e.FirstName, LastName: e.LastName, Role: model.Role(e.Role),
	})}
}

// PlayerRenamed gives a player another name. Every selection of the player follows.
func (Player) PlayerRenamed(e event.PlayerRenamed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Player.Update(e.PlayerID, func(r *model.Player) {
		r.FirstName, r.LastName = e.FirstName, e.LastName
	})}
}

// PlayerDeleted removes a player. Selections keep the player as they were last.
func (Player) PlayerDeleted(e event.PlayerDeleted, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Player.Delete(e.PlayerID)}
}
