package tutorial

import (
	"os"
	"strings"
	"testing"
)

// TestTheTutorialWorks from its first block to its last.
func TestTheTutorialWorks(t *testing.T) {
	markdown, err := os.ReadFile("../../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	found, err := blocks(string(markdown))
	if err != nil {
		t.Fatal(err)
	}
	if fences := strings.Count(string(markdown), "```"); fences != 2*len(found) || len(found) < 20 {
		t.Fatalf("%d blocks are found between %d fences", len(found), fences)
	}
	r := newReader(t)
	for _, b := range found {
		r.execute(b)
	}
}

// TestBlocksAndTheirSentences: what is no block between ``` could not be executed, and is an error.
func TestBlocksAndTheirSentences(t *testing.T) {
	found, err := blocks("Some text. More in `a.go`. Write\n`b.go`:\n\n```go\npackage " +
		"b\n```\n\nRun:\n\n```sh\ntrue\n```\n")
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	if verb, name := found[0].file(); verb != "Write" || name != "b.go" || found[0].text != "package b\n" ||
		found[0].line != 4 {
		t.Errorf("%+v", found[0])
	}
	if verb, _ := found[1].file(); verb != "" || found[1].intro != "Run:" || found[1].language != "sh" {
		t.Errorf("%+v", found[1])
	}
	for _, text := range []string{"```sh\ntrue\n", "Text.\n\n    make run\n"} {
		if _, err := blocks(text); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}
