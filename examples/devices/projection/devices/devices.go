// Package devices folds what happens to devices, assets and vehicles.
package devices

import (
	"github.com/foldql/foldql/projection"

	"example.com/devices/projection/ops"
)

// Projections returns every projection, ready to run. Those of the device have a checkpoint each and run at their own
// pace.
func Projections() []projection.Projection {
	return []projection.Projection{
		ops.ProjectTelemetry(Telemetry{}),
		ops.ProjectEnrichment(Enrichment{}),
		ops.ProjectStamp(Stamp{}),
		ops.ProjectAsset(Asset{}),
		ops.ProjectVehicle(Vehicle{}),
		ops.ProjectActiveVehicle(ActiveVehicle{}),
	}
}
