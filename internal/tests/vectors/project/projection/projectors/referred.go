package projectors

import (
	"github.com/foldql/foldql/internal/tests/vectors/project/event"
	"github.com/foldql/foldql/internal/tests/vectors/project/model"
	"github.com/foldql/foldql/internal/tests/vectors/project/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Rows that others hold copies of.
type (
	Venue         struct{}
	Umpire        struct{}
	Coach         struct{}
	CricketTeam   struct{}
	CricketPlayer struct{}
	AppTeam       struct{}
	AppPlayer     struct{}
)

// VenuePut writes a venue.
func (Venue) VenuePut(e event.VenuePut, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Venue.Set(model.Venue(e))}
}

// UmpirePut writes an umpire.
func (Umpire) UmpirePut(e event.UmpirePut, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Umpire.Set(model.Umpire(e))}
}

// CoachPut writes a coach.
func (Coach) CoachPut(e event.CoachPut, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Coach.Set(model.Coach(e))}
}

// TeamPut writes a team of cricket.
func (CricketTeam) TeamPut(e event.TeamPut, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.CricketTeam.Set(model.CricketTeam(e))}
}

// PlayerPut writes a player of cricket.
func (CricketPlayer) PlayerPut(e event.PlayerPut, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.CricketPlayer.Set(model.CricketPlayer(e))}
}

// AppTeamPut writes a team of the app.
func (AppTeam) AppTeamPut(e event.AppTeamPut, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.AppTeam.Set(model.AppTeam(e))}
}

// AppPlayerPut writes a player of the app.
func (AppPlayer) AppPlayerPut(e event.AppPlayerPut, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.AppPlayer.Set(model.AppPlayer(e))}
}
