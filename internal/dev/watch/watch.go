// Package watch says when something in a set of folders may have changed. It does not say what: an editor that saves a
// file may write it, or put another in its place, in one step or in several, so whoever is told looks at the files.
package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Changes that come together are told together: quiet is how long none must come for that, patience how long it is
// waited for at most.
const (
	quiet    = 60 * time.Millisecond
	patience = time.Second
)

// Watcher watches folders, without those in them.
type Watcher struct {
	notify  *fsnotify.Watcher
	changes chan struct{}
	ended   chan struct{}
}

// New returns a watcher of no folders yet.
func New() (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", advised(err))
	}
	w := &Watcher{notify: notify, changes: make(chan struct{}, 1), ended: make(chan struct{})}
	go w.run()
	return w, nil
}

// Follow watches these folders from now on, of those that are there and for this user to read, and no others. What
// changes in them after it returns is told.
func (w *Watcher) Follow(folders []string) error {
	for _, old := range w.notify.WatchList() {
		if !slices.Contains(folders, old) {
			_ = w.notify.Remove(old) // it may be gone, which is as well
		}
	}
	for _, folder := range folders {
		// Each is added again, because there may be another folder of that name by now.
		err := w.notify.Add(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("watch %s: %w", folder, advised(err))
		}
	}
	return nil
}

// Changes has a value after a change. One value may stand for many of them, and there may be one without any.
func (w *Watcher) Changes() <-chan struct{} { return w.changes }

// Close ends the watching.
func (w *Watcher) Close() error {
	err := w.notify.Close()
	<-w.ended
	return err
}

// run tells changes until the watcher is closed.
func (w *Watcher) run() {
	defer close(w.ended)
	for {
		if _, open := w.next(nil); !open || !w.settle() {
			return
		}
		select {
		case w.changes <- struct{}{}:
		default: // the last one has not been taken yet, and stands for this one too
		}
	}
}

// settle waits until no more changes come, and returns false where the watcher is closed.
func (w *Watcher) settle() bool {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		pause := time.NewTimer(quiet)
		changed, open := w.next(pause.C)
		pause.Stop()
		if !open || !changed {
			return open
		}
	}
	return true
}

// next waits for a change, or until it has waited enough; open is false where the watcher is closed.
func (w *Watcher) next(enough <-chan time.Time) (changed, open bool) {
	for {
		select {
		case e, open := <-w.notify.Events:
			if !open || e.Op != fsnotify.Chmod { // a change of rights or times alone changes no content
				return open, open
			}
		case _, open := <-w.notify.Errors: // such as that changes came faster than they were read
			return open, open
		case <-enough:
			return false, true
		}
	}
}

// advised adds to an error of the system what can be done about it.
func advised(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: the system watches as many folders as it may; raise fs.inotify.max_user_watches", err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("%w: raise the limit of open files (ulimit -n), or fs.inotify.max_user_instances", err)
	}
	return err
}
