// Package sources knows what the server program of a project is compiled from: the files of its own module, and those
// of modules that stand beside it on this machine. What they hold decides whether the program is built again, and not
// when they were written: a file that is saved as it was changes nothing.
package sources

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Program is where the files of a program stand. Modules of the module cache never change, and are not part of it.
type Program struct {
	// Roots are the folders of its modules.
	Roots []string
	// Embedded are what packages embed.
	Embedded []Embed
	// Beside are single files that count beside those of the modules.
	Beside []string
}

// Embed is what matches a pattern, and what stands below that, in the folder of a package.
type Embed struct{ Dir, Pattern string }

// listed is a package as go list prints it.
type listed struct {
	Dir           string
	EmbedPatterns []string
	Module        *struct {
		Dir     string
		Main    bool
		Replace *struct{ Version string }
	}
}

// local reports whether the package can change: it is of the project, or of a folder that go.mod puts in place of a
// module.
func (l *listed) local() bool {
	return l.Module != nil && l.Module.Dir != "" &&
		(l.Module.Main || l.Module.Replace != nil && l.Module.Replace.Version == "")
}

// List asks the go command what the program of an import path is compiled from, as seen from a folder. Packages that
// cannot be compiled are listed too.
func List(ctx context.Context, dir, program string) (Program, error) {
	out, err := goCommand(ctx, dir, "list", "-deps", "-e", "-json=Dir,Module,EmbedPatterns", program)
	if err != nil {
		return Program{}, fmt.Errorf("list what %s is compiled from: %w", program, err)
	}
	p, err := parse(out)
	if err == nil {
		err = p.resolve()
	}
	if err != nil {
		return Program{}, err
	}
	workspace, err := goCommand(ctx, dir, "env", "GOWORK")
	if err != nil {
		return Program{}, fmt.Errorf("ask for the workspace of %s: %w", dir, err)
	}
	if file := strings.TrimSpace(string(workspace)); file != "" && file != "off" {
		p.Beside = []string{file, file + ".sum"}
	}
	return p, nil
}

// Module is the program that is known before the go command has listed it: the module around a folder.
func Module(dir string) Program {
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return Program{Roots: []string{root}}
		}
		if root == filepath.Dir(root) {
			return Program{Roots: []string{dir}}
		}
	}
}

// goFiles is the pattern by which packages of projectors embed what they are compiled from: see the generated
// sources_gen.go. These files count as Go files anyway, and the tests among them do not.
const goFiles = "*.go"

// parse reads what go list prints.
func parse(out []byte) (p Program, err error) {
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := decoder.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return p, fmt.Errorf("read what go list prints: %w", err)
		}
		if !l.local() {
			continue
		}
		p.Roots = append(p.Roots, l.Module.Dir)
		for _, pattern := range l.EmbedPatterns {
			if pattern == goFiles {
				continue
			}
			p.Embedded = append(p.Embedded, Embed{l.Dir, strings.TrimPrefix(pattern, "all:")})
		}
	}
	return p, nil
}

// resolve has the folders be those that they are links to, where they are links: a walk does not follow any.
func (p *Program) resolve() (err error) {
	for i := range p.Roots {
		if p.Roots[i], err = filepath.EvalSymlinks(p.Roots[i]); err != nil {
			return fmt.Errorf("find a module: %w", err)
		}
	}
	for i := range p.Embedded {
		if p.Embedded[i].Dir, err = filepath.EvalSymlinks(p.Embedded[i].Dir); err != nil {
			return fmt.Errorf("find a package: %w", err)
		}
	}
	p.Roots = sorted(p.Roots)
	slices.SortFunc(p.Embedded, func(a, b Embed) int {
		return cmp.Or(cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Pattern, b.Pattern))
	})
	p.Embedded = slices.Compact(p.Embedded)
	return nil
}

// base is the folder below which all stands that the pattern matches.
func (e Embed) base() string {
	fixed := e.Pattern
	if at := strings.IndexAny(fixed, `*?[\`); at >= 0 {
		fixed = fixed[:at]
	}
	return filepath.Join(e.Dir, filepath.FromSlash(fixed[:strings.LastIndex(fixed, "/")+1]))
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// goCommand runs the go command in a folder, and returns what it prints. Its error says what it complains of.
func goCommand(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// Equal reports whether two programs stand in the same places.
func (p Program) Equal(other Program) bool {
	return slices.Equal(p.Roots, other.Roots) && slices.Equal(p.Embedded, other.Embedded) &&
		slices.Equal(p.Beside, other.Beside)
}
