package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/foldql/foldql/internal/tests/markdown"
	"github.com/foldql/foldql/server"
)

const document = "docs/clients.md"

// TestTheRecipesOfClientsWork: without them a client misses what it has written whenever folding is held up, and with
// them never.
func TestTheRecipesOfClientsWork(t *testing.T) {
	dir := install(t, "client", "Reading what was written")
	t.Run("folding is held up until a query waits", func(t *testing.T) {
		const rounds = 20
		s := openShop(t, untilAsked, server.Limits{})
		for name, got := range s.play(t, dir, rounds) {
			var listed []string
			for i := range rounds {
				listed = append(listed, fmt.Sprint(name, "-", i))
			}
			slices.Sort(listed) // as sort keys are
			want := outcome{Missed: map[string]int{"without": rounds, "with": 0, "sideBySide": 0, "afterOthers": 0,
				"refused": 0}, Kept: false, Listed: listed, Watched: []string{"nothing yet", name + "-of-another"}}
			if name == "apollo" {
				want.Polled = [][]string{{"polled-0", "polled-1", "polled-2"}, {"polled-0", "polled-1", "another"}}
			}
			if name == "graphcache" {
				want.Limits = []int{4, 1}
			}
			if name != "urql" { // whose own cache is of answers
				want.Renamed = []string{name + "-renamed", "another"}
				want.Lines = []string{"p0", "p1", "p2"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: - wanted, + what came\n%s", name, diff)
			}
		}
	})
	t.Run("folding is held up until a query has waited in vain", func(t *testing.T) {
		const rounds = 3
		s := openShop(t, untilStale, server.Limits{PositionWait: 20 * time.Millisecond})
		for name, got := range s.play(t, dir, rounds, "late") {
			want := outcome{Missed: map[string]int{"without": rounds, "with": 0}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: - wanted, + what came\n%s", name, diff)
			}
		}
		if stale := s.stale.Load(); stale != 3*rounds {
			t.Errorf("%d queries have waited in vain, want %d: each was asked again once", stale, 3*rounds)
		}
	})
	t.Run("nothing is folded", func(t *testing.T) {
		const rounds = 3
		s := openShop(t, forGood, server.Limits{PositionWait: 20 * time.Millisecond})
		s.foldOne(t) // so that answers have a position
		for name, got := range s.play(t, dir, rounds, "never") {
			want := outcome{Missed: map[string]int{"without": rounds, "with": rounds}, Strict: []string{"STALE"},
				Asks: rounds + 1}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: - wanted, + what came\n%s", name, diff)
			}
		}
	})
}

// TestCachesKeepCopiesOfOneRowApart: a team has got another name between two squads, and each has it as it was called
// then.
func TestCachesKeepCopiesOfOneRowApart(t *testing.T) {
	dir := install(t, "client", "Reading what was written")
	got := run(t, dir, "node", "copies.mjs", serveExample(t, exampleFolder("cricket")), "smith-01")
	want := `{"apollo":["Australia","Australia Men"],"graphcache":["Australia","Australia Men"]}` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the names in the caches: -want +got:\n%s", diff)
	}
}

// outcome is what came of a client.
type outcome struct {
	Missed  map[string]int // reads that missed what was written
	Kept    bool           // a position that was refused is asked for again
	Listed  []string       // what is in a list that is longer than a page
	Watched []string       // what a client shows that polls, before and after another has written
	// Renamed is the name that a list in the cache has of a row, before and after that row is asked for alone again.
	Renamed []string
	// Polled are the names in a list of several pages that is polled, before and after another has changed the last.
	Polled [][]string
	// Lines are the products in the list of several pages that is inside of a row.
	Lines []string
	// Limits are how many rows come with a limit other than before, after a write, and of a page alone.
	Limits []int
	// Strict are the codes of the error that a client is told which takes no older rows.
	Strict []string
	// Asks is how many positions a client asks for that was answered with older rows.
	Asks int
}

// play has every client do what an application does.
func (s *shop) play(t *testing.T, dir string, rounds int, more ...string) map[string]outcome {
	t.Helper()
	args := append([]string{"run.mjs", s.url, strconv.Itoa(rounds)}, more...)
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run the clients: %v\n%s%s", err, out, stderr.Bytes())
	}
	var all map[string]outcome
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatalf("the clients print %q: %v\n%s", out, err, stderr.Bytes())
	}
	if len(all) != 3 {
		t.Fatalf("%d clients have played, want 3", len(all))
	}
	return all
}

// install makes a folder with packages, as package-lock.json pins them, and the files of parts of the document.
func install(t *testing.T, packages string, parts ...string) (dir string) {
	t.Helper()
	for _, program := range []string{"node", "npm", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the code of %s needs Node.js, version 20 or later, and curl: install both (%v)", document, err)
		}
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", packages))); err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		writeFiles(t, dir, part, "")
	}
	run(t, dir, "npm", "ci", "--prefer-offline", "--loglevel=error")
	return dir
}

// address is that of the server in the document.
const address = "http://127.0.0.1:8080"

// writeFiles writes the files of a part of the document, which ask the server at the URL.
func writeFiles(t *testing.T, dir, part, url string) {
	t.Helper()
	for _, b := range blocks(t, part) {
		verb, name := b.File()
		switch {
		case b.Language == "sh":
			continue
		case verb != "Write":
			t.Fatalf("%v: nothing says which file this block is", b)
		}
		text := strings.ReplaceAll(b.Text, address, url)
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// blocks are the blocks of a part of the document.
func blocks(t *testing.T, part string) []markdown.Block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", document))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+part+"\n")
	if !found {
		t.Fatalf("%s has no part %q", document, part)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	all, err := markdown.Blocks(document, section)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// runCommands runs the commands of a part of the document in a folder, with the server at the URL.
func runCommands(t *testing.T, dir, part, url string) {
	t.Helper()
	for _, b := range blocks(t, part) {
		if b.Language == "sh" {
			run(t, dir, "sh", "-e", "-c", strings.ReplaceAll(b.Text, address, url))
		}
	}
}

// run runs a program in a folder, and returns what it prints.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}
