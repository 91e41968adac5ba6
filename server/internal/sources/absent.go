package sources

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/foldql/foldql/eventlog"
	"github.com/foldql/foldql/server/internal/config"
)

// openCopied opens a source that no log of this server is. A file that is gone, but of which there is a copy, is as a
// source that is away: rows are made of the copy.
func openCopied(at *config.Source, o *Options) (eventlog.Source, error) {
	src, err := openForeign(at, o)
	if at.Mirror == "" || at.Kind != config.File || !errors.Is(err, fs.ErrNotExist) {
		return src, err
	}
	if _, none := os.Stat(at.Mirror); none != nil {
		return nil, fmt.Errorf("%w, and there is no copy of it in %s: correct --events, or put the file back", err, at.Mirror)
	}
	return &absentFile{open: func() (eventlog.Source, error) { return openForeign(at, o) }}, nil
}

// absentFile is a file of events that was not there when the server started. Each call looks for it again.
type absentFile struct {
	open func() (eventlog.Source, error)

	mu     sync.Mutex
	file   eventlog.Source // nil as long as it is not there
	closed bool
}

// found is the file, or why it cannot be read.
func (f *absentFile) found() (eventlog.Source, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, eventlog.ErrClosed
	}
	if f.file == nil {
		file, err := f.open()
		if err != nil {
			return nil, fmt.Errorf("the file of events is away, and the copy alone is read: put the file back: %w", err)
		}
		f.file = file
	}
	return f.file, nil
}

// Partitions implements eventlog.Source.
func (f *absentFile) Partitions(ctx context.Context) ([]string, error) {
	file, err := f.found()
	if err != nil {
		return nil, err
	}
	return file.Partitions(ctx)
}

// Read implements eventlog.Source.
func (f *absentFile) Read(ctx context.Context, partition string, after uint64, most int) ([]eventlog.Event, error) {
	file, err := f.found()
	if err != nil {
		return nil, err
	}
	return file.Read(ctx, partition, after, most)
}

// Wait implements eventlog.Source.
func (f *absentFile) Wait(ctx context.Context, after eventlog.Offsets) error {
	file, err := f.found()
	if err != nil {
		return err
	}
	return file.Wait(ctx, after)
}

// Head implements eventlog.Source.
func (f *absentFile) Head(ctx context.Context, partition string) (uint64, error) {
	file, err := f.found()
	if err != nil {
		return 0, err
	}
	return file.Head(ctx, partition)
}

// Redecode implements eventlog.Redecoder.
func (f *absentFile) Redecode(e eventlog.Event) eventlog.Event {
	file, err := f.found()
	if err != nil {
		return e
	}
	return eventlog.Redecode(file, e)
}

// Close implements eventlog.Source.
func (f *absentFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
