package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/foldql/foldql/internal/gen"
	"github.com/foldql/foldql/internal/newproject"
)

// initialize writes a new project.
type initialize struct {
	Dir     string `arg:"" help:"Folder of the project: a new or an empty one."`
	Module  string `help:"Import path of the project; by default the name of its folder." placeholder:"PATH"`
	Model   string `help:"Name of the first read model; on a terminal foldql asks for it, otherwise Task." placeholder:"NAME" xor:"begin"`
	Example string `help:"Project to begin with, in place of one with one model: ${examples}." placeholder:"NAME" xor:"begin"`
	Replace string `help:"Checkout of foldql to build against, instead of a released version." placeholder:"PATH" type:"existingdir"`
}

// console is where a person is asked.
type console struct {
	in          io.Reader
	out         io.Writer
	interactive bool // somebody is there
	terminal    bool // out is one
}

// Run runs the command.
func (c *initialize) Run(person *console) error {
	info, _ := debug.ReadBuildInfo()
	library := newproject.Library{Checkout: c.Replace, Version: released(info)}
	if err := c.askModel(person); err != nil {
		return err
	}
	options := newproject.Options{Module: c.Module, Model: c.Model, Example: c.Example, Library: library}
	if err := newproject.Write(c.Dir, options); err != nil {
		return err
	}
	if err := gen.Generate(c.Dir, os.Stderr); err != nil {
		return fmt.Errorf("%w; the project is written: correct this, then run foldql generate --dir %s", err, c.Dir)
	}
	return c.tellReady(os.Stdout)
}

// tellReady says what can be done with the project, and what cannot.
func (c *initialize) tellReady(out io.Writer) error {
	ready := c.Dir + " is ready: cd there, then make test, and make run, or make dev while you change it\n"
	if c.Replace != "" {
		ready += "its go.mod points at the checkout " + c.Replace + ", which docker does not see: before you build an " +
			"image, do as deploy/Dockerfile says\n"
	}
	_, err := io.WriteString(out, ready)
	return err
}

// askModel asks for the name of the first read model until it is a good one, where it is not given and somebody is
// there.
func (c *initialize) askModel(person *console) error {
	if c.Model != "" || c.Example != "" || !person.interactive {
		return nil
	}
	lines := bufio.NewScanner(person.in)
	for {
		fmt.Fprintf(person.out, "Name of the first read model [%s]: ", newproject.DefaultModel)
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				return fmt.Errorf("read the name of the first read model: %w", err)
			}
			return fmt.Errorf("no name of the first read model was given: give one with --model")
		}
		name := strings.TrimSpace(lines.Text())
		if name == "" {
			name = newproject.DefaultModel
		}
		err := newproject.CheckModel(name)
		if err == nil {
			c.Model = name
			return nil
		}
		fmt.Fprintln(person.out, err)
	}
}

// released is the version of the tool that a module proxy has, "" where it was built from a checkout. What comes from a
// proxy has a sum; what was built in a checkout is taken for its release where exactly that is checked out.
func released(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	version := info.Main.Version
	local := module.IsPseudoVersion(version) || semver.Build(version) != ""
	if !semver.IsValid(version) || local && info.Main.Sum == "" {
		return ""
	}
	return version
}
