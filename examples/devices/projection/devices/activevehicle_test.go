package devices_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/devices/model"
	"example.com/devices/projection/devices"
	"example.com/devices/projection/ops"
)

func TestAVehicleIsActiveForADayAfterItWasSeen(t *testing.T) {
	seen := func(id, at string) projectiontest.Event {
		e := onVehicle("VehicleSeen", id, data{"seenAt": at})
		e.Time = at
		return e
	}
	projectiontest.Run(t, projectiontest.Spec[model.ActiveVehicle]{
		Projection: ops.ProjectActiveVehicle(devices.ActiveVehicle{}), Codec: model.ActiveVehicleCodec,
		Given: []projectiontest.Event{
			seen("veh-1", "2026-05-01T09:00:00Z"),
			seen("veh-2", "2026-05-01T09:00:00Z"),
			seen("veh-2", "2026-05-01T20:00:00Z"),
			seen("veh-3", "2026-05-02T09:00:00Z"),
		},
		Want: []model.ActiveVehicle{
			{ID: "veh-2", SeenAt: *instant("2026-05-01T20:00:00Z"), ActiveUntil: *instant("2026-05-02T20:00:00Z")},
			{ID: "veh-3", SeenAt: *instant("2026-05-02T09:00:00Z"), ActiveUntil: *instant("2026-05-03T09:00:00Z")},
		},
	})
}
