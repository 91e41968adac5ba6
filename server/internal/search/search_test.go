package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/filesource"
)

// TestPagesTogetherHaveJustWhatMatches, in the order of the log, wherever each of them ends, and in whatever query.
func TestPagesTogetherHaveJustWhatMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "search-*")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		all := writeDir(t, dir)
		src, err := filesource.OpenDir(filesource.Options{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		q := drawQuery(t)
		var want, got []string
		for i := range all {
			if q.Matches(&all[i]) && all[i].Offset > q.From[all[i].Partition] {
				want = append(want, all[i].Partition+":"+all[i].ID)
			}
		}
		for more := true; more; {
			q.Limit = rapid.IntRange(1, 5).Draw(t, "limit")
			page, err := Run(t.Context(), src, &q)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range page.Events {
				e, err := cloudevents.Decoder{}.Decode(f.Event)
				if err != nil {
					t.Fatalf("%s: %v", f.Ref(), err)
				}
				got = append(got, f.Partition+":"+e.ID)
			}
			if len(page.Events) > q.Limit || page.More && cmp.Equal(page.Next, q.From) {
				t.Fatalf("a page of %d events from %v to %v, limit %d", len(page.Events), q.From, page.Next, q.Limit)
			}
			q.From, q.UpTo, more = page.Next, page.UpTo, page.More
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("found (-want +got):\n%s", diff)
		}
	})
}

// writeDir writes files of events with blank lines between them, and returns the events as they stand.
func writeDir(t *rapid.T, dir string) (all []eventlog.Event) {
	for _, partition := range []string{"a,b", "c:1", "d"}[:rapid.IntRange(1, 3).Draw(t, "partitions")] {
		var text []byte
		for line := range uint64(rapid.IntRange(0, 20).Draw(t, "lines")) {
			if rapid.IntRange(0, 3).Draw(t, "blank") > 0 {
				e := eventlog.Event{
					ID: fmt.Sprint("e", line+1), Source: "/" + partition,
					Type:    rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "type"),
					Subject: rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "subject"), Data: []byte(`{"a":"<>"}`),
					Partition: partition, Offset: line + 1,
				}
				if day := rapid.IntRange(0, 3).Draw(t, "day"); day > 0 {
					e.Time = time.Date(2024, 1, day, 0, 0, 0, 0, time.UTC)
				}
				all = append(all, e)
				text = cloudevents.Append(text, &e)
			}
			text = append(text, '\n')
		}
		if err := os.WriteFile(filepath.Join(dir, partition+".jsonl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func drawQuery(t *rapid.T) (q Query) {
	q.Subject = rapid.SampledFrom([]string{"", "", "s1"}).Draw(t, "subject wanted")
	q.Types = rapid.SampledFrom([][]string{nil, nil, {"A"}, {"A", "C"}}).Draw(t, "types wanted")
	q.Source = rapid.SampledFrom([]string{"", "", "/d"}).Draw(t, "source wanted")
	if rapid.Bool().Draw(t, "after") {
		q.After = time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)
	}
	if rapid.Bool().Draw(t, "before") {
		q.Before = time.Date(2024, 1, 3, 0, 0, 0, 0, time.UTC)
	}
	if rapid.Bool().Draw(t, "from") {
		q.From = eventlog.Offsets{"a,b": rapid.Uint64Range(0, 20).Draw(t, "offset")}
	}
	return q
}

// counted is a source of which Read is counted, and that has more events than a page looks at.
type counted struct {
	eventlog.Source
	head uint64
	read int
}

func (s *counted) Partitions(ctx context.Context) ([]string, error)   { return []string{"0"}, ctx.Err() }
func (s *counted) Head(ctx context.Context, _ string) (uint64, error) { return s.head, ctx.Err() }
func (s *counted) Read(ctx context.Context, _ string, after uint64, most int) (events []eventlog.Event, err error) {
	for at := after + 1; at <= s.head && len(events) < most; at++ {
		events = append(events, eventlog.Event{
			ID: fmt.Sprint(at), Source: "/s", Type: "A", Data: []byte("{}"), Partition: "0", Offset: at,
		})
	}
	s.read += len(events)
	return events, ctx.Err()
}

// TestARareEventIsFoundInPagesOfBoundedWork: a page that finds nothing ends too, and the next one goes on.
func TestARareEventIsFoundInPagesOfBoundedWork(t *testing.T) {
	src := &counted{head: 3*mostLookedAt + 10}
	q := Query{ID: fmt.Sprint(src.head)}
	for pages := 1; ; pages++ {
		before := src.read
		page, err := Run(t.Context(), src, &q)
		if err != nil {
			t.Fatal(err)
		}
		if n := src.read - before; n > mostLookedAt+eventsReadOnce {
			t.Fatalf("page %d read %d events", pages, n)
		}
		if q.From, q.UpTo = page.Next, page.UpTo; page.More {
			src.head++ // what comes while the search goes on is not part of it
			continue
		}
		if pages != 4 || len(page.Events) != 1 || page.Next["0"] != 3*mostLookedAt+10 {
			t.Errorf("%d pages, %d events, up to %v", pages, len(page.Events), page.Next)
		}
		return
	}
}

// TestDataOfSeveralLinesIsOneLine of an export, and keeps its value.
func TestDataOfSeveralLinesIsOneLine(t *testing.T) {
	f := found(&eventlog.Event{ID: "1", Source: "/s", Type: "A", Data: []byte("{\n \"a\": [1.50,\r\n\"<x>\"]\n}")})
	if got := string(f.Event); got != `{"specversion":"1.0","id":"1","source":"/s","type":"A","data":{"a":[1.50,"<x>"]}}` {
		t.Errorf("got %s", got)
	}
}

