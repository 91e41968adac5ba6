package playground

import (
	"os/exec"
	"testing"
)

// TestThePageShowsWhatIsWrongWhereItIsDeveloped, and asks nothing where it is not.
func TestThePageShowsWhatIsWrongWhereItIsDeveloped(t *testing.T) {
	if out, err := exec.Command("node", "testdata/status.mjs").CombinedOutput(); err != nil {
		t.Errorf("testdata/status.mjs: %v\n%s", err, out)
	}
}

// TestLongLinesAreWrappedAndSentAsTheyAre: what the page makes of GraphiQL and its editors.
func TestLongLinesAreWrappedAndSentAsTheyAre(t *testing.T) {
	if out, err := exec.Command("node", "testdata/page.mjs").CombinedOutput(); err != nil {
		t.Errorf("testdata/page.mjs: %v\n%s", err, out)
	}
}
