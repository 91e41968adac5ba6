package markdown

import "testing"

// TestBlocksAndTheirSentences: what is no block between ``` could not be executed, and is an error.
func TestBlocksAndTheirSentences(t *testing.T) {
	found, err := Blocks("doc.md", "Some text. More in `a.go`. Write\n`b.go`:\n\n```go\npackage "+
		"b\n```\n\nRun:\n\n```sh\ntrue\n```\n")
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	if verb, name := found[0].File(); verb != "Write" || name != "b.go" || found[0].Text != "package b\n" ||
		found[0].Line != 4 {
		t.Errorf("%+v", found[0])
	}
	if verb, _ := found[1].File(); verb != "" || found[1].Intro != "Run:" || found[1].Language != "sh" {
		t.Errorf("%+v", found[1])
	}
	for _, text := range []string{"```sh\ntrue\n", "Text.\n\n    make run\n"} {
		if _, err := Blocks("doc.md", text); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}
