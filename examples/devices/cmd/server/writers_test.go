package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/foldql/foldql/server"
	"github.com/google/go-cmp/cmp"
)

// TestEveryWriterPutsTheDeviceUnderItsChannel: an index that is composed of the row's own key has the row whoever
// writes it, and whoever does so first.
func TestEveryWriterPutsTheDeviceUnderItsChannel(t *testing.T) {
	for kind, more := range map[string]string{
		"DeviceRegistered": `,"accountId":"acme","alertState":"active","timestamp":"2026-04-30T10:00:00Z"`,
		"DeviceReported":   `,"timestamp":"2026-04-30T10:00:00Z"`,
		"AccountFound":     `,"accountId":"acme"`,
		"AccountLost":      "",
		"DevicePublished":  `,"published":"2026-04-30"`,
	} {
		t.Run(kind, func(t *testing.T) {
			f := open(t)
			f.append(t, cloudEvent("1", kind, "d-1", `{"channel":"c-1","deviceId":"d-1"`+more+`}`))
			const want = `{"DeviceByChannel":{"items":[{"deviceId":"d-1"}]}}`
			if got := f.ask(t, `{ DeviceByChannel(channel: "c-1") { items { deviceId } } }`); string(got) != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestPatchSetsTheHalfOfNoComposites: a vehicle is in an index that has nothing to sort by from the write on that gives
// the partition half, whether or not it was put before.
func TestPatchSetsTheHalfOfNoComposites(t *testing.T) {
	for name, added := range map[string]bool{"put before": true, "made by the patch": false} {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			if added {
				f.append(t, cloudEvent("1", "VehicleAdded", "veh-1", `{"id":"veh-1"}`))
			}
			f.append(t, cloudEvent("2", "VehicleBound", "veh-1", `{"id":"veh-1","deviceBinding":"cloud#dev-1"}`))
			const want = `{"VehicleByDeviceBinding":{"items":[{"id":"veh-1"}]}}`
			if got := f.ask(t, `{ VehicleByDeviceBinding(deviceBinding: "cloud#dev-1") { items { id } } }`); string(got) !=
				want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestWritersAtTheirOwnPace: each half of an index has one owner, so that the rows do not depend on which projector
// comes first where the events are all there.
func TestWritersAtTheirOwnPace(t *testing.T) {
	steps, events := lifecycle(t)
	last := map[string]*step{}
	for i := range steps {
		last[steps[i].Stored["pk"]] = &steps[i]
	}
	for _, window := range []int{1, 3, 1000} {
		t.Run(fmt.Sprint("windows of ", window), func(t *testing.T) {
			f := open(t, func(c *server.EmbedConfig) { c.Runner.WindowEvents = window })
			batch := append(append([]byte{'['}, bytes.Join(events, []byte{','})...), ']')
			f.request(t, "POST", "/events", "application/cloudevents-batch+json", batch)
			f.length = uint64(len(events))
			f.wait(t)
			for _, s := range last {
				if diff := cmp.Diff(s.Stored, f.stored(t, s)); diff != "" {
					t.Errorf("attributes of keys (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func cloudEvent(id, kind, subject, data string) []byte {
	return fmt.Appendf(nil,
		`{"specversion":"1.0","id":%q,"source":"/fleet","type":%q,"subject":%q,"time":"2026-05-01T08:00:00Z","data":%s}`,
		id, kind, subject, data)
}
