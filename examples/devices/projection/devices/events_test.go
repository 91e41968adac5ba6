package devices_test

import (
	"time"

	"github.com/foldql/foldql/projection/projectiontest"
)

// The events of the specs, and the values in them.

type data = map[string]any

// onDevice is an event of a device of the channel c-1, with more of its data.
func onDevice(kind, device string, more data) projectiontest.Event {
	d := data{"channel": "c-1", "deviceId": device}
	for name, value := range more {
		d[name] = value
	}
	return of(kind, device, d)
}

func registered(device, account, alert, at string) projectiontest.Event {
	return onDevice("DeviceRegistered", device, data{"accountId": account, "alertState": alert, "timestamp": at})
}

func reported(device, alert, at string) projectiontest.Event {
	return onDevice("DeviceReported", device, data{"alertState": alert, "timestamp": at})
}

func silent(device, at string) projectiontest.Event {
	return onDevice("DeviceReported", device, data{"timestamp": at})
}

func accountFound(device, account string) projectiontest.Event {
	return onDevice("AccountFound", device, data{"accountId": account})
}

func published(device, day string) projectiontest.Event {
	return onDevice("DevicePublished", device, data{"published": day})
}

func retired(device string) projectiontest.Event { return onDevice("DeviceRetired", device, nil) }

func placed(asset, region, country, city, site string) projectiontest.Event {
	return of("AssetPlaced", asset, data{"assetId": asset, "region": region, "country": country, "city": city,
		"site": site})
}

func leftSite(asset, country, city string) projectiontest.Event {
	return of("AssetLeftSite", asset, data{"assetId": asset, "country": country, "city": city})
}

func onVehicle(kind, id string, more data) projectiontest.Event {
	d := data{"id": id}
	for name, value := range more {
		d[name] = value
	}
	return of(kind, id, d)
}

func of(kind, subject string, d data) projectiontest.Event {
	return projectiontest.Event{Type: kind, Subject: subject, Data: d}
}

func instant(text string) *time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	t = t.UTC()
	return &t
}
