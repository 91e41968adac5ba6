package mirror

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
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
