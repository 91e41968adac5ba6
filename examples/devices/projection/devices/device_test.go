package devices_test

import (
	"testing"

	"github.com/foldql/foldql/keys"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/projection/projectiontest"

	"example.com/devices/event"
	"example.com/devices/model"
	"example.com/devices/projection/devices"
	"example.com/devices/projection/ops"
)

// given are events of four devices, of which every projection takes its own.
var given = []projectiontest.Event{
	registered("d-1", "acme", "active", "2026-04-30T10:00:00Z"),
	registered("d-2", "acme", "active", "2026-04-30T10:00:00Z"),
	published("d-2", "2026-04-30"),
	silent("d-1", "2026-04-30T11:00:00Z"),
	accountFound("d-2", "newAcct"),
	reported("d-2", "muted", "2026-04-30T12:00:00+01:00"),
	reported("d-2", "late", "2026-04-30T10:30:00Z"),
	reported("d-3", "active", "2026-04-30T12:00:00Z"),
	published("d-3", "2026-04-30"),
	published("d-3", "2026-05-01"),
	accountFound("d-4", "acme"),
	onDevice("AccountLost", "d-1", nil),
	published("d-5", "2026-05-01"),
	registered("d-5", "acme", "active", "2026-05-01T10:00:00Z"),
	retired("d-5"),
}

func TestTelemetryWritesAlerts(t *testing.T) {
	active, muted := "active", "muted"
	writes(t, ops.ProjectTelemetry(devices.Telemetry{}),
		model.Device{DeviceID: "d-1", Timestamp: instant("2026-04-30T11:00:00Z")},
		model.Device{DeviceID: "d-2", AlertState: &muted, Timestamp: instant("2026-04-30T11:00:00Z")},
		model.Device{DeviceID: "d-3", AlertState: &active, Timestamp: instant("2026-04-30T12:00:00Z")},
	)
}

// Each report is kept under its own time and its own place in the log, also one that comes late, and those of a device
// that is retired.
func TestTelemetryKeepsEveryReport(t *testing.T) {
	active, muted, late := "active", "muted", "late"
	want := []model.DeviceEvent{
		{DeviceID: "d-1", AlertState: &active, Timestamp: *instant("2026-04-30T10:00:00Z"), EventOffset: 1},
		{DeviceID: "d-1", Timestamp: *instant("2026-04-30T11:00:00Z"), EventOffset: 4},
		{DeviceID: "d-2", AlertState: &active, Timestamp: *instant("2026-04-30T10:00:00Z"), EventOffset: 2},
		{DeviceID: "d-2", AlertState: &muted, Timestamp: *instant("2026-04-30T11:00:00Z"), EventOffset: 6},
		{DeviceID: "d-2", AlertState: &late, Timestamp: *instant("2026-04-30T10:30:00Z"), EventOffset: 7},
		{DeviceID: "d-3", AlertState: &active, Timestamp: *instant("2026-04-30T12:00:00Z"), EventOffset: 8},
		{DeviceID: "d-5", AlertState: &active, Timestamp: *instant("2026-05-01T10:00:00Z"), EventOffset: 14},
	}
	for i := range want {
		want[i].Channel, want[i].EventPartition = "c-1", "0"
	}
	projectiontest.Run(t, projectiontest.Spec[model.DeviceEvent]{
		Projection: ops.ProjectTelemetry(devices.Telemetry{}), Codec: model.DeviceEventCodec,
		Given: given, Types: event.Types, Want: want,
	})
}

func TestEnrichmentWritesAccounts(t *testing.T) {
	acme, other := "acme", "newAcct"
	writes(t, ops.ProjectEnrichment(devices.Enrichment{}),
		model.Device{DeviceID: "d-1"},
		model.Device{DeviceID: "d-2", AccountID: &other},
		model.Device{DeviceID: "d-4", AccountID: &acme},
	)
}

func TestStampWritesDays(t *testing.T) {
	april, may := keys.Date("2026-04-30"), keys.Date("2026-05-01")
	writes(t, ops.ProjectStamp(devices.Stamp{}),
		model.Device{DeviceID: "d-2", Published: &april},
		model.Device{DeviceID: "d-3", Published: &may},
	)
}

// writes fails unless the projection alone makes these rows, of the channel c-1.
func writes(t *testing.T, p projection.Projection, want ...model.Device) {
	t.Helper()
	for i := range want {
		want[i].Channel = "c-1"
	}
	projectiontest.Run(t, projectiontest.Spec[model.Device]{
		Projection: p, Codec: model.DeviceCodec, Given: given, Types: event.Types, Want: want,
	})
}
