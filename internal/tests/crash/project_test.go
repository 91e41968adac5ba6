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
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/foldql/foldql/internal/shop/model"
	"github.com/foldql/foldql/internal/shop/projection/projectors"
	ledgermodel "github.com/foldql/foldql/internal/tests/crash/ledger/model"
	"github.com/foldql/foldql/internal/tests/crash/ledger/projection/ledger"
	"github.com/foldql/foldql/internal/tests/crash/plain"
	"github.com/foldql/foldql/internal/tests/crash/verifier"
)

// subject is a project whose server is put to the test.
type subject struct {
	name string
	dir  string
	// events are the lines of a log that differs from seed to seed.
	events func(rng *rand.Rand) ([]string, error)
	// verify compares a store with a file of events.
	verify verification
	// asks are what its servers are asked about the events of the lines while they are disturbed.
	asks func(rng *rand.Rand, lines []string) ask
	bin  string // the server
	// partitions are how many its log has: a directory of files where more than 1.
	partitions int
	// windows are those that it is folded in, nil for all.
	windows []int
	// pair says that two servers fold the whole log side by side, and none is struck.
	pair bool
	// cascades says that its log is of large ones: it is not cut for small windows, and servers are struck amid them.
	cascades bool
	// stream says that its log is a stream of NATS, and that the next release is deployed while it is folded.
	stream bool
}

// verification compares a store with a file of events, and answers with prefixes of them.
type verification func(ctx context.Context, store, events string, answers []verifier.Answer) (*verifier.Verdict, error)

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
	partedAt   = 3
	crowdAt    = 4
	streamAt   = 5
)

// built are the subjects with their servers, which are built once for all tests.
var built = sync.OnceValues(func() ([]*subject, error) {
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		return nil, err
	}
	buildDir = dir
	all := []*subject{
		{name: "ledger", dir: "ledger", events: ledgerEvents, asks: ledgerAsks, verify: here(verifier.Project{
			Models: ledgermodel.All, Projections: ledger.Projections(), Plain: &plain.Ledger,
		})},
		{name: "shop", dir: "../../..", events: shopLines, asks: shopAsks, verify: here(verifier.Project{
			Models: model.All, Projections: projectors.Projections(),
		})},
		{name: "registry", dir: registry, events: registryLines, asks: registryAsks},
		{name: "parted ledger", dir: "ledger", events: partedEvents, partitions: 4},
		{name: "crowd", dir: "ledger", events: crowdEvents, asks: crowdAsks, windows: []int{40, 200, 4096}, cascades: true},
		{name: "stream", dir: "ledger", events: ledgerEvents, asks: ledgerAsks, stream: true},
	}
	for _, other := range []int{partedAt, crowdAt, streamAt} {
		all[other].verify = all[ledgerAt].verify
	}
	for i, s := range all {
		if same := slices.IndexFunc(all, func(o *subject) bool { return o.dir == s.dir }); same < i {
			s.bin = all[same].bin
			continue
		}
		s.bin = filepath.Join(dir, s.name)
		if err := compile(s.dir, s.bin, "./cmd/server"); err != nil {
			return nil, err
		}
	}
	all[registryAt].verify, err = elsewhere(dir, registry, "example.com/registry", "registry")
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

// compile builds a command of a project, with the race detector where the tests have it, and then with the flags of
// .ci/tests: so the dependencies are compiled already.
func compile(dir, bin, command string, flags ...string) error {
	args := append([]string{"build", "-o", bin}, flags...)
	if raceDetector {
		args = append(args, "-race", "-trimpath=false", "-tags=pebblegozstd", "-gcflags=all=-dwarf=false")
	}
	cmd := exec.Command("go", append(args, command)...)
	if raceDetector {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s of %s: %w\n%s", command, dir, err, out)
	}
	return nil
}

// here verifies in this process.
func here(p verifier.Project) verification {
	return func(ctx context.Context, store, events string, answers []verifier.Answer) (*verifier.Verdict, error) {
		opened, err := verifier.Open(ctx, store)
		if err != nil {
			return nil, err
		}
		return p.Verify(ctx, events, opened, answers)
	}
}

// elsewhere verifies in a process of a project that is a module of its own: package verifier is compiled as if it stood
// there.
func elsewhere(tmp, dir, module, projectors string) (verification, error) {
	command := filepath.Join(tmp, "verifier.go")
	main := fmt.Sprintf("package main\n\nimport (\n\t%q\n\t%q\n\t%q\n)\n\nfunc main() {\n"+
		"\tverifier.Project{Models: model.All, Projections: %s.Projections()}.Main()\n}\n",
		module+"/internal/verifier", module+"/model", module+"/projection/"+projectors, projectors)
	if err := os.WriteFile(command, []byte(main), 0o600); err != nil {
		return nil, err
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	replace := map[string]string{filepath.Join(root, "cmd", "verifier", "main.go"): command}
	files, err := filepath.Glob("verifier/*.go")
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
	bin := filepath.Join(tmp, "verifier")
	if err := compile(dir, bin, "./cmd/verifier", "-overlay", overlay); err != nil {
		return nil, err
	}
	return func(ctx context.Context, store, events string, answers []verifier.Answer) (*verifier.Verdict, error) {
		text, err := json.Marshal(answers)
		if err != nil {
			return nil, err
		}
		var out, problem bytes.Buffer
		cmd := exec.CommandContext(ctx, bin, store, events)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &problem
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("verify %s: %w\n%s", store, err, &problem)
		}
		var v verifier.Verdict
		return &v, json.Unmarshal(out.Bytes(), &v)
	}, nil
}
