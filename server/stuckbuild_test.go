package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// TestABuildThatCannotGoOnHoldsNobodyUp: the rows of another version stop at an event that servers of the former
// version have folded. The switch is tried once; then the server names the event, and follows the rows that serve.
func TestABuildThatCannotGoOnHoldsNobodyUp(t *testing.T) {
	d := deploy(t, dynamolocal.Local)
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	former := serve(t, d.app, start{args: d.options})
	former.post(t, slices.Collect(taskEvents(1, 10)))
	former.until(t, "folded", hasTask(t, former, 10))

	p := newStage("2")
	d.app = p.App
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	args := append(slices.Clone(d.store), "--events", former.url, "--project-timeout", "1s")
	next := serve(t, p.App, start{args: append(slices.Clone(args), "--switch", "manual")})
	next.built(t)
	next.end(t)
	former.append(t, taskEvent("11", "gate"))
	former.until(t, "folded", func() bool { return hasTitle(t, former, "11", "gate") })
	open := p.shut()
	t.Cleanup(open)
	next = serve(t, p.App, start{args: args})
	next.until(t, "telling at which event", func() bool {
		at := next.statusOf(t).Projections[0].Build
		return at != nil && at.Stop != nil && strings.Contains(fmt.Sprint(at.Stop), "0@11")
	})
	for i := 12; i <= 30; i++ {
		id := fmt.Sprint(i)
		if _, got := next.from(t, former.appended(t, taskEvent(id, "Task "+id)), id); got != titled("Task "+id) {
			t.Fatalf("%s from its position: %s", id, got)
		}
	}
	if n := strings.Count(next.stderr.String(), "stand still until"); n != 1 {
		t.Errorf("the switch is tried %d times, want once", n)
	}
}
