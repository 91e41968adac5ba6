package gen

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/diff"
)

// schemasOfRevision reads the project in the working directory, or above it, as git has it in a revision.
func schemasOfRevision(revision string) (_ *diff.Schemas, err error) {
	root, err := os.MkdirTemp("", "foldql-diff-*")
	if err != nil {
		return nil, fmt.Errorf("make room for the schemas of %s: %w", revision, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	below, unmade, err := extractRevision(root, revision)
	if err != nil {
		return nil, fmt.Errorf("look for the schemas at %q, which is neither a folder with %s in it nor a file (fix: name "+
			"either, or a revision): %w", revision, configFile, err)
	}
	dir := filepath.Join(root, below)
	if err := unmade.check(configFile, eventsFile, lockFile); err != nil {
		return nil, fmt.Errorf("read the schemas of %s: %w", revision, err)
	}
	isProject, err := hasProject(dir)
	if err == nil && !isProject { // above the folder may be another project
		err = fmt.Errorf("read the schemas of %s: it has no %s in the folder of the project (fix: name a revision that "+
			"has it)", revision, configFile)
	}
	if err != nil {
		return nil, err
	}
	p, err := readProject(dir)
	if err == nil {
		err = p.checkWithin(root, dir)
	}
	if p != nil {
		err = cmp.Or(unmade.check(p.schemas...), err)
	}
	if err != nil {
		return nil, fmt.Errorf("read the schemas of %s: %w", revision, err)
	}
	return p.compile(revision)
}

// extractRevision writes the files of a revision into a folder: those of the whole repository, because schemas may lie
// beside the project in the working directory, or above it. It returns where the project is in the folder.
func extractRevision(dir, revision string) (below string, without unmade, err error) {
	leave, err := enter(".")
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if strings.HasPrefix(revision, "-") {
		return "", nil, errors.New("no revision of git has such a name")
	}
	var top, place bytes.Buffer
	if err := runGit(&top, "rev-parse", "--show-toplevel"); err != nil {
		return "", nil, fmt.Errorf("the project is in no repository of git: %w", err)
	}
	if err := runGit(&place, "rev-parse", "--show-prefix"); err != nil {
		return "", nil, fmt.Errorf("find the project in its repository: %w", err)
	}
	files, archive := io.Pipe()
	defer files.Close() // ends git, where it has more to say
	go func() {
		err := runGit(archive, "-C", strings.TrimSuffix(top.String(), "\n"), "archive", "--format=tar", revision)
		if err != nil {
			err = fmt.Errorf("git does not know it as a revision of the project: %w", err)
		}
		archive.CloseWithError(err)
	}()
	without, err = extract(dir, files)
	return filepath.FromSlash(strings.TrimSuffix(place.String(), "\n")), without, err
}

// runGit runs git, whose error is what it says.
func runGit(out io.Writer, args ...string) error {
	var refusal bytes.Buffer
	git := exec.Command("git", args...)
	git.Stdout, git.Stderr = out, &refusal
	if err := git.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSpace(refusal.String()), err)
	}
	return nil
}

// unmade is why files and links of an archive could not be made, by their names: a system may know no such name, or
// give its user no links.
type unmade map[string]error

// check is an error where a file or link was not made that goes by one of the names or patterns, whatever its folder.
func (u unmade) check(patterns ...string) error {
	for _, name := range slices.Sorted(maps.Keys(u)) {
		for _, pattern := range patterns {
			if goes, err := path.Match(path.Base(pattern), path.Base(name)); goes || err != nil {
				return fmt.Errorf("extract %s, which schemas may be read from (fix: name the folder of a former project): %w",
					name, u[name])
			}
		}
	}
	return nil
}

// extract writes the files and links of an archive into a folder; of Go code no schema is made. Without what cannot be
// made it goes on: of most of what a repository has no schema is made either.
func extract(dir string, archive io.Reader) (unmade, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	without := unmade{}
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if err == io.EOF {
			_, err = io.Copy(io.Discard, archive) // what fills up its last block
			return without, err
		}
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(h.Name, ".go") {
			continue
		}
		if err := extractFile(root, h, r); err != nil {
			without[h.Name] = err
		}
	}
}

func extractFile(root *os.Root, h *tar.Header, content io.Reader) error {
	if h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeSymlink {
		return nil
	}
	name := filepath.FromSlash(h.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeSymlink {
		return root.Symlink(h.Linkname, name)
	}
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// checkWithin wants all that a project is read from in a folder: by links, and by patterns with "..", it may be read
// from files elsewhere, which git does not have in the revision.
func (p *project) checkWithin(root, dir string) error {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return fmt.Errorf("find the files of the revision: %w", err)
	}
	for _, path := range p.inputs(dir) {
		target, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("find the files of the revision: %w", err)
		}
		if below, err := filepath.Rel(root, target); err != nil || !filepath.IsLocal(below) {
			return fmt.Errorf("%s is read from %s, which is outside of the repository, and git does not know what it was then "+
				"(fix: move it into the repository, or name the folder of a former project)", filepath.Base(path), target)
		}
	}
	return nil
}
