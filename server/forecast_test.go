package server

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/foldql/foldql/projection/rates"
)

// TestAPlanSaysHowLongWorkTakesByTheLastOfItsKind: a rebuild, then the build of an index; and it writes for foldql diff
// what it goes by.
func TestAPlanSaysHowLongWorkTakesByTheLastOfItsKind(t *testing.T) {
	args := embedded(t)
	file := filepath.Join(t.TempDir(), "rates.json")
	plan := func(version, want string) {
		t.Helper()
		runProgram(t, versioned(version), start{args: append([]string{"tables", "plan", "--rates", file}, args[:2]...)}).
			wantExit(t, exitDone, want)
	}
	s := serve(t, versioned("1"), start{args: args})
	s.post(t, slices.Collect(taskEvents(1, 1200)))
	s.folded(t, 1200)
	s.end(t)
	plan("2", "\n  takes: not known")
	s = serve(t, versioned("2"), start{args: args})
	s.until(t, "built and switched to", func() bool {
		at := s.statusOf(t).Projections[0]
		return !at.Frozen && at.Build == nil
	})
	s.append(t, taskEvent("more", "after that"))
	s.folded(t, 1201)
	s.end(t)
	plan("3", "\n  takes: about a second for 1201 events, at the ")
	all, err := rates.ReadFile(file)
	if f := all["Tasks"]; err != nil || f.Events != 1201 || f.Fold == nil || f.Fold.Count != 1200 || f.Copy != nil {
		t.Errorf("the file has %+v (%v), want the fold of 1200 of the 1201 events", f, err)
	}
}
