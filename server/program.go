package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/alecthomas/kong"

	"github.com/foldql/foldql/internal/completion"
	"github.com/foldql/foldql/projection"
	"github.com/foldql/foldql/server/internal/advice"
	"github.com/foldql/foldql/server/internal/commands"
	"github.com/foldql/foldql/server/internal/commands/events"
	"github.com/foldql/foldql/server/internal/config"
	"github.com/foldql/foldql/server/internal/progress"
)

// program is one run of the program, with everything that it has of the process.
type program struct {
	commands.Program
	app  App
	args []string
	vars []string // names of all variables of the environment, or NAME=VALUE
	// listening is called with the address of the server, if it is set.
	listening func(address string)
}

// newProgram returns the program of the app in an environment.
func newProgram(app App, in commands.Program) *program {
	app.Projections = projection.Group(app.Projections)
	in.Models, in.Events, in.Projections = app.Models, app.Events, app.Projections
	in.Owned = app.owned()
	return &program{Program: in, app: app}
}

// commandLine is every command with its flags.
type commandLine struct {
	Config    string `help:"YAML file with any of the options, named as the flags are." placeholder:"FILE"`
	LogFormat string `help:"Format of the log: ${enum}; auto is text on a terminal, else JSON." enum:"auto,json,text" default:"auto"`
	LogLevel  string `help:"Least level that is logged: ${enum}." enum:"debug,info,warn,error" default:"info"`

	Serve       serveCommand         `cmd:"" help:"Serve the API, and fold events as they come."`
	Append      commands.Append      `cmd:"" help:"Append the events of a file to the log of a running server. It may be repeated."`
	Replay      commands.Replay      `cmd:"" help:"Fold all present events into a store, and exit."`
	Events      events.Events        `cmd:"" help:"Show, search, export or import the events of a log, of a running server or in a store."`
	DeadLetters commands.DeadLetters `cmd:"" name:"deadletters" help:"List, retry or skip dead letters (events that projections could not fold), of a running server or in a store."`
	Log         commands.Log         `cmd:"" help:"Compare the log with the rows that were folded from it, and accept it as it is."`
	Rebuild     commands.Rebuild     `cmd:"" help:"Rebuild models from the whole log."`
	Backup      commands.Backup      `cmd:"" help:"Copy the rows and the log of a running server, or of an embedded store, to a directory."`
	Restore     commands.Restore     `cmd:"" help:"Put a backup into a data directory, and verify it."`
	Tables      commands.Tables      `cmd:"" help:"Plan and create the tables of a store in DynamoDB, or remove those of an embedded store that no model uses any more."`
	Schema      schemaCommand        `cmd:"" help:"Print the schema of the API."`
	Explain     explainCommand       `cmd:"" help:"Say which tables and indexes a query reads, and how much at most."`
	Completion  completion.Command   `cmd:"" help:"Print what has a shell complete the command line."`
	Version     versionCommand       `cmd:"" help:"Print the version of the program."`
}

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2 // the command line or the configuration is wrong
)

// run carries out one command and returns the exit code.
func (p *program) run(ctx context.Context) int {
	var c commandLine
	command, code := p.parse(&c)
	if command == nil {
		return code
	}
	p.Log = newLogger(p.Stderr, c.LogFormat, c.LogLevel)
	p.Given = givenFlags(command)
	command.BindTo(ctx, (*context.Context)(nil))
	return p.report(command.Run(p, &p.Program))
}

// parse reads the command line, the environment and the file. Where there is no command to carry out, it returns the
// exit code instead.
func (p *program) parse(c *commandLine) (command *kong.Context, code int) {
	exited, from := -1, &config.Settings{Env: p.Env, All: p.vars}
	parser, err := kong.New(c,
		kong.Name("server"),
		kong.Description("Serves a GraphQL API over read models that are folded from events."),
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.Resolvers(from),
		kong.ValueFormatter(config.WithVariable),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // the commands themselves are wrong; every test of this package would meet it
	}
	if completion.Answer(parser) {
		return nil, exitDone
	}
	command, err = parser.Parse(p.args)
	if exited >= 0 { // --help was asked for and given
		return nil, exited
	}
	if from.Err != nil {
		err = from.Err
	}
	if err != nil {
		fmt.Fprintf(p.Stderr, "error: %v\nRun \"server --help\" for what there is.\n", err)
		return nil, exitUsage
	}
	return command, exitDone
}

// defaults are the commands with the defaults of their flags.
func defaults() (*commandLine, error) {
	c := &commandLine{}
	parser, err := kong.New(c, kong.Name("server"))
	if err == nil {
		_, err = parser.Parse([]string{"serve"})
	}
	return c, err
}

// givenFlags are the names of the flags that stand on the command line itself.
func givenFlags(command *kong.Context) (names []string) {
	for _, element := range command.Path {
		if element.Flag != nil && !element.Resolved {
			names = append(names, element.Flag.Name)
		}
	}
	return names
}

// report prints why the command failed, and returns its exit code.
func (p *program) report(err error) int {
	var config config.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &config):
		fmt.Fprintf(p.Stderr, "error: %v\n", err)
		return exitUsage
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(p.Stderr, "error: interrupted")
		return exitFailed
	}
	fmt.Fprintf(p.Stderr, "error: %v\n", advice.Add(err))
	return exitFailed
}

func newLogger(w io.Writer, format, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		panic(err) // the command line takes the names of levels only
	}
	options := &slog.HandlerOptions{Level: l}
	if format == "text" || format == "auto" && progress.Terminal(w) != nil {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
