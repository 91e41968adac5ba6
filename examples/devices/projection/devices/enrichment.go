package devices

import (
	"github.com/foldql/foldql/projection"

	"example.com/devices/event"
	"example.com/devices/model"
	"example.com/devices/projection/ops"
)

// Enrichment writes whose each device is. The partition half of byCurrentAlert is its own.
type Enrichment struct{}

// enrichment are the fields of Enrichment.
var enrichment = ops.DeviceFields.Enrichment

// DeviceRegistered writes the first account.
func (Enrichment) DeviceRegistered(e event.DeviceRegistered, _ projection.Meta) []projection.Op {
	key := model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID}
	return []projection.Op{ops.Device.Patch(key).Set(enrichment.AccountID.Assign(e.AccountID))}
}

// AccountFound writes another.
func (Enrichment) AccountFound(e event.AccountFound, _ projection.Meta) []projection.Op {
	key := model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID}
	return []projection.Op{ops.Device.Patch(key).Set(enrichment.AccountID.Assign(e.AccountID))}
}

// AccountLost removes the account. The half preserves its key, so a Clear would leave the device under the old account.
func (Enrichment) AccountLost(e event.AccountLost, _ projection.Meta) []projection.Op {
	key := model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID}
	return []projection.Op{ops.Device.Patch(key).Remove(enrichment.AccountID)}
}

// DeviceRetired takes the account away; the row goes when the other projectors have let go of it too.
func (Enrichment) DeviceRetired(e event.DeviceRetired, _ projection.Meta) []projection.Op {
	return []projection.Op{ops.Device.Delete(model.DeviceKey{Channel: e.Channel, DeviceID: e.DeviceID})}
}
