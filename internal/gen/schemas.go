package gen

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/diff"
	"github.com/foldql/foldql/internal/gen/served"
	"github.com/foldql/foldql/internal/schema/eventlock"
)

// Diff says what the change from the schemas at was to those at now does. Each is a folder of a project, the file of a
// schema of read models with events.graphqls, and events.lock if there is one, beside it, or else a revision that git
// knows of the project in the working directory. A folder without the configuration of a project is none, but for ".",
// which is the project in the working directory or above it. It changes the working directory while it runs.
func Diff(was, now string) (r diff.Report, err error) {
	before, err := schemasAt(was)
	if err != nil {
		return r, err
	}
	after, err := schemasAt(now)
	if err != nil {
		return r, err
	}
	return diff.Compare(before, after), nil
}

func schemasAt(at string) (*diff.Schemas, error) {
	if at == "." {
		return schemasOfProject(at)
	}
	info, err := os.Stat(at)
	switch {
	case err == nil && info.IsDir():
		return schemasOfFolder(at)
	case err == nil:
		if err := checkOneMeaning(at); err != nil {
			return nil, err
		}
		return schemasOfFile(at)
	case errors.Is(err, fs.ErrNotExist):
		return schemasOfRevision(at)
	}
	return nil, fmt.Errorf("look for the schemas at %s: %w", at, err)
}

// schemasOfFolder reads the project in a folder. Where there is none, a revision of that name is meant, and never the
// project above, which would be compared with itself.
func schemasOfFolder(dir string) (*diff.Schemas, error) {
	isProject, err := hasProject(dir)
	if err != nil {
		return nil, err
	}
	if !isProject {
		return schemasOfRevision(dir)
	}
	if err := checkOneMeaning(dir); err != nil {
		return nil, err
	}
	return schemasOfProject(dir)
}

// checkOneMeaning refuses a name of a folder or a file that git knows as a revision too.
func checkOneMeaning(name string) error {
	if revision := revisionNamed(name); revision != "" {
		return fmt.Errorf("look for the schemas at %s: there is such a folder or file, and such a revision of git (fix: "+
			"write ./%s for the former, or %s for the revision)", name, name, revision)
	}
	return nil
}

// hasProject reports whether the configuration of a project stands in a folder itself.
func hasProject(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, configFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for %s in %s: %w", configFile, dir, err)
	}
	return true, nil
}

// revisionNamed is another name of the revision that git knows by a name; "" where it knows none, as for a name that
// begins with ./ or ends with /.
func revisionNamed(name string) string {
	if strings.HasPrefix(name, "-") {
		return ""
	}
	full, err := exec.Command("git", "rev-parse", "--verify", "--quiet", "--symbolic-full-name", name).Output()
	if err != nil { // no such revision, no repository, or no git
		return ""
	}
	return cmp.Or(strings.TrimSpace(string(full)), name+"~0")
}

func schemasOfProject(dir string) (*diff.Schemas, error) {
	p, err := readProject(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return p.compile(dir)
}

// readProject reads the schemas of the project that dir belongs to.
func readProject(dir string) (p *project, err error) {
	leave, err := enter(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	p = &project{}
	return p, p.readSchemas()
}

func schemasOfFile(path string) (*diff.Schemas, error) {
	p := &project{}
	text, err := os.ReadFile(path)
	if err == nil {
		p.readModels = []*ast.Source{{Name: path, Input: string(text)}}
		err = p.readEvents(filepath.Dir(path))
	}
	if err != nil {
		return nil, fmt.Errorf("read the schemas (fix: keep %s beside %s, or name the folder of a project): %w", eventsFile,
			path, err)
	}
	return p.compile(path)
}

// compile makes what is served of the schemas.
func (p *project) compile(at string) (*diff.Schemas, error) {
	m, found := p.load()
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("the schemas at %s are not valid: %w", at, err)
	}
	api, _, err := served.Schema(m, p.readModels)
	if err != nil {
		return nil, fmt.Errorf("the schemas at %s: %w", at, err)
	}
	lock, wrong := eventlock.Read(p.nextLock)
	if err := wrong.Err(); err != nil {
		return nil, fmt.Errorf("the events at %s have a lock that cannot be read, which is a bug of foldql: %w", at, err)
	}
	return &diff.Schemas{API: api, Model: m, Lock: lock}, nil
}
