package mirror

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/filesource"
)

// TestAnEventIsStoredAsItIs, one that is malformed with its bytes and the reason.
func TestAnEventIsStoredAsItIs(t *testing.T) {
	whole := eventlog.Event{ID: "1", Source: "/s", Type: "T", Time: time.Unix(1705314600, 5).UTC(),
		Data: []byte(`{"n":1}`), Extensions: map[string]string{"a": "b"}}
	broken := eventlog.Event{ID: "2", Malformed: errors.New("no type"), Data: []byte("\xff\x00")}
	mapped, half := whole, broken
	mapped.MessageHash, half.MessageHash = "a hash", "another"
	sent, both := broken, half
	sent.Envelope, both.Envelope = []byte("\xff"), []byte("{}")
	for _, want := range []eventlog.Event{whole, broken, {Malformed: errors.New(""), Data: []byte{}}, mapped, half, sent,
		both} {
		stored := appendEvent(nil, &want)
		got, err := parseEvent(stored)
		if err != nil {
			t.Fatal(err)
		}
		byText := cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
		if diff := cmp.Diff(want, got, byText); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for n := range len(stored) - len(want.Data) {
			if _, err := parseEvent(stored[:n]); err == nil {
				t.Errorf("the first %d of %d bytes were read", n, len(stored))
			}
		}
	}
}

// TestAnEventOfALaterProgramIsNotCalledDamaged: whoever is told that moves the copy away, which may be all there is.
func TestAnEventOfALaterProgramIsNotCalledDamaged(t *testing.T) {
	stored := appendEvent(nil, &eventlog.Event{ID: "1", MessageHash: "a hash", Envelope: []byte("{}")})
	for _, tt := range []struct {
		what   string
		stored []byte
		want   error
	}{
		{"of a kind that is yet to come", append([]byte{enveloped + 1}, stored...), errLater},
		{"with such a thing behind its hash", append(append([]byte{mapped, 1, 'h'}, enveloped+1), stored...), errLater},
		{"with two hashes", append([]byte{mapped, 1, 'h'}, stored...), errDamaged},
		{"of nothing", nil, errDamaged},
	} {
		if _, err := parseEvent(tt.stored); !errors.Is(err, tt.want) {
			t.Errorf("one %s: %v, want %v", tt.what, err, tt.want)
		}
	}
}

// TestAFileThatIsCopiedHasAnEnd, and its malformed lines; what is appended later is copied by the next that opens it.
func TestAFileThatIsCopiedHasAnEnd(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "events.jsonl"), t.TempDir()
	text := `{"specversion":"1.0","id":"1","source":"/s","type":"T","data":{}}` + "\nno event\n"
	for n, more := range []string{"", `{"specversion":"1.0","id":"3","source":"/s","type":"T","data":{}}` + "\n"} {
		text += more
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := filesource.Open(filesource.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		m := open(t, Options{Dir: dir, Source: file})
		want := uint64(2 + n)
		for at := (eventlog.Offsets{}); ; at[filesource.Partition]++ {
			err := m.Wait(t.Context(), at)
			if err == io.EOF && at[filesource.Partition] == want {
				break
			}
			if err != nil {
				t.Fatalf("at %v: %v", at, err)
			}
		}
		events, err := m.Read(t.Context(), filesource.Partition, 0, 10)
		if err != nil || uint64(len(events)) != want || events[0].Malformed != nil || events[1].Malformed == nil ||
			string(events[1].Data) != "no event" {
			t.Fatalf("%+v, %v", events, err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
