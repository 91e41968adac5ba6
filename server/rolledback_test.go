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
