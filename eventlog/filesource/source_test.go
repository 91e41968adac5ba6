package filesource_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/cloudevents"
	"github.com/foldql/foldql/eventlog/filesource"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

// lines writes events as a file has them.
func lines(events []eventlog.Event) []byte {
	var text []byte
	for i := range events {
		text = append(cloudevents.Append(text, &events[i]), '\n')
	}
	return text
}

func zip(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, o filesource.Options) *filesource.Source {
	t.Helper()
	s, err := filesource.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func TestFilesKeepThePromisesOfASource(t *testing.T) {
	plain := func(_ testing.TB, text []byte) []byte { return text }
	for name, pack := range map[string]func(testing.TB, []byte) []byte{"e.jsonl": plain, "e.jsonl.gz": zip} {
		t.Run(name, func(t *testing.T) {
			sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
				path := filepath.Join(t.TempDir(), name)
				write(t, path, pack(t, nil))
				return sourcetest.Place{
					Add:     func(t testing.TB, events []eventlog.Event) { write(t, path, pack(t, lines(events))) },
					Open:    func(t testing.TB) eventlog.Source { return open(t, filesource.Options{Path: path}) },
					Durable: true,
					Remove: func(t testing.TB) {
						if err := os.Remove(path); err != nil {
							t.Fatal(err)
						}
					},
				}
			})
		})
	}
}

// TestAFileThatHasLostLinesIsNotReadOn: what is missing is not taken for the end.
func TestAFileThatHasLostLinesIsNotReadOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.jsonl")
	events := sourcetest.Events(3000)
	write(t, path, lines(events))
	s := open(t, filesource.Options{Path: path})
	if n, err := s.Head(t.Context(), "0"); n != 3000 || err != nil {
		t.Fatal(n, err)
	}
	write(t, path, lines(events[:2000]))
	var at uint64
	for {
		some, err := s.Read(t.Context(), "0", at, 500)
		if eventlog.Replaced(err) && at == 2000 {
			return
		}
		if err != nil || len(some) == 0 {
			t.Fatalf("after %d: %d events, %v", at, len(some), err)
		}
		at = some[len(some)-1].Offset
	}
}

// TestLinesThatAreAddedToAFileAreNotRead once its end is known: the last may be half written.
func TestLinesThatAreAddedToAFileAreNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.jsonl")
	all := lines(sourcetest.Events(5))
	write(t, path, lines(sourcetest.Events(3)))
	s := open(t, filesource.Options{Path: path})
	if head, err := s.Head(t.Context(), filesource.Partition); head != 3 || err != nil {
		t.Fatalf("the head is %d, %v", head, err)
	}
	write(t, path, all[:len(all)-10])
	for after := range uint64(5) {
		events, err := s.Read(t.Context(), filesource.Partition, after, 10)
		if want := max(3-int(after), 0); len(events) != want || err != nil {
			t.Errorf("%d events after %d, %v; want %d", len(events), after, err, want)
		}
	}
}

