package filesource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/foldql/foldql/eventlog"
)

// Dir is an eventlog.Source of the files of a directory. The name of a file without .jsonl or .jsonl.gz is that of its
// partition.
type Dir struct {
	path  string
	names []string // of the partitions, in order
	files map[string]*Source
}

// mostFiles is how many files a directory has at most: each is open as long as it is read.
const mostFiles = 1000

// OpenDir opens the directory at the path of the options, which has one file of events or more and, but for hidden
// ones, no others: none that holds events is passed over for its name.
func OpenDir(o Options) (*Dir, error) {
	entries, err := os.ReadDir(o.Path)
	if err != nil {
		return nil, err
	}
	d := &Dir{path: o.Path, files: map[string]*Source{}}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if err := d.add(entry.Name(), o); err != nil {
			return nil, errors.Join(fmt.Errorf("read the events in %s: %w", o.Path, err), d.Close())
		}
	}
	if len(d.names) == 0 {
		return nil, fmt.Errorf("read the events in %s: it has no file whose name ends in .jsonl or .jsonl.gz", o.Path)
	}
	slices.Sort(d.names)
	return d, nil
}

func (d *Dir) add(file string, o Options) error {
	name, ok := strings.CutSuffix(strings.TrimSuffix(file, ".gz"), ".jsonl")
	switch {
	case !ok || name == "":
		return fmt.Errorf("%s is no partition: move it elsewhere, or rename it to NAME.jsonl or NAME.jsonl.gz", file)
	case !utf8.ValidString(name): // neither JSON nor metrics can have it
		return fmt.Errorf("the name of the file %q is no valid UTF-8, as that of a partition must be: rename it", file)
	case d.files[name] != nil:
		return fmt.Errorf("two files are the partition %q: remove one of %s.jsonl and %[1]s.jsonl.gz", name, name)
	case len(d.names) == mostFiles:
		return fmt.Errorf("it has more than %d files: join some of them", mostFiles)
	}
	o.Path = filepath.Join(d.path, file)
	s, err := Open(o)
	if err != nil {
		return err
	}
	s.partition = name
	d.names, d.files[name] = append(d.names, name), s
	return nil
}

// Partitions implements eventlog.Source. Files that were added since the directory was opened are not among them.
func (d *Dir) Partitions(ctx context.Context) ([]string, error) {
	if err := d.usable(ctx); err != nil {
		return nil, err
	}
	return slices.Clone(d.names), nil
}

// usable fails where the directory is closed or the context has ended.
func (d *Dir) usable(ctx context.Context) error {
	return d.files[d.names[0]].usable(ctx, d.names[0])
}

func (d *Dir) partition(ctx context.Context, name string) (*Source, error) {
	if err := d.usable(ctx); err != nil {
		return nil, err
	}
	s := d.files[name]
	if s == nil {
		return nil, fmt.Errorf("read partition %q of %s: it has no such file", name, d.path)
	}
	return s, nil
}

// Read implements eventlog.Source.
func (d *Dir) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	s, err := d.partition(ctx, partition)
	if err != nil {
		return nil, err
	}
	return s.Read(ctx, partition, after, most)
}

// Wait implements eventlog.Source. Files have an end, so that nothing is waited for.
func (d *Dir) Wait(ctx context.Context, after eventlog.Offsets) error {
	for _, name := range d.names {
		if err := d.files[name].Wait(ctx, after); err != io.EOF {
			return err
		}
	}
	return io.EOF
}

// Head implements eventlog.Source.
func (d *Dir) Head(ctx context.Context, partition string) (uint64, error) {
	s, err := d.partition(ctx, partition)
	if err != nil {
		return 0, err
	}
	return s.Head(ctx, partition)
}

// Close implements eventlog.Source.
func (d *Dir) Close() error {
	var errs []error
	for _, s := range d.files {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
