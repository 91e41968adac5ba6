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

// write writes all files, or takes back what it has written, and returns what became of each file that is another than
// it was.
func (p *project) write(o *output) (changed []string, err error) {
	if err := o.refuseForeign(); err != nil {
		return nil, err
	}
	if o.begun, err = readBegun(); err != nil {
		return nil, err
	}
	if err := errors.Join(settle(), outfile.Sweep(p.folders(o)...)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.before.restore(o.wrote))
		}
	}()
	for _, path := range slices.Sorted(maps.Keys(o.files)) {
		if err := o.record(func() error { return outfile.WriteIfChanged(path, o.files[path]) }, path); err != nil {
			return nil, err
		}
	}
	if err := o.record(func() error { return writeEditorFile(p.editor) }, p.editor); err != nil {
		return nil, err
	}
	err = o.record(func() error { return outfile.WriteIfChanged(p.lockPath, []byte(p.nextLock)) }, p.lockPath)
	if err != nil {
		return nil, err
	}
	if o.own {
		err = o.begin(p.module)
	} else {
		err = o.record(func() error { return remove(ownFile) }, ownFile)
	}
	if err != nil {
		return nil, err
	}
	if err := o.record(func() error { return p.runGqlgen(o) }, execFile, typesFile, ownFile); err != nil {
		return nil, err
	}
	delete(o.wrote, begunStubs)
	if err := remove(begunStubs); err != nil {
		return nil, err
	}
	return o.before.changes(o.wrote), o.before.keepTimes()
}

// places are where generated files stand that no person writes.
func (o *output) places() []string {
	return append(slices.Sorted(maps.Keys(o.files)), execFile, typesFile, ownFile)
}

// folders are those of all files that are written but for stubs of projectors.
func (p *project) folders(o *output) (list []string) {
	for _, place := range append(o.places(), p.editor, p.lockPath, stubsFile) {
		list = append(list, filepath.Dir(place))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// record writes files, and remembers what they were until then, and what has become of them, also where that fails
// halfway.
func (o *output) record(write func() error, paths ...string) (err error) {
	if err := o.before.add(paths...); err != nil {
		return err
	}
	defer func() {
		for _, path := range paths {
			text, readErr := readIfThere(path)
			if readErr == nil {
				o.wrote[path] = text
			}
			err = errors.Join(err, readErr)
		}
	}()
	return write()
}

// readIfThere returns nil where there is no file.
func readIfThere(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("remember %s: %w", path, err)
	}
	return text, nil
}

func remove(path string) error {
	if err := outfile.Remove(path); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// snapshot is what stood in the places that are written to, where something did.
type snapshot map[string]saved

type saved struct {
	content []byte
	changed time.Time
}

func (s snapshot) add(paths ...string) error {
	for _, path := range paths {
		content, err := readIfThere(path)
		if err != nil {
			return err
		}
		if content == nil {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("remember %s: %w", path, err)
		}
		s[path] = saved{content, info.ModTime()}
	}
	return nil
}

// changes are the files that were written otherwise than they were, each with what became of it.
func (s snapshot) changes(wrote map[string][]byte) (list []string) {
	for path, now := range wrote {
		was, there := s[path]
		switch {
		case !there && now != nil:
			list = append(list, path+": written")
		case there && now == nil:
			list = append(list, path+": removed")
		case !bytes.Equal(was.content, now):
			list = append(list, path+": changed")
		}
	}
	slices.Sort(list)
	return list
}

// restore puts back what was written, but for what somebody else has changed since then.
func (s snapshot) restore(wrote map[string][]byte) error {
	var errs []error
	for path, content := range wrote {
		now, err := readIfThere(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if (now == nil) != (content == nil) || !bytes.Equal(now, content) {
			continue
		}
		was, there := s[path]
		switch {
		case !there:
			errs = append(errs, remove(path))
		case !bytes.Equal(was.content, now):
			err := outfile.Replace(path, now, was.content)
			if !errors.Is(err, outfile.ErrChanged) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(append(errs, s.keepTimes())...)
}

// keepTimes gives files whose content stayed the time that they had.
func (s snapshot) keepTimes() error {
	var errs []error
	for path, f := range s {
		now, err := readIfThere(path)
		if err == nil && (now == nil || !bytes.Equal(now, f.content)) {
			continue
		}
		if err == nil {
			err = keepTime(path, f.changed)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("keep the time of %s: %w", path, err))
		}
	}
	return errors.Join(errs...)
}

// keepTime gives a file a time, unless it is another user's: the system lets only that one do so.
func keepTime(path string, changed time.Time) error {
	info, err := os.Stat(path)
	if err != nil || info.ModTime().Equal(changed) {
		return err
	}
	if err := os.Chtimes(path, time.Time{}, changed); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
