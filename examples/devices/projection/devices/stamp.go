package devices

import (
	"github.com/foldql/foldql/projection"

	"example.com/devices/event"
	"example.com/devices/model"
	"example.com/devices/projection/ops"
)

// Stamp writes when each device was published last. No index knows of it.
type Stamp struct{}

// DevicePublished writes the day.
func (Stamp) DevicePublished(e event.DevicePublished, _ projection.Meta) []projection.Op {
	key := model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID}
	return []projection.Op{ops.Device.Patch(key).Set(ops.DeviceFields.Stamp.Published.Assign(e.Published))}
}

// DeviceRetired takes the day away; the row goes when the other projectors have let go of it too.
func (Stamp) DeviceRetired(e event.DeviceRetired, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Device.Delete(model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID})}
}
