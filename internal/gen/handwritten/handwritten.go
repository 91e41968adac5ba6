// Package handwritten keeps the files in which a project has its resolvers: they stay as they are, but for stubs of new
// fields, which one of them gets, signatures of changed ones, and imports.
package handwritten

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/foldql/foldql/internal/gen/outfile"
)

// Wanted is what the package of the resolvers is to have.
type Wanted struct {
	Stubs []byte // a file with all resolvers that the schema wants, none of them written yet
	// Begun are the stubs that each generation wanted which ended amid the writing, since one was complete: some resolvers
	// may have the signatures of these.
	Begun  [][]byte
	Former Former
	Tags   []string // that files may need in order to be compiled, beside those of the system
	Names  Names
}

// Change is a file that becomes another.
type Change struct {
	Path     string
	Was, Now []byte // Was is nil where there is no file yet
}

// Write writes the file. It fails with [outfile.ErrChanged] where somebody has saved another text meanwhile.
func (c Change) Write() error { return outfile.Replace(c.Path, c.Was, c.Now) }

// Merge returns the changes that give the package with a file of resolvers what it lacks, and the resolvers that no
// field has any more, as "graph/mine.go: TopBooks of queryResolver". It fails where code does not parse, as nobody
// knows then what would be lost.
func Merge(path string, w Wanted) (changes []Change, unused []string, err error) {
	p, err := read(path, w)
	if err != nil {
		return nil, nil, err
	}
	for _, was := range append([]*source{p.file}, p.others...) {
		m := &merger{pkg: p, was: was, scope: newScope(was, p.declared)}
		if was == p.file {
			m.merge()
		} else {
			m.correctOther()
		}
		unused = append(unused, m.unused...)
		if was != p.file && len(m.edits) == 0 {
			continue // whatever else could be said of it
		}
		now, err := m.merged()
		if err != nil {
			return nil, nil, fmt.Errorf("keep the handwritten code of %s: %w", was.path, err)
		}
		if now != nil {
			changes = append(changes, Change{was.path, was.raw, now})
		}
	}
	return changes, unused, nil
}

// pkg is the package of the resolvers as it is, and what is wanted of it.
type pkg struct {
	now       *source                // the stubs
	wanted    map[string]declaration // in the stubs, by key
	file      *source                // that gets what is missing
	others    []*source              // that have methods of types with resolvers
	elsewhere map[string]bool        // what all files but that one declare
	declared  map[string]bool        // what all files declare
	beside    [][]byte               // the texts of all other Go files of the folder, whatever builds they are for

	system    build.Context // that the package is compiled for
	names     Names
	wasWanted Former
	before    *source // of wasWanted, once it is parsed
	begun     []begun // the last generation first
}

// read reads the package in the folder of a file of resolvers, and what is wanted of it.
func read(path string, w Wanted) (*pkg, error) {
	now, err := parse("the stubs of "+path, w.Stubs)
	if err != nil {
		return nil, fmt.Errorf("read what the schema wants: %w", err)
	}
	p := &pkg{now: now, names: w.Names, wasWanted: w.Former, system: build.Default}
	p.readBegun(w.Begun)
	p.system.BuildTags = slices.Concat(p.system.BuildTags, w.Tags)
	if p.file, err = readFile(path, now.file.Name.Name); err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the files beside %s: %w", path, err)
	}
	for _, e := range entries {
		if e.Name() == filepath.Base(path) || filepath.Ext(e.Name()) != ".go" || e.IsDir() {
			continue
		}
		if err := p.readBeside(dir, e.Name()); err != nil {
			return nil, err
		}
	}
	p.look()
	return p, nil
}

// look finds what the files declare, and which of them have resolvers.
func (p *pkg) look() {
	files, aliases := append(p.others, p.file, p.now), map[string]string{}
	for _, s := range files {
		s.each(func(d declaration) {
			if typ, is := d.spec.(*ast.TypeSpec); is && typ.Assign.IsValid() {
				if of, is := typ.Type.(*ast.Ident); is {
					aliases[d.key] = of.Name
				}
			}
		})
	}
	for _, s := range files {
		s.aliases = aliases
	}
	p.wanted, p.elsewhere = map[string]declaration{}, map[string]bool{}
	p.now.each(func(d declaration) { p.wanted[d.key] = d })
	for _, s := range p.others {
		s.each(func(d declaration) { p.elsewhere[d.key] = d.key != "" })
	}
	p.declared = maps.Clone(p.elsewhere)
	p.file.each(func(d declaration) { p.declared[d.key] = true })
	p.others = slices.DeleteFunc(p.others, func(s *source) bool { return !p.hasResolvers(s) })
	nameImports(p.names, append(p.others, p.file, p.now)...)
}

// readBeside reads another file of the folder. What it declares is there only where it is compiled.
func (p *pkg) readBeside(dir, name string) error {
	path := filepath.ToSlash(filepath.Join(dir, name))
	if !p.compiles(dir, name) {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // there are links that editors leave to nothing
			return fmt.Errorf("read the code beside the resolvers: %w", err)
		}
		p.beside = append(p.beside, text)
		return nil
	}
	other, err := readFile(path, p.now.file.Name.Name)
	if err != nil {
		return err
	}
	p.others, p.beside = append(p.others, other), append(p.beside, other.text)
	return nil
}

// hasResolvers reports whether a file has methods of types that have resolvers.
func (p *pkg) hasResolvers(s *source) (has bool) {
	s.each(func(d declaration) {
		f, is := d.decl.(*ast.FuncDecl)
		_, wanted := p.wanted[d.key]
		has = has || is && (wanted || p.now.hasResolverType(s.receiver(f)))
	})
	return has
}

// readFile reads a file of a package. Where it is empty, or there is none, it has the package clause alone.
func readFile(path, name string) (*source, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the handwritten code: %w", err)
	}
	text := withoutNotice(normalized(raw))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("package " + name + "\n")
	}
	s, err := parse(path, text)
	if err != nil {
		return nil, fmt.Errorf("%w (fix: correct it first; the resolvers are generated into what is there)", err)
	}
	s.raw = raw
	return s, nil
}

// compiles reports whether a file is part of the package. Of others, nothing is known to be there when it is compiled.
func (p *pkg) compiles(dir, name string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return false
	}
	matches, err := p.system.MatchFile(dir, name)
	return matches && err == nil
}

// normalized is a text with the ends of lines that generated files have.
func normalized(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// notice is the comment that former versions let gqlgen write at the top of the file: it says of all code what is true
// of none here.
var notice = regexp.MustCompile(`(?m)^[ \t]*// This file will be automatically regenerated based on the schema.*\n` +
	`(?:[ \t]*//.*\n)*?[ \t]*// Code generated by github\.com/99designs/gqlgen.*\n\n?`)

func withoutNotice(text []byte) []byte { return notice.ReplaceAll(text, nil) }
