package cricket

import (
	"github.com/foldql/foldql/projection"

	"example.com/cricket/event"
	"example.com/cricket/model"
	"example.com/cricket/projection/ops"
)

// Coach keeps the coaches. It gives the id of a coach's team; the copy of the team is filled in.
type Coach struct{}

// CoachRegistered adds a coach.
func (Coach) CoachRegistered(e event.CoachRegistered, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Coach.Set(model.Coach{ID: e.CoachID, Name: e.Name, TeamID: e.TeamID})}
}

// CoachRenamed gives a coach another name.
func (Coach) CoachRenamed(e event.CoachRenamed, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Coach.Update(e.CoachID, func(r *model.Coach) { r.Name = e.Name })}
}

// CoachDeleted removes a coach.
func (Coach) CoachDeleted(e event.CoachDeleted, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Coach.Delete(e.CoachID)}
}
