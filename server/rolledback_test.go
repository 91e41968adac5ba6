package server

import (
	"slices"
	"strings"
	"testing"
)

// TestARollbackNamesTheModelsWhoseRowsSayWhoOwnsThem, as those who have lost access since the switch have it again.
func TestARollbackNamesTheModelsWhoseRowsSayWhoOwnsThem(t *testing.T) {
	plain, owned := versioned("1"), versioned("1")
	owned.Catalog.Types["Task"].Owner = 1
	s := serve(t, plain, start{args: append(embedded(t), "--switch", "manual")})
	s.post(t, slices.Collect(taskEvents(1, 50)))
	s.folded(t, 50)
	s.rebuilds(t, plain, "start", "Task").wantExit(t, exitDone, "")
	s.built(t)
	s.rebuilds(t, plain, "switch", "Task").wantExit(t, exitDone, "serve")
	s.rebuilds(t, owned, "rollback", "Task").wantExit(t, exitDone, "rows of Task have the owners that they had")
	s.rebuilds(t, plain, "switch", "Task").wantExit(t, exitDone, "serve")
	again := s.rebuilds(t, plain, "rollback", "Task")
	again.wantExit(t, exitDone, "serve again")
	if said := again.stdout.String(); strings.Contains(said, "owners") {
		t.Errorf("of a model whose rows have no owner it says: %s", said)
	}
}

// TestARebuildThatIsAskedForWithoutAServerDropsNoOtherRows: neither those that are being built nor those that were
// rolled back from, as little as one that a server is asked for.
func TestARebuildThatIsAskedForWithoutAServerDropsNoOtherRows(t *testing.T) {
	app, args := versioned("1"), embedded(t)
	up := func() *server {
		t.Helper()
		s := serve(t, app, start{args: append(slices.Clip(args), "--switch", "manual")})
		s.ready(t)
		return s
	}
	offline := func(code int, said string) {
		t.Helper()
		runProgram(t, app, start{args: append([]string{"rebuild", "start", "Task"}, args...)}).wantExit(t, code, said)
	}
	s := up()
	s.post(t, slices.Collect(taskEvents(1, 50)))
	s.folded(t, 50)
	s.rebuilds(t, app, "start", "Task").wantExit(t, exitDone, "")
	s.built(t)
	s.end(t)
	offline(exitFailed, "rows are being built already: switch to them, or abort that first; start the server for that")
	s = up()
	s.built(t)
	s.rebuilds(t, app, "switch", "Task").wantExit(t, exitDone, "serve")
	s.rebuilds(t, app, "rollback", "Task").wantExit(t, exitDone, "serve again")
	s.end(t)
	offline(exitFailed, "rows are being built already")
	s = up()
	s.rebuilds(t, app, "switch", "Task").wantExit(t, exitDone, "serve")
	s.rebuilds(t, app, "rollback", "Task").wantExit(t, exitDone, "serve again")
	s.rebuilds(t, app, "abort", "Task").wantExit(t, exitDone, "removed")
	s.end(t)
	offline(exitDone, "the next start rebuilds")
	offline(exitDone, "the next start rebuilds") // which has not begun
}
