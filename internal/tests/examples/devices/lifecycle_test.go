// Package devices goes through the lifecycle of examples/devices with its server as a process of its own, over
// DynamoDB, and looks past the server at the items that are stored.
package devices

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

// step is an event of the lifecycle, and what is to be seen when it is folded.
type step struct {
	Event, Section, Says, Ask string
	Answer                    any
	Stored                    map[string]string // the attributes of the item that hold keys, and its type
	Gone                      bool              // the item is in no index
}

// lifecycle returns the steps, and the event of each.
func lifecycle(t *testing.T) (steps []step, events [][]byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(project, "testdata", "steps.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &steps); err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(filepath.Join(project, "data", "lifecycle.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if events = bytes.Split(bytes.TrimSpace(lines), []byte("\n")); len(steps) == 0 || len(steps) != len(events) {
		t.Fatalf("%d steps of %d events", len(steps), len(events))
	}
	return steps, events
}

// TestEachEventOfTheLifecycleLeavesTheItemAndTheAnswerAsItSays appends one event after another, and looks after each at
// the API's answer and at the item.
func TestEachEventOfTheLifecycleLeavesTheItemAndTheAnswerAsItSays(t *testing.T) {
	eachEngine(t, func(t *testing.T, f *fleet) {
		steps, events := lifecycle(t)
		for i, s := range steps {
			f.Append(t, events[i])
			t.Run(s.Event+" "+s.Section+" "+s.Says, func(t *testing.T) {
				if diff := cmp.Diff(s.Answer, f.ask(t, s.Ask)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", s.Ask, diff)
				}
				want := s.Stored
				got := f.keysOf(t, want["pk"], want["sk"])
				if s.Gone { // word of it is kept for a while
					delete(got, "__edd_e__")
					if len(got) == 0 {
						return
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("attributes of keys (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestItemsThatLackKeysAreCompleted: other programs wrote items without the half of an index that is composed of the
// row's own key, and without one that is composed of nothing. The next write of any field brings them.
func TestItemsThatLackKeysAreCompleted(t *testing.T) {
	const device, vehicle = "$indexpolicy-demo#v1#device", "$indexpolicy-demo#v1#vehicle"
	eachEngine(t, func(t *testing.T, f *fleet) {
		f.put(t, map[string]string{
			"pk": device + "#channel_c-9#deviceid_d-9", "sk": device, "__edd_e__": "Device",
			"channel": "c-9", "deviceId": "d-9", "accountId": "acme", "alertState": "active",
			"timestamp": "2026-04-30T10:00:00.000Z",
			"gsi1pk":    device + "#accountid_acme", "gsi1sk": device + "#alertstate_active#timestamp_2026-04-30t10:00:00.000z",
		})
		f.put(t, map[string]string{
			"pk": vehicle + "#id_veh-9", "sk": vehicle, "__edd_e__": "Vehicle", "id": "veh-9", "deviceBinding": "cloud#dev-9",
			"gsi3pk": vehicle + "#devicebinding_cloud#dev-9",
		})
		const ask = `{
			account: DeviceByCurrentAlert(accountId: "acme") { items { deviceId alertState published } }
			channel: DeviceByChannel(channel: "c-9") { items { deviceId accountId } }
			vehicle: VehicleByDeviceBinding(deviceBinding: "cloud#dev-9") { items { id } } }`
		list := func(items ...any) any { return map[string]any{"items": append([]any{}, items...)} }
		type row = map[string]any
		check := func(want any) {
			t.Helper()
			if diff := cmp.Diff(want, f.ask(t, ask)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		check(map[string]any{
			"account": list(row{"deviceId": "d-9", "alertState": "active", "published": nil}), "channel": list(),
			"vehicle": list(),
		})
		f.Append(t, []byte(`{"specversion":"1.0","id":"1","source":"/fleet","type":"DevicePublished","subject":"d-9",
			"time":"2026-05-01T08:00:00Z","data":{"channel":"c-9","deviceId":"d-9","published":"2026-05-01"}}`))
		f.Append(t, []byte(`{"specversion":"1.0","id":"2","source":"/fleet","type":"VehicleSeen","subject":"veh-9",
			"time":"2026-05-01T08:01:00Z","data":{"id":"veh-9","seenAt":"2026-05-01T08:01:00Z"}}`))
		check(map[string]any{
			"account": list(row{"deviceId": "d-9", "alertState": "active", "published": "2026-05-01"}),
			"channel": list(row{"deviceId": "d-9", "accountId": "acme"}),
			"vehicle": list(row{"id": "veh-9"}),
		})
		got := f.keysOf(t, device+"#channel_c-9#deviceid_d-9", device)
		if got["gsi2pk"] != device+"#channel_c-9" || got["gsi2sk"] != device+"#deviceid_d-9" {
			t.Errorf("attributes of the device: %q", got)
		}
		got = f.keysOf(t, vehicle+"#id_veh-9", vehicle)
		if got["gsi3pk"] != vehicle+"#devicebinding_cloud#dev-9" || got["gsi3sk"] != vehicle {
			t.Errorf("attributes of the vehicle: %q", got)
		}
	})
}

// put writes an item of strings, past the server.
func (f *fleet) put(t *testing.T, attributes map[string]string) {
	t.Helper()
	item := map[string]types.AttributeValue{}
	for name, text := range attributes {
		item[name] = &types.AttributeValueMemberS{Value: text}
	}
	if _, err := f.DynamoDB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &f.table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

// keysOf returns the attributes of an item that hold keys, and the one that tells its type; none where there is no
// item.
func (f *fleet) keysOf(t *testing.T, pk, sk string) map[string]string {
	t.Helper()
	out, err := f.DynamoDB.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &f.table, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for name, v := range out.Item {
		if name == "pk" || name == "sk" || name == "__edd_e__" || strings.HasPrefix(name, "gsi") {
			s, is := v.(*types.AttributeValueMemberS)
			if !is {
				t.Fatalf("attribute %s is a %T", name, v)
			}
			list[name] = s.Value
		}
	}
	return list
}
