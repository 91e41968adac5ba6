package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/foldql/foldql/internal/crash/judge"
	ledgermodel "github.com/foldql/foldql/internal/crash/ledger/model"
	"github.com/foldql/foldql/internal/crash/ledger/projection/ledger"
	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
)

// subject is a project whose server is put to the test.
type subject struct {
	name string
	dir  string
	// events are the lines of a log that differs from seed to seed.
	events func(rng *rand.Rand) ([]string, error)
	// judge compares a store with a file of events.
	judge func(ctx context.Context, place, events string, answers []judge.Answer) (*judge.Verdict, error)
	// asks are what its servers are asked about the events of the lines while they are disturbed.
	asks func(rng *rand.Rand, lines []string) ask
	bin  string // the server
}

// TestMain removes the servers that were built.
func TestMain(m *testing.M) {
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir) // what cannot be removed stands among the temporary files
	}
	os.Exit(code)
}

// buildDir is where the servers are, "" before they are built.
var buildDir string

// Places among the subjects.
const (
	ledgerAt   = 0
	registryAt = 2
)

// built are the subjects with their servers, which are built once for all tests.
var built = sync.OnceValues(func() ([]*subject, error) {
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		return nil, err
	}
	buildDir = dir
	all := []*subject{
		{name: "ledger", dir: "ledger", events: ledgerEvents, asks: ledgerAsks, judge: here(judge.Project{
			Models: ledgermodel.All, Projections: ledger.Projections(),
		})},
		{name: "shop", dir: "../..", events: shopLines, asks: shopAsks, judge: here(judge.Project{
			Models: model.All, Projections: projectors.Projections(),
		})},
		{name: "registry", dir: registry, events: registryLines, asks: registryAsks},
	}
	for _, s := range all {
		s.bin = filepath.Join(dir, s.name)
		if err := compile(s.dir, s.bin, "./cmd/server"); err != nil {
			return nil, err
		}
	}
	all[registryAt].judge, err = elsewhere(dir, registry, "example.com/registry", "registry")
	return all, err
})

// subjects returns what is put to the test.
func subjects(t *testing.T) []*subject {
	t.Helper()
	all, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// compile builds a command of a project, with the race detector where the tests have it.
func compile(dir, bin, command string, flags ...string) error {
	args := append([]string{"build", "-o", bin}, flags...)
	if raceDetector {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, command)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s of %s: %w\n%s", command, dir, err, out)
	}
	return nil
}

// here judges in this process.
func here(p judge.Project) func(context.Context, string, string, []judge.Answer) (*judge.Verdict, error) {
	return func(ctx context.Context, place, events string, answers []judge.Answer) (*judge.Verdict, error) {
		store, err := judge.Open(ctx, place)
		if err != nil {
			return nil, err
		}
		return p.Judge(ctx, events, store, answers)
	}
}

// elsewhere judges in a process of a project that is a module of its own: package judge is compiled as if it stood there.
func elsewhere(tmp, dir, module, projectors string) (func(context.Context, string, string, []judge.Answer) (*judge.Verdict, error), error) {
	command := filepath.Join(tmp, "judge.go")
	main := fmt.Sprintf("package main\n\nimport (\n\t%q\n\t%q\n\t%q\n)\n\nfunc main() {\n"+
		"\tjudge.Project{Models: model.All, Projections: %s.Projections()}.Main()\n}\n",
		module+"/internal/judge", module+"/model", module+"/projection/"+projectors, projectors)
	if err := os.WriteFile(command, []byte(main), 0o600); err != nil {
		return nil, err
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	replace := map[string]string{filepath.Join(root, "cmd", "judge", "main.go"): command}
	files, err := filepath.Glob("judge/*.go")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		if replace[filepath.Join(root, "internal", file)], err = filepath.Abs(file); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return nil, err
	}
	bin := filepath.Join(tmp, "judge")
	if err := compile(dir, bin, "./cmd/judge", "-overlay", overlay); err != nil {
		return nil, err
	}
	return func(ctx context.Context, place, events string, answers []judge.Answer) (*judge.Verdict, error) {
		text, err := json.Marshal(answers)
		if err != nil {
			return nil, err
		}
		var out, problem bytes.Buffer
		cmd := exec.CommandContext(ctx, bin, place, events)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &problem
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("judge %s: %w\n%s", place, err, &problem)
		}
		var v judge.Verdict
		return &v, json.Unmarshal(out.Bytes(), &v)
	}, nil
}
