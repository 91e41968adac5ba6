package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/foldql/foldql/internal/gen/outfile"
)

// outputDirs are the folders that generated files stand in. What else stands there is kept as it is, too, where the
// generation fails.
var outputDirs = []string{"model", "event", "projection/ops", "graph", "graph/generated"}

// write writes all files, or leaves the project as it was, and returns
// what became of each file that is another than it was.
func (p *project) write(o *output) (changed []string, err error) {
	if err := o.refuseForeign(); err != nil {
		return nil, err
	}
	before, err := takeSnapshot(p.editor, p.lockPath)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, before.restore())
		}
	}()
	for _, path := range slices.Sorted(maps.Keys(o.files)) {
		if err := outfile.WriteIfChanged(path, o.files[path]); err != nil {
			return nil, err
		}
	}
	if err := writeEditorFile(p.editor); err != nil {
		return nil, err
	}
	if err := outfile.WriteIfChanged(p.lockPath, []byte(p.nextLock)); err != nil {
		return nil, err
	}
	if o.own {
		err = begin(p.module)
	} else {
		err = remove(ownFile)
	}
	if err != nil {
		return nil, err
	}
	if err := p.runGqlgen(o); err != nil {
		return nil, err
	}
	if changed, err = before.changes(); err != nil {
		return nil, err
	}
	return changed, before.keepTimes()
}

// changes are the files that are others than they were, each with what became of it.
func (s snapshot) changes() (list []string, err error) {
	paths, err := s.outputFiles()
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		now, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", path, err)
		}
		was, there := s.files[path]
		switch {
		case !there:
			list = append(list, path+": written")
		case !bytes.Equal(was.content, now):
			list = append(list, path+": changed")
		}
	}
	for path := range s.files {
		if !slices.Contains(paths, path) {
			list = append(list, path+": removed")
		}
	}
	slices.Sort(list)
	return list, nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// snapshot is what stood in the output folders, and which files beside the schemas were there.
type snapshot struct {
	beside []string
	files  map[string]saved
}

type saved struct {
	content []byte
	changed time.Time
}

func takeSnapshot(beside ...string) (snapshot, error) {
	s := snapshot{beside, map[string]saved{}}
	paths, err := s.outputFiles()
	if err != nil {
		return s, err
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return s, fmt.Errorf("remember %s: %w", path, err)
		}
		info, err := os.Stat(path)
		if err != nil {
			return s, fmt.Errorf("remember %s: %w", path, err)
		}
		s.files[path] = saved{content, info.ModTime()}
	}
	return s, nil
}

// outputFiles are the files in the output folders.
func (s snapshot) outputFiles() ([]string, error) {
	var paths []string
	for _, path := range s.beside {
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
		}
	}
	for _, dir := range outputDirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look into %s: %w", dir, err)
		}
		for _, e := range entries {
			if e.Type().IsRegular() {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	return paths, nil
}

// restore puts everything back.
func (s snapshot) restore() error {
	paths, err := s.outputFiles()
	errs := []error{err}
	for _, path := range paths {
		if _, was := s.files[path]; !was {
			errs = append(errs, remove(path))
		}
	}
	for path, f := range s.files {
		errs = append(errs, outfile.WriteIfChanged(path, f.content))
	}
	return errors.Join(append(errs, s.keepTimes())...)
}

// keepTimes gives files whose content stayed the time that they had.
func (s snapshot) keepTimes() error {
	var errs []error
	for path, f := range s.files {
		now, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(now, f.content) {
			continue
		}
		if err == nil {
			err = os.Chtimes(path, time.Time{}, f.changed)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("keep the time of %s: %w", path, err))
		}
	}
	return errors.Join(errs...)
}
