// Command foldql is the tool of those who develop a project: it starts one, checks its schema and generates its code.
package main

//go:generate go run . generate

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/foldql/foldql/internal/completion"
	"github.com/foldql/foldql/internal/gen"
	"github.com/foldql/foldql/internal/newproject"
)

type cli struct {
	Init       initialize         `cmd:"" help:"Create a project that builds, tests and runs at once."`
	Dev        develop            `cmd:"" help:"Serve a project while it is developed: generate, build and restart with each change."`
	Generate   generate           `cmd:"" help:"Generate the code of a project again."`
	Lint       lint               `cmd:"" help:"Check the schema of a project, and generate nothing."`
	Diff       diffCommand        `cmd:"" help:"Say what a change of the schemas does: to clients, to events of the log, and to rows at the next start."`
	Completion completion.Command `cmd:"" help:"Print what has a shell complete the command line."`
	Version    version            `cmd:"" help:"Print the version of this tool."`

	DevGenerate devGenerate `cmd:"" hidden:"" help:"Generate the code of a project for foldql dev."`
}

// generate writes the generated code.
type generate struct {
	Dir string `help:"A folder of the project." default:"." type:"existingdir"`
}

// Run runs the command.
func (c *generate) Run() error { return gen.Generate(c.Dir, os.Stderr) }

// lint checks the schema.
type lint struct {
	Dir string `help:"A folder of the project." default:"." type:"existingdir"`
}

// Run runs the command.
func (c *lint) Run() error { return gen.Lint(c.Dir, os.Stdout) }

// version prints the version.
type version struct{}

// Run runs the command.
func (version) Run() error {
	v := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
	}
	_, err := fmt.Println("foldql", v)
	return err
}

// vars are what the help of commands names.
var vars = kong.Vars{"examples": strings.Join(newproject.Examples(), ", ")}

func main() {
	parser := kong.Must(&cli{}, kong.Name("foldql"),
		kong.Description("The tool of those who develop a foldql project."), kong.UsageOnError(), kong.Exit(exit), vars)
	if completion.Answer(parser) {
		return
	}
	ctx, err := parser.Parse(os.Args[1:])
	parser.FatalIfErrorf(err)
	ctx.Bind(&console{
		in: os.Stdin, out: os.Stderr, interactive: term.IsTerminal(int(os.Stdin.Fd())),
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
	})
	if err := ctx.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitOf(err))
	}
}
