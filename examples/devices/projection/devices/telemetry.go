package devices

import (
	"github.com/foldql/foldql/projection"

	"example.com/devices/event"
	"example.com/devices/model"
	"example.com/devices/projection/ops"
)

// Telemetry writes the alert of each device, and when it was reported. The sort half of byCurrentAlert is its own, and
// is sparse: a report without an alert takes the device out of the index.
type Telemetry struct{}

// telemetry are the fields of Telemetry.
var telemetry = ops.DeviceFields.Telemetry

// DeviceRegistered writes the first alert.
func (Telemetry) DeviceRegistered(e event.DeviceRegistered, _ projection.Meta) []projection.Op {
	key := model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID}
	return []projection.Op{ops.Device.Patch(key).Set(telemetry.AlertState.Assign(e.AlertState),
		telemetry.Timestamp.Assign(e.Timestamp))}
}

// DeviceReported writes the alert of the report, or that it has none.
func (Telemetry) DeviceReported(e event.DeviceReported, _ projection.Meta) []projection.Op {
	patch := ops.Device.Patch(model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID}).Set(
		telemetry.Timestamp.Assign(e.Timestamp))
	if e.AlertState == nil {
		return []projection.Op{patch.Clear(telemetry.AlertState)}
	}
	return []projection.Op{patch.Set(telemetry.AlertState.Assign(*e.AlertState))}
}

// DeviceRetired takes the alert away; the row goes when the other projectors have let go of it too.
func (Telemetry) DeviceRetired(e event.DeviceRetired, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Device.Delete(model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID})}
}
