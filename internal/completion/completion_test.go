package completion_test

import (
	"bytes"
	"errors"
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
	if os.Getenv("AS_PROGRAM") != "" {
		os.Exit(1) // a shell has run it and asks for nothing; it must not run the tests
	}
	if os.Getenv("AS_COMPLETION") != "" {
		parser := kong.Must(&program{}, kong.Name("program"))
		command, err := parser.Parse([]string{"completion", os.Getenv("AS_COMPLETION")})
		parser.FatalIfErrorf(err)
		parser.FatalIfErrorf(command.Run())
		return
	}
	os.Exit(m.Run())
}

// TestBashCompletesWithTheScript: bash itself reads the script, and asks the program for what can follow; also where
// the path of the program is no word of a shell.
func TestBashCompletesWithTheScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"plain", "of two words", "it's $one"} {
		path := filepath.Join(t.TempDir(), folder, "program")
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o700)); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(path)
		c.Env = append(os.Environ(), "AS_COMPLETION=bash")
		script, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		// what bash does for "complete -C": it evaluates the text, and the command prints a candidate a line
		c = exec.Command(bash, "-c", string(script)+`
eval "set -- $(complete -p program)"
export COMP_LINE="program s" COMP_POINT=9
eval "$5 program s program"`)
		c.Env = append(os.Environ(), "AS_PROGRAM=1")
		out, err := c.Output()
		if got := sorted(out); err != nil || got != "search serve" {
			t.Errorf("bash, in a folder %s: %q, %v", folder, out, err)
		}
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
