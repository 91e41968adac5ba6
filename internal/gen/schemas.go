package gen

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/foldql/foldql/internal/diff"
	"github.com/foldql/foldql/internal/gen/served"
)

// Diff says what the change from the schemas at was to those at now does. Each is a folder of a project, the file of a
// schema of read models with events.graphqls, and events.lock if there is one, beside it, or else a revision that git
// knows of the project in the working directory. It changes the working directory while it runs.
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
	info, err := os.Stat(at)
	switch {
	case err == nil && info.IsDir():
		return schemasOfProject(at)
	case err == nil:
		return schemasOfFile(at)
	case errors.Is(err, fs.ErrNotExist):
		return schemasOfRevision(at)
	}
	return nil, fmt.Errorf("look for the schemas at %s: %w", at, err)
}

func schemasOfProject(dir string) (_ *diff.Schemas, err error) {
	leave, err := enter(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	p := &project{}
	if err := p.readSchemas(); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return p.compile(dir)
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
	return &diff.Schemas{API: api, Model: m}, nil
}

// schemasOfRevision reads the project in the working directory, or above it, as git has it in a revision.
func schemasOfRevision(revision string) (s *diff.Schemas, err error) {
	leave, err := enter(".")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if strings.HasPrefix(revision, "-") {
		return nil, fmt.Errorf("there is no folder or file %s, and no revision of git has such a name", revision)
	}
	var refusal bytes.Buffer
	cmd := exec.Command("git", "archive", "--format=tar", revision, ".")
	cmd.Stderr = &refusal
	archive, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("there is no folder or file %s, and git does not know it as a revision of the project: %s: %w",
			revision, strings.TrimSpace(refusal.String()), err)
	}
	dir, err := os.MkdirTemp("", "foldql-diff-*")
	if err != nil {
		return nil, fmt.Errorf("make room for the schemas of %s: %w", revision, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := extract(dir, archive); err != nil {
		return nil, fmt.Errorf("read the schemas of %s: %w", revision, err)
	}
	return schemasOfProject(dir)
}

// extract writes the files of an archive into a folder; of Go code no schema is made.
func extract(dir string, archive []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || strings.HasSuffix(h.Name, ".go") {
			continue
		}
		text, err := io.ReadAll(r)
		if err == nil {
			err = root.MkdirAll(filepath.Dir(filepath.FromSlash(h.Name)), 0o755)
		}
		if err == nil {
			err = root.WriteFile(filepath.FromSlash(h.Name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
}
