package natsserver

import (
	"encoding/json"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Snapshot takes a backup of a stream, as operators do. restore puts it in the place of the stream while the server
// runs and its clients stay connected.
func Snapshot(t testing.TB, js jetstream.JetStream, stream string) (restore func(testing.TB)) {
	t.Helper()
	nc := js.Conn()
	ask := func(t testing.TB, subject string, request any) (answer map[string]json.RawMessage) {
		t.Helper()
		data, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := nc.Request(subject, data, patience)
		if err == nil {
			err = json.Unmarshal(reply.Data, &answer)
		}
		if err != nil || answer["error"] != nil {
			t.Fatalf("%s: %s, %v", subject, answer["error"], err)
		}
		return answer
	}
	inbox := nats.NewInbox()
	arriving, err := nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	of := ask(t, "$JS.API.STREAM.SNAPSHOT."+stream, map[string]any{"deliver_subject": inbox})
	var chunks [][]byte
	for {
		m, err := arriving.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Data) == 0 {
			break
		}
		chunks = append(chunks, m.Data)
		if err := m.Respond(nil); err != nil {
			t.Fatal(err)
		}
	}
	return func(t testing.TB) {
		t.Helper()
		if err := js.DeleteStream(t.Context(), stream); err != nil {
			t.Fatal(err)
		}
		var to string
		begun := ask(t, "$JS.API.STREAM.RESTORE."+stream, map[string]any{"config": of["config"], "state": of["state"]})
		if err := json.Unmarshal(begun["deliver_subject"], &to); err != nil {
			t.Fatal(err)
		}
		for _, chunk := range append(chunks, nil) {
			if _, err := nc.Request(to, chunk, patience); err != nil {
				t.Fatal(err)
			}
		}
	}
}
