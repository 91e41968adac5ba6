package tutorial

import (
	"os"
	"strings"
	"testing"

	"github.com/foldql/foldql/internal/tests/markdown"
)

// TestTheTutorialWorks from its first block to its last.
func TestTheTutorialWorks(t *testing.T) {
	text, err := os.ReadFile("../../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	found, err := markdown.Blocks("docs/tutorial.md", string(text))
	if err != nil {
		t.Fatal(err)
	}
	if fences := strings.Count(string(text), "```"); fences != 2*len(found) || len(found) < 20 {
		t.Fatalf("%d blocks are found between %d fences", len(found), fences)
	}
	r := newReader(t)
	for _, b := range found {
		r.execute(b)
	}
}
