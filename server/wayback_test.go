package server

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/eventlog"
)

// TestTheWayBackAfterAnUpdateHasEveryEvent, as docs/operations/recovery.md says: all events are exported, however they
// were sent, and those that the backup has too change nothing; or those alone that follow the backup.
func TestTheWayBackAfterAnUpdateHasEveryEvent(t *testing.T) {
	app, dir, args := newProject(false).App, t.TempDir(), embedded(t)
	s := serve(t, app, start{args: args})
	send := func(id string) {
		t.Helper()
		data := fmt.Sprintf(`{ "taskId": %q,  "title": "T\u00e4sk" }`, id)
		whole := fmt.Sprintf(`{"specversion": "1.0", "type": "TaskAdded", "source": "/t", "id": %q, "level": 1, "data": %s}`,
			"whole-"+id, data)
		if status, body := s.request(t, "POST", "/events", whole, "Content-Type",
			"application/cloudevents+json"); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
		if status, body := s.request(t, "POST", "/events", data, "Content-Type", "application/json", "Ce-Specversion", "1.0",
			"Ce-Type", "TaskAdded", "Ce-Source", "/t", "Ce-Id", "headers-"+id, "Ce-Subject", "Ä "+id,
			"Ce-Trace", "x"); status != 201 {
			t.Fatalf("%d %s", status, body)
		}
		s.append(t, taskEvent(id, "later"))
	}
	send("before")
	backup, all, data := filepath.Join(dir, "backup"), filepath.Join(dir, "all.jsonl.gz"), filepath.Join(dir, "data")
	runProgram(t, app, start{args: []string{"backup", backup, "--url", s.url}}).wantExit(t, exitDone, "")
	send("since")
	s.folded(t, 6)
	s.end(t)
	eventsOf(t, app, "export", all, "--store", args[1]).wantExit(t, exitDone, "has 6 events")
	eventsOf(t, app, "export", filepath.Join(dir, "later.jsonl"), "--store", args[1], "--from", "0:3").
		wantExit(t, exitDone, "has 3 events")

	runProgram(t, app, start{args: []string{"restore", backup, data}}).wantExit(t, exitDone, "with 3 events")
	eventsOf(t, app, "import", all, "--store", "embedded:"+data).
		wantExit(t, exitDone, "3 events imported, 3 there already")
	s = serve(t, app, start{args: []string{"--store", "embedded:" + data, "--cache-mb", "8"}})
	s.folded(t, 6)
	for _, id := range []string{"before", "since"} {
		if !hasTitle(t, s, id, "later") {
			t.Errorf("the task %s is not as it was", id)
		}
	}
}

// TestWhatAFormerProgramPassedOverIsInTheRowsAfterARebuild, as the warning of the import says: the newer program goes
// on behind it.
func TestWhatAFormerProgramPassedOverIsInTheRowsAfterARebuild(t *testing.T) {
	former, newer, args := newProject(false), newProject(false), embedded(t)
	added := *newer.App.Events["TaskAdded"]
	added.Name = "TaskGifted"
	newer.App.Events["TaskGifted"] = &added
	newer.App.Projections[0].Events = []string{"TaskAdded", "TaskGifted"}
	gift := taskEvent("gift", "Gift")
	gift.Type = "TaskGifted"
	path := writeLines(t, "events.jsonl", slices.Values([]eventlog.Event{gift, taskEvent("1", "Task 1")}))
	c := eventsOf(t, former.App, "import", path, "--store", args[1], "--take-newer")
	c.wantExit(t, exitDone, "2 events imported")
	if got := c.stderr.String(); !strings.Contains(got, "'server rebuild start MODEL'") {
		t.Errorf("the warning: %s", got)
	}
	s := serve(t, former.App, start{args: args})
	s.folded(t, 2)
	s.end(t)

	s = serve(t, newer.App, start{args: args})
	s.ready(t)
	if hasTitle(t, s, "gift", "Gift") {
		t.Error("the newer program has read again what the former one passed over: the warning is not true")
	}
	s.rebuilds(t, newer.App, "start", "Task").wantExit(t, exitDone, "")
	s.until(t, "rebuilt", func() bool { return hasTitle(t, s, "gift", "Gift") })
}