// TestAGzippedFileThatIsCutIsNotTaken for a shorter one, or for none. A plain one that ends with a line is whole.
func TestAGzippedFileThatIsCutIsNotTaken(t *testing.T) {
	whole := zip(t, lines(sourcetest.Events(5)))
	path := filepath.Join(t.TempDir(), "e.jsonl.gz")
	malformed := func(e eventlog.Event) bool { return e.Malformed != nil }
	for n := range len(whole) {
		write(t, path, whole[:n])
		s, err := filesource.Open(filesource.Options{Path: path})
		if err != nil {
			continue
		}
		for at := uint64(0); ; {
			events, err := s.Read(t.Context(), filesource.Partition, at, 10)
			if err != nil || slices.ContainsFunc(events, malformed) {
				break
			}
			if len(events) == 0 {
				t.Fatalf("%d of %d bytes are read as a file of %d events", n, len(whole), at)
			}
			at = events[len(events)-1].Offset
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	empty := filepath.Join(t.TempDir(), "e.jsonl")
	write(t, empty, nil)
	head, err := open(t, filesource.Options{Path: empty}).Head(t.Context(), filesource.Partition)
	if head != 0 || err != nil {
		t.Errorf("an empty plain file ends at %d, error %v", head, err)
	}
}

func TestStandardInputKeepsThePromisesOfASource(t *testing.T) {
	for name, zipped := range map[string]bool{"plain": false, "gzipped": true} {
		t.Run(name, func(t *testing.T) {
			sourcetest.Run(t, func(t *testing.T) sourcetest.Place {
				var text []byte
				return sourcetest.Place{
					Add: func(t testing.TB, events []eventlog.Event) { text = append(text, lines(events)...) },
					Open: func(t testing.TB) eventlog.Source {
						t.Helper()
						in := text
						if zipped {
							in = zip(t, text)
						}
						s := open(t, filesource.Options{Path: "-", Stdin: bytes.NewReader(in)})
						if err := s.Wait(t.Context(), eventlog.Offsets{"0": 1 << 62}); err != io.EOF {
							t.Fatalf("wait until all of it has come: %v", err)
						}
						return s
					},
					Durable: true, // as long as the same is piped in again
				}
			})
		})
	}
}

func TestALiveStandardInputIsFollowed(t *testing.T) {
	from, to := io.Pipe()
	s := open(t, filesource.Options{Path: "-", Stdin: from})
	var at uint64
	for i, e := range sourcetest.Events(20) {
		answer := make(chan error, 1)
		go func() { answer <- s.Wait(t.Context(), eventlog.Offsets{"0": at}) }()
		text := lines([]eventlog.Event{e})
		half := len(text) / 2
		for _, part := range [][]byte{text[:half], text[half:]} {
			if _, err := to.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-answer; err != nil {
			t.Fatalf("Wait: %v", err)
		}
		got, err := s.Read(t.Context(), "0", at, 10)
		if err != nil || len(got) != 1 || got[0].ID != e.ID || got[0].Malformed != nil {
			t.Fatalf("event %d: got %v, error %v", i, got, err)
		}
		at = got[0].Offset
	}
	to.Close()
	if err := s.Wait(t.Context(), eventlog.Offsets{"0": at}); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

func TestAWaitForStandardInputEndsWithTheSource(t *testing.T) {
	from, to := io.Pipe()
	defer to.Close()
	s := open(t, filesource.Options{Path: "-", Stdin: from})
	answer := make(chan error, 1)
	go func() { answer <- s.Wait(t.Context(), eventlog.Offsets{}) }()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; !errors.Is(err, eventlog.ErrClosed) {
		t.Errorf("Wait: %v", err)
	}
}

// TestAFaultOfStandardInputIsNotItsEnd, and what came of a line before it is no event.
func TestAFaultOfStandardInputIsNotItsEnd(t *testing.T) {
	from, to := io.Pipe()
	s := open(t, filesource.Options{Path: "-", Stdin: from})
	if _, err := to.Write(append(lines(sourcetest.Events(2)), good[:20]...)); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("the cable was cut")
	to.CloseWithError(fault)
	if err := s.Wait(t.Context(), eventlog.Offsets{"0": 2}); !errors.Is(err, fault) {
		t.Errorf("Wait: %v", err)
	}
	if got, err := s.Read(t.Context(), "0", 0, 3); err != nil || len(got) != 2 {
		t.Errorf("what came before: %d events, error %v", len(got), err)
	}
	if _, err := s.Read(t.Context(), "0", 2, 2); !errors.Is(err, fault) {
		t.Errorf("Read: %v", err)
	}
}

const good = `{"specversion":"1.0","id":"a","source":"/s","type":"T","data":{}}`

func TestOffsetsAreLineNumbersAndABadLineIsDelivered(t *testing.T) {
	text := "\n" + good + "\r\n  \t\n" +
		`{"specversion":"1.0","id":"b","source":"/s","type":"T","subject":"x","time":"yesterday","data":{}}` + "\n" +
		"rubbish\n\n" + strings.Repeat(" ", 200_000) + "\n" +
		`{"id":"` + strings.Repeat("long", 500) + `"}` + "\n" + good // the last line has no end
	path := filepath.Join(t.TempDir(), "e.jsonl")
	write(t, path, []byte(text))
	s := open(t, filesource.Options{Path: path, MaxSize: 1000})
	events, err := s.Read(t.Context(), "0", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		offset            uint64
		id, subject, data string
		reason            string
	}{
		{2, "a", "", "{}", ""},
		{4, "b", "x", `{"specversion":"1.0","id":"b","source":"/s","type":"T","subject":"x","time":"yesterday","data":{}}`,
			`line 4 of ` + path + `: event (id "b"): time: want an RFC 3339 date-time, got "yesterday"`},
		{5, "", "", "rubbish", `line 5 of ` + path + `: event: not JSON: want {, got 'r' at byte 0`},
		{8, strings.Repeat("long", 500), "", (`{"id":"` + strings.Repeat("long", 500))[:1000], "2009 bytes, more than 1000"},
		{9, "a", "", "{}", ""},
	}
	if len(events) != len(want) {
		t.Fatalf("%d events, want %d", len(events), len(want))
	}
	for i, w := range want {
		e := events[i]
		reason := ""
		if e.Malformed != nil {
			reason = e.Malformed.Error()
		}
		if e.Offset != w.offset || e.ID != w.id || e.Subject != w.subject || string(e.Data) != w.data ||
			(reason == "") != (w.reason == "") || !strings.Contains(reason, w.reason) {
			t.Errorf("event %d:\ngot  %+v\nwant %+v", i, e, w)
		}
	}
	if !errors.Is(events[3].Malformed, cloudevents.ErrTooLarge) {
		t.Errorf("a long line: %v", events[3].Malformed)
	}
	if head, err := s.Head(t.Context(), "0"); err != nil || head != 9 {
		t.Errorf("Head: %d, %v", head, err)
	}
}

func TestReadingOnDoesNotBeginAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.jsonl")
	write(t, path, lines(sourcetest.Events(1000)))
	s := open(t, filesource.Options{Path: path})
	if err := os.Remove(path); err != nil { // whoever opens it again fails
		t.Fatal(err)
	}
	read := 0
	for after := uint64(0); ; {
		events, err := s.Read(t.Context(), "0", after, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			break
		}
		read += len(events)
		after = events[len(events)-1].Offset
	}
	if read != 1000 {
		t.Errorf("read %d events", read)
	}
}

func TestWhatCannotBeReadIsAnErrorThatNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	truncated := filepath.Join(dir, "truncated.jsonl.gz")
	packed := zip(t, lines(sourcetest.Events(100)))
	write(t, truncated, packed[:len(packed)/2])
	s := open(t, filesource.Options{Path: truncated})
	got := 0
	for after := uint64(0); ; {
		events, err := s.Read(t.Context(), "0", after, 1)
		if err != nil {
			if !strings.Contains(err.Error(), truncated) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("Read: %v", err)
			}
			break
		}
		if len(events) == 0 {
			t.Fatal("a truncated file ended as if it were whole")
		}
		got, after = got+1, events[0].Offset
	}
	if got == 0 {
		t.Error("nothing was read before the tear")
	}
	missing := filepath.Join(dir, "missing")
	if _, err := filesource.Open(filesource.Options{Path: missing}); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), missing) {
		t.Errorf("Open: %v", err)
	}
	if _, err := filesource.Open(filesource.Options{Path: dir}); err == nil {
		t.Error("a directory was opened")
	}
}

