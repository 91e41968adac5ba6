package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Settings finds the value of a flag that the command line does not give: in the environment, or else in the file.
type Settings struct {
	Env  func(string) (string, bool)
	All  []string // variables of the environment, as NAME=VALUE or NAME
	file file
	read bool
	Err  error // of the file; the parser blames the flag that it looked up first
}

const variablePrefix = "FOLDQL_"

// variable is the environment variable of a flag: FOLDQL_LISTEN of --listen.
func variable(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// WithVariable is the help of a flag with its environment variable.
func WithVariable(v *kong.Value) string {
	if v.Flag == nil || v.Name == "help" || fromLineAlone(v.Flag) {
		return v.Help
	}
	return v.Help + " ($" + variable(v.Name) + ")"
}

// fromLineAlone reports whether the flag counts on the command line alone: what is set for the server does not choose
// what else a command works on.
func fromLineAlone(flag *kong.Flag) bool { return flag.Tag != nil && flag.Tag.Has("linealone") }

// Validate implements kong.Resolver. A variable that would be ours, and is of no flag, is a mistake, unless Kubernetes
// has set it.
func (s *Settings) Validate(app *kong.Application) error {
	known := []string{variable("config")}
	for _, flag := range FlagNames(app.Node) {
		known = append(known, variable(flag))
	}
	for _, v := range s.All {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, variablePrefix) && !slices.Contains(known, name) && !s.isServiceLink(name) {
			meant, _ := Nearest(name, known)
			return fmt.Errorf("%s: there is no such variable; is %s meant?", name, meant)
		}
	}
	return nil
}

// Resolve implements kong.Resolver.
func (s *Settings) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if flag.Name == "help" || fromLineAlone(flag) {
		return nil, nil
	}
	other := otherOf(flag.Name)
	if onLine(ctx, other) {
		return nil, nil
	}
	if value, ok := s.Env(variable(flag.Name)); ok {
		return value, nil
	}
	if value, _ := s.Env(variable(other)); flag.Name == "config" || value != "" {
		return nil, nil
	}
	if s.Err = s.readFile(ctx); s.Err != nil {
		return nil, s.Err
	}
	value := s.file.value(flag)
	if _, list := value.([]any); list && !flag.IsSlice() {
		return nil, errors.New("want one value, got a list")
	}
	return value, nil
}

// otherOf is the other flag that gives the same secret: --write-token-file of --write-token, and the reverse. One of
// them where it takes precedence is in place of both where it does not.
func otherOf(flag string) string {
	if secret, ok := strings.CutSuffix(flag, "-file"); ok {
		return secret
	}
	return flag + "-file"
}

// onLine reports whether the command line gives the flag, and not as an empty text.
func onLine(ctx *kong.Context, name string) bool {
	return slices.ContainsFunc(ctx.Path, func(at *kong.Path) bool {
		return at.Flag != nil && at.Flag.Name == name && !at.Resolved && ctx.FlagValue(at.Flag) != ""
	})
}

// readFile reads the file that --config or its variable names, once.
func (s *Settings) readFile(ctx *kong.Context) error {
	if s.read {
		return nil
	}
	s.read = true
	path, _ := s.Env(variable("config"))
	for _, flag := range ctx.Model.Flags {
		if given, ok := ctx.FlagValue(flag).(string); flag.Name == "config" && ok && given != "" {
			path = given
		}
	}
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	s.file, err = parseFile(text, FlagNames(ctx.Model.Node))
	if err != nil {
		return fmt.Errorf("read the configuration %s: %w", path, err)
	}
	return nil
}

// FlagsOf returns the names of the flags that a struct of options has, in the order of its fields.
func FlagsOf(options any) []string {
	parser, err := kong.New(options)
	if err != nil {
		panic(err) // the tags of the struct are wrong
	}
	return FlagNames(parser.Model.Node)
}

// FlagNames returns the names of all flags of the program; a file may serve several commands.
func FlagNames(n *kong.Node) []string {
	var names []string
	for _, f := range n.Flags {
		if f.Name != "help" && f.Name != "config" {
			names = append(names, f.Name)
		}
	}
	for _, child := range n.Children {
		names = append(names, FlagNames(child)...)
	}
	return names
}