// FuzzPosition: what is read as a position is written so that it is read again as the same one.
func FuzzPosition(f *testing.F) {
	for _, text := range []string{
		"0:17", "0@17", "a%2Cb:3,c:4", "a:1,a:2", ":1", "0:18446744073709551616", "%:1", "", ",",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := ParsePosition(text)
		if err != nil {
			return
		}
		again, err := ParsePosition(FormatPosition(at))
		if err != nil || !cmp.Equal(at, again) {
			t.Errorf("%q is %v, written as %q, and read again as %v, error %v", text, at, FormatPosition(at), again, err)
		}
	})
}

// TestAPositionNamesEachPartitionOnce, and nothing but partitions.
func TestAPositionNamesEachPartitionOnce(t *testing.T) {
	for text, want := range map[string]string{
		"0": "want PARTITION:OFFSET", "0:": "want PARTITION:OFFSET", "0:-1": "want PARTITION:OFFSET",
		"a:1,a:2": "given twice", "a:1,": "want PARTITION:OFFSET", "%:1": "want PARTITION:OFFSET",
	} {
		if _, err := ParsePosition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	names := []string{"a,b", "c:1", "d e", "ü%", "f@2"}
	at := eventlog.Offsets{}
	for i, name := range names {
		at[name] = uint64(i)
	}
	got, err := ParsePosition(FormatPosition(at))
	if err != nil || !cmp.Equal(at, got) || len(got) != len(slices.Compact(names)) {
		t.Errorf("%s is read as %v, error %v", FormatPosition(at), got, err)
	}
}

// cutSource has lost touch with what follows an offset, and knows that there is more.
type cutSource struct {
	eventlog.Source
	after uint64
}

func (s cutSource) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if after >= s.after {
		return nil, nil
	}
	return s.Source.Read(ctx, partition, after, min(most, int(s.after-after)))
}

// TestASearchThatCannotReachTheEndSaysSo: what cannot be read is not passed over.
func TestASearchThatCannotReachTheEndSaysSo(t *testing.T) {
	var lines []string
	for i := range 5 {
		lines = append(lines, fmt.Sprintf(`{"specversion":"1.0","id":"%d","source":"/s","type":"T","data":{}}`, i))
	}
	file := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := filesource.Open(filesource.Options{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	page, err := Run(t.Context(), cutSource{src, 3}, &Query{})
	if err != nil {
		t.Fatal(err)
	}
	end := eventlog.Offsets{filesource.Partition: 5}
	if len(page.Events) != 3 || page.More || page.Next[filesource.Partition] != 3 || !cmp.Equal(page.Unread, end) {
		t.Errorf("%d events, more %t, next %v, unread %v; want 3 events up to 3, and %v unread", len(page.Events), page.More,
			page.Next, page.Unread, end)
	}
	if page, err = Run(t.Context(), src, &Query{}); err != nil || page.Unread != nil || len(page.Events) != 5 {
		t.Errorf("the whole: %v, %d events, unread %v", err, len(page.Events), page.Unread)
	}
}

// forgetfulSource has forgotten the events before an offset.
type forgetfulSource struct {
	eventlog.Source
	first uint64
}

func (s forgetfulSource) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	if after+1 < s.first {
		return nil, &eventlog.ForgottenError{Partition: partition, After: after, First: s.first}
	}
	return s.Source.Read(ctx, partition, after, most)
}

// retainingSource forgets events at each call: Read finds none, and EmptyThrough says so.
type retainingSource struct {
	forgetfulSource
	empty uint64
}

func (s *retainingSource) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event,
	error) {
	if after == s.empty {
		return nil, nil
	}
	return s.forgetfulSource.Read(ctx, partition, after, most)
}

func (s *retainingSource) EmptyThrough(_ context.Context, partition string, after uint64) (uint64, error) {
	s.empty, s.first = 0, after+3
	return 0, &eventlog.ForgottenError{Partition: partition, After: after, First: s.first}
}

// TestASearchGoesOnBehindWhatIsForgottenMeanwhile, also where the source says so only of the place of what it lacks.
func TestASearchGoesOnBehindWhatIsForgottenMeanwhile(t *testing.T) {
	src := &retainingSource{forgetfulSource{&counted{head: 9}, 6}, 5}
	page, err := Run(t.Context(), src, &Query{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Gap{{"0", 0, 5}, {"0", 5, 7}}, page.Forgotten); diff != "" || len(page.Events) != 2 {
		t.Errorf("%d events, forgotten (-want +got):\n%s", len(page.Events), diff)
	}
}

// TestASearchSaysWhatTheSourceHasForgotten, up to where it goes, and goes on behind it.
func TestASearchSaysWhatTheSourceHasForgotten(t *testing.T) {
	src := forgetfulSource{&counted{head: 9}, 6}
	for _, c := range []struct {
		from, upTo uint64
		want       []Gap
		found      int
	}{
		{0, 9, []Gap{{"0", 0, 5}}, 4}, {3, 9, []Gap{{"0", 3, 5}}, 4}, {2, 4, []Gap{{"0", 2, 4}}, 0}, {5, 9, nil, 4},
	} {
		page, err := Run(t.Context(), src, &Query{From: eventlog.Offsets{"0": c.from}, UpTo: eventlog.Offsets{"0": c.upTo}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, page.Forgotten); diff != "" || len(page.Events) != c.found {
			t.Errorf("from %d up to %d: %d events, forgotten (-want +got):\n%s", c.from, c.upTo, len(page.Events), diff)
		}
	}
}
