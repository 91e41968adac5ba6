// Package projectors makes of each event the one op that the vectors have in its place.
package projectors

import (
	"github.com/foldql/foldql/internal/tests/vectors/project/projection/ops"
	"github.com/foldql/foldql/projection"
)

// Projections returns every projection of the vectors.
func Projections() []projection.Projection {
	return []projection.Projection{
		ops.ProjectMatch(Match{}),
		ops.ProjectCamp(Camp{}),
		ops.ProjectVenue(Venue{}),
		ops.ProjectUmpire(Umpire{}),
		ops.ProjectCoach(Coach{}),
		ops.ProjectCricketTeam(CricketTeam{}),
		ops.ProjectCricketPlayer(CricketPlayer{}),
		ops.ProjectAppTeam(AppTeam{}),
		ops.ProjectAppPlayer(AppPlayer{}),
		ops.ProjectSelection(Selection{}),
		ops.ProjectIngest(Ingest{}),
		ops.ProjectEnrichment(Enrichment{}),
	}
}