// BenchmarkRead reads the file that REGISTRY_EVENTS names, or as many events as that of the registry has.
func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "e.jsonl")
	write(b, path, lines(sourcetest.Events(60_000)))
	if p := os.Getenv("REGISTRY_EVENTS"); p != "" {
		path = p
	}
	for b.Loop() {
		s := open(b, filesource.Options{Path: path})
		n := 0
		for after := uint64(0); ; {
			events, err := s.Read(b.Context(), "0", after, 1000)
			if err != nil {
				b.Fatal(err)
			}
			if len(events) == 0 {
				break
			}
			n += len(events)
			after = events[len(events)-1].Offset
		}
		b.ReportMetric(float64(n), "events/op")
	}
}

// TestOneReaderAfterTheOtherReadsTheSame, from the beginning.
func TestOneReaderAfterTheOtherReadsTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.jsonl")
	events := sourcetest.Events(100)
	for i := range events {
		events[i].Data = []byte(`{"text":"` + strings.Repeat("x", 200<<10) + `"}`)
	}
	write(t, path, lines(events))
	s := open(t, filesource.Options{Path: path})
	var offsets [2][]uint64
	for reader := range offsets {
		for after := uint64(0); ; {
			got, err := s.Read(t.Context(), "0", after, 50)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 {
				break
			}
			for _, e := range got {
				offsets[reader] = append(offsets[reader], e.Offset)
			}
			after = got[len(got)-1].Offset
		}
	}
	if len(offsets[0]) != len(events) || !slices.Equal(offsets[0], offsets[1]) {
		t.Errorf("%d events for the first reader, %d for the second, of %d", len(offsets[0]), len(offsets[1]), len(events))
	}
}
