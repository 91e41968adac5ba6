package drivertest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// CasesEnv names the environment variable that says into which directory Run writes what became of each case: one file
// for each store, for those who want to see what was proved.
const CasesEnv = "DRIVERTEST_CASES"

// report is what became of the cases of one store.
type report struct {
	mu    sync.Mutex
	lines []string
	known map[string]string // what was left out
}

// add notes a case.
func (r *report) add(t *testing.T, promise string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	mark := "ok  "
	switch {
	case t.Failed():
		mark = "FAIL"
	case t.Skipped():
		mark = "skip"
	}
	r.lines = append(r.lines, "  "+mark+" "+promise)
}

// leftOut notes a check that was not made.
func (r *report) leftOut(check, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string]string{}
	}
	r.known[check] = reason
}

// write writes the report where the environment asks for it.
func (r *report) write(t *testing.T) {
	dir := os.Getenv(CasesEnv)
	if dir == "" {
		return
	}
	pkg, err := os.Getwd() // tests run in the directory of their package
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(pkg) + " " + t.Name()
	text := fmt.Sprintf("%s: %d cases\n%s\n", name, len(r.lines), strings.Join(r.lines, "\n"))
	for _, check := range slices.Sorted(maps.Keys(r.known)) {
		text += fmt.Sprintf("  not checked: %s: %s\n", check, r.known[check])
	}
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", " ")+".txt"), []byte(text),
		0o644); err != nil {
		t.Fatalf("drivertest: write the list of cases: %v", err)
	}
}
