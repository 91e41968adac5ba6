// Package completion completes the command line of a program in the user's shell. The program's parser says what there
// is to complete: commands, flags, and the values of those that have a few.
//
// A shell runs the program with the line so far in its environment, as bash does for "complete -C". A program asks
// Answer for an answer before it parses its arguments, and has Command among its commands, which prints what a shell
// needs to know:
//
//	source <(server completion bash)
package completion

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/willabides/kongplete"
)

// Command prints a script that has a shell complete the command line of the program.
type Command struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

// Help is what --help says besides.
func (*Command) Help() string {
	return `Have your shell read what it prints:

    source <(PROGRAM completion bash)          # in ~/.bashrc
    source <(PROGRAM completion zsh)           # in ~/.zshrc, after compinit
    PROGRAM completion fish | source           # in ~/.config/fish/config.fish`
}

// scripts are by shell; PROGRAM is the path of the program, NAME what the user types.
var scripts = map[string]string{
	"bash": "complete -o default -C PROGRAM NAME\n",
	"zsh":  "autoload -U +X bashcompinit && bashcompinit\ncomplete -o default -C PROGRAM NAME\n",
	"fish": `function __complete_NAME
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    PROGRAM
end
complete -c NAME -a "(__complete_NAME)"
`,
}

// Run runs the command.
func (c *Command) Run(ctx *kong.Context) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the path of the program: %w", err)
	}
	word := quote(program)
	if c.Shell != "fish" {
		word = quote(word) // "complete -C" takes a command line, and not the name of a command
	}
	script := strings.NewReplacer("PROGRAM", word, "NAME", quote(filepath.Base(program))).Replace(scripts[c.Shell])
	_, err = fmt.Fprint(ctx.Stdout, script)
	return err
}

// quote is a path as one word of each of the shells.
func quote(path string) string {
	if strings.ContainsAny(path, " \t'\"\\$&;()<>|*?[]#~`!") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// Answer prints how the command line can go on and returns true, where a shell has asked for that.
func Answer(parser *kong.Kong) (answered bool) {
	kongplete.Complete(parser, kongplete.WithExitFunc(func(int) { answered = true }))
	return answered
}
