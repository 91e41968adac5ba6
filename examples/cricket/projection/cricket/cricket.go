// Package cricket folds what happens to cricket teams, and who is selected for which squad.
package cricket

import (
	"github.com/foldql/foldql/projection"

	"example.com/cricket/projection/ops"
)

// Projections returns every projection, ready to run. Those whose rows hold copies of each other's are folded together.
func Projections() []projection.Projection {
	return []projection.Projection{
		ops.ProjectTeam(Team{}),
		ops.ProjectPlayer(Player{}),
		ops.ProjectCoach(Coach{}),
		ops.ProjectVenue(Venue{}),
		ops.ProjectSquadSelection(SquadSelection{}),
		ops.ProjectMatch(Match{}),
	}
}
