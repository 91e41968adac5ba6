package mirror

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/foldql/foldql/eventlog/internal/diskerr"
	"github.com/foldql/foldql/internal/disk"
)

// store is a copy on the disk.
type store struct {
	dir     string
	log     *slog.Logger
	records records
	disk    *disk.Disk
	cache   *pebble.Cache
	writing sync.Mutex // held by the commit that writes: one that waits for the disk is not overtaken
}

// openStore opens a copy, and reads how far it has come.
func openStore(o Options) (s *store, copied content, err error) {
	if o.FS == nil {
		o.FS = vfs.Default
		dir, err := filepath.Abs(o.Dir)
		if err != nil {
			return nil, copied, fmt.Errorf("open the copy of the events in %s: %w", o.Dir, err)
		}
		o.Dir = dir
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s = &store{dir: o.Dir, log: o.Logger, cache: pebble.NewCache(32 << 20),
		disk: disk.New(disk.Config{FS: o.FS, Dir: o.Dir, Reserve: o.Reserve, Logger: o.Logger})}
	err = s.disk.Open(func() (err error) {
		copied, err = s.open(o.FromFirst)
		return err
	})
	if err != nil {
		s.cache.Unref()
		return nil, copied, fmt.Errorf("open the copy of the events in %s: %w", o.Dir, diskerr.OfOpening(err))
	}
	return s, copied, nil
}

func (s *store) open(fromFirst bool) (copied content, err error) {
	db, err := pebble.Open(s.dir, &pebble.Options{FS: s.disk.FS(), Cache: s.cache, MemTableSize: 16 << 20,
		FormatMajorVersion: disk.Format,
		Logger:             s.disk.Logger(), EventListener: s.disk.Listener()})
	if err != nil {
		return copied, err
	}
	s.records = records{db: db, fromFirst: fromFirst}
	if copied, err = s.records.load(); err != nil {
		return copied, errors.Join(err, db.Close())
	}
	return copied, nil
}

func (s *store) close() error {
	err := s.disk.Close(func() error {
		defer s.cache.Unref()
		return errors.Join(s.records.db.Flush(), s.records.db.Close()) // see embeddedlog.Log.Close
	})
	if err != nil {
		return fmt.Errorf("close the copy of the events in %s: %w", s.dir, err)
	}
	return nil
}

// setWhole notes that every partition of the source is there.
func (s *store) setWhole() error {
	return s.unwritable(s.disk.Run(func() error {
		s.writing.Lock()
		defer s.writing.Unlock()
		if err := s.records.setWhole(); err != nil {
			return fmt.Errorf("write to the copy of the events in %s: %w", s.dir, err)
		}
		return nil
	}))
}

func (s *store) writable() error { return s.unwritable(s.disk.Writable()) }

// unwritable is an error of the disk in the words of the contract of logs.
func (s *store) unwritable(err error) error { return diskerr.OfWriting("copy events", err) }

func (s *store) snapshot(dir string) error {
	if err := s.writable(); err != nil {
		return err
	}
	err := s.disk.Checkpoint(s.records.db, dir)
	if err != nil {
		return fmt.Errorf("back up the copy of the events in %s: %w", s.dir, err)
	}
	return nil
}
