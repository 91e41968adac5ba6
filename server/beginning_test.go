package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/dynamolocal"
)

// TestAServerFoldsOnAndHearsOperatorsWhileABuildCannotBegin: its table is not there yet. The build begins once it is.
func TestAServerFoldsOnAndHearsOperatorsWhileABuildCannotBegin(t *testing.T) {
	d := deploy(t, dynamolocal.Local)
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	s := serve(t, d.app, start{args: append(slices.Clone(d.options), "--switch", "manual")})
	s.post(t, slices.Collect(taskEvents(1, 5)))
	s.folded(t, 5)
	offline := append([]string{"rebuild", "start", "Task", "--events", s.url}, d.store...)
	runProgram(t, d.app, start{args: offline}).wantExit(t, exitDone, "")
	s.until(t, "telling that it cannot begin", func() bool {
		return strings.Contains(s.stderr.String(), "the table for its generation 1 does not exist")
	})
	s.append(t, taskEvent("6", "meanwhile"))
	s.until(t, "folding on", func() bool { return hasTitle(t, s, "6", "meanwhile") })
	s.rebuilds(t, d.app, "switch", "Task").wantExit(t, exitFailed, "no rows are being built")
	d.tables(t, "apply").wantExit(t, exitDone, "done")
	s.built(t)
	s.rebuilds(t, d.app, "switch", "Task").wantExit(t, exitDone, "serve")
	if !hasTitle(t, s, "6", "meanwhile") {
		t.Error("after the switch the event is not in the rows")
	}
	s.end(t)
}
