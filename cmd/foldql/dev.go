package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/foldql/foldql/internal/dev"
)

// develop runs the server of a project while it is developed.
type develop struct {
	Dir    string   `help:"A folder of the project." default:"." type:"existingdir"`
	Listen string   `help:"Address to listen on, of this machine alone." default:"127.0.0.1:8080"`
	Binary string   `help:"Where to put the program once it serves, for its other commands; empty for nowhere." default:"bin/server" placeholder:"FILE"`
	Flags  []string `arg:"" optional:"" name:"flags" help:"Flags of the server, after --. They follow those of foldql.dev.flags in gqlgen.yml."`
}

// Help is what --help says besides.
func (*develop) Help() string {
	return `It generates the code, builds the server and runs it, and does again what a change of a schema, of gqlgen.yml or
of code asks for. Rows and events are kept. While something is wrong the former server goes on, and the error stands in
the terminal and in GraphiQL. Enter builds and starts the server again without a change, Ctrl-C ends it.

gqlgen.yml says how the server is run:

    foldql:
      dev:
        server: ./cmd/server   # its import path; this is the default
        flags: [--sample]`
}

// Run runs the command until a signal comes.
func (c *develop) Run(person *console) error {
	if err := c.checkFlags(); err != nil {
		return usageError{err}
	}
	ctx := untilSignal()
	var again io.Reader
	if person.interactive {
		again = person.in
	}
	return dev.Run(ctx, dev.Config{
		Dir: c.Dir, Listen: c.Listen, Flags: c.Flags, Binary: c.Binary, Out: person.out, Terminal: person.terminal,
		Again: again,
	})
}

// untilSignal returns a context that the first signal ends. The third ends the process at once: the second may be the
// first again, because go tool, and make dev through it, hands on what the terminal has sent to all of them.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 3)
	notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		cancel()
		<-signals
		<-signals
		os.Exit(1)
	}()
	return ctx
}

// notify has a channel get signals, but for those that whoever started this process has it ignore, as nohup does.
func notify(to chan<- os.Signal, wanted ...os.Signal) {
	for _, s := range wanted {
		if !signal.Ignored(s) {
			signal.Notify(to, s)
		}
	}
}

// checkFlags refuses flags of the server that would have no effect.
func (c *develop) checkFlags() error {
	for i, flag := range c.Flags {
		name, _, _ := strings.Cut(flag, "=")
		switch {
		case name == "--listen":
			return fmt.Errorf("--listen stands after --: give it before, because the server listens behind foldql dev")
		case i == 0 && !strings.HasPrefix(flag, "-"):
			return fmt.Errorf("%s is no flag of the server: give the folder of a project with --dir", flag)
		}
	}
	return nil
}

// devGenerate is what foldql dev has this program do in another process (dev.GenerateCommand).
type devGenerate struct {
	Root string `arg:"" help:"The folder of the project."`
}

// Run runs the command. Ctrl-C is for foldql dev, which gives it time to come to its end: half of the files would be
// left.
func (c *devGenerate) Run() error {
	signal.Ignore(os.Interrupt)
	return dev.Generate(c.Root, os.Stdin, os.Stdout)
}
