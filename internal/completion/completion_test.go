package completion_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/foldql/foldql/internal/completion"
)

type program struct {
	Format     string             `enum:"json,text" default:"text" help:"Format."`
	Serve      struct{}           `cmd:"" help:"Serve."`
	Search     struct{}           `cmd:"" help:"Search."`
	Completion completion.Command `cmd:"" help:"Completion."`
}

// newParser is that of the program, which prints to out.
func newParser(t *testing.T, out *bytes.Buffer) *kong.Kong {
	t.Helper()
	parser, err := kong.New(&program{}, kong.Name("program"), kong.Writers(out, out))
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// sorted are the candidates in order, as a shell shows them.
func sorted(out []byte) string {
	words := strings.Fields(string(out))
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestALineIsCompletedByWhatTheProgramHas(t *testing.T) {
	for line, want := range map[string]string{
		"program s":             "search serve",
		"program serve --for":   "--format",
		"program --format ":     "json text",
		"program completion zs": "zsh",
		"program x":             "",
	} {
		t.Setenv("COMP_LINE", line)
		var out bytes.Buffer
		if !completion.Answer(newParser(t, &out)) {
			t.Errorf("%q: nothing is answered", line)
		}
		if got := sorted(out.Bytes()); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestNobodyIsAnsweredWhoDoesNotAsk(t *testing.T) {
	t.Setenv("COMP_LINE", "")
	var out bytes.Buffer
	if completion.Answer(newParser(t, &out)) || out.Len() > 0 {
		t.Errorf("it prints %q", &out)
	}
}

// TestMain is the program itself where a shell runs it.
func TestMain(m *testing.M) {
	if os.Getenv("COMP_LINE") != "" && os.Getenv("AS_PROGRAM") != "" {
		completion.Answer(kong.Must(&program{}, kong.Name("program")))
		return
	}
	os.Exit(m.Run())
}

// TestBashCompletesWithTheScript: bash itself reads the script, and asks the program for what can follow.
func TestBashCompletesWithTheScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	var script bytes.Buffer
	command, err := newParser(t, &script).Parse([]string{"completion", "bash"})
	if err == nil {
		err = command.Run()
	}
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// what bash does for "complete -C": the program is run with the line, and prints a candidate a line
	c := exec.Command(bash, "-c", script.String()+`
spec=$(complete -p `+filepath.Base(self)+`) || exit 1
program=${spec#*-C }; program=${program% *}; program=${program#\'}; program=${program%\'}
COMP_LINE="program s" COMP_POINT=9 "$program" program s program`)
	c.Env = append(os.Environ(), "AS_PROGRAM=1")
	out, err := c.CombinedOutput()
	if got := sorted(out); err != nil || got != "search serve" {
		t.Errorf("bash: %q, %v", out, err)
	}
}

// TestEveryShellIsToldTheNameOfTheBinary, which need not be that of the program.
func TestEveryShellIsToldTheNameOfTheBinary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		var out bytes.Buffer
		command, err := newParser(t, &out).Parse([]string{"completion", shell})
		if err == nil {
			err = command.Run()
		}
		if err != nil || !strings.Contains(out.String(), self) || !strings.Contains(out.String(), filepath.Base(self)) {
			t.Errorf("%s: %v, %s", shell, err, &out)
		}
	}
	if _, err := newParser(t, &bytes.Buffer{}).Parse([]string{"completion", "csh"}); err == nil {
		t.Error("a shell that is not known is accepted")
	}
}
