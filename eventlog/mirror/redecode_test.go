package mirror

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/eventlog/httpsource"
	"github.com/foldql/foldql/eventlog/natssource"
	"github.com/foldql/foldql/eventlog/payload"
)

// texts compares errors by what they say.
var texts = cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })

// TestWhatCouldNotBeReadIsReadFromTheCopyLater, as it would be from the stream, which has forgotten it by then.
func TestWhatCouldNotBeReadIsReadFromTheCopyLater(t *testing.T) {
	s := newStream(t)
	long := `{"text":"` + strings.Repeat("x", 2000) + `"}`
	binary := func(more ...string) nats.Header {
		h := nats.Header{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "Ce-Source": {"/s"}, "ce-type": {"T"}}
		for _, name := range more {
			h[name] = []string{"\xff"}
		}
		return h
	}
	for _, m := range []nats.Msg{
		{Data: []byte(`{"specversion":"1.0","id":"1","source":"/s","type":"T","subject":"s","data":` + long + `}`),
			Header: nats.Header{"Content-Type": {"application/cloudevents+json"}}},
		{Data: []byte(long), Header: binary()},
		{Data: []byte(`{}`), Header: binary("ce-other")},
		{Data: []byte(`{"n":1}`), Header: nats.Header{"Other": {"\xff", "b"}, "Number": {"7"}}},
		{Data: []byte(`no JSON`)},
	} {
		m.Subject = "events"
		if _, err := s.js.PublishMsg(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
	}
	with := func(mapping string, most int) *natssource.Source {
		parsed, err := payload.Parse([]byte(mapping))
		if err != nil {
			t.Fatal(err)
		}
		src, err := natssource.Open(natssource.Options{URL: "nats://" + s.server.Address() + "/" + streamName,
			MaxEventBytes: most, Mapping: parsed})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { src.Close() })
		return src
	}
	const before, after = "source: /m\nid: header missing\ntype: text T", "source: /m\nid: header number\ntype: subject 1"
	m := caughtUp{open(t, Options{Dir: s.dir, Source: with(before, 1000)}), with(before, 1000)}
	for _, e := range drain(t, m, streamName, 0) {
		if e.Malformed == nil {
			t.Errorf("event %d is read already", e.Offset)
		}
	}
	shut(t, m)
	want := drain(t, with(after, 10_000), streamName, 0)
	s.purge(t, 5)
	m = caughtUp{open(t, Options{Dir: s.dir, Source: with(after, 10_000)}), with(after, 10_000)}
	got := drain(t, m, streamName, 0)
	if diff := cmp.Diff(want, got, texts); diff != "" {
		t.Errorf("(-stream +copy):\n%s", diff)
	}
	for i, malformed := range []bool{false, false, true, false, true} {
		if is := got[i].Malformed != nil; is != malformed {
			t.Errorf("event %d: %v", i+1, got[i].Malformed)
		}
	}
}

// TestALineOfAFileIsReadFromTheCopyLater, by another mapping, as it would be from the file. Of one that was too long,
// the copy does not have the rest.
func TestALineOfAFileIsReadFromTheCopyLater(t *testing.T) {
	files, dir := t.TempDir(), t.TempDir()
	long := `{"n":2,"text":"` + strings.Repeat("x", 2000) + `"}`
	lines := "\n" + `{"n":1}` + "\n" + long + "\nno JSON\n"
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const before, after = "source: /m\nid: field missing\ntype: text T", "source: /m\nid: position\ntype: text T"
	with := func(mapping string, most int) *filesource.Dir {
		parsed, err := payload.Parse([]byte(mapping))
		if err != nil {
			t.Fatal(err)
		}
		src, err := filesource.OpenDir(filesource.Options{Path: files, MaxSize: most, Mapping: parsed})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { src.Close() })
		return src
	}
	for _, c := range []struct {
		mapping  string
		most     int
		readable uint64 // the offset of the line that is an event now
	}{{before, 1000, 0}, {after, 5, 0}, {after, 10_000, 2}} {
		m := caughtUp{open(t, Options{Dir: dir, Source: with(c.mapping, c.most)}), with(c.mapping, c.most)}
		for _, name := range []string{"a", "b"} {
			want, got := drain(t, with(c.mapping, c.most), name, 0), drain(t, m, name, 0)
			if len(got) != 3 || got[1].Malformed == nil {
				t.Fatalf("%s has %d lines", name, len(got))
			}
			for i := range got {
				if i == 1 && c.most != 1000 { // of which there is no more than what was kept at first
					continue
				}
				if diff := cmp.Diff(want[i], got[i], texts); diff != "" {
					t.Errorf("%s, by %q up to %d bytes (-file +copy):\n%s", name, c.mapping, c.most, diff)
				}
				if read := got[i].Malformed == nil; read != (got[i].Offset == c.readable) {
					t.Errorf("%s, by %q up to %d bytes: line %d is read: %v", name, c.mapping, c.most, got[i].Offset, read)
				}
			}
		}
		shut(t, m)
	}
}

// TestAnEventOfAnotherServerThatWasTooLargeIsReadFromTheCopyLater.
func TestAnEventOfAnotherServerThatWasTooLargeIsReadFromTheCopyLater(t *testing.T) {
	u, dir := newUpstream(t), t.TempDir()
	u.add(t, []eventlog.Event{{ID: "1", Source: "/s", Type: "T", Data: []byte(`{"t":"` + strings.Repeat("x", 2000) + `"}`)}})
	for _, most := range []int{1000, 10_000} {
		with := func() *httpsource.Source {
			src, err := httpsource.Open(httpsource.Options{URL: "https://" + u.address, CA: u.cert, MaxEventBytes: most})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { src.Close() })
			return src
		}
		want := drain(t, with(), "0", 0)
		m := caughtUp{open(t, Options{Dir: dir, Source: with()}), with()}
		got := drain(t, m, "0", 0)
		if diff := cmp.Diff(want, got, texts); diff != "" {
			t.Errorf("(-server +copy):\n%s", diff)
		}
		if tooLarge := errors.Is(got[0].Malformed, cloudevents.ErrTooLarge); tooLarge != (most == 1000) {
			t.Errorf("with %d bytes: %v", most, got[0].Malformed)
		}
		shut(t, m)
	}
}

// TestACopyOfAnEarlierVersionIsRead: its malformed events have no envelope.
func TestACopyOfAnEarlierVersionIsRead(t *testing.T) {
	stored := "\x02\x01h" + "\x01\x07no type" + "\x0a\x011\x00\x00\x00\x00\x00\x00\x00\x00" + "data"
	want := eventlog.Event{ID: "1", Time: time.Unix(0, 0).UTC(), Data: []byte("data"), MessageHash: "h",
		Malformed: errors.New("no type")}
	got, err := parseEvent([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFewerEventsAreCopiedAtOnceWhereTheirEnvelopesAreLarge, as where their data are.
func TestFewerEventsAreCopiedAtOnceWhereTheirEnvelopesAreLarge(t *testing.T) {
	events := []eventlog.Event{{Malformed: errors.New("no type"), Envelope: make([]byte, batchBytes/4)}}
	p := partition{eventSize: sizeOf(events)}
	if n := p.size(); n > 4 {
		t.Errorf("%d events of a quarter of a batch are copied at once", n)
	}
}
