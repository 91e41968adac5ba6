package embeddedlog_test

import (
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/eventlog/embeddedlog"
	"github.com/foldql/foldql/eventlog/sourcetest"
)

func open(t testing.TB, o embeddedlog.Options) *embeddedlog.Log {
	t.Helper()
	l, err := embeddedlog.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLogKeepsThePromisesOfALog(t *testing.T) {
	sourcetest.RunLog(t, func(t *testing.T) sourcetest.LogPlace {
		dir := t.TempDir()
		return sourcetest.LogPlace{
			Open:    func(t testing.TB) eventlog.Log { return open(t, embeddedlog.Options{Dir: dir}) },
			Durable: true,
		}
	})
}

func TestOffsetsAreDenseFromOneAcrossReopening(t *testing.T) {
	dir := t.TempDir()
	events := sourcetest.Events(90)
	for i := range 3 {
		l := open(t, embeddedlog.Options{Dir: dir})
		at, err := l.Append(t.Context(), events[:30*(i+1)])
		if err != nil {
			t.Fatal(err)
		}
		for j, a := range at {
			want := eventlog.AppendResult{Partition: "0", Offset: uint64(j + 1), Duplicate: j < 30*i}
			if a != want {
				t.Fatalf("round %d, event %d: %+v, want %+v", i, j, a, want)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestASecondOpenerIsToldWhichDirectoryIsTaken(t *testing.T) {
	dir := t.TempDir()
	first := open(t, embeddedlog.Options{Dir: dir})
	defer first.Close()
	_, err := embeddedlog.Open(embeddedlog.Options{Dir: dir + "/."})
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "another process has it open") {
		t.Errorf("the second Open: %v", err)
	}
}

func TestAnOpenThatCannotSucceedNamesTheDirectory(t *testing.T) {
	_, err := embeddedlog.Open(embeddedlog.Options{Dir: "/dev/null/log"})
	if err == nil || !strings.Contains(err.Error(), "open the event log in /dev/null/log") {
		t.Errorf("Open: %v", err)
	}
}
