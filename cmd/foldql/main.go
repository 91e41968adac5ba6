// Command foldql is the tool of those who develop a project: it starts one, checks its schema and generates its code.
package main

//go:generate go run . generate

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/alecthomas/kong"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/foldql/foldql/internal/gen"
	"github.com/foldql/foldql/internal/newproject"
)

type cli struct {
	Init     initialize `cmd:"" help:"Write a new project that builds, tests and runs at once."`
	Generate generate   `cmd:"" help:"Write the generated code of a project anew."`
	Lint     lint       `cmd:"" help:"Check the schema of a project, and generate nothing."`
	Version  version    `cmd:"" help:"Print the version of this tool."`
}

// initialize writes a new project.
type initialize struct {
	Dir     string `arg:"" help:"Folder of the project; it is made, or empty."`
	Module  string `help:"Import path of the project; by default the name of its folder." placeholder:"PATH"`
	Replace string `help:"A checkout of foldql to build against, in place of a released version." placeholder:"PATH" type:"existingdir"`
}

// Run runs the command.
func (c *initialize) Run() error {
	library := newproject.Library{Checkout: c.Replace, Version: released()}
	if err := newproject.Write(c.Dir, newproject.Options{Module: c.Module, Library: library}); err != nil {
		return err
	}
	if err := gen.Generate(c.Dir, os.Stderr); err != nil {
		return err
	}
	_, err := fmt.Printf("%s is ready: cd there, then make test, and make run\n", c.Dir)
	return err
}

// released is the version of this tool, "" where it is not a released one.
func released() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || !semver.IsValid(info.Main.Version) || module.IsPseudoVersion(info.Main.Version) || semver.Build(info.Main.Version) != "" {
		return ""
	}
	return info.Main.Version
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

func main() {
	ctx := kong.Parse(&cli{}, kong.Name("foldql"), kong.Description("The tool of those who develop a foldql project."),
		kong.UsageOnError())
	if err := ctx.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
