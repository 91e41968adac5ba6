package conventions

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCapabilitiesAreShownByTestsThatThereAre: docs/capabilities.md names tests by package and function.
func TestCapabilitiesAreShownByTestsThatThereAre(t *testing.T) {
	declared, function := map[string]bool{}, regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for name, text := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") {
			for _, m := range function.FindAllSubmatch(text, -1) {
				declared[path.Dir(name)+"."+string(m[1])] = true
			}
		}
	}
	page := read(t, filepath.Join(root, "docs/capabilities.md"))
	named := regexp.MustCompile("`([^` ]*\\b(?:Test|Fuzz)\\w+)`").FindAllSubmatch(page, -1)
	if len(named) == 0 {
		t.Error("docs/capabilities.md names no tests")
	}
	for _, m := range named {
		if !declared[string(m[1])] {
			t.Errorf("docs/capabilities.md names %s, which there is not", m[1])
		}
	}
}

// TestEveryCapabilityIsShown by a test or a command, in the last cell of its row of docs/capabilities.md.
func TestEveryCapabilityIsShown(t *testing.T) {
	shown := regexp.MustCompile("`((foldql|server|curl) [^`]+|[^` ]*\\b(Test|Fuzz)\\w+)`")
	for line := range bytes.Lines(read(t, filepath.Join(root, "docs/capabilities.md"))) {
		cells := bytes.Split(bytes.Trim(line, "| \n"), []byte(" | "))
		if !bytes.HasPrefix(line, []byte("| ")) || string(cells[len(cells)-1]) == "shown by" {
			continue
		}
		if !shown.Match(cells[len(cells)-1]) {
			t.Errorf("docs/capabilities.md says nothing that shows %q: name a test or a command", cells[0])
		}
	}
}

// TestLinksOfTheDocumentsLeadSomewhere: to files that there are and, in documents, to headings.
func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	documents := filesOf(t, root, func(path string) bool { return filepath.Ext(path) == ".md" })
	block, link := regexp.MustCompile("(?ms)^```.*?^```"), regexp.MustCompile(`\]\(([^)#\s]*)#?([^)\s]*)\)`)
	anchors := map[string]bool{}
	for name, text := range documents {
		documents[name] = block.ReplaceAll(text, nil)
		for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllSubmatch(documents[name], -1) {
			anchors[name+"#"+anchor(string(m[1]))] = true
		}
	}
	for name, text := range documents {
		for _, m := range link.FindAllSubmatch(text, -1) {
			to := path.Join(path.Dir(name), string(m[1]))
			if len(m[1]) == 0 {
				to = name
			} else if strings.Contains(string(m[1]), "://") {
				continue
			}
			_, err := os.Stat(filepath.Join(root, to))
			if err != nil || len(m[2]) > 0 && path.Ext(to) == ".md" && !anchors[to+"#"+string(m[2])] {
				t.Errorf("%s has a link that leads nowhere: %s", name, m[0])
			}
		}
	}
}

// anchor is what a link to a heading has behind #.
func anchor(heading string) string {
	kept := regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}
