package devices_test

import (
	"testing"

	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/devices/model"
	"example.com/devices/projection/devices"
	"example.com/devices/projection/ops"
)

func TestVehiclesAreBoundAndAssigned(t *testing.T) {
	device, acme, fleet := "cloud#dev-1", "acme", "f-1"
	projectiontest.Run(t, projectiontest.Spec[model.Vehicle]{
		Projection: ops.ProjectVehicle(devices.Vehicle{}), Codec: model.VehicleCodec,
		Given: []projectiontest.Event{
			onVehicle("VehicleAdded", "veh-1", nil),
			onVehicle("VehicleBound", "veh-1", data{"deviceBinding": device}),
			onVehicle("VehicleAssigned", "veh-1", data{"accountId": "acme", "fleetId": "f-1"}),
			onVehicle("VehicleAdded", "veh-2", nil),
			onVehicle("VehicleAssigned", "veh-2", data{"accountId": "acme", "fleetId": "f-1"}),
			onVehicle("VehicleAssigned", "veh-2", data{"accountId": "acme"}),
			onVehicle("VehicleBound", "veh-2", data{"deviceBinding": device}),
			onVehicle("VehicleUnbound", "veh-2", nil),
			onVehicle("VehicleAdded", "veh-3", nil),
			onVehicle("VehicleSeen", "veh-3", data{"seenAt": "2026-05-01T10:00:00+01:00"}),
		},
		Want: []model.Vehicle{
			{ID: "veh-1", DeviceBinding: &device, AccountID: &acme, FleetID: &fleet},
			{ID: "veh-2", AccountID: &acme},
			{ID: "veh-3", SeenAt: instant("2026-05-01T09:00:00Z")},
		},
	})
}
