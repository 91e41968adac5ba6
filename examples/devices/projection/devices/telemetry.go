package devices

import (
	"github.com/foldql/foldql/projection"

	"example.com/devices/event"
	"example.com/devices/model"
	"example.com/devices/projection/ops"
)

// Telemetry writes the alert of each device, and when it was reported. Reports that come late, or twice, stay in the
// history of the device, and leave the newer one in the row as it is. The sort half of byCurrentAlert is Telemetry's
// own, and is sparse: a report without an alert takes the device out of the index.
type Telemetry struct{}

// DeviceRegistered writes the first alert.
func (Telemetry) DeviceRegistered(e event.DeviceRegistered, _ projection.Meta) []projection.Op {
	key := model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID}
	return []projection.Op{ops.Device.Append(key, model.DeviceAppend{AlertState: &e.AlertState, Timestamp: e.Timestamp})}
}

// DeviceReported writes the alert of the report, or that it has none.
func (Telemetry) DeviceReported(e event.DeviceReported, _ projection.Meta) []projection.Op {
	key := model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID}
	return []projection.Op{ops.Device.Append(key, model.DeviceAppend{AlertState: e.AlertState, Timestamp: e.Timestamp})}
}

// DeviceRetired takes the alert away; the row goes when the other projectors have let go of it too. The history stays.
func (Telemetry) DeviceRetired(e event.DeviceRetired, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Device.Delete(model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID})}
}
