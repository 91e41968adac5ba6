package devices

import (
	"github.com/foldql/foldql/projection"

	"example.com/devices/event"
	"example.com/devices/model"
	"example.com/devices/projection/ops"
)

// Vehicle keeps what each vehicle is bound to, and whose it is.
type Vehicle struct{}

// VehicleAdded adds a vehicle that is in no index.
func (Vehicle) VehicleAdded(e event.VehicleAdded, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Vehicle.Set(model.Vehicle{ID: e.ID})}
}

// VehicleBound puts it under the device.
func (Vehicle) VehicleBound(e event.VehicleBound, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Vehicle.Patch(e.ID).Set(ops.VehicleFields.DeviceBinding.Assign(e.DeviceBinding))}
}

// VehicleUnbound takes it from there.
func (Vehicle) VehicleUnbound(e event.VehicleUnbound, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Vehicle.Patch(e.ID).Remove(ops.VehicleFields.DeviceBinding)}
}

// VehicleAssigned puts it under the fleet, or under the account alone: a partition key is cut short as a sort key is.
func (Vehicle) VehicleAssigned(e event.VehicleAssigned, _ projection.Meta) []projection.Op {
	fields := &ops.VehicleFields
	patch := ops.Vehicle.Patch(e.ID).Set(fields.AccountID.Assign(e.AccountID))
	if e.FleetID == nil {
		return []projection.Op{patch.Clear(fields.FleetID)}
	}
	return []projection.Op{patch.Set(fields.FleetID.Assign(*e.FleetID))}
}

// VehicleSeen changes what is in no key.
func (Vehicle) VehicleSeen(e event.VehicleSeen, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Vehicle.Patch(e.ID).Set(ops.VehicleFields.SeenAt.Assign(e.SeenAt))}
}
