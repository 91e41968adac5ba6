package devices

import (
	"time"

	"github.com/foldql/foldql/projection"

	"example.com/devices/event"
	"example.com/devices/model"
	"example.com/devices/projection/ops"
)

// ActiveVehicle keeps a vehicle for a day after it was seen.
type ActiveVehicle struct{}

// VehicleSeen writes the row, or puts off when it expires, by the time that the event says: a projector has no clock.
func (ActiveVehicle) VehicleSeen(e event.VehicleSeen, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.ActiveVehicle.Set(model.ActiveVehicle{
		ID: e.ID, SeenAt: e.SeenAt, ActiveUntil: e.SeenAt.Add(24 * time.Hour),
	})}
}
