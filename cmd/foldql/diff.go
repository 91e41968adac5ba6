package main

import (
	"errors"
	"os"

	"github.com/alecthomas/kong"

	"github.com/foldql/foldql/internal/gen"
	"github.com/foldql/foldql/projection/rates"
)

// diffCommand compares schemas.
type diffCommand struct {
	Old    string `arg:"" help:"What the schemas were: a folder with gqlgen.yml, a file with events.graphqls beside it, or a revision of git."`
	New    string `arg:"" default:"." help:"What they are; the project in the working directory by default."`
	Rates  string `help:"Also say how long rebuilds take, by what 'server tables plan --rates FILE' of a store has written to this file." type:"path" placeholder:"FILE"`
	Format string `help:"How to print it: text, or json for programs." enum:"text,json" default:"text"`
}

// errBreaks is the error of a change that goes wrong for somebody.
var errBreaks = errors.New("the change breaks clients, or does not fit events that a log may have")

// usageError is of a command that cannot do its work.
type usageError struct{ error }

// Unwrap returns what is wrong.
func (e usageError) Unwrap() error { return e.error }

// exitOf is the status of the process: 2 where the command line is wrong or diff could not compare, else 1.
func exitOf(err error) int {
	var usage usageError
	var line *kong.ParseError
	if errors.As(err, &usage) || errors.As(err, &line) {
		return 2
	}
	return 1
}

// exit ends the process as kong asks for it: after help, or where the command line is wrong.
func exit(code int) {
	if code != 0 {
		code = 2
	}
	os.Exit(code)
}

// Run prints what the change does.
func (c *diffCommand) Run() error {
	r, err := gen.Diff(c.Old, c.New)
	if err != nil {
		return usageError{err}
	}
	if c.Rates != "" {
		measured, err := rates.ReadFile(c.Rates)
		if err != nil {
			return usageError{err}
		}
		r.Forecast(measured)
	}
	write := r.WriteText
	if c.Format == "json" {
		write = r.WriteJSON
	}
	if err := write(os.Stdout); err != nil {
		return usageError{err}
	}
	if r.Breaks() {
		return errBreaks
	}
	return nil
}
